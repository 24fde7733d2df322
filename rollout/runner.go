package rollout

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed-095d5d2b/whale"
)

// Job is one rollout that is wanted.
type Job struct {
	Harness whale.Harness
	Example whale.Example
	Split   whale.Split
	Purpose whale.Purpose
	Draw    int // visits of this example for this purpose before
}

// Cache keeps complete rollouts by key. Both methods are called from many goroutines.
type Cache interface {
	Get(ctx context.Context, key whale.RolloutKey) (*whale.Rollout, bool, error)
	Put(ctx context.Context, r *whale.Rollout) error
}

// Runner runs episodes of one task under one policy.
type Runner struct {
	Task        whale.Task
	Policy      whale.Policy
	Limits      whale.Limits
	Sampling    whale.Sampling
	RunSeed     uint64
	Concurrency int   // episodes at once, at least 1
	Retries     int   // of an episode that met an infrastructure error
	Cache       Cache // optional
	// Observe, where set, is told of each rollout as it ends (fresh: not from the cache). Called from many goroutines.
	Observe func(r *whale.Rollout, fresh bool)
}

// Key is the identity of a job's rollout under this runner.
func (r *Runner) Key(j Job) whale.RolloutKey {
	return whale.RolloutKey{
		Weights: r.Policy.Weights().ID, Harness: j.Harness.ID(), Task: r.Task.ID(), Renderer: r.Policy.ID(), Example: j.Example.ID, Split: j.Split,
		Sampling: whale.HashOf("sampling", []any{r.Sampling, r.Limits}), Contract: whale.ContractVersion,
		RunSeed: r.RunSeed, Purpose: j.Purpose, Draw: j.Draw,
	}
}

// Run runs the jobs, many at once, and gives their rollouts in the order of the jobs. A rollout that stays in state error after its retries
// is returned as such; Run's own error means that it could not go on (context ended, cache failed).
func (r *Runner) Run(ctx context.Context, jobs []Job) ([]*whale.Rollout, error) {
	out := make([]*whale.Rollout, len(jobs))
	walled, err := r.together(ctx, jobs, out)
	if err != nil {
		return nil, err
	}
	for _, i := range walled { // each alone: a busy machine must not turn a good episode into a zero
		if out[i], err = r.alone(ctx, jobs[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// together runs all jobs with the runner's concurrency, and lists those that ran out of wall time.
func (r *Runner) together(ctx context.Context, jobs []Job, out []*whale.Rollout) (walled []int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range max(1, min(r.Concurrency, len(jobs))) {
		wg.Go(func() {
			for i := range next {
				ro, err := r.one(ctx, jobs[i])
				switch {
				case errors.Is(err, errWall):
					mu.Lock()
					walled = append(walled, i)
					mu.Unlock()
				case err != nil:
					cancel(err)
				default:
					out[i] = ro
				}
			}
		})
	}
feed:
	for i := range jobs {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return walled, nil
}

// one gives a job's rollout: from the cache, or by running it with retries. Errors: errWall, or what must stop the run.
func (r *Runner) one(ctx context.Context, j Job) (*whale.Rollout, error) {
	key := r.Key(j)
	if r.Cache != nil {
		if ro, ok, err := r.Cache.Get(ctx, key); err != nil || ok {
			if ok {
				r.observe(ro, false)
			}
			return ro, err
		}
	}
	var last error
	for try := 0; try <= r.Retries; try++ {
		ro, err := r.episode(ctx, j, key.Seed())
		if err == nil {
			ro.Retries = try
			return ro, r.keep(ctx, ro)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if errors.Is(err, errWall) {
			return nil, err
		}
		last = err
	}
	ro := &whale.Rollout{Key: key, State: whale.StateError, Error: last.Error(), Retries: r.Retries, Episode: whale.Episode{View: j.Example.View}}
	r.observe(ro, true)
	return ro, nil
}

// alone repeats a job that ran out of wall time; if that recurs it is the harness's failure.
func (r *Runner) alone(ctx context.Context, j Job) (*whale.Rollout, error) {
	ro, err := r.one(ctx, j)
	if !errors.Is(err, errWall) {
		return ro, err
	}
	ro = &whale.Rollout{Key: r.Key(j), State: whale.StateFailed, Verdict: whale.Verdict{Reason: string(whale.FailWall)}, Retries: 1, Episode: whale.Episode{
		View:    j.Example.View,
		Failure: &whale.Failure{Reason: whale.FailWall, Detail: fmt.Sprintf("the episode took more than %g s, also when run alone", r.Limits.WallSeconds)},
	}}
	return ro, r.keep(ctx, ro)
}

func (r *Runner) keep(ctx context.Context, ro *whale.Rollout) error {
	r.observe(ro, true)
	if r.Cache == nil {
		return nil
	}
	return r.Cache.Put(ctx, ro)
}

func (r *Runner) observe(ro *whale.Rollout, fresh bool) {
	if r.Observe != nil {
		r.Observe(ro, fresh)
	}
}

// Complete checks that all rollouts may be counted, and names the first that may not.
func Complete(rollouts []*whale.Rollout) error {
	for i, ro := range rollouts {
		if ro == nil {
			return fmt.Errorf("rollout %d of %d is missing", i+1, len(rollouts))
		}
		if !ro.Complete() {
			return fmt.Errorf("rollout %d of %d met an infrastructure error after %d retries: %s", i+1, len(rollouts), ro.Retries, ro.Error)
		}
	}
	return nil
}
