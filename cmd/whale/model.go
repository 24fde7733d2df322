package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/kernel"
	"github.com/seed-095d5d2b/whale/organism"
	"github.com/seed-095d5d2b/whale/policy/local"
	"github.com/seed-095d5d2b/whale/recipe"
)

func (a *app) modelCmd() *cobra.Command {
	return group("model", "Make and inspect models", a.pretrainCmd(), a.modelInfoCmd())
}

func (a *app) pretrainCmd() *cobra.Command {
	var file, out string
	var control bool
	c := &cobra.Command{
		Use:   "pretrain --recipe FILE --out DIR",
		Short: "Make a base model from a recipe: tokenizer, corpus, weights",
		Args:  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" || out == "" {
				return &usageError{"model pretrain: got no --recipe or no --out, want both"}
			}
			data, err := os.ReadFile(file)
			if err != nil {
				return &recipe.ConfigError{Err: fmt.Errorf("recipe %s: %w", file, err)}
			}
			r, err := organism.ParseRecipe(file, data)
			if err != nil {
				return &recipe.ConfigError{Err: err}
			}
			if control {
				r = r.Control()
			}
			if _, err := os.Stat(filepath.Join(out, "model.safetensors")); err == nil {
				return &usageError{fmt.Sprintf("model pretrain: %s holds a model already; name another --out", out)}
			}
			pool := kernel.NewPool(a.workers)
			defer pool.Close()
			start := a.now()
			bundle, err := organism.Pretrain(cmd.Context(), r, pool, func(p organism.Progress) {
				if a.json {
					a.printJSON(p)
				} else if p.Step%25 == 0 || p.Step == 1 || p.Step == p.Steps {
					part := "weaknesses"
					if p.Skills {
						part = "skills"
					}
					fmt.Fprintf(a.stderr, "step %d/%d  %s  loss %.4f  rate %.5f  %.0f tokens/s\n", p.Step, p.Steps, part, p.Loss, p.LearningRate, float64(p.Tokens)/a.now().Sub(start).Seconds())
				}
			})
			if err != nil {
				return err
			}
			if err := bundle.Save(out, lm.BF16); err != nil {
				return err
			}
			saved, err := local.Open(out) // what was written, rounded to bfloat16
			if err != nil {
				return err
			}
			return a.printModel(saved)
		},
	}
	c.Flags().StringVar(&file, "recipe", "", "recipe file (YAML); see organism/recipes")
	c.Flags().StringVar(&out, "out", "", "folder to write the model to")
	c.Flags().BoolVar(&control, "control", false, "leave the recipe's weaknesses out")
	return c
}

func (a *app) modelInfoCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "info NAME|DIR",
		Short: "Print a model's shape, identity and memory",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, list []string) error {
			b, err := local.Open(list[0])
			if err != nil {
				return &recipe.InputError{Err: err}
			}
			return a.printModel(b)
		},
	}
}

func (a *app) printModel(b *local.Bundle) error {
	c, n := b.Model.Config(), b.Model.NumParams()
	info := struct {
		Source     string    `json:"source"`
		Weights    string    `json:"weights"`
		Renderer   string    `json:"renderer"`
		Template   string    `json:"template"`
		Config     lm.Config `json:"config"`
		Parameters int       `json:"parameters"`
		Tokens     int       `json:"tokens"`
		Sampling   int64     `json:"sampling_bytes"`
		Training   int64     `json:"training_bytes"`
	}{b.Source, string(b.Weights().ID), string(b.Renderer.ID()), local.TemplateName, c, n, b.Tokenizer.Vocab(), int64(n) * 8, int64(n) * 20}
	if a.json {
		return a.printJSON(info)
	}
	fmt.Fprintf(a.stdout, "%s\n  weights     %s\n  renderer    %s (%s)\n", info.Source, info.Weights, info.Renderer, info.Template)
	fmt.Fprintf(a.stdout, "  shape       %d layers, width %d, %d heads (%d for keys), ffn %d, context %d\n", c.Layers, c.Dim, c.Heads, c.KVHeads, c.FFN, c.MaxSeq)
	fmt.Fprintf(a.stdout, "  parameters  %d, %d tokens in the vocabulary\n", n, info.Tokens)
	fmt.Fprintf(a.stdout, "  memory      %.1f MB to sample, %.1f MB to train, without activations and caches\n", float64(info.Sampling)/1e6, float64(info.Training)/1e6)
	return nil
}
