package report

import (
	"maps"
	"slices"
	"strconv"

	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/recipe"
)

// This file has the CSV files of phases and what happened in them.

// eachPhase calls a function with each phase of each run and what adds a row that begins with arm, seed and phase.
func eachPhase(g *Group, add func(...string), do func(ph *Phase, add func(...string))) {
	eachRun(g, add, func(r *Run, add func(...string)) {
		for i := range r.Phases {
			ph := &r.Phases[i]
			do(ph, func(row ...string) { add(slices.Concat([]string{cell(ph.Name)}, row)...) })
		}
	})
}

func yes(v bool) string { return strconv.FormatBool(v) }

func csvPhases(g *Group, add func(...string)) {
	eachPhase(g, add, func(ph *Phase, add func(...string)) {
		size, accepted := "", ""
		if ph.Planned > 0 {
			size = whole(ph.Planned)
		}
		if ph.Kind == recipe.PhaseHarness {
			accepted = string(ph.Harness)
		}
		window := []string{"", "", ""}
		if w := ph.Window; w != nil {
			window = []string{num(w.Mean), num(w.Best), whole(w.BestAt)}
		}
		add(slices.Concat([]string{
			whole(ph.Cycle), cell(ph.Kind), yes(ph.Done), cell(ph.End), size, whole(ph.Made), optional(ph.Incoming), optional(ph.Accepted), cell(accepted),
			cell(string(ph.Harness)), cell(string(ph.Weights)),
		}, window, []string{cell(ph.Why)})...)
	})
}

func csvSessions(g *Group, add func(...string)) {
	eachPhase(g, add, func(ph *Phase, add func(...string)) {
		for _, s := range ph.Sessions {
			evaluated := 0
			for _, c := range s.Candidates {
				if c.Status == string(metaharness.StatusEvaluated) {
					evaluated++
				}
			}
			add(whole(s.Session), whole(len(s.Candidates)), whole(evaluated), optional(s.Best),
				whole(s.Cost.PromptTokens), whole(s.Cost.SampledTokens), num(s.Cost.USD), num(s.Cost.Seconds), cell(s.Error))
		}
	})
}

func csvSearch(g *Group, add func(...string)) {
	eachPhase(g, add, func(ph *Phase, add func(...string)) {
		row := func(session string, c Candidate, best *float64) {
			var episodes [4]string
			if c.Score != nil {
				episodes = [4]string{whole(c.Examples), whole(c.Passed), whole(c.Failed), whole(c.SampledTokens)}
			} else if c.Examples > 0 { // stopped on the way
				episodes[0], episodes[1] = whole(c.Examples), whole(c.Passed)
			}
			add(session, cell(c.Name), cell(string(c.ID)), cell(c.Status), cell(c.Gate), cell(c.Reason), optional(c.Score), optional(best),
				episodes[0], episodes[1], episodes[2], episodes[3], cell(c.Hypothesis))
		}
		for _, c := range ph.RunnersUp { // before the first session
			row("", c, nil)
		}
		for _, s := range ph.Sessions {
			for _, c := range s.Candidates {
				row(whole(s.Session), c, s.Best)
			}
		}
	})
}

// pairedCells are the columns of one paired test, empty where there was none.
func pairedCells(t *metaharness.PairedTest) []string {
	if t == nil {
		return []string{"", "", "", "", ""}
	}
	return []string{whole(t.Wins), whole(t.Losses), num(t.Difference), num(t.P), yes(t.Better)}
}

func csvChoices(g *Group, add func(...string)) {
	eachPhase(g, add, func(ph *Phase, add func(...string)) {
		for i, c := range ph.Choices {
			row := func(challenger string, t *metaharness.PairedTest) {
				add(slices.Concat([]string{whole(i + 1), cell(c.Test), num(c.Level), cell(string(c.Incumbent)), cell(challenger)}, pairedCells(t), []string{cell(string(c.Accepted))})...)
			}
			for k := range c.Tests {
				row(string(c.Tests[k].Challenger), &c.Tests[k])
			}
			if len(c.Tests) == 0 {
				row("", nil)
			}
		}
	})
}

func csvConfirmation(g *Group, add func(...string)) {
	eachPhase(g, add, func(ph *Phase, add func(...string)) {
		c := ph.Confirmation
		if c == nil {
			return
		}
		level := ""
		if c.Test != "" {
			level = num(c.Level)
		}
		for i, p := range c.Programs {
			mean := num(p.Mean)
			if p.Missing != "" { // it has no fresh score
				mean = ""
			}
			add(slices.Concat([]string{
				whole(c.Draws), cell(string(p.ID)), yes(i == 0), whole(p.Episodes), whole(p.Passed), mean, whole(p.SampledTokens), cell(p.Missing), cell(c.Test), level,
			}, pairedCells(p.Test), []string{yes(p.ID == c.Accepted)})...)
		}
	})
}

func csvRejections(g *Group, add func(...string)) {
	eachRun(g, add, func(r *Run, add func(...string)) {
		for _, gate := range slices.Sorted(maps.Keys(r.Tried.Rejected)) {
			add(cell(gate), whole(r.Tried.Rejected[gate]))
		}
	})
}

func csvHalves(g *Group, add func(...string)) {
	eachRun(g, add, func(r *Run, add func(...string)) {
		for _, h := range r.Halves {
			row := []string{whole(h.Cycle)}
			for i, v := range []float64{h.Old, h.Weight, h.Harness, h.New} {
				row = append(row, num(v))
				row = append(row, boundsCells(h.Intervals, i)...)
			}
			add(row...)
		}
	})
}

func csvMatrix(g *Group, add func(...string)) {
	eachRun(g, add, func(r *Run, add func(...string)) {
		for _, m := range r.Matrix {
			for a, row := range m.Cells {
				for b, v := range row {
					if a < len(m.Harness) && b < len(m.Weights) {
						add(slices.Concat([]string{cell(m.Split), whole(m.Draws), cell(m.Harness[a]), cell(m.Weights[b]), num(v)}, boundsCells(m.Intervals[a], b))...)
					}
				}
			}
		}
	})
}

// boundsCells are the low and the high end of one interval of several, empty where it is not there.
func boundsCells(of []Bounds, i int) []string {
	if i >= len(of) {
		return []string{"", ""}
	}
	return []string{num(of[i].Low), num(of[i].High)}
}
