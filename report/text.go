package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize/english"
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
	e.printf("Task %s (%s), %s\n", plain(g.Task, 40), printable(g.ID.Short()), english.Plural(len(g.Runs), "run", ""))
	for _, n := range g.Notes {
		e.printf("note: %s\n", printable(n))
	}
	if len(g.Table) > 0 {
		e.printf("\nTest accuracy in percent, %s over %s, with 95%% intervals over seeds and examples (%d resamples)\n\n", g.meanAt(), english.Plural(g.Examples, "example", ""), resamples)
		e.table(g.summaryRows())
		if slices.ContainsFunc(g.Table, func(r Row) bool { return r.Kind == RowBest }) {
			e.printf("\nbest along the run: of each run the best pair along it by %s, chosen on the numbers that are reported here; it flatters\n", g.meanAt())
		}
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
		e.printf("\nTraining rollouts until the mean curve reaches another method's final accuracy, and until each seed's own does; levels of %s, all in passing.csv\n\n", printable(g.levelsOf()))
		e.table(rows)
	}
	if rows := g.halvesRows(); len(rows) > 1 {
		e.printf("\nWhat each half of a cycle brought: accuracy on the search split, one new draw an example, mean over seeds\n\n")
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
