package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/rollout"
)

func (a *app) harnessCmd() *cobra.Command {
	return group("harness", "Check and try harness programs", a.harnessCheckCmd(), a.harnessRunCmd())
}

func (a *app) harnessCheckCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "Check harness programs against the contract",
		Args:  args(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, files []string) error {
			found := false
			for _, f := range files {
				src, err := os.ReadFile(f)
				if err != nil {
					return &recipe.InputError{Err: fmt.Errorf("harness %s: no such file, or not readable", f)}
				}
				findings := harness.Check(f, src)
				found = found || len(findings) > 0
				if err := a.printFindings(f, src, findings); err != nil {
					return err
				}
			}
			if found {
				return errFindings
			}
			return nil
		},
	}
}

func (a *app) printFindings(file string, src []byte, findings []harness.Finding) error {
	if a.json {
		return a.printJSON(struct {
			File     string            `json:"file"`
			ID       whale.ID          `json:"id"`
			Findings []harness.Finding `json:"findings"`
		}{file, whale.HarnessID(src), append([]harness.Finding{}, findings...)})
	}
	for _, f := range findings {
		place := file
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d:%d", file, f.Line, f.Col)
		}
		fmt.Fprintf(a.stdout, "%s: %s: %s\n", place, f.Gate, oneLine(f.Message))
		if f.Suggestion != "" {
			fmt.Fprintf(a.stdout, "    %s\n", f.Suggestion)
		}
	}
	if len(findings) == 0 {
		fmt.Fprintf(a.stdout, "%s: fine (harness %s)\n", file, whale.HarnessID(src).Short())
	}
	return nil
}

func (a *app) harnessRunCmd() *cobra.Command {
	var o agentOptions
	var config, split string
	var example, draw int
	c := &cobra.Command{
		Use:   "run FILE --config CONFIG",
		Short: "Run one episode of a harness and print it turn by turn",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			if config == "" {
				return &usageError{"harness run: got no --config, want a config for task, model and limits"}
			}
			allowed := []whale.Split{whale.SplitTrain, whale.SplitSearch, whale.SplitValidation}
			if !slices.Contains(allowed, whale.Split(split)) {
				return &usageError{fmt.Sprintf("harness run: --split: got %q, want one of %v (test is for evaluation alone)", split, allowed)}
			}
			if draw < 0 {
				return &usageError{fmt.Sprintf("harness run: --draw: got %d, want 0 or more", draw)}
			}
			o.harness = list[0]
			return a.harnessRun(cmd.Context(), config, o, whale.Split(split), example, draw)
		},
	}
	c.Flags().StringVar(&config, "config", "", "config file or run directory")
	c.Flags().StringVar(&o.model, "model", "", "embedded model, model folder, or a snapshot of a run, instead of the config's")
	o.overrides.register(c)
	c.Flags().StringVar(&split, "split", string(whale.SplitTrain), "split: train, search or validation")
	c.Flags().IntVar(&example, "example", 0, "number of the example, from 0")
	c.Flags().IntVar(&draw, "draw", 0, "draw: another one samples anew")
	return c
}

func (a *app) harnessRun(ctx context.Context, config string, o agentOptions, split whale.Split, example, draw int) error {
	parts, h, err := o.open(ctx, a, config)
	if err != nil {
		return err
	}
	defer parts.Close()
	examples, err := parts.Task.Examples(split)
	if err != nil {
		return err
	}
	if example < 0 || example >= len(examples) {
		return &usageError{fmt.Sprintf("harness run: --example: got %d, want 0 to %d", example, len(examples)-1)}
	}
	policy := parts.Bundle.NewPolicy(parts.LocalOptions())
	defer policy.Close()
	rollouts, err := runnerOf(parts, policy).Run(ctx, []rollout.Job{{Harness: h, Example: examples[example], Split: split, Purpose: whale.PurposeTrial, Draw: draw}})
	if err != nil {
		return err
	}
	r := rollouts[0]
	if a.json {
		return a.printJSON(r)
	}
	printEpisode(a.stdout, r)
	if r.State == whale.StateError {
		return fmt.Errorf("the episode met an infrastructure error: %s", r.Error)
	}
	return nil
}

// printEpisode prints an episode turn by turn: what each call added to the conversation, what the model said, what the tools said.
func printEpisode(w io.Writer, r *whale.Rollout) {
	e := &r.Episode
	shown := 0
	tool := 0
	for i, call := range e.Calls {
		if shown > len(call.Messages) {
			shown = 0 // the harness rewrote its history
		}
		for _, m := range call.Messages[shown:] {
			if m.Reply == 0 {
				section(w, m.Role, m.Content)
			} else if int(m.Reply) != i {
				section(w, "assistant", fmt.Sprintf("(reply %d again)", m.Reply))
			}
		}
		shown = len(call.Messages)
		c := call.Completion
		section(w, fmt.Sprintf("reply %d", i+1), call.Text)
		fmt.Fprintf(w, "    (%d prompt tokens, %d sampled, finish %s)\n", len(c.Prompt), len(c.Tokens), c.Finish)
		for ; tool < len(e.Tools) && int(e.Tools[tool].After) == i+1; tool++ {
			t := e.Tools[tool]
			args, _ := json.Marshal(t.Args)
			section(w, "tool "+t.Name, string(args))
			if t.Result.Error != "" {
				section(w, "tool error", t.Result.Error)
			} else {
				section(w, "tool result", t.Result.Text)
			}
		}
	}
	if e.Log != "" {
		section(w, "log", e.Log)
	}
	u := e.Usage
	fmt.Fprintf(w, "\n%s", r.State)
	if r.State == whale.StateScored {
		fmt.Fprintf(w, "  reward %g", r.Verdict.Reward)
	}
	if r.Verdict.Reason != "" {
		fmt.Fprintf(w, "  %s", r.Verdict.Reason)
	}
	if e.Failure != nil {
		fmt.Fprintf(w, "  %s", oneLine(e.Failure.Detail))
	}
	fmt.Fprintf(w, "\n%d model calls, %d tool calls, %d prompt tokens, %d sampled tokens, %d steps\n", u.ModelCalls, u.ToolCalls, u.PromptTokens, u.SampledTokens, u.Steps)
}

func section(w io.Writer, title, text string) {
	fmt.Fprintf(w, "[%s]\n", title)
	for line := range strings.Lines(strings.TrimRight(printable(text), "\n")) {
		fmt.Fprint(w, "    ", line)
	}
	fmt.Fprintln(w)
}
