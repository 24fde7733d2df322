package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/harness/audit"
	"github.com/seed-095d5d2b/whale/harness/process"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/rollout"
)

// checkOptions say which gates harness check passes a program through, beside the static ones.
type checkOptions struct {
	agentOptions
	config, like string
	canaries     int
}

func (a *app) harnessCheckCmd() *cobra.Command {
	var o checkOptions
	c := &cobra.Command{
		Use:   "check FILE...",
		Short: "Pass harness programs through the gates that a candidate must pass",
		Long: "Passes harness programs through the gates that a candidate must pass, and says what the first failing one found, with a suggestion:\n" +
			"parse, resolve and contract always; audit (against the training and search examples) and canary (trial episodes) with --config;\n" +
			"prompt-only with --prompt-only-of.",
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, files []string) error {
			if o.canaries < 0 {
				return &usageError{fmt.Sprintf("harness check: --canaries: got %d, want 0 or more", o.canaries)}
			}
			return a.harnessCheck(cmd.Context(), files, o)
		},
	}
	c.Flags().StringVar(&o.config, "config", "", "config file or run directory: audit against its examples, and run trial episodes")
	c.Flags().StringVar(&o.like, "prompt-only-of", "", "harness that the program may differ from in its two prompts alone")
	c.Flags().IntVar(&o.canaries, "canaries", 2, "trial episodes, with --config")
	c.Flags().StringVar(&o.model, "model", "", "weights, instead of the config's: an embedded model, a model or adapter folder, a .gguf file, a folder of whale export, a run, or RUN@MOMENT")
	o.overrides.register(c)
	return c
}

func (a *app) harnessCheck(ctx context.Context, files []string, o checkOptions) error {
	gates, done, err := a.openGates(ctx, o)
	if err != nil {
		return err
	}
	defer done()
	failed := false
	for _, f := range files {
		prog, err := recipe.LoadProgram(f)
		if err != nil {
			return err
		}
		findings, err := gates.check(ctx, f, prog)
		if err != nil {
			return err
		}
		failed = failed || len(findings) > 0
		if err := a.printFindings(f, prog, findings); err != nil {
			return err
		}
	}
	if failed {
		return errFindings
	}
	return nil
}

// gates are what a check needs: a runtime for the static gates, and what the others were asked with.
type gates struct {
	load     func(name string, src []byte) (whale.Harness, error)
	incoming *recipe.Program
	corpus   *audit.Corpus   // nil without a config
	runner   *rollout.Runner // nil without trial episodes
	examples []whale.Example
}

