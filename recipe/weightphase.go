package recipe

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm/kernel"
	"github.com/seed-095d5d2b/whale/rsft"
	"github.com/seed-095d5d2b/whale/store"
)

// stepRecord is the journal entry of a finished rollout step.
type stepRecord struct {
	rsft.StepResult
	Weights whale.ID `json:"weights"` // after the step
}

// weightPhase makes the phase's rollout steps; those before the snapshot that the run was opened with are only told again.
func (r *Run) weightPhase(ctx context.Context, ph PlannedPhase) error {
	train, err := r.Task.Examples(whale.SplitTrain)
	if err != nil {
		return err
	}
	update := &rsft.Update{Config: r.Config.Weight.Config, Trainer: r.trainer, Examples: train, RunSeed: r.Config.Seed}
	for step := ph.From; step < ph.To; step++ {
		if step < r.trained {
			var rec stepRecord
			if ok, err := r.journal.Lookup(ctx, kindStep, strconv.Itoa(step), &rec); err != nil || !ok {
				return fmt.Errorf("step %d: there is a later snapshot, but the journal has no record of it (%v)", step, err)
			}
			r.Progress.Cached.Add(int64(rec.Rollouts))
			r.tell(Event{Kind: EventStep, Phase: &ph, Step: &rec.StepResult, Weights: string(rec.Weights), Replayed: true})
			continue
		}
		if step == ph.From && r.Config.Weight.Optimizer.ResetEachPhase {
			r.trainer.ResetOptimizer()
		}
		if err := r.weightStep(ctx, ph, update, step); err != nil {
			return err
		}
	}
	return nil
}

// weightStep is one rollout step: sample, accept, train, journal, snapshot, prune.
func (r *Run) weightStep(ctx context.Context, ph PlannedPhase, update *rsft.Update, step int) error {
	start := r.opt.Now()
	policy, err := r.current(ctx, step)
	if err != nil {
		return err
	}
	res, err := update.Step(ctx, r.runner(policy, ph.Name(), step), r.harness, step)
	if err != nil {
		return err
	}
	weights := r.trainer.Weights().ID
	if err := r.recordStep(ctx, step, stepRecord{res, weights}); err != nil {
		return err
	}
	if err := r.snapshot(ctx, step); err != nil {
		return err
	}
	if err := r.retire(); err != nil {
		return err
	}
	r.trained = step + 1
	if err := r.prune(ctx); err != nil {
		return err
	}
	r.tell(Event{Kind: EventStep, Phase: &ph, Step: &res, Weights: string(weights)})
	return r.charge(ctx, "step/"+strconv.Itoa(step), string(whale.PurposeWeight), start)
}

// recordStep journals a step. A step that was recorded before and is made again must come out the same, or what followed from it no
// longer follows.
func (r *Run) recordStep(ctx context.Context, step int, rec stepRecord) error {
	err := r.journal.Record(ctx, kindStep, strconv.Itoa(step), rec)
	if errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("%w: the step was made again from its recorded rollouts and came out otherwise, as on a machine with other kernels (here %s); resume where the run began", err, kernel.Variant())
	}
	return err
}
