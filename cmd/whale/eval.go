package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/rollout"
)

// agentOptions choose a pair of weights and harness for eval and harness run.
type agentOptions struct {
	model, harness string
	overrides
}

func (o *agentOptions) register(c *cobra.Command) {
	c.Flags().StringVar(&o.model, "model", "", "embedded model, model folder, or a snapshot of a run (runs/NAME/weights/ID), instead of the config's")
	c.Flags().StringVar(&o.harness, "harness", "", "harness program, instead of the config's")
	o.overrides.register(c)
}

// open reads the config (a file, or that of a run directory) and opens the pair.
func (o agentOptions) open(ctx context.Context, a *app, path string) (*recipe.Parts, whale.Harness, error) {
	config, prog, err := readPair(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	if err := o.apply(&config); err != nil {
		return nil, nil, err
	}
	if err := useModel(&config, o.model); err != nil {
		return nil, nil, err
	}
	if o.harness != "" {
		config.Harness, prog = o.harness, recipe.Program{}
	}
	if prog.Name == "" {
		if prog, err = recipe.LoadProgram(config.Harness); err != nil {
			return nil, nil, err
		}
	}
	parts, err := a.openParts(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	h, err := parts.Harness(prog)
	if err != nil {
		parts.Close()
		return nil, nil, err
	}
	return parts, h, nil
}

// readPair gives a config and, from a run directory, the program that the run keeps.
func readPair(ctx context.Context, path string) (recipe.Config, recipe.Program, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return recipe.OpenPair(ctx, path)
	}
	config, err := recipe.LoadConfig(path)
	return config, recipe.Program{}, err
}

func runnerOf(p *recipe.Parts, policy whale.Policy) *rollout.Runner {
	c := p.Config
	return &rollout.Runner{
		Task: p.Task, Policy: policy, Limits: c.Limits, Sampling: c.Sampling, RunSeed: c.Seed, Concurrency: c.Concurrency, Retries: c.Retries,
	}
}

func (a *app) evalCmd() *cobra.Command {
	var o agentOptions
	var split string
	var draws int
	c := &cobra.Command{
		Use:   "eval CONFIG|RUN",
		Short: "Evaluate a pair of weights and harness on a split: mean@k with a 95% interval",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			splits := []whale.Split{whale.SplitTrain, whale.SplitSearch, whale.SplitValidation, whale.SplitTest}
			if !slices.Contains(splits, whale.Split(split)) {
				return &usageError{fmt.Sprintf("eval: --split: got %q, want one of %v", split, splits)}
			}
			if draws < 1 {
				return &usageError{fmt.Sprintf("eval: --draws: got %d, want 1 or more", draws)}
			}
			return a.eval(cmd.Context(), list[0], o, whale.Split(split), draws)
		},
	}
	o.register(c)
	c.Flags().StringVar(&split, "split", string(whale.SplitValidation), "split: train, search, validation or test")
	c.Flags().IntVar(&draws, "draws", 8, "draws an example, k of mean@k")
	return c
}

func (a *app) eval(ctx context.Context, path string, o agentOptions, split whale.Split, draws int) error {
	parts, h, err := o.open(ctx, a, path)
	if err != nil {
		return err
	}
	defer parts.Close()
	policy := parts.Bundle.NewPolicy(parts.LocalOptions())
	defer policy.Close()
	purpose := whale.PurposeValidation
	if split == whale.SplitTest {
		purpose = whale.PurposeTest
	}
	start := a.now()
	res, err := recipe.Evaluate(ctx, runnerOf(parts, policy), h, split, purpose, draws)
	if err != nil {
		return err
	}
	seconds := a.now().Sub(start).Seconds()
	chance, guessable, err := parts.Chance(split)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			Split   whale.Split `json:"split"`
			Weights whale.ID    `json:"weights"`
			Harness whale.ID    `json:"harness"`
			recipe.Result
			Seconds float64  `json:"seconds"`
			Chance  *float64 `json:"chance,omitempty"`
		}{split, policy.Weights().ID, h.ID(), res, seconds, optional(chance, guessable)})
	}
	fmt.Fprintf(a.stdout, "%s, %d examples, mean@%d: %.1f%% [%.1f, %.1f]  weights %s  harness %s\n", split, res.Examples, res.Draws, 100*res.Mean, 100*res.Low, 100*res.High, policy.Weights().ID.Short(), h.ID().Short())
	if guessable {
		fmt.Fprintf(a.stdout, "  answering at random solves %.1f%%\n", 100*chance)
	}
	names := make([]string, 0, len(res.Metrics))
	for k := range res.Metrics {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		fmt.Fprintf(a.stdout, "  %-14s %.3f\n", k, res.Metrics[k])
	}
	fmt.Fprintf(a.stdout, "  %-14s %d of %d rollouts; %.1f s\n", "failed", res.Failed, res.Examples*res.Draws, seconds)
	return nil
}

// optional gives a pointer to a value that is there.
func optional(v float64, there bool) *float64 {
	if !there {
		return nil
	}
	return &v
}
