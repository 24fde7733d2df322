package stats

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestReachChance(t *testing.T) {
	for _, c := range []struct {
		passed, done, remaining, reach int
		want                           float64
	}{
		{0, 0, 4, 3, 2.0 / 5}, // nothing known: 0 to 4 passes are equally likely
		{3, 5, 0, 3, 1},
		{2, 5, 0, 3, 0},
		{5, 5, 3, 2, 1},
		{0, 8, 1, 1, 1.0 / 10}, // the rule of succession
		{8, 8, 1, 9, 9.0 / 10},
		{1, 8, 2, 4, 0},
	} {
		got, err := ReachChance(c.passed, c.done, c.remaining, c.reach)
		if err != nil || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d of %d passed, %d remain, reach %d: got %v, %v; want %v", c.passed, c.done, c.remaining, c.reach, got, err, c.want)
		}
	}
	for _, c := range [][3]int{{-1, 3, 2}, {4, 3, 2}, {1, 3, -1}} {
		if _, err := ReachChance(c[0], c[1], c[2], 3); err == nil || !strings.HasPrefix(err.Error(), "reach: got ") {
			t.Errorf("%v: got %v, want it refused", c, err)
		}
	}
}

// The chance falls with what is asked for, and rises with what was passed; it agrees with the integral over the unknown rate.
func TestReachChanceIsThePosterior(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		done := rapid.IntRange(0, 60).Draw(t, "done")
		passed := rapid.IntRange(0, done).Draw(t, "passed")
		remaining := rapid.IntRange(1, 40).Draw(t, "remaining")
		reach := passed + rapid.IntRange(0, remaining).Draw(t, "need")
		got, err := ReachChance(passed, done, remaining, reach)
		if err != nil {
			t.Fatal(err)
		}
		if more, _ := ReachChance(passed, done, remaining, reach+1); more > got+1e-12 {
			t.Fatalf("reach %d: %v, reach %d: %v", reach, got, reach+1, more)
		}
		const steps = 500
		sum, norm := 0.0, 0.0
		for i := range steps {
			p := (float64(i) + 0.5) / steps
			like := math.Exp(float64(passed)*math.Log(p) + float64(done-passed)*math.Log1p(-p) + peak(passed, done))
			norm += like
			sum += like * (1 - binomialCDF(reach-passed-1, remaining, p))
		}
		if want := sum / norm; math.Abs(got-want) > 5e-3 {
			t.Fatalf("%d of %d passed, %d remain, reach %d: got %v, the integral gives %v", passed, done, remaining, reach, got, want)
		}
	})
}

// peak scales a likelihood to 1 at its maximum.
func peak(passed, done int) float64 {
	out := 0.0
	for _, k := range []int{passed, done - passed} {
		if k > 0 {
			out -= float64(k) * math.Log(float64(k)/float64(done))
		}
	}
	return out
}
