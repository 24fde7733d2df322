package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale/strictyaml"
)

// app owns everything that commands take from outside, so that tests run the real root command.
type app struct {
	stdout, stderr io.Writer
	now            func() time.Time
	workers        int        // CPU cores
	live           bool       // stderr is a terminal that can redraw a line
	width          func() int // of that terminal

	binary string // path of this program; "" = unknown

	json    bool // --json
	require bool // --require-sandbox
}

// build names this binary by its content, so that a run can tell that another one goes on with it.
func (a *app) build() string {
	f, err := os.Open(a.binary)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// maxWorkers bounds --workers: each may be a process.
const maxWorkers = 1024

// main runs a command line and gives the exit code.
func (a *app) main(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := exitCode(ctx, err)
	if !errors.Is(err, errSaid) {
		text := oneLine(err.Error())
		if code == exitInterrupted {
			text = strings.ReplaceAll(text, context.Canceled.Error(), "interrupted")
		}
		fmt.Fprintln(a.stderr, "whale: "+text)
	}
	return code
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "whale",
		Short: "Improve an agent on a task with a verifier: its weights and its harness, in turns",
		Long: "whale improves an agent (a model and its harness program) on a task with a verifier. It alternates between fine-tuning the model\n" +
			"on its own verified rollouts and searching for a better harness program.\n\n" + exitHelp(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if a.workers < 1 || a.workers > maxWorkers {
				return &usageError{fmt.Sprintf("--workers: got %d, want 1 to %d", a.workers, maxWorkers)}
			}
			return nil
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{fmt.Sprintf("%v; see %s --help", err, cmd.CommandPath())}
	})
	root.PersistentFlags().BoolVar(&a.json, "json", false, "machine-readable output: one JSON value a line")
	root.PersistentFlags().IntVar(&a.workers, "workers", a.workers, "CPU cores to use")
	root.PersistentFlags().BoolVar(&a.require, "require-sandbox", false, "refuse to run harness programs and tools where a mechanism of isolation is missing")
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(a.runCmd(), a.resumeCmd(), a.evalCmd(), a.planCmd(), a.reportCmd(), a.exportCmd(), a.explainCmd(), a.matrixCmd(), a.compareCmd(), a.diagnoseCmd(), a.harnessCmd(), a.taskCmd(), a.modelCmd(), a.versionCmd())
	return root
}

// args checks a command's arguments with cobra's validators, as a usage error.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, list []string) error {
		if err := check(cmd, list); err != nil {
			name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
			return &usageError{fmt.Sprintf("%s: got %d arguments; usage: %s", name, len(list), cmd.UseLine())}
		}
		return nil
	}
}

// group is a command that only holds others.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: noSuchCommand, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(subs...)
	return c
}

// noSuchCommand refuses the arguments of a command that only holds others, and names the nearest of them.
func noSuchCommand(cmd *cobra.Command, list []string) error {
	if len(list) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	if near := strictyaml.Nearest(list[0], names); near != "" {
		return &usageError{fmt.Sprintf("unknown command %q: did you mean %q? see %s --help", list[0], near, cmd.CommandPath())}
	}
	return &usageError{fmt.Sprintf("unknown command %q; see %s --help", list[0], cmd.CommandPath())}
}

func (a *app) printJSON(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%s\n", data)
	return err
}

// oneLine puts a text on one line that a terminal only shows.
func oneLine(s string) string { return strings.Join(strings.Fields(printable(s)), " ") }

// printable replaces what a terminal would obey instead of show, line ends and tabs apart: programs and models write what is printed.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
