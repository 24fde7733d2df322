package recipe

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/kernel"
	"github.com/seed-095d5d2b/whale/policy/local"
	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/task/math"
)

// Parts are what a config names, opened: they are the same for a run, an evaluation and a single episode.
type Parts struct {
	Config Config
	Task   whale.Task
	Bundle *local.Bundle
	Pool   *kernel.Pool

	sandboxes *sandbox.Pool
}

// OpenParts opens task and model. workers is the number of CPU cores to use.
func OpenParts(ctx context.Context, c Config, workers int) (_ *Parts, err error) {
	p := &Parts{Config: c}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	if p.Bundle, err = local.Open(c.Policy.Model); err != nil {
		return nil, &InputError{err}
	}
	sized := c.Task.Math.Calculator
	if p.sandboxes, err = sandbox.NewPool(sandbox.Options{Spec: sized.Spec(), Workers: workers}); err != nil {
		return nil, err
	}
	tool, err := math.Sandboxed(p.sandboxes, sized)
	if err != nil {
		return nil, &ConfigError{fmt.Errorf("task.math.%w", err)}
	}
	if p.Task, err = math.New(ctx, c.Task.Math, tool); err != nil {
		return nil, &InputError{err}
	}
	p.Pool = kernel.NewPool(workers)
	return p, nil
}

// LocalOptions are the resources of embedded policies.
func (p *Parts) LocalOptions() local.Options {
	return local.Options{Pool: p.Pool, MaxBatch: p.Config.Policy.MaxBatch, CacheTokens: p.Config.Policy.CacheTokens}
}

// BasePolicy starts a sampler over θ_0.
func (p *Parts) BasePolicy() whale.Policy {
	return local.NewPolicy(p.Bundle.Renderer, p.Bundle.Model, p.LocalOptions())
}

func (p *Parts) newTrainer() whale.Trainer {
	o := p.Config.Weight.Optimizer
	return local.NewTrainer(p.Bundle, lm.AdamW{
		Beta1: float32(o.Beta1), Beta2: float32(o.Beta2), Eps: float32(o.Eps), WeightDecay: float32(o.WeightDecay), ClipNorm: float32(o.ClipNorm),
	}, p.LocalOptions())
}

// Counts are the sizes of the task's splits.
func (p *Parts) Counts() (Counts, error) {
	var n Counts
	for split, to := range map[whale.Split]*int{
		whale.SplitTrain: &n.Train, whale.SplitSearch: &n.Search, whale.SplitValidation: &n.Validation, whale.SplitTest: &n.Test,
	} {
		xs, err := p.Task.Examples(split)
		if err != nil {
			return n, fmt.Errorf("task %s: %w", p.Task.Name(), err)
		}
		*to = len(xs)
	}
	return n, nil
}

// Close ends what OpenParts started.
func (p *Parts) Close() {
	if p.Pool != nil {
		p.Pool.Close()
	}
	if p.sandboxes != nil {
		p.sandboxes.Close()
	}
}
