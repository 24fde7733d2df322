package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale/policy/local"
	"github.com/seed-095d5d2b/whale/recipe"
)

func (a *app) planCmd() *cobra.Command {
	var o overrides
	var model string
	c := &cobra.Command{
		Use:   "plan CONFIG",
		Short: "Print a config's phases, rollouts, tokens and disk space, before they are spent",
		Args:  args(cobra.ExactArgs(1)),
		RunE:  func(cmd *cobra.Command, list []string) error { return a.plan(cmd.Context(), list[0], model, o) },
	}
	registerModel(c, &model)
	o.register(c)
	return c
}

func (a *app) plan(ctx context.Context, path, model string, o overrides) error {
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
	prog, err := recipe.LoadProgram(config.Harness)
	if err != nil {
		return inConfig(path, err)
	}
	parts, err := a.openParts(ctx, config)
	if err != nil {
		return inConfig(path, err)
	}
	defer parts.Close()
	if _, err := parts.Harness(prog); err != nil {
		return inConfig(path, err)
	}
	n, err := parts.Counts()
	if err != nil {
		return err
	}
	p, err := recipe.MakePlan(config, n)
	if err != nil {
		return inConfig(path, err)
	}
	if a.json {
		return a.printJSON(p)
	}
	m, err := parts.Memory(a.workers)
	if err != nil {
		return inConfig(path, err)
	}
	return a.printPlan(p, config, n, m)
}

func (a *app) printPlan(p recipe.Plan, c recipe.Config, n recipe.Counts, m local.Memory) error {
	fmt.Fprintf(a.stdout, "%s: method %s, (E, I) = (%g, %d), %g epochs in all, seed %d\n", c.Name, c.Schedule.Method, c.Schedule.Epochs, c.Schedule.Sessions, c.Schedule.TotalEpochs, c.Seed)
	fmt.Fprintf(a.stdout, "examples: %d train, %d search, %d validation, %d test; an epoch is %.4g steps of %d examples × %d rollouts\n\n", n.Train, n.Search, n.Validation, n.Test, p.StepsAnEpoch, c.Weight.Batch, c.Weight.Group)
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "cycle\tphase\tsteps\tsessions\trollouts at most")
	for _, ph := range p.Phases {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d\n", ph.Cycle, ph.Kind, orDash(ph.Steps), orDash(ph.Sessions), ph.Rollouts)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\ncycles              %d\n", p.Cycles)
	fmt.Fprintf(a.stdout, "training rollouts   %d in %d steps\n", p.WeightRollouts, p.Steps)
	fmt.Fprintf(a.stdout, "search rollouts     %d at most, in %d sessions of %d candidates, incoming harnesses included; %d canary episodes apart\n", p.SearchRollouts, p.Sessions, c.Search.Candidates, p.CanaryRollouts)
	fmt.Fprintf(a.stdout, "test rollouts       %d for the curve, %d for mean@%d of four pairs; outside the training budget\n", p.CurveRollouts, p.FinalRollouts, c.Evaluation.Draws)
	fmt.Fprintf(a.stdout, "sampled tokens      %d at most (%d a rollout)\n", p.MaxTokens, c.Limits.Tokens)
	fmt.Fprintf(a.stdout, "disk                about %d MB\n", p.Space(c, m.Trained)>>20)
	fmt.Fprintf(a.stdout, "memory              %s at most, before garbage\n", megabytes(m.Run()))
	return nil
}

func orDash(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}
