package rsft

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/modelupdate"
	"github.com/seed-095d5d2b/whale/rollout"
)

// Update makes rollout steps of RSFT. It is a [modelupdate.ModelUpdate].
type Update struct {
	Config   modelupdate.Config
	Accept   float64 // keep rewards above this, in [0, 1)
	Trainer  whale.Trainer
	Examples []whale.Example // D_weight
	RunSeed  uint64
}

// Validate names the first setting that makes no sense; it looks at settings alone.
func (u *Update) Validate() error {
	if err := u.Config.Validate(); err != nil {
		return err
	}
	if !(u.Accept >= 0 && u.Accept < 1) {
		return fmt.Errorf("weight.accept: got %g, want a threshold in [0, 1)", u.Accept)
	}
	return nil
}

// Step samples, accepts and trains.
func (u *Update) Step(ctx context.Context, run *rollout.Runner, h whale.Harness, step int) (modelupdate.StepResult, error) {
	rollouts, res, err := modelupdate.Sample(ctx, run, u.Config.Jobs(h, u.Examples, u.RunSeed, step), step)
	if err != nil {
		return res, err
	}
	var accepted [][]whale.Sequence // an entry a rollout, in job order
	for _, r := range rollouts {
		if r.Reward() > u.Accept {
			seqs := rollout.Sequences(&r.Episode)
			res.Sequences += len(seqs)
			accepted = append(accepted, seqs)
		}
	}
	res.Accepted = len(accepted)
	err = u.train(ctx, step, accepted, &res)
	return res, err
}

// train makes the SFT passes over the accepted set in seeded order.
func (u *Update) train(ctx context.Context, step int, accepted [][]whale.Sequence, res *modelupdate.StepResult) error {
	for _, mini := range u.Config.Minibatches(u.RunSeed, "sft", step, len(accepted)) {
		var batch []whale.Sequence
		for _, i := range mini.Items {
			batch = append(batch, accepted[i]...)
		}
		if err := u.Trainer.Accumulate(ctx, mini.Op, batch, whale.Loss{}); err != nil {
			return err
		}
		stats, err := u.Trainer.Step(ctx, mini.Op, u.Config.LearningRate)
		if err != nil {
			return err
		}
		res.Updates++
		res.Loss = stats.Loss
		res.Tokens += stats.Tokens
	}
	return nil
}
