package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/task/custom"
)

func (a *app) taskCmd() *cobra.Command {
	return group("task", "Write, check and show tasks of your own", a.taskNewCmd(), a.taskCheckCmd(), a.taskShowCmd(), a.searchCmd())
}

func (a *app) taskNewCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "new DIR",
		Short: "Write the folder of a task to start from",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, list []string) error {
			files, err := custom.Scaffold(list[0])
			if err != nil {
				return &recipe.InputError{Err: err}
			}
			if a.json {
				return a.printJSON(struct {
					Files []string `json:"files"`
				}{files})
			}
			fmt.Fprintf(a.stdout, "%s\ncheck it: whale task check %s\n", strings.Join(files, "\n"), list[0])
			return nil
		},
	}
}

func (a *app) taskCheckCmd() *cobra.Command {
	model := ""
	episodes := 0
	c := &cobra.Command{
		Use:   "check DIR",
		Short: "Check a task: every row, the verifier on the reference answers, overlap of splits, trial episodes",
		Long: "Reads every row of a task's data, gives its reference answers to its verifier, looks for examples in two splits, runs trial episodes of its\n" +
			"harness under a model, and says what is wrong, with file and row. Exits with 7 where something must be mended.",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			if episodes < 0 {
				return &usageError{fmt.Sprintf("task check: --episodes: got %d, want 0 or more", episodes)}
			}
			report, err := recipe.CheckFolder(cmd.Context(), list[0], model, episodes, a.resources())
			if err != nil {
				return err
			}
			if a.json {
				err = a.printJSON(report)
			} else {
				_, err = report.WriteTo(a.stdout)
			}
			if err == nil && !report.OK() {
				err = errFindings
			}
			return err
		},
	}
	c.Flags().StringVar(&model, "model", "whale-tiny", "embedded model, model folder, or a snapshot of a run, for the trial episodes")
	c.Flags().IntVar(&episodes, "episodes", 3, "trial episodes")
	return c
}

func (a *app) taskShowCmd() *cobra.Command {
	var o custom.ShowOptions
	split := ""
	c := &cobra.Command{
		Use:   "show DIR",
		Short: "Print what a task is: counts, fields, tools, and examples as an agent sees them",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			o.Split = whale.Split(split)
			return a.taskShow(cmd.Context(), list[0], o)
		},
	}
	c.Flags().StringVar(&split, "split", "", "split whose examples are shown (default: the first that has any)")
	c.Flags().IntVar(&o.Example, "example", 0, "number of the one example to show whole, from 1; 0 shows the first few")
	c.Flags().BoolVar(&o.Answers, "answers", false, "show reference answers too")
	return c
}

func (a *app) taskShow(ctx context.Context, folder string, o custom.ShowOptions) error {
	t, done, err := recipe.OpenFolder(ctx, folder, a.resources())
	if err != nil {
		return err
	}
	defer done()
	if a.json {
		return a.printJSON(t.Summary())
	}
	if err := t.Show(a.stdout, o); err != nil {
		return &usageError{err.Error()}
	}
	return nil
}

func (a *app) resources() recipe.Resources {
	return recipe.Resources{Workers: a.workers, Require: a.require}
}
