package metaharness

import (
	"fmt"

	"github.com/seed-095d5d2b/whale"
)

// score sums up a complete evaluation. A set that is not complete has no score: missing says what it lacks. Rollouts of other
// weights, of another harness or of other examples are an error, because no score may be read from them.
func (r *run) score(h whale.Harness, rollouts []whale.Rollout) (s Score, missing string, err error) {
	if len(rollouts) == 0 || len(rollouts) != len(r.examples) {
		return s, "", fmt.Errorf("evaluation: got %d rollouts, want %d", len(rollouts), len(r.examples))
	}
	s = Score{Weights: r.phase.Weights.ID, Examples: len(rollouts)}
	errors, first := 0, ""
	for i := range rollouts {
		o := &rollouts[i]
		switch {
		case o.Key.Weights != s.Weights:
			return s, "", fmt.Errorf("evaluation: rollout %d: got weights %s, want %s", i+1, o.Key.Weights.Short(), s.Weights.Short())
		case o.Key.Harness != h.ID():
			return s, "", fmt.Errorf("evaluation: rollout %d: got harness %s, want %s", i+1, o.Key.Harness.Short(), h.ID().Short())
		case o.Key.Example != r.examples[i]:
			return s, "", fmt.Errorf("evaluation: rollout %d: got another example than the incoming harness met", i+1)
		case !o.Complete():
			if errors++; first == "" {
				first = o.Error
			}
			continue
		}
		if o.Reward() > 0.5 { // rewards are 0 or 1
			s.Passed++
		}
		if o.State == whale.StateFailed {
			s.Failed++
		}
		s.ModelCalls += o.Episode.Usage.ModelCalls
		s.ToolCalls += o.Episode.Usage.ToolCalls
		s.PromptTokens += o.Episode.Usage.PromptTokens
		s.SampledTokens += o.Episode.Usage.SampledTokens
	}
	if errors > 0 {
		return s, fmt.Sprintf("%d of %d episodes ended in an infrastructure error; the first: %s", errors, len(rollouts), first), nil
	}
	s.Mean = float64(s.Passed) / float64(s.Examples)
	return s, "", nil
}

// best gives the index of the entry to accept: highest complete score; on a tie fewer sampled tokens, then the incumbent, then the
// earlier (design, section 7). Entries without a score are never ranked. It is -1 where none has one.
func best(entries []Entry, incumbent int) int {
	top := -1
	for i := range entries {
		if entries[i].Status != StatusEvaluated || entries[i].Score == nil {
			continue
		}
		if top < 0 || beats(entries, i, top, incumbent) {
			top = i
		}
	}
	return top
}

// beats says whether entry i goes before entry top, where top is the earlier one.
func beats(entries []Entry, i, top, incumbent int) bool {
	a, b := entries[i].Score, entries[top].Score
	switch {
	case a.Passed != b.Passed:
		return a.Passed > b.Passed
	case a.SampledTokens != b.SampledTokens:
		return a.SampledTokens < b.SampledTokens
	default:
		return i == incumbent
	}
}
