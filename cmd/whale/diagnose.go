package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale/recipe"
)

func (a *app) diagnoseCmd() *cobra.Command {
	var o overrides
	var dir, model string
	c := &cobra.Command{
		Use:   "diagnose CONFIG",
		Short: "Say whether a task is limited by its harness or its weights: a short search and a short weight phase from the same start",
		Long: "Runs the config's first cycle, and its harness search without the weight phase, and compares what each half gains on the validation split. The\n" +
			"test split stays closed. An interrupted diagnosis goes on when the same command is given again.",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			return a.diagnose(cmd.Context(), list[0], dir, model, o)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "directory of the two runs (default: runs/NAME-diagnose)")
	registerModel(c, &model)
	o.register(c)
	return c
}

func (a *app) diagnose(ctx context.Context, path, dir, model string, o overrides) error {
	config, err := recipe.LoadConfig(path)
	if err != nil {
		return err
	}
	if err := o.apply(&config); err != nil {
		return err
	}
	if err := useModel(&config, model); err != nil {
		return err
	}
	if dir == "" {
		dir = filepath.Join("runs", config.Name+"-diagnose")
	}
	d, err := recipe.Diagnose(ctx, config, dir, a.options(nil), a.comparisonView())
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("%s: interrupted; the same command goes on", dir)
		}
		return inConfig(path, err)
	}
	if a.json {
		return a.printJSON(d)
	}
	fmt.Fprintf(a.stdout, "%s split, mean@%d over %s, 95%% intervals, paired by example\n\n", titled(string(d.Split)), d.Draws, english.Plural(d.Examples, "example", ""))
	fmt.Fprintf(a.stdout, "(θ0,h0)                                %.1f%% [%.1f, %.1f]\n", 100*d.Base.Mean, 100*d.Base.Low, 100*d.Base.High)
	fmt.Fprintf(a.stdout, "harness search from θ0                 %s  for %s\n", d.Harness, english.Plural(d.HarnessRollouts, "rollout", ""))
	fmt.Fprintf(a.stdout, "weight phase under h0                  %s  for %s\n", d.Weights, english.Plural(d.WeightRollouts, "rollout", ""))
	fmt.Fprintf(a.stdout, "harness search after the weight phase  %s\n", d.After)
	fmt.Fprintf(a.stdout, "both                                   %s\n", d.Both)
	fmt.Fprintf(a.stdout, "the search less the weight phase       %s\n\n", d.Between)
	fmt.Fprintf(a.stdout, "%s: %s\n", d.Verdict, d.Text)
	return nil
}
