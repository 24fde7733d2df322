package recipe

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
)

// halvesFrom is where a cycle began.
type halvesFrom struct {
	steps   int
	harness whale.Harness
}

// Halves is the evidence about the halves of one cycle: the weights before and after it, each with the harness before and after it, on the
// search split by new rollouts (one draw an example, on common random numbers).
type Halves struct {
	Cycle int     `json:"cycle"`
	Cells [4]Cell `json:"cells"` // (old, old), (new, old), (old, new), (new, new) of (weights, harness)
}

// Cell is one pair's result.
type Cell struct {
	Weights whale.ID `json:"weights"`
	Harness whale.ID `json:"harness"`
	Result
}

// halves measures the 2x2 of a cycle, unless the journal has it. A half that the cycle left alone makes equal cells, which cost nothing.
func (r *Run) halves(ctx context.Context, cycle int, from halvesFrom, steps int) error {
	if !r.Config.Evaluation.Halves {
		return nil
	}
	defer r.Progress.settle(4 * r.plan.sizes.Search)()
	op := fmt.Sprintf("cycle-%d", cycle)
	var rec Halves
	done, err := r.journal.Lookup(ctx, kindHalves, op, &rec)
	if err != nil {
		return err
	}
	if !done {
		start := r.opt.Now()
		rec.Cycle = cycle
		for i, steps := range [2]int{from.steps, steps} {
			if err := r.halvesOf(ctx, &rec, i, steps, [2]whale.Harness{from.harness, r.harness}); err != nil {
				return err
			}
		}
		if err := r.journal.Record(ctx, kindHalves, op, rec); err != nil {
			return err
		}
		if err := r.charge(ctx, "halves/"+op, string(whale.PurposeHalves), start); err != nil {
			return err
		}
	}
	if err := r.bound(ctx, "halves of "+op, steps, rec.Cells[3].Weights, rec.Cells[3].Harness, r.harness); err != nil {
		return err
	}
	r.tell(Event{Kind: EventHalves, Halves: &rec, Replayed: done})
	return nil
}

// halvesOf fills the cells of one of the two weights.
func (r *Run) halvesOf(ctx context.Context, rec *Halves, column, steps int, harnesses [2]whale.Harness) error {
	policy, release, err := r.policyAt(ctx, steps)
	if err != nil {
		return err
	}
	runner := r.runner(policy, fmt.Sprintf("halves-%d", rec.Cycle), 0)
	for row, h := range harnesses {
		res, err := evaluateFrom(ctx, runner, h, whale.SplitSearch, whale.PurposeHalves, rec.Cycle, 1)
		if err != nil {
			release()
			return err
		}
		rec.Cells[2*row+column] = Cell{Weights: policy.Weights().ID, Harness: h.ID(), Result: res}
	}
	return release()
}
