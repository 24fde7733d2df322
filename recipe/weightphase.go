package recipe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm/kernel"
	"github.com/seed-095d5d2b/whale/modelupdate"
	"github.com/seed-095d5d2b/whale/store"
)

// stepRecord is the journal entry of a finished rollout step.
type stepRecord struct {
	modelupdate.StepResult
	Weights whale.ID    `json:"weights"`          // after the step
	Window  *WindowStop `json:"window,omitempty"` // in a phase that ends by rule: what the rule sees after the step, and decides
}

// weightPhase makes the phase's rollout steps, and gives the phase as it was and why it ended. Steps before the snapshot that the run was opened
// with are only told again.
func (r *Run) weightPhase(ctx context.Context, ph PlannedPhase) (PlannedPhase, phaseEnd, error) {
	train, err := r.Task.Examples(whale.SplitTrain)
	if err != nil {
		return ph, phaseEnd{}, err
	}
	update := r.newUpdate(ph, train)
	end := phaseEnd{Why: EndBudget}
	var rewards []float64
	for step := ph.From; step < ph.To; step++ {
		reward, err := r.weightStepOnce(ctx, ph, update, step, rewards)
		if err != nil {
			return ph, end, errors.Join(err, r.stepClosed())
		}
		rewards = append(rewards, reward)
		if ph.ByRule {
			window := r.plan.Adaptive.weigh(rewards)
			end.Window = &window
			if window.Stop && step+1 < ph.To {
				ph.To = step + 1
				ph.Steps, ph.Rollouts, end.Why = ph.To-ph.From, (ph.To-ph.From)*r.plan.perStep, EndRule
			}
		}
		if slices.Contains(ph.Marks, step+1) {
			if err := errors.Join(r.stepClosed(), r.curve(ctx, point{At: fmt.Sprintf("%s/%d", ph.Name(), step+1), Phase: ph.Index, Steps: step + 1, Sessions: r.sessionsDone()}, r.harness)); err != nil {
				return ph, end, err
			}
		}
	}
	return ph, end, r.stepClosed() // what a phase ends with is whole before anything rests on it
}

// weightStepOnce makes a step, or tells again of one that the run's snapshot holds, and gives its mean reward; before are those of the phase's
// steps before it.
func (r *Run) weightStepOnce(ctx context.Context, ph PlannedPhase, update modelupdate.ModelUpdate, step int, before []float64) (float64, error) {
	if step < r.trained {
		var rec stepRecord
		if ok, err := r.journal.Lookup(ctx, kindStep, strconv.Itoa(step), &rec); err != nil || !ok {
			return 0, fmt.Errorf("step %d: there is a later snapshot, but the journal has no record of it (%v)", step, err)
		}
		r.Progress.Cached.Add(int64(rec.Rollouts))
		r.tell(Event{Kind: EventStep, Phase: &ph, Step: &rec.StepResult, Weights: string(rec.Weights), Replayed: true})
		return rec.Reward, nil
	}
	if step == ph.From && r.Config.Weight.Optimizer.ResetEachPhase {
		r.trainer.ResetOptimizer()
	}
	return r.weightStep(ctx, ph, update, step, before)
}

// weightStep is one rollout step: sample, accept, train, journal, snapshot.
func (r *Run) weightStep(ctx context.Context, ph PlannedPhase, update modelupdate.ModelUpdate, step int, before []float64) (float64, error) {
	start := r.opt.Now()
	policy, err := r.current(ctx, step)
	if err != nil {
		return 0, err
	}
	res, err := update.Step(ctx, r.runner(policy, ph.Name(), step), r.harness, step)
	if err != nil {
		return 0, err
	}
	if err := r.settled(ctx); err != nil { // where nothing was accepted, no training has waited
		return 0, err
	}
	weights := r.trainer.Weights().ID
	rec := stepRecord{StepResult: res, Weights: weights}
	if ph.ByRule {
		window := r.plan.Adaptive.weigh(append(slices.Clone(before), res.Reward))
		rec.Window = &window
	}
	if err := r.recordStep(ctx, step, rec); err != nil {
		return 0, err
	}
	sealed := r.snapshot(ctx, step)
	if err := r.retire(); err != nil {
		return 0, errors.Join(err, <-sealed)
	}
	r.trained = step + 1
	r.closing = make(chan error, 1)
	go func(closed chan<- error) {
		// What ends the run does not end this, nor the snapshot: the step is made, and this takes no longer than a moment.
		closed <- r.closeStep(context.WithoutCancel(ctx), sealed, step, start, Event{Kind: EventStep, Phase: &ph, Step: &res, Weights: string(weights)})
	}(r.closing)
	return res.Reward, nil
}

// closeStep ends a step that is journaled once its snapshot is whole: prune, tell, charge. The next step samples meanwhile; a kill in
// between costs training the step again from its rollouts.
func (r *Run) closeStep(ctx context.Context, sealed <-chan error, step int, start time.Time, news Event) error {
	if err := <-sealed; err != nil {
		return err
	}
	if err := r.prune(ctx); err != nil {
		return err
	}
	r.tell(news)
	return r.charge(ctx, "step/"+strconv.Itoa(step), string(whale.PurposeWeight), start)
}

// stepClosed waits for the step that is being closed, if there is one.
func (r *Run) stepClosed() error {
	if r.closing == nil {
		return nil
	}
	err := <-r.closing
	r.closing = nil
	return err
}

// settled waits until nothing is under way that training must not overtake: the rollouts that it learns from, on their way to the disk,
// and the step before it.
func (r *Run) settled(ctx context.Context) error {
	if err := r.store.Sync(ctx); err != nil {
		return err
	}
	return r.stepClosed()
}

// settledFirst is a trainer that learns once all is settled.
type settledFirst struct {
	whale.Trainer
	settled func(ctx context.Context) error
}

// Accumulate waits until all is settled, and accumulates.
func (t settledFirst) Accumulate(ctx context.Context, op string, batch []whale.Sequence, loss whale.Loss) error {
	if err := t.settled(ctx); err != nil {
		return err
	}
	return t.Trainer.Accumulate(ctx, op, batch, loss)
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
