package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/rollout"
)

// trialOptions choose the episodes of harness run.
type trialOptions struct {
	agentOptions
	config, split  string
	example, draw  int
	breakOnFailure bool
}

func (a *app) harnessRunCmd() *cobra.Command {
	var o trialOptions
	c := &cobra.Command{
		Use:   "run FILE --config CONFIG",
		Short: "Run one episode of a harness and print it turn by turn",
		Long: "Runs one episode of a harness and prints it turn by turn, with its tokens. With --break-on-failure it goes on from --example to the end\n" +
			"of the split, a line an episode, stops at the first that fails or is not rewarded, prints that one turn by turn, and exits with 7.",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			if o.config == "" {
				return &usageError{"harness run: got no --config, want a config for task, model and limits"}
			}
			allowed := []whale.Split{whale.SplitTrain, whale.SplitSearch, whale.SplitValidation}
			if !slices.Contains(allowed, whale.Split(o.split)) {
				return &usageError{fmt.Sprintf("harness run: --split: got %q, want one of %v (test is for evaluation alone)", o.split, allowed)}
			}
			if o.draw < 0 {
				return &usageError{fmt.Sprintf("harness run: --draw: got %d, want 0 or more", o.draw)}
			}
			o.harness = list[0]
			return a.harnessRun(cmd.Context(), o)
		},
	}
	c.Flags().StringVar(&o.config, "config", "", "config file or run directory")
	c.Flags().StringVar(&o.model, "model", "", "weights, instead of the config's: an embedded model, a model or adapter folder, a .gguf file, a folder of whale export, a run, or RUN@MOMENT")
	o.overrides.register(c)
	c.Flags().StringVar(&o.split, "split", string(whale.SplitTrain), "split: train, search or validation")
	c.Flags().IntVar(&o.example, "example", 0, "number of the example, from 0")
	c.Flags().IntVar(&o.draw, "draw", 0, "draw: another one samples anew")
	c.Flags().BoolVar(&o.breakOnFailure, "break-on-failure", false, "go through the split from --example on and stop at the first episode that fails or is not rewarded")
	return c
}

func (a *app) harnessRun(ctx context.Context, o trialOptions) error {
	parts, h, err := o.open(ctx, a, o.config)
	if err != nil {
		return err
	}
	defer parts.Close()
	split := whale.Split(o.split)
	examples, err := parts.Task.Examples(split)
	if err != nil {
		return err
	}
	if o.example < 0 || o.example >= len(examples) {
		return &usageError{fmt.Sprintf("harness run: --example: got %d, want 0 to %d", o.example, len(examples)-1)}
	}
	policy := parts.Bundle.NewPolicy(parts.LocalOptions())
	defer policy.Close()
	runner := runnerOf(parts, policy)
	last := o.example
	if o.breakOnFailure {
		last = len(examples) - 1
	}
	for i := o.example; i <= last; i++ {
		start := a.now()
		rollouts, err := runner.Run(ctx, []rollout.Job{{Harness: h, Example: examples[i], Split: split, Purpose: whale.PurposeTrial, Draw: o.draw}})
		if err != nil {
			return err
		}
		r, seconds := rollouts[0], a.now().Sub(start).Seconds()
		good := r.State == whale.StateScored && r.Verdict.Reward > 0.5
		if o.breakOnFailure && good {
			if !a.json {
				u := r.Episode.Usage
				fmt.Fprintf(a.stdout, "example %d: reward %g, %d model calls, %d tool calls, %d sampled tokens, %.2f s\n", i, r.Verdict.Reward, u.ModelCalls, u.ToolCalls, u.SampledTokens, seconds)
			}
			continue
		}
		if err := a.showEpisode(r, i, seconds); err != nil {
			return err
		}
		if r.State == whale.StateError {
			return fmt.Errorf("example %d: the episode met an infrastructure error: %s", i, oneLine(r.Error))
		}
		if o.breakOnFailure {
			return errFindings
		}
	}
	if o.breakOnFailure && !a.json {
		fmt.Fprintf(a.stdout, "all %d episodes were rewarded\n", last-o.example+1)
	}
	return nil
}

func (a *app) showEpisode(r *whale.Rollout, example int, seconds float64) error {
	if a.json {
		return a.printJSON(r)
	}
	fmt.Fprintf(a.stdout, "example %d\n\n", example)
	printEpisode(a.stdout, r)
	fmt.Fprintf(a.stdout, "%.2f s, 0.00 USD: the model runs here\n", seconds) // no other kind of policy exists yet
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
