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
	// Lost charges what a rollout in state error spent (its Wasted); it is not kept, and will be made again.
	Lost(ctx context.Context, r *whale.Rollout) error
}

// Runner runs episodes of one task under one policy.
type Runner struct {
	Task        whale.Task
	Policy      whale.Policy
	Limits      whale.Limits
	Sampling    whale.Sampling
	RunSeed     uint64
	Concurrency int    // episodes at once, at least 1
	Slots       *Slots // optional: shared with other runners, whose episodes it counts together with this one's
	Retries     int    // of an episode that met an infrastructure error
	Cache       Cache  // optional
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
	stopped, err := r.together(ctx, jobs, out)
	if err != nil {
		return nil, err
	}
	recurred := map[whale.ID]int{}  // incidents alone, by harness
	for i, spent := range stopped { // each alone: a busy machine or a neighbour must not turn a good episode into a zero
		if spent == nil {
			continue
		}
		id := jobs[i].Harness.ID()
		if recurred[id] >= maxRecurred {
			out[i], err = r.unrepeated(ctx, jobs[i], *spent)
		} else if out[i], err = r.alone(ctx, jobs[i], *spent); err == nil && out[i].State == whale.StateFailed && incidental(out[i].Episode.Failure) {
			recurred[id]++
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// maxRecurred is how many episodes of one harness may meet an incident alone before the others of a run that met one are no longer repeated: each
// takes the whole machine for as long as the limits let it.
const maxRecurred = 8

func incidental(f *whale.Failure) bool {
	switch f.Reason {
	case whale.FailWall, whale.FailMemory, whale.FailWorker, whale.FailTool:
		return true
	}
	return false
}

// unrepeated is the rollout of a job that met an incident and is not repeated: no verdict, for it might have been good.
func (r *Runner) unrepeated(ctx context.Context, j Job, spent whale.Usage) (*whale.Rollout, error) {
	ro := &whale.Rollout{
		Key: r.Key(j), State: whale.StateError, Wasted: spent, Episode: whale.Episode{View: j.Example.View},
		Error: fmt.Sprintf("it ran out of time or memory beside others, and was not repeated alone, where %d episodes of this harness had failed by the same", maxRecurred),
	}
	r.observe(ro, true)
	if r.Cache == nil {
		return ro, nil
	}
	return ro, r.Cache.Lost(ctx, ro)
}

// together runs all jobs with the runner's concurrency. For each that met an incident it gives what was spent until then.
func (r *Runner) together(ctx context.Context, jobs []Job, out []*whale.Rollout) (stopped []*whale.Usage, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stopped = make([]*whale.Usage, len(jobs))
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(1, min(r.Concurrency, len(jobs))) {
		wg.Go(func() {
			for i := range next {
				a, err := r.among(ctx, jobs[i])
				switch {
				case err != nil:
					cancel(err)
				case a.incident != nil:
					spent := a.before.Plus(a.last)
					stopped[i] = &spent
				default:
					out[i] = a.rollout
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
	return stopped, nil
}

// attempts are what came of a job: a rollout, or an incident with what its attempts spent.
type attempts struct {
	rollout      *whale.Rollout
	incident     *whale.Incident
	before, last whale.Usage // spent by the attempts before the one that met the incident, and by that one
}

// one gives a job's rollout: from the cache, or by running it with retries. spent is what attempts before it spent. An error must stop the
// run.
func (r *Runner) one(ctx context.Context, j Job, spent whale.Usage) (attempts, error) {
	key := r.Key(j)
	if r.Cache != nil {
		if ro, ok, err := r.Cache.Get(ctx, key); err != nil || ok {
			if ok {
				r.observe(ro, false)
			}
			return attempts{rollout: ro}, err
		}
	}
	var last error
	for try := 0; try <= r.Retries; try++ {
		ro, err := r.episode(ctx, j, key.Seed())
		if err == nil {
			ro.Retries, ro.Wasted = try, spent
			return attempts{rollout: ro}, r.keep(ctx, ro)
		}
		if ctx.Err() != nil {
			return attempts{}, context.Cause(ctx)
		}
		var in *whale.Incident
		if errors.As(err, &in) {
			return attempts{incident: in, before: spent, last: ro.Episode.Usage}, nil
		}
		spent = spent.Plus(ro.Episode.Usage)
		last = err
	}
	ro := &whale.Rollout{Key: key, State: whale.StateError, Error: last.Error(), Retries: r.Retries, Wasted: spent, Episode: whale.Episode{View: j.Example.View}}
	r.observe(ro, true)
	if r.Cache == nil {
		return attempts{rollout: ro}, nil
	}
	return attempts{rollout: ro}, r.Cache.Lost(ctx, ro)
}

// among gives a job's rollout while others run.
func (r *Runner) among(ctx context.Context, j Job) (attempts, error) {
	free, err := r.Slots.one(ctx)
	if err != nil {
		return attempts{}, err
	}
	defer free()
	return r.one(ctx, j, whale.Usage{})
}

// alone repeats a job that met an incident, in a process of its own and with nothing else running, of no runner that shares the slots; if
// one recurs it is the harness's failure.
func (r *Runner) alone(ctx context.Context, j Job, spent whale.Usage) (*whale.Rollout, error) {
	free, err := r.Slots.all(ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	a, err := r.one(whale.WithAlone(ctx), j, spent)
	if err != nil || a.incident == nil {
		return a.rollout, err
	}
	ro := &whale.Rollout{Key: r.Key(j), State: whale.StateFailed, Verdict: whale.Verdict{Reason: string(a.incident.Reason)}, Retries: 1, Wasted: a.before, Episode: whale.Episode{
		View:    j.Example.View,
		Usage:   a.last,
		Failure: &whale.Failure{Reason: a.incident.Reason, Detail: a.incident.Detail + ", also when run alone"},
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
