package report

import (
	"testing"

	"github.com/seed-095d5d2b/whale/recipe"
)

// TestBestAlongTheRun: what one draw an example chose on the curve counts as it is measured anew, and never less than another pair of the run.
func TestBestAlongTheRun(t *testing.T) {
	all := func(reward float64) [][]float64 { return [][]float64{{reward}, {reward}, {reward}, {reward}} }
	for _, tc := range []struct {
		name                                 string
		start, final, validation, curve      float64
		want                                 float64
		at                                   string
		noCurve, noFinal, noValidation, none bool
	}{
		{name: "the curve's choice", start: 0.1, final: 0.5, validation: 0.4, curve: 0.75, want: 0.75, at: "0-weight"},
		{name: "the final pair", start: 0.1, final: 0.5, validation: 0.4, curve: 0.25, want: 0.5, at: "1-harness"},
		{name: "the choice of validation", start: 0.1, final: 0.5, validation: 0.75, curve: 0.25, want: 0.75, at: "0-weight"},
		{name: "nothing helped", start: 0.5, final: 0.25, validation: 0.25, curve: 0.1, want: 0.5, at: "start"},
		{name: "a tie is the curve's", start: 0.1, final: 0.5, validation: 0.5, curve: 0.5, want: 0.5, at: "0-weight"},
		{name: "no validation", start: 0.1, final: 0.5, curve: 0.25, want: 0.5, at: "1-harness", noValidation: true},
		{name: "no curve", start: 0.1, final: 0.5, noCurve: true, none: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			st := fake{method: recipe.MethodWhale, seed: 1, gain: 0.5, cycles: 1, examples: 4, draws: 1, steps: 1, sessions: 1}.story()
			st.Final = nil
			for _, p := range []struct {
				name, at string
				mean     float64
				skip     bool
			}{
				{recipe.PairStart, "", tc.start, false}, {recipe.PairFinal, "", tc.final, false},
				{recipe.PairBestValidation, "0-weight", tc.validation, tc.noValidation}, {recipe.PairBestTest, "0-weight", tc.curve, tc.noCurve},
			} {
				if !p.skip {
					st.Final = append(st.Final, recipe.Pair{Name: p.name, At: p.at, Weights: id("θ", p.name), Result: recipe.Result{Examples: 4, Draws: 1, Mean: p.mean, Rewards: all(p.mean)}})
				}
			}
			g := &build(t, []*recipe.Story{st}).Groups[0]
			row, ok := g.find(recipe.MethodWhale, RowBest)
			if tc.none {
				if ok {
					t.Errorf("got the row %+v, want none without a curve", row)
				}
				return
			}
			if !ok || !near(row.Mean, tc.want) || !near(row.Seeds[0].Value, tc.want) {
				t.Fatalf("got the row %+v, want %v", row, tc.want)
			}
			p, _ := g.Runs[0].pair(RowBest)
			if p.At != tc.at || !near(p.Examples[0], tc.want) {
				t.Errorf("got the pair %+v, want that of %s", p, tc.at)
			}
			if c, ok := g.Runs[0].pair(RowCurve); !ok || c.Mean != tc.curve || c.Weights != id("θ", recipe.PairBestTest) {
				t.Errorf("the curve's own choice: got %+v, want it kept", c)
			}
		})
	}
}

// TestBestIsBest: in reports of any runs no pair of an arm that stood along its runs is above the best one.
func TestBestIsBest(t *testing.T) {
	g := &build(t, small()).Groups[0]
	for _, a := range g.Arms {
		best, ok := g.find(a.Label, RowBest)
		if !ok {
			t.Fatalf("%s: no best row", a.Label)
		}
		for _, kind := range []string{RowFinal, RowValidation} {
			if row, _ := g.find(a.Label, kind); row.Mean > best.Mean+1e-12 {
				t.Errorf("%s: %s has %v, above the best, %v", a.Label, kind, row.Mean, best.Mean)
			}
		}
	}
}
