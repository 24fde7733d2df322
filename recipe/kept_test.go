package recipe

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/store"
)

// watchingTrainer counts what is durable when it is asked to learn.
type watchingTrainer struct {
	whale.Trainer
	run     *Run
	durable []int // weight rollouts, at each first minibatch of a step
	stepped bool
}

func (w *watchingTrainer) Accumulate(ctx context.Context, op string, batch []whale.Sequence, loss whale.Loss) error {
	if len(w.durable) == 0 || w.stepped {
		n := 0
		for _, err := range w.run.store.Rollouts(ctx, store.Filter{Purpose: string(whale.PurposeWeight)}) {
			if err != nil {
				return err
			}
			n++
		}
		w.durable = append(w.durable, n)
	}
	w.stepped = false
	return w.Trainer.Accumulate(ctx, op, batch, loss)
}

func (w *watchingTrainer) Publish(ctx context.Context) (whale.Policy, error) {
	w.stepped = true // a policy is published between two steps
	return w.Trainer.Publish(ctx)
}

// TestTrainingWaitsForItsRollouts: episodes do not wait for the disk, training does.
func TestTrainingWaitsForItsRollouts(t *testing.T) {
	t.Parallel()
	c := testConfig(t, t.TempDir())
	r, err := Start(t.Context(), c, filepath.Join(t.TempDir(), "run"), testOptions(nil))
	if err != nil {
		t.Fatal(err)
	}
	w := &watchingTrainer{Trainer: r.trainer, run: r}
	r.trainer = w
	execute(t, r, nil)
	if len(w.durable) < 3 {
		t.Fatalf("got %d steps that trained: the test shows little", len(w.durable))
	}
	perStep := c.Weight.Batch * c.Weight.Group
	for i, n := range w.durable {
		if n%perStep != 0 || n == 0 || i > 0 && n <= w.durable[i-1] {
			t.Errorf("training %d: got %d durable rollouts after %v, want all of its step: a multiple of %d", i, n, w.durable[:i], perStep)
		}
	}
}

// TestRolloutThatCannotBeKept: a rollout that the store refuses is told before anything is decided from the others.
func TestRolloutThatCannotBeKept(t *testing.T) {
	t.Parallel()
	s, err := store.Create(t.TempDir(), nil, store.Options{Now: testOptions(nil).Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	known, err := loadKeys(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	cache := rolloutCache{run: s, phase: "w0", known: known}
	one := &whale.Rollout{Key: whale.RolloutKey{Example: "x", Purpose: whale.PurposeWeight}, State: whale.StateScored}
	other := *one
	other.Verdict.Reward = 1
	if err := errors.Join(cache.Put(t.Context(), one), s.Sync(t.Context())); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := cache.Get(t.Context(), one.Key); err != nil || !ok {
		t.Fatalf("a kept rollout: got %v, %v", ok, err)
	}
	if err := cache.Put(t.Context(), &other); err != nil {
		t.Fatalf("put does not wait, got %v", err)
	}
	if err := s.Sync(t.Context()); !errors.Is(err, store.ErrConflict) {
		t.Errorf("sync: got %v, want a conflict", err)
	}
	j, err := openJournal(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Record(t.Context(), kindStep, "0", 1); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a decision after it: got %v, want the conflict", err)
	}
	if err := cache.Put(t.Context(), one); !errors.Is(err, store.ErrConflict) {
		t.Errorf("the next put: got %v, want the conflict", err)
	}
}

// TestDecisionsRestOnDurableRollouts: when a candidate's score is told, and when a curve point is, whatever it counts survives a kill.
func TestDecisionsRestOnDurableRollouts(t *testing.T) {
	t.Parallel()
	c := testConfig(t, t.TempDir())
	var r *Run
	candidates, points := 0, 0
	count := func(f store.Filter) (n int) {
		for _, err := range r.store.Rollouts(t.Context(), f) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	r, err := Start(t.Context(), c, filepath.Join(t.TempDir(), "run"), testOptions(func(e Event) {
		switch {
		case e.Kind == EventCandidate && e.Score != nil:
			candidates++
			f := store.Filter{Purpose: string(whale.PurposeSearch), Phase: e.Phase.Name(), Harness: e.Harness}
			if got, want := count(f), c.Task.Math.Generator.Counts.Search; got != want {
				t.Errorf("candidate %s of phase %s: got %d durable rollouts, want %d", e.Harness, e.Phase.Name(), got, want)
			}
		case e.Kind == EventCurve:
			points++
			f := store.Filter{Purpose: string(whale.PurposeTest), Harness: e.Harness, Weights: e.Weights}
			if got, want := count(f), c.Task.Math.Generator.Counts.Test; got != want {
				t.Errorf("curve point %s: got %d durable rollouts, want %d", e.At, got, want)
			}
		}
	}))
	execute(t, r, err)
	if candidates < 3 || points < 3 {
		t.Errorf("got %d candidates with a score and %d curve points: the test shows little", candidates, points)
	}
}
