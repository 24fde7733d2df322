package main

import (
	"errors"
	"fmt"
	"io/fs"
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
	return group("model", "Make, inspect and serve models", a.pretrainCmd(), a.modelInfoCmd(), a.modelServeCmd())
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
				return &recipe.ConfigError{Err: fmt.Errorf("recipe %s: %w", file, pathless(err))}
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

// pathless drops the path from an error of the file system, for a message that names it already.
func pathless(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
