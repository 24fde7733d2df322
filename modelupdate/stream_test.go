package modelupdate

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestStreamIsPersistent cuts the stream into phases at any place: the pieces are the whole, and every epoch is a permutation.
func TestStreamIsPersistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Stream{N: rapid.IntRange(1, 20).Draw(t, "n"), Seed: rapid.Uint64().Draw(t, "seed")}
		total := rapid.IntRange(1, 100).Draw(t, "total")
		whole := s.At(0, total)
		cut := rapid.IntRange(0, total).Draw(t, "cut")
		if parts := append(s.At(0, cut), s.At(cut, total-cut)...); !reflect.DeepEqual(parts, whole) {
			t.Fatalf("cut at %d: got %v, want %v", cut, parts, whole)
		}
		seen := map[Visit]bool{}
		for i, v := range whole {
			if v.Epoch != i/s.N || seen[v] {
				t.Fatalf("position %d: got %+v again or in the wrong epoch", i, v)
			}
			seen[v] = true
		}
	})
}

func TestStreamReshuffles(t *testing.T) {
	s := Stream{N: 50, Seed: 3}
	order := func(s Stream, epoch int) (out []int) {
		for _, v := range s.At(epoch*s.N, s.N) {
			out = append(out, v.Example)
		}
		return out
	}
	if reflect.DeepEqual(order(s, 0), order(s, 1)) || reflect.DeepEqual(order(s, 0), order(Stream{N: 50, Seed: 4}, 0)) {
		t.Error("two epochs or two seeds have one order")
	}
}

// TestPhaseEndsDoNotDrift: the paper's E = 0.6 of 74.008 steps, ten phases on.
func TestPhaseEndsDoNotDrift(t *testing.T) {
	for k := range 10 {
		exact := float64(k+1) * 0.6 * 18946 / 256
		if got := PhaseEnd(k, 0.6, 18946, 256); math.Abs(float64(got)-exact) > 0.5 {
			t.Errorf("phase %d ends at %d, exact %.2f", k, got, exact)
		}
	}
}
