package recipe

import (
	"context"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/rollout"
)

// runKept runs jobs and waits until their rollouts are durable, where the runner keeps them.
func runKept(ctx context.Context, run *rollout.Runner, jobs []rollout.Job) ([]*whale.Rollout, error) {
	rollouts, err := run.Run(ctx, jobs)
	if err != nil {
		return nil, err
	}
	if c, ok := run.Cache.(rolloutCache); ok {
		err = c.kept(ctx)
	}
	return rollouts, err
}
