package recipe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"strings"
)

func snapshotID(step int) string { return fmt.Sprintf("step-%06d", step) }

// snapshot writes and seals the weights after a step beside what follows, which may publish the trainer's weights and must not change them;
// the channel tells once how that went.
func (r *Run) snapshot(ctx context.Context, step int) (sealed <-chan error) {
	done := make(chan error, 1)
	go func() { done <- r.writeSnapshot(context.WithoutCancel(ctx), snapshotID(step)) }()
	return done
}

// writeSnapshot makes a whole snapshot. What is in its place and not whole goes first: the store compares the lists of files, not the files.
func (r *Run) writeSnapshot(ctx context.Context, id string) error {
	if _, whole := r.store.Weights(id); !whole {
		if err := r.store.RemoveWeights(id); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	staged, err := r.store.StageWeights(id, func(dir string) error { return r.trainer.Snapshot(ctx, dir) })
	if err != nil {
		return err
	}
	return staged.Seal()
}

// restore takes the newest snapshot that is whole and journaled. Steps after it are made again, from their recorded rollouts.
func (r *Run) restore(ctx context.Context) error {
	if err := r.restoreNewest(ctx); err != nil {
		return err
	}
	end := r.trained
	for ; ; end++ {
		var rec stepRecord
		ok, err := r.journal.Lookup(ctx, kindStep, strconv.Itoa(end), &rec)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
	}
	switch from := r.trained + 1; {
	case end == from:
		r.tell(Event{Kind: EventNotice, Text: fmt.Sprintf("step %d is trained again from its recorded rollouts: no whole snapshot holds it", from)})
	case end > from:
		r.tell(Event{Kind: EventNotice, Text: fmt.Sprintf("steps %d to %d are trained again from their recorded rollouts: no whole snapshot holds them", from, end)})
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

// landmarks are the steps whose weights the curve shows: phase ends, planned or by rule, and marks.
func (r *Run) landmarks(ctx context.Context) (map[int]bool, error) {
	keep := map[int]bool{}
	phases := r.plan.Phases
	for i := 0; r.plan.Adaptive != nil; i++ {
		var end phaseEnd
		ok, err := r.journal.Lookup(ctx, kindPhase, strconv.Itoa(i), &end)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		phases = append(phases, end.Phase)
	}
	for _, ph := range phases {
		if ph.Kind != PhaseWeight {
			continue
		}
		keep[ph.To-1] = true
		for _, m := range ph.Marks {
			keep[m-1] = true
		}
	}
	return keep, nil
}

// prune keeps landmarks, the best step and the last n. The best is the snapshot whose rollouts, made in the step after it, had the
// highest mean reward; among equals the earliest.
func (r *Run) prune(ctx context.Context) error {
	steps, err := r.snapshots()
	if err != nil {
		return err
	}
	keep, err := r.landmarks(ctx)
	if err != nil {
		return err
	}
	for _, s := range steps[max(0, len(steps)-max(1, r.Config.Snapshots.Last)):] {
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
