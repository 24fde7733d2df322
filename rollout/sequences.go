package rollout

import "github.com/seed-095d5d2b/whale"

// Sequences turns an episode into training sequences (design, invariant 3). A call whose prompt extends an earlier prompt and completion
// token for token is merged into that sequence; any other call forks a new one. Every sampled token is a target once; prompts,
// sampled ids that come back in a rewritten history included, are context. Weights are 1 for targets, 0 else.
func Sequences(e *whale.Episode) []whale.Sequence {
	var open []whale.Sequence
	for _, call := range e.Calls {
		c := call.Completion
		best := -1
		for i, s := range open {
			if isPrefix(s.Tokens, c.Prompt) && (best < 0 || len(s.Tokens) > len(open[best].Tokens)) {
				best = i
			}
		}
		if best < 0 {
			open = append(open, whale.Sequence{})
			best = len(open) - 1
		}
		s := &open[best]
		s.Tokens = append(s.Tokens, c.Prompt[len(s.Tokens):]...)
		s.Weights = append(s.Weights, make([]float32, len(s.Tokens)-len(s.Weights))...)
		for _, id := range c.Tokens {
			s.Tokens = append(s.Tokens, id)
			s.Weights = append(s.Weights, 1)
		}
	}
	return open
}

func isPrefix(a, b []int32) bool {
	if len(a) > len(b) {
		return false
	}
	for i, x := range a {
		if b[i] != x {
			return false
		}
	}
	return true
}
