package rollout

import (
	"fmt"

	"github.com/seed-095d5d2b/whale"
)

// Sequences turns an episode into training sequences (design, invariant 3). A call whose prompt extends an earlier prompt and completion
// token for token is merged into that sequence; any other call forks a new one. Every sampled token is a target once; prompts,
// sampled ids that come back in a rewritten history included, are context. Weights are 1 for targets, 0 else.
func Sequences(e *whale.Episode) []whale.Sequence {
	var open []whale.Sequence
	for _, call := range e.Calls {
		s := place(&open, call.Completion.Prompt)
		for _, id := range call.Completion.Tokens {
			s.Tokens = append(s.Tokens, id)
			s.Weights = append(s.Weights, 1)
		}
	}
	return open
}

// PolicySequences are Sequences with the log-probability that each target had when it was sampled, of the full distribution at temperature 1;
// it is 0 for context. It is an error where a completion has none.
func PolicySequences(e *whale.Episode) ([]whale.Sequence, error) {
	var open []whale.Sequence
	for i, call := range e.Calls {
		c := call.Completion
		if len(c.LogProbs) != len(c.Tokens) {
			return nil, fmt.Errorf("model call %d: got %d log-probabilities, want one for each of %d sampled tokens", i+1, len(c.LogProbs), len(c.Tokens))
		}
		s := place(&open, c.Prompt)
		s.LogProbs = append(s.LogProbs, make([]float32, len(s.Tokens)-len(s.LogProbs))...)
		for k, id := range c.Tokens {
			s.Tokens = append(s.Tokens, id)
			s.Weights = append(s.Weights, 1)
			s.LogProbs = append(s.LogProbs, c.LogProbs[k])
		}
	}
	return open, nil
}

// place gives the sequence that a prompt extends, the longest if there are several, or a new one, with the prompt laid out as context.
func place(open *[]whale.Sequence, prompt []int32) *whale.Sequence {
	best := -1
	for i, s := range *open {
		if isPrefix(s.Tokens, prompt) && (best < 0 || len(s.Tokens) > len((*open)[best].Tokens)) {
			best = i
		}
	}
	if best < 0 {
		*open = append(*open, whale.Sequence{})
		best = len(*open) - 1
	}
	s := &(*open)[best]
	s.Tokens = append(s.Tokens, prompt[len(s.Tokens):]...)
	s.Weights = append(s.Weights, make([]float32, len(s.Tokens)-len(s.Weights))...)
	return s
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
