package rollout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/sandbox"
)

// errWall is a wall-clock stop: first an error, repeated alone; only where it recurs the harness's failure (design, invariant 4).
var errWall = errors.New("the episode ran out of wall time, or a tool of its worker's limits")

// episode runs one harness on one example: open, run, judge, close. An error is the infrastructure's; the rollout then holds what was spent.
func (r *Runner) episode(ctx context.Context, j Job, seed uint32) (*whale.Rollout, error) {
	out := &whale.Rollout{Key: r.Key(j), Episode: whale.Episode{View: j.Example.View}}
	env, err := r.Task.NewEnv(ctx, j.Example, seed)
	if err != nil {
		return out, fmt.Errorf("task %s: %w", r.Task.Name(), err)
	}
	defer env.Close()
	h := &host{
		policy: r.Policy, env: env, tools: env.Tools(), limits: r.Limits, sampling: r.Sampling, seed: seed, episode: &out.Episode,
	}
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

// drive lets the harness run under the wall clock and writes its answer or its failure into the episode.
func (r *Runner) drive(ctx context.Context, program whale.Harness, h *host) error {
	e := h.episode
	runCtx := ctx
	if r.Limits.WallSeconds > 0 {
		var cancel context.CancelFunc
		runCtx, cancel = context.WithTimeout(ctx, time.Duration(r.Limits.WallSeconds*float64(time.Second)))
		defer cancel()
	}
	answer, err := program.Run(runCtx, h)
	e.Log = h.log.String()
	if err != nil {
		if f, ok := asFailure(err); ok {
			e.Failure = f
			return nil
		}
		if ctx.Err() == nil && errors.Is(runCtx.Err(), context.DeadlineExceeded) {
			return errWall
		}
		var broke *sandbox.Violation
		if errors.As(err, &broke) { // model-written code that a worker's guard stopped, alone too: as with the wall clock, it must recur
			return fmt.Errorf("%w: %w", errWall, broke)
		}
		return err
	}
	if answer < 0 || int(answer) > len(e.Calls) {
		e.Failure = &whale.Failure{Reason: whale.FailAnswer, Detail: fmt.Sprintf("run returned reply %d, the episode has %d", answer, len(e.Calls))}
		return nil
	}
	e.Answer = answer
	return nil
}