func (a *app) openGates(ctx context.Context, o checkOptions) (g *gates, done func(), err error) {
	g, done = &gates{}, func() {}
	if o.like != "" {
		prog, err := recipe.LoadProgram(o.like)
		if err != nil {
			return nil, nil, err
		}
		g.incoming = &prog
	}
	if o.config == "" {
		rt, err := process.Open(process.Options{Workers: a.workers, Concurrency: 1, Memory: recipe.Default().Limits.MemoryBytes, Require: a.require})
		if err != nil {
			return nil, nil, err
		}
		g.load = rt.New
		return g, rt.Close, nil
	}
	config, _, err := readPair(ctx, o.config)
	if err != nil {
		return nil, nil, err
	}
	if err := o.apply(&config); err != nil {
		return nil, nil, err
	}
	chosen := pair{config: config}
	if o.model != "" {
		if err := chosen.useWeights(ctx, o.model); err != nil {
			return nil, nil, err
		}
	}
	parts, err := chosen.open(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	done = parts.Close
	defer func() {
		if err != nil {
			done()
		}
	}()
	g.load = func(name string, src []byte) (whale.Harness, error) {
		return parts.Harness(recipe.Program{Name: name, Source: src})
	}
	if g.corpus, err = parts.Corpus(whale.SplitTrain, whale.SplitSearch); err != nil {
		return nil, nil, err
	}
	if g.examples, err = parts.Task.Examples(whale.SplitSearch); err != nil {
		return nil, nil, err
	}
	g.examples = g.examples[:min(o.canaries, len(g.examples))]
	if len(g.examples) > 0 {
		policy := parts.Bundle.NewPolicy(parts.LocalOptions())
		done = func() { policy.Close(); parts.Close() }
		g.runner = runnerOf(parts, policy)
	}
	return g, done, nil
}

// check passes one program through the gates, in order, to the first that finds something.
func (g *gates) check(ctx context.Context, file string, prog recipe.Program) ([]harness.Finding, error) {
	h, err := g.load(prog.Name, prog.Source)
	if found, err := harness.Findings(file, err); err != nil || len(found) > 0 {
		return found, err
	}
	if g.corpus != nil {
		list, err := g.corpus.Audit(prog.Name, prog.Source)
		if err != nil {
			return nil, err
		}
		var found []harness.Finding
		for _, f := range list {
			found = append(found, harness.Finding{Gate: harness.GateAudit, File: file, Line: f.Line, Col: f.Col, Message: f.Rule + ": " + f.Message, Suggestion: f.Suggestion})
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	if g.incoming != nil {
		if filepath.Ext(prog.Name) != ".star" {
			return nil, &usageError{fmt.Sprintf("harness check: --prompt-only-of: %s: compares Starlark programs alone", file)}
		}
		err := star.PromptOnly(g.incoming.Source, prog.Source)
		if found, err := harness.Findings(file, err); err != nil || len(found) > 0 {
			return found, err
		}
	}
	return g.canary(ctx, file, h)
}

// canary runs trial episodes. As in a search, only a program that fails in all of them by its own fault is found.
func (g *gates) canary(ctx context.Context, file string, h whale.Harness) ([]harness.Finding, error) {
	if g.runner == nil {
		return nil, nil
	}
	jobs := make([]rollout.Job, len(g.examples))
	for i, x := range g.examples {
		jobs[i] = rollout.Job{Harness: h, Example: x, Split: whale.SplitSearch, Purpose: whale.PurposeTrial}
	}
	rollouts, err := g.runner.Run(ctx, jobs)
	if err != nil {
		return nil, err
	}
	if err := rollout.Complete(rollouts); err != nil {
		return nil, errors.New("harness check: canary: " + err.Error())
	}
	for _, r := range rollouts {
		if !r.BrokenProgram() {
			return nil, nil
		}
	}
	f := rollouts[0].Episode.Failure
	return []harness.Finding{{
		Gate: harness.GateCanary, File: file, Message: fmt.Sprintf("all %d trial episodes failed; the first: %s: %s", len(rollouts), f.Reason, f.Detail),
		Suggestion: fmt.Sprintf("whale harness run %s --config CONFIG --split search --example 0 shows it turn by turn", file),
	}}, nil
}

func (a *app) printFindings(file string, prog recipe.Program, findings []harness.Finding) error {
	id := whale.HarnessIDIn(harness.LanguageOf(prog.Name), prog.Source)
	if a.json {
		return a.printJSON(struct {
			File     string            `json:"file"`
			ID       whale.ID          `json:"id"`
			Findings []harness.Finding `json:"findings"`
		}{file, id, append([]harness.Finding{}, findings...)})
	}
	for _, f := range findings {
		place := oneLine(file)
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d:%d", place, f.Line, f.Col)
		}
		fmt.Fprintf(a.stdout, "%s: %s: %s\n", place, f.Gate, oneLine(f.Message))
		if f.Suggestion != "" {
			fmt.Fprintf(a.stdout, "    %s\n", oneLine(f.Suggestion))
		}
	}
	if len(findings) == 0 {
		fmt.Fprintf(a.stdout, "%s: fine (harness %s)\n", oneLine(file), id.Short())
	}
	return nil
}
