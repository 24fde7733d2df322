package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/policy/local"
	"github.com/seed-095d5d2b/whale/recipe"
)

func (a *app) modelInfoCmd() *cobra.Command {
	var template string
	c := &cobra.Command{
		Use:   "info NAME|DIR|FILE",
		Short: "Print a model's family, sizes, tokens, chat template and memory",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, list []string) error {
			b, err := local.OpenWith(list[0], local.OpenOptions{Template: template})
			if err != nil {
				return &recipe.InputError{Err: err}
			}
			return a.printModel(b)
		},
	}
	c.Flags().StringVar(&template, "template", "", "chat template, by name, where the one that the model ships is unknown")
	return c
}

// modelInfo is what is known of a model.
type modelInfo struct {
	Source     string       `json:"source"`
	Format     string       `json:"format"`
	Weights    string       `json:"weights"`
	Family     string       `json:"family"`
	Config     lm.Config    `json:"config"`
	Parameters int          `json:"parameters"`
	Stored     string       `json:"stored,omitempty"` // number format of the file
	Tokens     int          `json:"tokens"`
	Specials   int          `json:"special_tokens"`
	Stops      []stopToken  `json:"stop_tokens"`
	Template   templateInfo `json:"template"`
	Renderer   string       `json:"renderer"`
	Memory     local.Memory `json:"memory"`
}

type stopToken struct {
	ID   int32  `json:"id"`
	Name string `json:"name"`
}

type templateInfo struct {
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint,omitempty"` // of what the model ships
	Tools       bool   `json:"tools"`
	Thinking    bool   `json:"thinking"`
	Prefixes    bool   `json:"preserves_prefixes"`
}

func infoOf(b *local.Bundle, workers int) (modelInfo, error) {
	t := b.Renderer.Template()
	memory, err := b.Memory(local.Options{MaxBatch: 1}, lm.TrainerOptions{}, workers)
	if err != nil {
		return modelInfo{}, err
	}
	info := modelInfo{
		Source: b.Source, Format: b.Format, Weights: string(b.Weights().ID), Family: string(b.Model.Config().Family()), Config: b.Model.Config(),
		Parameters: b.Model.NumParams(), Stored: b.Stored, Tokens: b.Tokenizer.Vocab(), Specials: len(b.Tokenizer.Specials()),
		Template: templateInfo{t.ID(), b.Shipped, t.Tools, t.Thinking, b.Renderer.PreservesPrefixes()},
		Renderer: string(b.Renderer.ID()), Memory: memory,
	}
	for _, id := range b.Renderer.StopIDs() {
		info.Stops = append(info.Stops, stopToken{id, b.Tokenizer.DecodeAll([]int32{id})})
	}
	return info, nil
}

func (a *app) printModel(b *local.Bundle) error {
	i, err := infoOf(b, a.workers)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(i)
	}
	row := func(name, format string, args ...any) {
		fmt.Fprintf(a.stdout, "  %-11s %s\n", name, printable(fmt.Sprintf(format, args...)))
	}
	c := i.Config
	fmt.Fprintln(a.stdout, printable(i.Source))
	row("format", "%s%s", i.Format, prefixed(", ", i.Stored))
	row("weights", "%s", i.Weights)
	row("family", "%s", i.Family)
	row("shape", "%d layers, width %d, %d heads (%d for keys) of %d, ffn %d, context %d", c.Layers, c.Dim, c.Heads, c.KVHeads, c.HeadDim, c.FFN, c.MaxSeq)
	row("parameters", "%d", i.Parameters)
	row("tokens", "%d in the vocabulary, %d of them special", i.Tokens, i.Specials)
	var stops []string
	for _, s := range i.Stops {
		stops = append(stops, fmt.Sprintf("%s (%d)", s.Name, s.ID))
	}
	row("replies end", "%s", strings.Join(stops, ", "))
	row("template", "%s%s", i.Template.Name, prefixed(", shipped with the fingerprint ", i.Template.Fingerprint))
	row("", "%s, %s", either(i.Template.Tools, "offers tools", "cannot offer tools"), either(i.Template.Thinking, "reasons first", "does not reason first"))
	row("", "%s", either(i.Template.Prefixes, "preserves prefixes: the calls of an episode make one training sequence",
		"does not preserve prefixes (earlier reasoning is dropped): an episode makes several training sequences, unless policy.keep_reasoning is set"))
	row("renderer", "%s", i.Renderer)
	row("memory", "%s to sample one sequence of up to %d tokens: weights %s and a copy laid out for products, keys and values %s (%.1f kB a token)",
		megabytes(i.Memory.Sampling), i.Memory.Longest, megabytes(i.Memory.Weights), megabytes(i.Memory.Keys), float64(i.Memory.Token)/1e3)
	p := i.Memory.Plan
	row("", "%s to train all weights on sequences of up to %d tokens: weights %s, gradients %s, optimiser %s, activations %s, logits %s, scratch %s",
		megabytes(i.Memory.Training), i.Memory.Longest, megabytes(p.Weights), megabytes(p.Gradients), megabytes(p.Optimizer), megabytes(p.Activations), megabytes(p.Logits), megabytes(p.Scratch))
	return nil
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func either(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
