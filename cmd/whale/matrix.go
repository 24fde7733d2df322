package main

import (
	"context"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/recipe"
)

func (a *app) matrixCmd() *cobra.Command {
	var split string
	var draws int
	c := &cobra.Command{
		Use:   "matrix RUN",
		Short: "Evaluate every cycle's weights with every cycle's harness of a finished run",
		Long: "Evaluates every cycle's weights with every cycle's harness of a finished run, as a table. The numbers are kept in the run, for whale report, which\n" +
			"draws them as a heat map; the run's own results do not change.",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			splits := []whale.Split{whale.SplitSearch, whale.SplitValidation, whale.SplitTest}
			if cmd.Flags().Changed("split") && !slices.Contains(splits, whale.Split(split)) {
				return &usageError{fmt.Sprintf("matrix: --split: got %q, want one of %v", split, splits)}
			}
			if draws < 1 || draws > 1000 {
				return &usageError{fmt.Sprintf("matrix: --draws: got %d, want 1 to 1000", draws)}
			}
			return a.matrix(cmd.Context(), list[0], whale.Split(split), draws)
		},
	}
	c.Flags().StringVar(&split, "split", "", "split: search, validation or test (default: the run's evaluation.split)")
	c.Flags().IntVar(&draws, "draws", 1, "draws an example, k of mean@k")
	return c
}

func (a *app) matrix(ctx context.Context, dir string, split whale.Split, draws int) (err error) {
	if err := noComparison(dir); err != nil {
		return err
	}
	view := a.newView()
	r, err := recipe.Resume(ctx, dir, nil, a.options(view))
	if err != nil {
		return err
	}
	defer func() {
		if cerr := r.Close(); err == nil {
			err = cerr
		}
	}()
	a.noteTest(r.Config.Evaluation, split)
	m, err := r.Measure(ctx, split, draws)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("%s: interrupted; the same command goes on", dir)
		}
		return err
	}
	if a.json {
		return a.printJSON(m)
	}
	return a.printMatrix(m)
}

func (a *app) printMatrix(m recipe.Matrix) error {
	if err := m.Check(); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s split, mean@%d over %s, %%: rows are harnesses, columns are weights\n\n", printable(titled(string(m.Split))), m.Draws, english.Plural(m.Cells[0][0].Examples, "example", ""))
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, x := range m.Weights {
		fmt.Fprintf(w, "\t%s", oneLine(x.Name))
	}
	fmt.Fprintln(w, "\t")
	for i, row := range m.Cells {
		fmt.Fprint(w, oneLine(m.Harness[i].Name))
		for _, cell := range row {
			fmt.Fprintf(w, "\t%.1f [%.1f, %.1f]", 100*cell.Mean, 100*cell.Low, 100*cell.High)
		}
		fmt.Fprintln(w, "\t")
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	for _, axis := range [][]recipe.MatrixAxis{m.Weights, m.Harness} {
		for _, x := range axis {
			fmt.Fprintf(a.stdout, "%s  %s  after %s\n", oneLine(x.Name), oneLine(x.ID.Short()), oneLine(x.At))
		}
	}
	return nil
}

// noteTest says where a command opens the test split that its config keeps closed.
func (a *app) noteTest(c recipe.EvalConfig, split whale.Split) {
	if c.Closes(split) {
		fmt.Fprintf(a.stderr, "note: evaluation.split is %s, which keeps the test split closed; --split %s opens it\n", oneLine(string(c.Split)), split)
	}
}
