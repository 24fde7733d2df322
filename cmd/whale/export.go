package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale/export"
	"github.com/seed-095d5d2b/whale/recipe"
)

func (a *app) exportCmd() *cobra.Command {
	var o export.Options
	var format, out string
	var formats []string
	for _, f := range export.Formats() {
		formats = append(formats, string(f))
	}
	c := &cobra.Command{
		Use:   "export RUN",
		Short: "Write a run's model and harness as a folder for others: Hugging Face, PEFT or GGUF, with a model card",
		Long: "Writes a folder with the weights of a run in a common format, its harness program, its config, and a model card that says how both were made.\n" +
			"The run is only read; it may be finished or not. The folder appears whole or not at all, and is never overwritten.",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			o.Format, o.Build = export.Format(format), a.build()
			return a.export(cmd.Context(), list[0], out, o)
		},
	}
	c.Flags().StringVar(&format, "format", string(export.HF), "of the weights: "+strings.Join(formats, ", ")+" (peft: runs that train an adapter; the others merge it)")
	c.Flags().StringVar(&o.Type, "type", export.TypeF32, "number format of the weights: f32 is exact; bf16 for hf and gguf, f16 for gguf")
	c.Flags().StringVar(&o.At, "at", "", "moment of the run: start, cycle0, a phase (1-harness), a rollout step (step-000012), final, or latest of a run that is not finished (default: the last)")
	c.Flags().StringVar(&out, "out", "", "folder to write (default: the run's name and the format, here)")
	return c
}

func (a *app) export(ctx context.Context, run, out string, o export.Options) error {
	if err := noComparison(run); err != nil {
		return err
	}
	if out == "" {
		whole, err := filepath.Abs(run)
		if err != nil {
			return err
		}
		out = filepath.Base(whole) + "-" + string(o.Format)
	}
	r, err := export.Run(ctx, run, out, o)
	var wrong *export.OptionError
	if errors.As(err, &wrong) {
		return &usageError{"export: " + wrong.Error()}
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	if !r.Finished {
		note := "note: the run is not finished"
		if r.Moment.Name == recipe.MomentLatest {
			note += "; this is the latest of it"
		}
		fmt.Fprintln(a.stderr, note)
	}
	fmt.Fprintf(a.stdout, "%s\n", printable(r.Dir))
	for _, f := range r.Files {
		fmt.Fprintf(a.stdout, "  %s\n", printable(f))
	}
	fmt.Fprintf(a.stdout, "weights  %s, after %s (%s)\n", r.Moment.Weights, english.Plural(r.Moment.Steps, "rollout step", ""), printable(r.Moment.Name))
	if r.Stored != r.Moment.Weights {
		fmt.Fprintf(a.stdout, "stored   %s, merged or rounded\n", r.Stored)
	}
	fmt.Fprintf(a.stdout, "harness  %s\n", r.Moment.Harness)
	return nil
}
