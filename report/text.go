package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/seed-095d5d2b/whale/recipe"
)

// WriteText writes the report's tables for a terminal.
func (r *Report) WriteText(w io.Writer) error {
	e := &textWriter{w: w}
	for i := range r.Groups {
		if i > 0 {
			e.printf("\n")
		}
		e.group(&r.Groups[i], r.Resamples)
	}
	return e.err
}

// textWriter keeps the first error.
type textWriter struct {
	w   io.Writer
	err error
}

func (e *textWriter) printf(format string, args ...any) {
	if e.err == nil {
		_, e.err = fmt.Fprintf(e.w, format, args...)
	}
}

// table writes rows in columns, the first row being the head.
func (e *textWriter) table(rows [][]string) {
	if e.err != nil {
		return
	}
	w := tabwriter.NewWriter(e.w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		if _, e.err = fmt.Fprintln(w, strings.Join(row, "\t")); e.err != nil {
			return
		}
	}
	e.err = w.Flush()
}

func (e *textWriter) group(g *Group, resamples int) {
	e.printf("Task %s (%s), %s\n", plain(g.Task, 40), printable(g.ID.Short()), some(len(g.Runs), "run"))
	for _, n := range g.Notes {
		e.printf("note: %s\n", printable(n))
	}
	if len(g.Table) > 0 {
		e.printf("\nTest accuracy in percent, %s over %s, with 95%% intervals over seeds and examples (%d resamples)\n\n", g.meanAt(), some(g.Examples, "example"), resamples)
		e.table(g.summaryRows())
		if g.Chance != nil {
			e.printf("\nanswering at random solves %s%%\n", percent(*g.Chance))
		}
	}
	if len(g.Differences) > 0 {
		e.printf("\nDifferences to %s in points, paired by seed and example; p two-sided, not corrected for their number\n\n", printable(g.Reference))
		e.table(g.differenceRows())
	}
	if rows := g.pairRows(); len(rows) > 1 {
		e.printf("\nEach half of the final pair alone\n\n")
		e.table(rows)
	}
	if rows := g.passingRows(); len(rows) > 1 {
		e.printf("\nTraining rollouts until the mean curve reaches another method's final accuracy\n\n")
		e.table(rows)
	}
	if rows := g.ledgerRows(); len(rows) > 1 {
		e.printf("\nSpent, mean of a finished run\n\n")
		e.table(rows)
	}
	if rows := g.metricRows(); len(rows) > 1 {
		e.printf("\nBehaviour on the test split, (θ0,h0) → (θK,hK)\n\n")
		e.table(rows)
	}
	e.printf("\nRuns\n\n")
	e.table(g.runRows())
	e.printf("\nTried\n\n")
	e.table(g.triedRows())
}

// meanAt is the measure by its name: mean@8.
func (g *Group) meanAt() string {
	draws := map[int]bool{}
	for _, r := range g.Table {
		draws[r.Draws] = true
	}
	if len(draws) == 1 {
		return fmt.Sprintf("mean@%d", g.Table[0].Draws)
	}
	return "mean@k"
}

// some counts things: "1 step", "2 steps".
func some(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func percent(v float64) string { return fmt.Sprintf("%.1f", 100*v) }

// pValue is a p-value with as many digits as it is good for.
func pValue(p float64) string {
	if p < 0.001 {
		return fmt.Sprintf("%.4f", p)
	}
	return fmt.Sprintf("%.3f", p)
}

func interval(low, high float64, show func(float64) string) string {
	return "[" + show(low) + ", " + show(high) + "]"
}

func points(v float64) string { return signed(100*v, 1) }

// seedList names the values of seeds: "1: 48.3, 2: 50.1".
func seedList(seeds []SeedValue, show func(float64) string) string {
	parts := make([]string, len(seeds))
	for i, s := range seeds {
		parts[i] = fmt.Sprintf("%d: %s", s.Seed, show(s.Value))
	}
	return strings.Join(parts, ", ")
}

// overWhat says what an interval is over.
func overWhat(seeds int) string {
	if seeds == 1 {
		return "1 (examples alone)"
	}
	return fmt.Sprint(seeds)
}

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

// The rows of the tables, for text and HTML; the first is the head.

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
	rows := [][]string{{"method", "reaches the final accuracy of", "level", "after rollouts", "share of that method's", "seeds that reach it"}}
	for _, p := range g.Passing {
		if !g.worthPassing(p.Of) {
			continue
		}
		after, share := "never", "-"
		if p.Rollouts != nil {
			after, share = fmt.Sprintf("%.0f", *p.Rollouts), fmt.Sprintf("%s%%", percent(*p.Share))
		}
		rows = append(rows, []string{printable(p.Arm), printable(p.Of), percent(p.Level) + "%", after, share, fmt.Sprintf("%d of %d", p.Reached, p.Seeds)})
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

// ledgerColumns are the counters that the tables show.
var ledgerColumns = []struct{ key, name, format string }{
	{"rollouts", "rollouts", "%.0f"}, {"sessions", "sessions", "%.0f"}, {"model_calls", "model calls", "%.0f"}, {"tool_calls", "tool calls", "%.0f"},
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
		row = append(row, fmt.Sprintf(c.format, counters[c.key]))
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
	rows := [][]string{{"method", "seed", "sessions", "of them failed", "proposed", "evaluated", "rejected", "stopped early", "not scored", "phases that accepted another", "steps", "with nothing accepted"}}
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
	rows := [][]string{{"method", "seed", "state", "steps", "sessions", "phases", "folder"}}
	for _, r := range g.Runs {
		state := "finished"
		if !r.Finished {
			state = r.Unfinished
		}
		sessions := 0
		for _, ph := range r.Phases {
			sessions += len(ph.Sessions)
		}
		rows = append(rows, []string{printable(r.Arm), fmt.Sprint(r.Seed), printable(state), fmt.Sprint(len(r.Steps)), fmt.Sprint(sessions), fmt.Sprint(len(r.Phases)), printable(r.Dir)})
	}
	return rows
}
