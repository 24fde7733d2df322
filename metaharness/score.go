package metaharness

import (
	"cmp"
	"fmt"
	"slices"

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
		if err := r.ours(h, i, o); err != nil {
			return s, "", err
		}
		if !o.Complete() {
			if errors++; first == "" {
				first = o.Error
			}
			continue
		}
		s.Passed += pass(o)
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

// ours checks that a rollout is of the phase's weights, of the harness, and of the example at a place in example order.
func (r *run) ours(h whale.Harness, example int, o *whale.Rollout) error {
	switch {
	case o.Key.Weights != r.phase.Weights.ID:
		return fmt.Errorf("evaluation: rollout %d: got weights %s, want %s", example+1, o.Key.Weights.Short(), r.phase.Weights.ID.Short())
	case o.Key.Harness != h.ID():
		return fmt.Errorf("evaluation: rollout %d: got harness %s, want %s", example+1, o.Key.Harness.Short(), h.ID().Short())
	case o.Key.Example != r.examples[example]:
		return fmt.Errorf("evaluation: rollout %d: got another example than the incoming harness met", example+1)
	}
	return nil
}

// pass is 1 for a complete rollout with reward 1; rewards are 0 or 1.
func pass(o *whale.Rollout) int {
	if o.Complete() && o.Reward() > 0.5 {
		return 1
	}
	return 0
}

func passesOf(rollouts []whale.Rollout) []int {
	out := make([]int, len(rollouts))
	for i := range rollouts {
		out[i] = pass(&rollouts[i])
	}
	return out
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

// ranked gives the entries with a complete score: the accepted one first, then the others in the order in which they would be accepted.
func ranked(entries []Entry, accepted int) []Entry {
	at := order(entries, accepted)
	out := make([]Entry, len(at))
	for i, at := range at {
		out[i] = entries[at]
	}
	return out
}

// order gives the indices of the entries with a complete score: one of them first (-1: none), then by score, sampled tokens and age.
func order(entries []Entry, first int) []int {
	var at []int
	for i := range entries {
		if entries[i].Status == StatusEvaluated && entries[i].Score != nil {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int {
		x, y := entries[a].Score, entries[b].Score
		return cmp.Or(compareFirst(a == first, b == first), cmp.Compare(y.Passed, x.Passed), cmp.Compare(x.SampledTokens, y.SampledTokens))
	})
	return at
}

// compareFirst puts what holds before what does not.
func compareFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
