package modelupdate

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/rollout"
)

// Jobs lists the B×G episodes of a step: for each visit of the stream over the examples (D_weight) G draws, one after the other, numbered on
// from the draws of earlier visits.
func (c Config) Jobs(h whale.Harness, examples []whale.Example, runSeed uint64, step int) []rollout.Job {
	stream := Stream{N: len(examples), Seed: runSeed}
	var jobs []rollout.Job
	for _, v := range stream.At(step*c.Batch, c.Batch) {
		for g := range c.Group {
			jobs = append(jobs, rollout.Job{
				Harness: h, Example: examples[v.Example], Split: whale.SplitTrain, Purpose: whale.PurposeWeight, Draw: v.Epoch*c.Group + g,
			})
		}
	}
	return jobs
}

// Sample runs a step's jobs and gives the rollouts in their order, with a result that counts them. Rollouts in state error fail the step:
// only complete evidence is learned from.
func Sample(ctx context.Context, run *rollout.Runner, jobs []rollout.Job, step int) ([]*whale.Rollout, StepResult, error) {
	rollouts, err := run.Run(ctx, jobs)
	if err != nil {
		return nil, StepResult{}, err
	}
	if err := rollout.Complete(rollouts); err != nil {
		return nil, StepResult{}, fmt.Errorf("rollout step %d: %w", step, err)
	}
	res := StepResult{Step: step, Rollouts: len(rollouts)}
	for _, r := range rollouts {
		res.Reward += r.Reward() / float64(len(rollouts))
		if f := r.Episode.Failure; r.State == whale.StateFailed && f != nil {
			if res.Failed++; res.Failed == 1 {
				res.Failure = string(f.Reason) + ": " + f.Detail
			}
		}
	}
	return rollouts, res, nil
}
