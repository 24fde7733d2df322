package recipe

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

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

func snapshotID(step int) string { return fmt.Sprintf("step-%06d", step) }

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

// snapshot writes the weights after a step. What is in its place and not whole goes first: the store compares the lists of files, not
// the files.
func (r *Run) snapshot(ctx context.Context, step int) error {
	id := snapshotID(step)
	if _, whole := r.store.Weights(id); !whole {
		if err := r.store.RemoveWeights(id); err != nil {
			return err
		}
	}
	return r.store.WriteWeights(id, func(dir string) error { return r.trainer.Snapshot(ctx, dir) })
}

// restore takes the newest snapshot that is whole and journaled. Steps after it are made again, from their recorded rollouts.
func (r *Run) restore(ctx context.Context) error {
	if err := r.restoreNewest(ctx); err != nil {
		return err
	}
	again := 0
	for step := r.trained; ; step++ {
		var rec stepRecord
		if ok, err := r.journal.Lookup(ctx, kindStep, strconv.Itoa(step), &rec); err != nil {
			return err
		} else if !ok {
			break
		}
		again++
	}
	if again > 0 {
		r.tell(Event{Kind: EventNotice, Text: fmt.Sprintf("the last whole snapshot is %d steps behind the journal: they are trained again from their recorded rollouts", again)})
	}
	return nil
}

func (r *Run) restoreNewest(ctx context.Context) error {
	steps, err := r.snapshots()
	if err != nil {
		return err
	}
	for i := len(steps) - 1; i >= 0; i-- {
		step := steps[i]
		var rec stepRecord
		ok, err := r.journal.Lookup(ctx, kindStep, strconv.Itoa(step), &rec)
		if err != nil {
			return err
		}
		dir, whole := r.store.Weights(snapshotID(step))
		if !ok || !whole {
			continue
		}
		if err := r.store.VerifyWeights(snapshotID(step)); err != nil {
			r.tell(Event{Kind: EventNotice, Text: fmt.Sprintf("%v; going back to the snapshot before it", err)})
			if err := r.store.RemoveWeights(snapshotID(step)); err != nil {
				return err
			}
			continue
		}
		if err := r.trainer.Restore(ctx, dir); err != nil {
			return err
		}
		if got := r.trainer.Weights().ID; got != rec.Weights {
			return fmt.Errorf("%s: the snapshot's weights are %s, the journal has %s; remove the folder to go back to the snapshot before it", dir, got.Short(), rec.Weights.Short())
		}
		r.trained = step + 1
		return nil
	}
	return nil
}

// snapshots lists the steps that have a snapshot, in order.
func (r *Run) snapshots() ([]int, error) {
	ids, err := r.store.ListWeights()
	if err != nil {
		return nil, err
	}
	var steps []int
	for _, id := range ids {
		if n, ok := strings.CutPrefix(id, "step-"); ok {
			if step, err := strconv.Atoi(n); err == nil {
				steps = append(steps, step)
			}
		}
	}
	sort.Ints(steps)
	return steps, nil
}

// prune keeps phase ends, the best step and the last n. The best is the snapshot whose rollouts, made in the step after it, had the
// highest mean reward; among equals the earliest.
func (r *Run) prune(ctx context.Context) error {
	steps, err := r.snapshots()
	if err != nil {
		return err
	}
	keep := map[int]bool{}
	for _, ph := range r.plan.Phases {
		if ph.Kind == PhaseWeight {
			keep[ph.To-1] = true
		}
	}
	for _, s := range steps[max(0, len(steps)-r.Config.Snapshots.Last):] {
		keep[s] = true
	}
	best, bestReward := -1, -1.0
	for _, s := range steps {
		var next stepRecord
		ok, err := r.journal.Lookup(ctx, kindStep, strconv.Itoa(s+1), &next)
		if err != nil {
			return err
		}
		if ok && next.Reward > bestReward {
			best, bestReward = s, next.Reward
		}
	}
	keep[best] = true
	for _, s := range steps {
		if !keep[s] {
			if err := r.store.RemoveWeights(snapshotID(s)); err != nil {
				return err
			}
		}
	}
	return nil
}
