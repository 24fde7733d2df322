package recipe

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// tryFirst runs the trial episodes that every candidate must pass with h_0 too: a program that fails in all of them by its own fault would spend
// the whole plan on zeros.
func (r *Run) tryFirst(ctx context.Context) error {
	examples, err := r.Task.Examples(whale.SplitSearch)
	if err != nil {
		return err
	}
	planned := min(r.Config.Search.Canaries, len(examples))
	defer r.Progress.settle(planned)()
	if r.trained > 0 || planned == 0 { // a run that has trained was past it
		return nil
	}
	policy, err := r.current(ctx, 0)
	if err != nil {
		return err
	}
	e := &searchEvaluator{run: r, runner: r.runner(policy, "trial", 0), examples: examples}
	rollouts, err := e.Evaluate(ctx, r.base, metaharness.Ask{Purpose: whale.PurposeCanary})
	if err != nil {
		return err
	}
	for i := range rollouts {
		if !rollouts[i].BrokenProgram() {
			return nil
		}
	}
	f := rollouts[0].Episode.Failure
	return &InputError{fmt.Errorf("harness %s: all %d trial episodes failed by the program's fault: %s: %s; whale harness run FILE --config CONFIG shows one",
		r.Config.Harness, len(rollouts), f.Reason, f.Detail)}
}
