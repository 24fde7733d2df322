package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/seed-095d5d2b/whale/recipe"
)

// This file has the tables as rows of text, which the terminal and the page share; the first row is the head.

// rowTitle is what a row of the table is called.
func rowTitle(kind string) string {
	switch kind {
	case RowBase:
		return "(θ0,h0), base"
	case RowFinal:
		return "(θK,hK), final"
	case RowBest:
		return "best along the run, chosen on test"
	case RowValidation:
		return "chosen on validation"
	}
	return kind
}

// summaryRows is the table of methods: what a run ends with, and what is chosen along it.
func (g *Group) summaryRows() [][]string {
	kinds := []string{RowFinal, RowValidation, RowBest}
	head := []string{"method", "seeds"}
	for _, k := range kinds {
		head = append(head, rowTitle(k))
	}
	rows := [][]string{head}
	at := map[string]int{} // arm → row
	for _, r := range g.Table {
		switch {
		case r.Kind == RowBase:
			rows = append(rows, []string{printable(rowName(r)), overWhat(len(r.Seeds)), estimate(r), "", ""})
		case slices.Contains(kinds, r.Kind):
			i, ok := at[r.Arm]
			if !ok {
				i = len(rows)
				at[r.Arm] = i
				rows = append(rows, []string{printable(r.Arm), overWhat(len(r.Seeds)), "", "", ""})
			}
			rows[i][2+slices.Index(kinds, r.Kind)] = estimate(r)
		}
	}
	return dropEmpty(rows)
}

// dropEmpty leaves out columns that have nothing below their head.
func dropEmpty(rows [][]string) [][]string {
	if len(rows) < 2 {
		return rows
	}
	var keep []int
	for c := range rows[0] {
		if slices.ContainsFunc(rows[1:], func(row []string) bool { return row[c] != "" }) {
			keep = append(keep, c)
		}
	}
	out := make([][]string, len(rows))
	for i, row := range rows {
		for _, c := range keep {
			out[i] = append(out[i], row[c])
		}
	}
	return out
}

func estimate(r Row) string { return percent(r.Mean) + " " + interval(r.Low, r.High, percent) }

// pairRows are the halves of the final pair, each with the other at its start.
func (g *Group) pairRows() [][]string {
	rows := [][]string{{"method", "pair", "mean@k, %", "95% interval", "seeds", "by seed"}}
	for _, r := range g.Table {
		if r.Kind == RowWeights || r.Kind == RowHarness {
			rows = append(rows, tableRow(r))
		}
	}
	return rows
}

// tableRows is every row of the table, with the values of the seeds.
func (g *Group) tableRows() [][]string {
	rows := [][]string{{"method", "pair", "mean@k, %", "95% interval", "seeds", "by seed"}}
	for _, r := range g.Table {
		rows = append(rows, tableRow(r))
	}
	return rows
}

func tableRow(r Row) []string {
	arm := r.Arm
	if arm == "" {
		arm = "base"
	}
	return []string{printable(arm), rowTitle(r.Kind), percent(r.Mean), interval(r.Low, r.High, percent), overWhat(len(r.Seeds)), seedList(r.Seeds, percent)}
}

func (g *Group) differenceRows() [][]string {
	rows := [][]string{{"pair", "difference", "points", "95% interval", "p", "seeds", "by seed"}}
	for _, d := range g.Differences {
		rows = append(rows, []string{rowTitle(d.Kind), printable(d.First + " − " + d.Second), points(d.Mean), interval(d.Low, d.High, points), pValue(d.P), overWhat(len(d.Seeds)), seedList(d.Seeds, points)})
	}
	return rows
}

func (g *Group) passingRows() [][]string {
	rows := [][]string{{"method", "reaches the final accuracy of", "level", "after rollouts", "share of that method's", "seeds that reach it", "by seed"}}
	for _, p := range g.Passing {
		if !g.worthPassing(p.Of) {
			continue
		}
		after, share := "never", "-"
		if p.Rollouts != nil {
			after, share = fmt.Sprintf("%.0f", *p.Rollouts), fmt.Sprintf("%s%%", percent(*p.Share))
		}
		own := make([]string, len(p.BySeed))
		for i, s := range p.BySeed {
			own[i] = fmt.Sprintf("%d: never", s.Seed)
			if s.Rollouts != nil {
				own[i] = fmt.Sprintf("%d: %.0f", s.Seed, *s.Rollouts)
			}
		}
		rows = append(rows, []string{printable(p.Arm), printable(p.Of), percent(p.Level) + "%", after, share, fmt.Sprintf("%d of %d", p.Reached, p.Seeds), strings.Join(own, ", ")})
	}
	return rows
}

// worthPassing says whether tables show who reaches an arm's final accuracy: that of the methods without turns, which the paper asks for, or
// of any where there are none of these.
func (g *Group) worthPassing(label string) bool {
	plain := func(a Arm) bool {
		return a.Method == recipe.MethodWeightOnly || a.Method == recipe.MethodHarnessOnly || a.Method == recipe.MethodStagewise
	}
	return !slices.ContainsFunc(g.Arms, plain) || slices.ContainsFunc(g.Arms, func(a Arm) bool { return a.Label == label && plain(a) })
}

