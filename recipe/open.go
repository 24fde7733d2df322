package recipe

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/process"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/kernel"
	"github.com/seed-095d5d2b/whale/policy/chat"
	"github.com/seed-095d5d2b/whale/policy/local"
)

// Parts are what a config names, opened: they are the same for a run, an evaluation and a single episode.
type Parts struct {
	Config Config
	Task   whale.Task
	Bundle *local.Bundle
	Pool   *kernel.Pool

	harnesses *process.Runtime
	closers   []func() error // of the task and its tools, in the order of opening
}

// Resources are what parts may use of the machine.
type Resources struct {
	Workers int  // CPU cores, and processes that run untrusted code
	Require bool // refuse where a mechanism of isolation is missing
}

// OpenParts opens task and model. No process is started yet, but to see that Resources.Require is met.
func OpenParts(ctx context.Context, c Config, use Resources) (*Parts, error) {
	p, err := openAgent(c, use)
	if err != nil {
		return nil, err
	}
	if err := p.openTask(ctx, use); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// openAgent opens what a config names beside its task.
func openAgent(c Config, use Resources) (_ *Parts, err error) {
	p := &Parts{Config: c}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	if err = p.openModel(); err != nil {
		return nil, err
	}
	if err = p.openHarnesses(use); err != nil {
		return nil, err
	}
	p.Pool = kernel.NewPool(use.Workers)
	return p, nil
}

func (p *Parts) openModel() (err error) {
	c := p.Config.Policy
	if err := c.runnable(); err != nil {
		return err
	}
	if p.Bundle, err = local.OpenWith(c.Model, c.openOptions()); err != nil {
		return &InputError{err}
	}
	return nil
}

func (p *Parts) openHarnesses(use Resources) (err error) {
	c := p.Config
	p.harnesses, err = process.Open(process.Options{
		Workers: use.Workers, Concurrency: c.Concurrency, Processes: c.Processes, Memory: c.Limits.MemoryBytes, Require: use.Require,
	})
	return err
}

// openOptions are what a config says about the model besides its name.
func (c PolicyConfig) openOptions() local.OpenOptions {
	return local.OpenOptions{Template: c.Template, Chat: chat.Options{NoThinking: !c.Thinking, KeepReasoning: c.KeepReasoning}}
}

// LocalOptions are the resources of embedded policies.
func (p *Parts) LocalOptions() local.Options {
	c := p.Config.Policy
	return local.Options{Pool: p.Pool, MaxBatch: c.MaxBatch, CacheTokens: c.CacheTokens, MemoryBytes: int64(c.MemoryMiB) << 20}
}

// BasePolicy starts a sampler over θ_0.
func (p *Parts) BasePolicy() whale.Policy {
	return p.Bundle.NewPolicy(p.LocalOptions())
}

// openSnapshot starts a sampler over the weights in a folder that the trainer wrote.
func (p *Parts) openSnapshot(dir string) (whale.Policy, error) {
	b, err := local.OpenWith(dir, p.Config.Policy.openOptions())
	if err != nil {
		return nil, err
	}
	return b.NewPolicy(p.LocalOptions()), nil
}

func (p *Parts) newTrainer() (whale.Trainer, error) {
	o := p.Config.Weight.Optimizer
	adam := lm.AdamW{
		Beta1: float32(o.Beta1), Beta2: float32(o.Beta2), Eps: float32(o.Eps), WeightDecay: float32(o.WeightDecay), ClipNorm: float32(o.ClipNorm),
	}
	return local.NewTrainerWith(p.Bundle, adam, p.Config.Weight.how(p.Config.Seed), p.LocalOptions())
}

// Memory is what the config's sampling and training take at most.
func (p *Parts) Memory(workers int) (local.Memory, error) {
	m, err := p.Bundle.Memory(p.LocalOptions(), p.Config.Weight.how(p.Config.Seed), workers)
	if err == nil && p.Config.Weight.scores() {
		return m.WithScorer(p.Bundle, workers)
	}
	return m, err
}

// how says what is trained, and with how much memory. The adapter's first values follow from the run's seed.
func (c WeightConfig) how(seed uint64) lm.TrainerOptions {
	o := lm.TrainerOptions{Recompute: c.Recompute, MicroBatch: c.MicroBatch}
	if c.LoRA.Rank > 0 {
		o.LoRA = &lm.LoRA{Rank: c.LoRA.Rank, Alpha: float32(c.LoRA.Alpha), Targets: c.LoRA.Targets, Seed: uint64(whale.DeriveSeed(seed, "lora"))}
	}
	return o
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

// Notes are lines that a person should read about the task's data, such as examples that were left out.
func (p *Parts) Notes() []string {
	if t, ok := p.Task.(interface{ Notes() []string }); ok {
		return t.Notes()
	}
	return nil
}

// Close ends what OpenParts started.
func (p *Parts) Close() {
	if p.Pool != nil {
		p.Pool.Close()
	}
	if p.harnesses != nil {
		p.harnesses.Close()
	}
	for _, closeIt := range slices.Backward(p.closers) {
		_ = closeIt() // it only ends what was used; nothing of a run is in it
	}
}
