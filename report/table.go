package report

import (
	"fmt"
	"slices"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/stats"
)

// resampleSeed seeds every resampling of a report, so that all comparisons of one size share their resamples, and no one can be repeated
// until it pleases.
const resampleSeed = 1

// rowKinds are the rows of an arm, in order.
var rowKinds = []string{RowFinal, RowValidation, RowBest, RowWeights, RowHarness}

// table fills the accuracies on the test split, with their intervals over seeds and examples.
func (g *Group) table() error {
	if err := g.baseRows(); err != nil {
		return err
	}
	for i := range g.Arms {
		for _, kind := range rowKinds {
			if err := g.row(g.Arms[i].Label, kind, g.runsOf(&g.Arms[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// baseRows adds one row for each pair that runs began with. Runs of one seed share it (the same rollouts by the same seeds), so a seed counts once.
func (g *Group) baseRows() error {
	type pair struct{ weights, harness whale.ID }
	var order []pair
	by := map[pair][]*Run{}
	for i := range g.Runs {
		r := &g.Runs[i]
		if !r.Finished {
			continue
		}
		k := pair{r.FirstWeights, r.FirstHarness}
		if by[k] == nil {
			order = append(order, k)
		}
		if !slices.ContainsFunc(by[k], func(o *Run) bool { return o.Seed == r.Seed }) {
			by[k] = append(by[k], r)
		}
	}
	for _, k := range order {
		label := ""
		if len(order) > 1 {
			label = fmt.Sprintf("θ0 %s, h0 %s", k.weights.Short(), k.harness.Short())
		}
		slices.SortFunc(by[k], func(a, b *Run) int { return compareSeeds(a.Seed, b.Seed) })
		if err := g.row(label, RowBase, by[k]); err != nil {
			return err
		}
	}
	return nil
}

// row adds a row over the runs that have the pair; none where no run has it.
func (g *Group) row(label, kind string, runs []*Run) error {
	row := Row{Arm: label, Kind: kind}
	var cells [][]float64
	for _, r := range runs {
		p, ok := r.pair(kind)
		if !ok {
			continue
		}
		cells = append(cells, p.Examples)
		row.Seeds = append(row.Seeds, SeedValue{r.Seed, p.Mean})
		if row.Draws == 0 || p.Draws < row.Draws {
			row.Draws = p.Draws
		}
	}
	if len(cells) == 0 {
		return nil
	}
	s, err := stats.SeedsMean(cells, resampleSeed)
	if err != nil {
		return fmt.Errorf("report: %s, %s: %w", label, kind, err)
	}
	row.Mean, row.Low, row.High, row.Examples = s.Mean, s.Low, s.High, s.Examples
	g.Table = append(g.Table, row)
	return nil
}

// differences compares the reference arm (whale, or the first with a finished seed) with every other, for the final pairs and for the
// paper's figure.
func (g *Group) differences() error {
	ref := -1
	for i, a := range g.Arms {
		if len(a.Seeds) > 0 {
			ref = i
			break
		}
	}
	if ref < 0 {
		return nil
	}
	g.Reference = g.Arms[ref].Label
	for _, kind := range []string{RowFinal, RowValidation, RowBest} {
		for i := range g.Arms {
			if i == ref {
				continue
			}
			if err := g.difference(kind, &g.Arms[ref], &g.Arms[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *Group) difference(kind string, first, second *Arm) error {
	d := Difference{Kind: kind, First: first.Label, Second: second.Label}
	var a, b [][]float64
	for _, r := range g.runsOf(first) {
		for _, o := range g.runsOf(second) {
			p, ok := r.pair(kind)
			q, too := o.pair(kind)
			if ok && too && r.Seed == o.Seed {
				a, b = append(a, p.Examples), append(b, q.Examples)
				d.Seeds = append(d.Seeds, SeedValue{Seed: r.Seed})
			}
		}
	}
	if len(a) == 0 {
		if len(second.Seeds) > 0 && kind == RowFinal {
			g.Notes = append(g.Notes, fmt.Sprintf("%s and %s have no finished seed in common and are not compared.", first.Label, second.Label))
		}
		return nil
	}
	s, err := stats.SeedsDifference(a, b, resampleSeed)
	if err != nil {
		return fmt.Errorf("report: %s against %s: %w", first.Label, second.Label, err)
	}
	d.Mean, d.Low, d.High, d.P, d.Examples = s.Mean, s.Low, s.High, s.P, s.Examples
	for i := range d.Seeds {
		d.Seeds[i].Value = s.BySeed[i]
	}
	g.Differences = append(g.Differences, d)
	return nil
}
