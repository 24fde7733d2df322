package rollout

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/sandbox"
)

// episode runs one harness on one example: open, run, judge, close. An error is an *[whale.Incident] or the infrastructure's; the rollout then
// holds what was spent.
func (r *Runner) episode(ctx context.Context, j Job, seed uint32) (*whale.Rollout, error) {
	out := &whale.Rollout{Key: r.Key(j), Episode: whale.Episode{View: j.Example.View}}
	env, err := r.Task.NewEnv(ctx, j.Example, seed)
	if err != nil {
		return out, fmt.Errorf("task %s: %w", r.Task.Name(), err)
	}
	h := &host{
		policy: r.Policy, env: env, rules: newRules(env.Rules(), env.Tools(), j.Example.View), limits: r.Limits, sampling: r.Sampling, seed: seed,
		episode: &out.Episode,
	}
	defer h.close()
	if err := r.drive(ctx, j.Harness, h); err != nil {
		return out, err
	}
	if out.Episode.Failure != nil {
		out.State = whale.StateFailed
		out.Verdict = whale.Verdict{Reason: string(out.Episode.Failure.Reason)}
		return out, nil
	}
	out.State = whale.StateScored
	if out.Verdict, err = r.Task.Verifier().Verify(ctx, j.Example, &out.Episode); err != nil {
		return out, fmt.Errorf("verifier: %w", err)
	}
	return out, nil
}

// close closes the environment, after a call of it that was left behind.
func (h *host) close() {
	if h.busy == nil {
		_ = h.env.Close()
		return
	}
	select {
	case <-h.busy:
		_ = h.env.Close()
	default:
		go func() { // its call ignored the end of its context; nothing else can be done than to wait for it here
			<-h.busy
			_ = h.env.Close()
		}()
	}
}

// drive lets the harness run under its clock and writes its answer or its failure into the episode.
func (r *Runner) drive(ctx context.Context, program whale.Harness, h *host) error {
	e := h.episode
	runCtx, clock := newClock(ctx, r.Limits.WallSeconds)
	defer clock.stop()
	h.clock = clock
	answer, err := program.Run(runCtx, h)
	e.Log = h.log.String()
	if err != nil {
		if f, ok := asFailure(err); ok {
			e.Failure = f
			return nil
		}
		return r.incident(ctx, runCtx, err)
	}
	if answer < 0 || int(answer) > len(e.Calls) {
		e.Failure = &whale.Failure{Reason: whale.FailAnswer, Detail: fmt.Sprintf("run returned reply %d, the episode has %d", answer, len(e.Calls))}
		return nil
	}
	e.Answer = answer
	return nil
}

// incident says what an error that is not the harness's own failure is: an *[whale.Incident], where it may have been its doing, or itself.
func (r *Runner) incident(ctx, runCtx context.Context, err error) error {
	var late *whale.Incident
	if ctx.Err() == nil && errors.As(context.Cause(runCtx), &late) {
		return late
	}
	var broke *sandbox.Violation
	if errors.As(err, &broke) { // a worker's guard stopped model-written code
		return &whale.Incident{Reason: whale.FailTool, Detail: err.Error()}
	}
	return err
}
