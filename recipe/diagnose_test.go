package recipe

import (
	"testing"

	"github.com/seed-095d5d2b/whale"
)

// TestNothingChangedIsNoGain: where a half came back with what it was given, its gain is exactly 0; where it came back with something else that does
// the same on every example, it is not known to be.
func TestNothingChangedIsNoGain(t *testing.T) {
	rewards := [][]float64{{0, 1}, {1, 1}, {0, 0}, {1, 0}}
	pair := func(name string, weights, harness whale.ID) Pair {
		return Pair{Name: name, Weights: weights, Harness: harness, Result: Result{Examples: 4, Draws: 2, Rewards: rewards}}
	}
	weigh := func(trained, found, alone whale.ID) Diagnosis {
		t.Helper()
		d, err := weighHalves(
			&Story{Final: []Pair{pair(PairStart, "w0", "h0"), pair(PairWeights, trained, "h0"), pair(PairFinal, trained, found)}},
			&Story{Final: []Pair{pair(PairStart, "w0", "h0"), pair(PairFinal, "w0", alone)}},
		)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	none := Estimate{}
	for _, tc := range []struct {
		name                                 string
		trained, found, alone                whale.ID
		harness, weights, after, both, apart bool // which are exactly 0
	}{
		{"nothing moved", "w0", "h0", "h0", true, true, true, true, true},
		{"weights alone moved", "w1", "h0", "h0", true, false, true, false, false},
		{"the first search alone moved", "w0", "h0", "h1", false, true, true, true, false},
		{"the second search alone moved", "w1", "h1", "h0", true, false, false, false, false},
		{"all moved", "w1", "h1", "h1", false, false, false, false, false},
	} {
		d := weigh(tc.trained, tc.found, tc.alone)
		for what, got := range map[string][2]any{
			"harness": {d.Harness, tc.harness}, "weights": {d.Weights, tc.weights}, "after": {d.After, tc.after}, "both": {d.Both, tc.both}, "between": {d.Between, tc.apart},
		} {
			e := got[0].(Estimate)
			if e.Mean != 0 || (e == none) != got[1].(bool) {
				t.Errorf("%s, %s: got %v, want an interval of no width: %v", tc.name, what, e, got[1])
			}
		}
		if d.Verdict != LimitedUnknown {
			t.Errorf("%s: got the verdict %q", tc.name, d.Verdict)
		}
	}
}
