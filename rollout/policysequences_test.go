package rollout

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale"
)

// TestPolicySequences plays random prompts: tokens and weights are those of Sequences, and each target keeps the log-probability that it was
// sampled with.
func TestPolicySequences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e whale.Episode
		next := float32(0)
		for range rapid.IntRange(1, 6).Draw(t, "calls") {
			prompt := rapid.SliceOfN(rapid.Int32Range(0, 1), 1, 2).Draw(t, "prompt")
			if n := len(e.Calls); n > 0 && rapid.Bool().Draw(t, "extends") {
				c := e.Calls[rapid.IntRange(0, n-1).Draw(t, "call")].Completion
				prompt = slices.Concat(c.Prompt, c.Tokens, prompt)
			}
			c := whale.Completion{Prompt: prompt, Tokens: rapid.SliceOfN(rapid.Int32Range(0, 1), 1, 3).Draw(t, "sampled")}
			for range c.Tokens {
				next--
				c.LogProbs = append(c.LogProbs, next)
			}
			e.Calls = append(e.Calls, whale.ModelCall{Completion: c})
		}
		plain := Sequences(&e)
		got, err := PolicySequences(&e)
		if err != nil || len(got) != len(plain) {
			t.Fatalf("got %d sequences, %v, want %d", len(got), err, len(plain))
		}
		var kept []float32
		for i, s := range got {
			if !reflect.DeepEqual(s.Tokens, plain[i].Tokens) || !reflect.DeepEqual(s.Weights, plain[i].Weights) || len(s.LogProbs) != len(s.Tokens) {
				t.Fatalf("sequence %d: got %+v, want %+v with log-probabilities", i, s, plain[i])
			}
			for k, w := range s.Weights {
				if w != 0 {
					kept = append(kept, s.LogProbs[k])
				} else if s.LogProbs[k] != 0 {
					t.Fatalf("sequence %d: context has the log-probability %g", i, s.LogProbs[k])
				}
			}
		}
		slices.Sort(kept)
		if len(kept) != -int(next) || kept[0] != next || len(slices.Compact(kept)) != -int(next) {
			t.Fatalf("got %d log-probabilities from %v, want each of %g once", len(kept), kept, -next)
		}
	})
	e := whale.Episode{Calls: []whale.ModelCall{
		{Completion: whale.Completion{Prompt: []int32{1}, Tokens: []int32{2}, LogProbs: []float32{-1}}},
		{Completion: whale.Completion{Prompt: []int32{1}, Tokens: []int32{2, 3}, LogProbs: []float32{-1}}},
	}}
	if _, err := PolicySequences(&e); err == nil || !strings.Contains(err.Error(), "model call 2: got 1 log-probabilities") {
		t.Errorf("got %v, want an error that names the call", err)
	}
}
