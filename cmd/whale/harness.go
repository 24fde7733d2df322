package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/harness/compare"
	"github.com/seed-095d5d2b/whale/harness/scaffold"
	"github.com/seed-095d5d2b/whale/recipe"
)

func (a *app) harnessCmd() *cobra.Command {
	return group("harness", "Write, check, try and compare harness programs", a.harnessNewCmd(), a.harnessCheckCmd(), a.harnessRunCmd(), a.harnessDiffCmd())
}

func (a *app) harnessNewCmd() *cobra.Command {
	var lang, out string
	c := &cobra.Command{
		Use:   "new",
		Short: "Write a harness to start from",
		Args:  args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			name, src, err := scaffold.New(lang)
			if err != nil {
				return &usageError{fmt.Sprintf("harness new: --lang: got %q, want %s", lang, strings.Join(scaffold.Languages(), ", "))}
			}
			if out == "" {
				out = name
			}
			if harness.LanguageOf(out) != harness.LanguageOf(name) {
				return &usageError{fmt.Sprintf("harness new: --out: got %q, want a name that ends in %s", out, filepath.Ext(name))}
			}
			f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			if err != nil {
				return &recipe.InputError{Err: fmt.Errorf("harness new: %w; give another name with --out", err)}
			}
			if _, err = f.Write(src); err == nil {
				err = f.Close()
			}
			if err != nil {
				return fmt.Errorf("harness new: %w", err)
			}
			if a.json {
				return a.printJSON(struct {
					File     string `json:"file"`
					Language string `json:"language"`
				}{out, lang})
			}
			fmt.Fprintf(a.stdout, "%s; try it: whale harness run %s --config CONFIG\n", out, out)
			return nil
		},
	}
	c.Flags().StringVar(&lang, "lang", "star", "language: "+strings.Join(scaffold.Languages(), ", "))
	c.Flags().StringVar(&out, "out", "", "file to write, instead of harness.EXTENSION; it must not exist")
	return c
}

func (a *app) harnessDiffCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "Say how program B differs from program A, by prompt and function",
		Args:  args(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, files []string) error {
			var sides [2]compare.Source
			for i, f := range files {
				src, err := readBounded(f, compare.MaxSource)
				if err != nil {
					return &recipe.InputError{Err: fmt.Errorf("harness %s: %w", f, err)}
				}
				sides[i] = compare.Source{Name: f, Text: src}
			}
			d, err := compare.Compare(sides[0], sides[1])
			if err != nil {
				return &recipe.InputError{Err: err}
			}
			if a.json {
				return a.printJSON(d)
			}
			fmt.Fprint(a.stdout, printable(d.Text()))
			return nil
		},
	}
}

// readBounded reads a regular file of at most most bytes.
func readBounded(path string, most int64) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // to open a pipe waits for a writer, and nothing ends that
		return nil, errors.New("got no regular file, want one")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(src)) > most {
		err = fmt.Errorf("got more than %d bytes", most)
	}
	return src, err
}
