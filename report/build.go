package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/stats"
)

// Build makes the report of some runs. It is the same for the same runs in the same order. Where the points of their curves have rewards
// (CurvePoint.Test.Rewards, which [Load] fills), mean curves have intervals.
func Build(stories []*recipe.Story) (*Report, error) {
	if len(stories) == 0 {
		return nil, errors.New("report: got no runs, want one or more")
	}
	rep := &Report{Resamples: stats.Resamples}
	type kind struct {
		task  whale.ID
		split whale.Split
	}
	at := map[kind]int{}
	for _, st := range stories {
		r, err := readRun(st)
		if err != nil {
			return nil, err
		}
		of := kind{st.Begin.Task, st.Config.Evaluation.Split}
		i, ok := at[of]
		if !ok {
			i = len(rep.Groups)
			at[of] = i
			g := Group{Task: st.Config.Task.Kind, ID: st.Begin.Task}
			if of.split == whale.SplitValidation {
				g.Notes = append(g.Notes, "evaluation.split of these runs is validation: every accuracy here is of the validation split, also where it says test; the test split was not opened")
			}
			rep.Groups = append(rep.Groups, g)
		}
		g := &rep.Groups[i]
		g.Runs = append(g.Runs, r)
		if g.Chance == nil {
			g.Chance = st.Chance
		}
	}
	for i := range rep.Groups {
		if err := rep.Groups[i].build(); err != nil {
			return nil, err
		}
	}
	return rep, nil
}

// build fills what is said about a group from its runs.
func (g *Group) build() error {
	if err := g.sameExamples(); err != nil {
		return err
	}
	var err error
	if g.Arms, err = labelArms(g.Runs); err != nil {
		return err
	}
	for i := range g.Runs {
		g.Runs[i].Differs = differsFrom(g.Runs[0], g.Runs[i])
	}
	for i := range g.Arms {
		if err := g.average(&g.Arms[i]); err != nil {
			return err
		}
	}
	if err := g.table(); err != nil {
		return err
	}
	if err := g.differences(); err != nil {
		return err
	}
	g.passing()
	g.note()
	return nil
}

// sameExamples refuses runs of one task whose test splits are not one: their cells cannot be paired. An unfinished run counts where its curve has cells.
func (g *Group) sameExamples() error {
	var first *Run
	for i := range g.Runs {
		r := &g.Runs[i]
		if !r.Finished && len(r.examples) == 0 {
			continue
		}
		if first == nil {
			first, g.Examples = r, len(r.examples)
			continue
		}
		if slices.Equal(r.examples, first.examples) {
			continue
		}
		return fmt.Errorf("report: %s and %s have one task (%s) and other test examples: %s; report them apart", first.Dir, r.Dir, g.ID.Short(), setDifference(first.examples, r.examples))
	}
	return nil
}

// setDifference says how two sorted lists of ids differ, with one example.
func setDifference(a, b []string) string {
	var only [2][]string
	for i, lists := range [2][2][]string{{a, b}, {b, a}} {
		for _, id := range lists[0] {
			if _, ok := slices.BinarySearch(lists[1], id); !ok {
				only[i] = append(only[i], id)
			}
		}
	}
	text := fmt.Sprintf("%d and %d, of which %d are only in the first and %d only in the second", len(a), len(b), len(only[0]), len(only[1]))
	if ids := append(only[0], only[1]...); len(ids) > 0 {
		text += fmt.Sprintf(" (%q, for one)", ids[0])
	}
	return text
}

// average fills an arm's means over its finished seeds, and its mean curve over all.
func (g *Group) average(a *Arm) error {
	var ended []*Run
	for _, i := range a.runs {
		if g.Runs[i].Finished {
			ended = append(ended, &g.Runs[i])
		}
	}
	if err := g.meanCurve(a); err != nil {
		return err
	}
	n := float64(len(ended))
	a.Ledger = map[string]map[string]float64{}
	for _, r := range ended {
		for purpose, counters := range r.Ledger {
			if a.Ledger[purpose] == nil {
				a.Ledger[purpose] = map[string]float64{}
			}
			for k, v := range counters {
				a.Ledger[purpose][k] += v / n
			}
		}
		a.Spent += spent(r) / n
		if p, ok := r.pair(RowFinal); ok {
			a.Final += p.Mean / n
		}
	}
	a.Start, a.End = meanMetrics(ended, RowBase), meanMetrics(ended, RowFinal)
	a.Halves = meanHalves(ended)
	return nil
}

// spent counts a run's training rollouts: weight phases, candidates, canaries, fresh episodes before a choice.
func spent(r *Run) float64 {
	n := 0.0
	for _, p := range recipe.TrainingPurposes() {
		n += r.Ledger[string(p)]["rollouts"]
	}
	return n
}

func (g *Group) runsOf(a *Arm) []*Run {
	out := make([]*Run, len(a.runs))
	for k, i := range a.runs {
		out[k] = &g.Runs[i]
	}
	return out
}

func (r *Run) pair(kind string) (Pair, bool) {
	for _, p := range r.Pairs {
		if p.Kind == kind {
			return p, true
		}
	}
	return Pair{}, false
}

// meanMetrics averages the behaviour metrics of a pair over the runs that have them.
func meanMetrics(runs []*Run, kind string) map[string]float64 {
	sum, n := map[string]float64{}, map[string]float64{}
	for _, r := range runs {
		p, _ := r.pair(kind)
		for k, v := range p.Metrics {
			sum[k] += v
			n[k]++
		}
	}
	for k := range sum {
		sum[k] /= n[k]
	}
	return sum
}

// note says what a reader must know to read the group's numbers right.
func (g *Group) note() {
	var open []string
	draws := map[int]bool{}
	for i := range g.Runs {
		r := &g.Runs[i]
		if !r.Finished {
			open = append(open, fmt.Sprintf("%s seed %d (%s)", r.Arm, r.Seed, r.Unfinished))
		}
		for _, p := range r.Pairs {
			draws[p.Draws] = true
		}
	}
	if len(open) > 0 {
		g.Notes = append(g.Notes, "Not finished, and in no table of final pairs: "+strings.Join(open, "; ")+".")
	}
	if len(draws) > 1 {
		g.Notes = append(g.Notes, "The runs have final tables of different numbers of draws; an example's mean counts the same whatever their number.")
	}
	g.noteProvenance()
	for _, a := range g.Arms {
		if len(a.Seeds) == 1 {
			g.Notes = append(g.Notes, fmt.Sprintf("%s has one finished seed: its interval is over examples alone, and says nothing of how much runs differ.", a.Label))
		}
	}
}
