package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/report"
)

func (a *app) reportCmd() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "report RUN|COMPARISON...",
		Short: "Compare runs: tables with intervals, plots, and one page, from what their directories hold",
		Long: "report reads run directories, also of runs that are under way, and writes report.html (one file that opens without a network), report.json, report.txt,\n" +
			"a CSV file a table, and plots as SVG and PNG. It prints the tables; with --json, every number. Runs of different tasks are reported apart.",
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return a.report(cmd.Context(), list, out) },
	}
	c.Flags().StringVar(&out, "out", "", "folder to write to (default: RUN/report of a single run, else ./whale-report)")
	return c
}

func (a *app) report(ctx context.Context, runs []string, out string) error {
	if out == "" {
		out = "whale-report"
		if len(runs) == 1 {
			out = filepath.Join(runs[0], "report")
			if info, err := os.Lstat(out); err == nil && info.Mode()&fs.ModeSymlink != 0 { // a run directory may come from somebody else
				return &usageError{fmt.Sprintf("report: %s is a link: name a folder with --out", out)}
			}
		}
	}
	runs, err := runsOf(runs)
	if err != nil {
		return err
	}
	r, err := report.Load(ctx, runs)
	if err != nil {
		return err
	}
	files, err := r.WriteAll(ctx, out)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			Kind string `json:"kind"`
			Out  string `json:"out"`
			*report.Report
		}{"report", out, r})
	}
	if err := r.WriteText(a.stdout); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\nreport  %s and %d other files\n", oneLine(filepath.Join(out, files[0])), len(files)-1)
	return nil
}

// runsOf puts the run directories of a comparison in the place of its own directory.
func runsOf(dirs []string) ([]string, error) {
	var out []string
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, recipe.ManifestName)); err != nil {
			out = append(out, dir)
			continue
		}
		configs, err := filepath.Glob(filepath.Join(dir, "*", "config.yaml"))
		if err != nil {
			return nil, err
		}
		for _, path := range configs {
			out = append(out, filepath.Dir(path))
		}
	}
	return out, nil
}