// levelsOf names the arms whose final accuracy the table shows.
func (g *Group) levelsOf() string {
	var labels []string
	for _, p := range g.Passing {
		if g.worthPassing(p.Of) && !slices.Contains(labels, p.Of) {
			labels = append(labels, p.Of)
		}
	}
	return english.OxfordWordSeries(labels, "and")
}

// ledgerColumns are the counters that the tables show.
var ledgerColumns = []struct{ key, name, format string }{
	{"rollouts", "rollouts", "%.0f"}, {"shared", "of them shared", "%.0f"}, {"sessions", "sessions", "%.0f"}, {"model_calls", "model calls", "%.0f"}, {"tool_calls", "tool calls", "%.0f"},
	{"prompt_tokens", "prompt tokens", "%.0f"}, {"sampled_tokens", "sampled tokens", "%.0f"}, {"retries", "retries", "%.0f"}, {"seconds", "seconds", "%.1f"}, {"usd", "USD", "%.2f"},
}

func (g *Group) ledgerRows() [][]string {
	head := []string{"method", "purpose"}
	for _, c := range ledgerColumns {
		head = append(head, c.name)
	}
	rows := [][]string{head}
	for _, a := range g.Arms {
		total := map[string]float64{}
		for _, purpose := range slices.Sorted(maps.Keys(a.Ledger)) {
			rows = append(rows, ledgerRow(a.Label, purpose, a.Ledger[purpose]))
			for k, v := range a.Ledger[purpose] {
				total[k] += v
			}
		}
		if len(total) > 0 {
			rows = append(rows, ledgerRow(a.Label, "total", total))
		}
	}
	return rows
}

func ledgerRow(label, purpose string, counters map[string]float64) []string {
	row := []string{printable(label), plain(purpose, 40)}
	for _, c := range ledgerColumns {
		v := fmt.Sprintf(c.format, counters[c.key])
		if c.key == "seconds" && counters[c.key] == 0 { // its time is within another purpose's, or nobody measured it
			v = "-"
		}
		row = append(row, v)
	}
	return row
}

func (g *Group) metricRows() [][]string {
	rows := [][]string{{"method", "measure", "start", "end"}}
	for _, a := range g.Arms {
		keys := map[string]bool{}
		for k := range a.Start {
			keys[k] = true
		}
		for k := range a.End {
			keys[k] = true
		}
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			rows = append(rows, []string{printable(a.Label), plain(k, 40), metric(a.Start, k), metric(a.End, k)})
		}
	}
	return rows
}

func metric(m map[string]float64, k string) string {
	v, ok := m[k]
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.3f", v)
}

func (g *Group) halvesRows() [][]string {
	rows := [][]string{{"method", "cycle", "old θ, old h", "new θ, old h", "old θ, new h", "new θ, new h", "seeds"}}
	for _, a := range g.Arms {
		for _, h := range a.Halves {
			rows = append(rows, []string{printable(a.Label), fmt.Sprint(h.Cycle), percent(h.Old) + "%", percent(h.Weight) + "%", percent(h.Harness) + "%", percent(h.New) + "%", fmt.Sprint(h.Seeds)})
		}
	}
	return rows
}

// triedRows say how much of the budget really tried something.
func (g *Group) triedRows() [][]string {
	rows := [][]string{{"method", "seed", "sessions", "of them failed", "proposed", "evaluated", "rejected", "stopped early", "not scored", "phases that accepted another", "steps", "with nothing to learn from"}}
	for _, r := range g.Runs {
		t := r.Tried
		var gates []string
		rejected := 0
		for _, gate := range slices.Sorted(maps.Keys(t.Rejected)) {
			rejected += t.Rejected[gate]
			gates = append(gates, fmt.Sprintf("%s %d", plain(gate, 30), t.Rejected[gate]))
		}
		why := fmt.Sprint(rejected)
		if len(gates) > 0 {
			why += " (" + strings.Join(gates, ", ") + ")"
		}
		rows = append(rows, []string{
			printable(r.Arm), fmt.Sprint(r.Seed), fmt.Sprint(t.Sessions), fmt.Sprint(t.FailedSessions), fmt.Sprint(t.Proposed), fmt.Sprint(t.Evaluated), why,
			fmt.Sprint(t.Stopped), fmt.Sprint(t.Incomplete), fmt.Sprintf("%d of %d", t.Accepted, t.Phases), fmt.Sprint(t.Steps), fmt.Sprint(t.EmptySteps),
		})
	}
	return rows
}

func (g *Group) runRows() [][]string {
	rows := [][]string{{"method", "seed", "state", "steps", "sessions", "phases", "build", "kernels", "folder"}}
	for _, r := range g.Runs {
		state := "finished"
		if !r.Finished {
			state = r.Unfinished
		}
		sessions := 0
		for _, ph := range r.Phases {
			sessions += len(ph.Sessions)
		}
		rows = append(rows, []string{printable(r.Arm), fmt.Sprint(r.Seed), printable(state), fmt.Sprint(len(r.Steps)), fmt.Sprint(sessions), fmt.Sprint(len(r.Phases)), made(r.Build), made(r.Kernels), printable(r.Dir)})
	}
	return rows
}
