package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/rollout"
)

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
		Use:   "eval CONFIG|RUN|RUN@MOMENT|EXPORT",
		Short: "Evaluate a pair of weights and harness on a split: mean@k with a 95% interval",
		Long: "Evaluates a pair of weights and harness on a split of a task: mean@k with a 95% interval. CONFIG gives all three, RUN the config and the harness that a run\n" +
			"began with, RUN@MOMENT the pair that it had at that moment (start, cycle0, 1-harness, step-000012, final, or latest of a run that is not finished), EXPORT\n" +
			"the pair in a folder of whale export. --model, --harness and --task put others in their places.",
		Args: args(cobra.ExactArgs(1)),
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
	a.noteTest(parts.Config.Evaluation, split)
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
			Task    whale.ID    `json:"task"`
			Model   string      `json:"model"` // where the weights came from
			Weights whale.ID    `json:"weights"`
			Harness whale.ID    `json:"harness"`
			recipe.Result
			Seconds float64  `json:"seconds"`
			Chance  *float64 `json:"chance,omitempty"`
		}{split, parts.Task.ID(), parts.Bundle.Source, policy.Weights().ID, h.ID(), res, seconds, optional(chance, guessable)})
	}
	fmt.Fprintf(a.stdout, "%s, %s, mean@%d: %.1f%% [%.1f, %.1f]  weights %s  harness %s\n", split, english.Plural(res.Examples, "example", ""), res.Draws, 100*res.Mean, 100*res.Low, 100*res.High, policy.Weights().ID.Short(), h.ID().Short())
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
	fmt.Fprintf(a.stdout, "  %-14s %d of %s; %.1f s\n", "failed", res.Failed, english.Plural(res.Examples*res.Draws, "rollout", ""), seconds)
	return nil
}

// optional gives a pointer to a value that is there.
func optional(v float64, there bool) *float64 {
	if !there {
		return nil
	}
	return &v
}
