package recipe

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/rollout"
	"github.com/seed-095d5d2b/whale/stats"
)

// Result is mean@k of a pair on a split.
type Result struct {
	Examples int                `json:"examples"`
	Draws    int                `json:"draws"` // k
	Mean     float64            `json:"mean"`  // averaged per example, then over examples
	Low      float64            `json:"low"`   // 95% interval, bootstrap over examples
	High     float64            `json:"high"`
	Failed   int                `json:"failed"` // rollouts in state failed
	Metrics  map[string]float64 `json:"metrics,omitempty"`
	Rewards  [][]float64        `json:"-"` // [examples][draws]
}

// Evaluate runs a harness on every example of a split, k draws each, and summarises. Draw d of an example is the same evidence whatever k is.
// The rollouts of a run may still be on their way to the disk: they are durable once the result is recorded in its journal.
func Evaluate(ctx context.Context, run *rollout.Runner, h whale.Harness, split whale.Split, purpose whale.Purpose, draws int) (Result, error) {
	return evaluateFrom(ctx, run, h, split, purpose, 0, draws)
}

// evaluateFrom is Evaluate with the draws from first on.
func evaluateFrom(ctx context.Context, run *rollout.Runner, h whale.Harness, split whale.Split, purpose whale.Purpose, first, draws int) (Result, error) {
	examples, err := run.Task.Examples(split)
	if err != nil {
		return Result{}, err
	}
	if len(examples) == 0 {
		return Result{}, fmt.Errorf("task %s: split %s is empty", run.Task.Name(), split)
	}
	jobs := make([]rollout.Job, 0, len(examples)*draws)
	for _, x := range examples { // the draws of one example together, so that they share its prompt's cache
		for d := range draws {
			jobs = append(jobs, rollout.Job{Harness: h, Example: x, Split: split, Purpose: purpose, Draw: first + d})
		}
	}
	rollouts, err := run.Run(ctx, jobs)
	if err != nil {
		return Result{}, err
	}
	if err := rollout.Complete(rollouts); err != nil {
		return Result{}, fmt.Errorf("evaluation on %s: %w", split, err)
	}
	return summarise(rollouts, len(examples), draws, run.RunSeed)
}

func summarise(rollouts []*whale.Rollout, examples, draws int, seed uint64) (Result, error) {
	res := Result{Examples: examples, Draws: draws, Metrics: map[string]float64{}}
	counts := map[string]int{}
	for i := range examples {
		row := make([]float64, draws)
		for d := range draws {
			ro := rollouts[i*draws+d]
			row[d] = ro.Reward()
			if ro.State == whale.StateFailed {
				res.Failed++
			}
			for k, v := range ro.Verdict.Metrics {
				res.Metrics[k] += v
				counts[k]++
			}
		}
		res.Rewards = append(res.Rewards, row)
	}
	for k := range res.Metrics {
		res.Metrics[k] /= float64(counts[k])
	}
	interval, err := stats.MeanInterval(res.Rewards, uint64(whale.DeriveSeed(seed, "bootstrap")))
	if err != nil {
		return res, err
	}
	res.Mean, res.Low, res.High = interval.Mean, interval.Low, interval.High
	return res, nil
}
