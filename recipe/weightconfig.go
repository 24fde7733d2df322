package recipe

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/modelupdate"
	"github.com/seed-095d5d2b/whale/modelupdate/grpo"
	"github.com/seed-095d5d2b/whale/modelupdate/rsft"
)

// The kinds of weight phases.
const (
	WeightRSFT = "rsft"
	WeightGRPO = "grpo"
)

// defaultAccept is the paper's threshold.
const defaultAccept = 0.5

// WeightConfig are the settings of weight phases.
type WeightConfig struct {
	Kind               string `yaml:"kind"` // rsft: fine-tuning on the rollouts that were rewarded, the paper's; grpo: policy gradient with advantages within groups
	modelupdate.Config `yaml:",inline"`
	Accept             float64         `yaml:"accept"` // of rsft: keep rewards above this (0.5)
	GRPO               grpo.Config     `yaml:"grpo"`
	Optimizer          OptimizerConfig `yaml:"optimizer"`
	LoRA               LoRAConfig      `yaml:"lora"`
	Recompute          bool            `yaml:"recompute"`          // compute activations again in the backward pass: less memory, more time, the same results
	MicroBatch         int             `yaml:"micro_batch_tokens"` // tokens whose activations are held at once
}

func defaultWeight() WeightConfig {
	return WeightConfig{
		Kind:       WeightRSFT,
		Config:     modelupdate.Config{Batch: 256, Group: 8, Minibatch: 64, Passes: 1, LearningRate: 1e-7},
		Accept:     defaultAccept,
		GRPO:       grpo.Default(),
		Optimizer:  OptimizerConfig{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, ClipNorm: 1},
		LoRA:       LoRAConfig{Alpha: 32, Targets: lm.LoRATargets()},
		MicroBatch: 2048,
	}
}

// Validate names the first setting that makes no sense, or that the kind would not look at.
func (c WeightConfig) Validate() error {
	if err := oneOf("weight.kind", c.Kind, []string{WeightRSFT, WeightGRPO}); err != nil {
		return err
	}
	if err := c.Config.Validate(); err != nil {
		return err
	}
	if c.Kind == WeightRSFT {
		if c.GRPO != grpo.Default() {
			return fmt.Errorf("weight.grpo: got settings of its own, want none where weight.kind is %s", c.Kind)
		}
		return (&rsft.Update{Config: c.Config, Accept: c.Accept}).Validate()
	}
	if c.Accept != defaultAccept {
		return fmt.Errorf("weight.accept: got %g, want it left out where weight.kind is %s, which learns from every reward", c.Accept, c.Kind)
	}
	return (&grpo.Update{Config: c.Config, GRPO: c.GRPO}).Validate()
}

// scores says whether weight phases score under the weights that they began with.
func (c WeightConfig) scores() bool { return c.Kind == WeightGRPO && c.GRPO.KL != 0 }

// newUpdate makes what a weight phase learns by.
func (r *Run) newUpdate(ph PlannedPhase, train []whale.Example) modelupdate.ModelUpdate {
	w, trainer := r.Config.Weight, settledFirst{r.trainer, r.settled}
	if w.Kind == WeightGRPO {
		return &grpo.Update{Config: w.Config, GRPO: w.GRPO, Trainer: trainer, Examples: train, RunSeed: r.Config.Seed, Reference: r.scorerAt(ph.From)}
	}
	return &rsft.Update{Config: w.Config, Accept: w.Accept, Trainer: trainer, Examples: train, RunSeed: r.Config.Seed}
}

// scorerAt gives what opens, once, the weights that rollout step number step samples from, where a phase begins. They are those that
// training began with, or those of a phase's end, whose snapshot is kept.
func (r *Run) scorerAt(step int) func(context.Context) (whale.Scorer, error) {
	var scorer whale.Scorer
	return func(ctx context.Context) (whale.Scorer, error) {
		if scorer != nil {
			return scorer, nil
		}
		dir := ""
		if step > 0 {
			var whole bool
			if dir, whole = r.store.Weights(snapshotID(step - 1)); !whole {
				return nil, fmt.Errorf("%s: the phase began with the weights of %s, of which there is no whole snapshot; remove those after it, and the steps are trained again from their rollouts", r.store.Dir(), snapshotID(step-1))
			}
		}
		opened, err := r.trainer.Scorer(ctx, dir)
		if err != nil {
			return nil, err
		}
		want, err := r.weightsAfter(ctx, step)
		if err != nil {
			return nil, err
		}
		if got := opened.Weights().ID; got != want {
			return nil, fmt.Errorf("%s: the snapshot's weights are %s, the journal has %s", dir, got.Short(), want.Short())
		}
		scorer = opened
		return scorer, nil
	}
}
