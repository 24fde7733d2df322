package metaharness

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/stats"
)

const (
	minBlock = 8 // examples between two looks at a candidate's chance
	blocks   = 8 // of an evaluation, at most
)

// Block is how many of a number of examples racing runs between two looks.
func Block(examples int) int { return max(minBlock, examples/blocks) }

// evaluate runs a candidate on all examples, or gives it up on the way: then stopped says what was seen.
func (r *run) evaluate(ctx context.Context, h whale.Harness, reach int) (rollouts []whale.Rollout, stopped *Partial, err error) {
	bound := r.Config.Selection.Racing
	if bound == 0 {
		rollouts, err = r.Deps.Evaluator.Evaluate(ctx, h, Ask{Purpose: whale.PurposeSearch})
		return rollouts, nil, err
	}
	order := r.raceOrder()
	rollouts = make([]whale.Rollout, len(order))
	seen := Partial{Of: len(order), Reach: reach, Bound: bound}
	for from := 0; from < len(order); {
		to := min(len(order), from+Block(len(order)))
		block, err := r.Deps.Evaluator.Evaluate(ctx, h, Ask{Purpose: whale.PurposeSearch, Examples: order[from:to]})
		if err != nil {
			return nil, nil, err
		}
		if len(block) != to-from {
			return nil, nil, fmt.Errorf("evaluation: got %d rollouts, want %d", len(block), to-from)
		}
		for i := range block {
			if err := r.ours(h, order[from+i], &block[i]); err != nil {
				return nil, nil, err
			}
			rollouts[order[from+i]] = block[i]
			if block[i].Complete() { // an error says nothing: its example counts as one that remains
				seen.Examples++
				seen.Passed += pass(&block[i])
			}
		}
		from = to
		if from == len(order) {
			break
		}
		if seen.Chance, err = stats.ReachChance(seen.Passed, seen.Examples, seen.Of-seen.Examples, reach); err != nil {
			return nil, nil, err
		}
		if seen.Chance < bound {
			return nil, &seen, nil
		}
	}
	return rollouts, nil, nil
}

// raceOrder is the order in which every candidate of the phase meets the examples.
func (r *run) raceOrder() []int {
	seed := whale.DeriveSeed(r.phase.RunSeed, "racing", r.phase.Op)
	return rand.New(rand.NewPCG(uint64(seed), 0x72_61_63_65)).Perm(len(r.examples))
}

// reason says for the next session why the program has no score.
func (p *Partial) reason() string {
	return fmt.Sprintf("given up after %d of %d examples, of which it passed %d: its chance to pass %d in all was %.2g, under %.2g",
		p.Examples, p.Of, p.Passed, p.Reach, p.Chance, p.Bound)
}
