package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale/policy/local"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/store"
)

func (a *app) runCmd() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run CONFIG",
		Short: "Run a config: weight and harness phases in turns, then the final table",
		Args:  args(cobra.ExactArgs(1)),
		RunE:  func(cmd *cobra.Command, list []string) error { return a.run(cmd.Context(), list[0], o) },
	}
	c.Flags().StringVar(&o.dir, "dir", "", "run directory (default: runs/NAME, or the first free runs/NAME-2, runs/NAME-3, …)")
	registerModel(c, &o.model)
	o.overrides.register(c)
	o.overrides.registerMethod(c)
	return c
}

type runOptions struct {
	dir       string
	model     string
	overrides overrides
}

func (a *app) run(ctx context.Context, path string, o runOptions) error {
	config, err := recipe.LoadConfig(path)
	if err != nil {
		return err
	}
	if err := o.overrides.apply(&config); err != nil {
		return err
	}
	if err := useModel(&config, o.model); err != nil {
		return err
	}
	view := a.newView()
	r, err := a.start(ctx, config, o.dir, view)
	if err != nil {
		return inConfig(path, err)
	}
	return a.execute(ctx, r, view)
}

func registerModel(c *cobra.Command, model *string) {
	c.Flags().StringVar(model, "model", "", "embedded model, model folder or .gguf file of this machine (policy.kind local), instead of the config's")
}

// useModel puts the model of a flag, if it was given, into the config.
func useModel(c *recipe.Config, model string) (err error) {
	if model != "" {
		c.Policy.Kind = recipe.PolicyLocal
		c.Policy.Model, err = wholePath(model)
	}
	return err
}

// wholePath makes a model's path one that a resume from another folder finds. The name of an embedded model stays a name.
func wholePath(model string) (string, error) {
	if slices.Contains(local.EmbeddedModels(), model) {
		return model, nil
	}
	return filepath.Abs(model)
}

// inConfig names the config file in an error about what it says.
func inConfig(path string, err error) error {
	var config *recipe.ConfigError
	var input *recipe.InputError
	if errors.As(err, &config) || errors.As(err, &input) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// start makes the run in the given directory, or in the first free one of the config's name.
func (a *app) start(ctx context.Context, config recipe.Config, dir string, view view) (*recipe.Run, error) {
	opt := a.options(view)
	if dir != "" {
		r, err := recipe.Start(ctx, config, dir, opt)
		if errors.Is(err, store.ErrExists) {
			return nil, fmt.Errorf("%w; go on with it by whale resume %s, or name another --dir", err, dir)
		}
		return r, begun(err, dir)
	}
	for n := 1; ; n++ {
		dir := filepath.Join("runs", config.Name)
		if n > 1 {
			dir += fmt.Sprintf("-%d", n)
		}
		if _, err := os.Lstat(dir); err == nil {
			continue
		}
		r, err := recipe.Start(ctx, config, dir, opt)
		if errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrLocked) {
			continue // another process was faster
		}
		return r, begun(err, dir)
	}
}

// begun says how to go on where a run could not start and yet left its directory.
func begun(err error, dir string) error {
	if err == nil || errors.Is(err, store.ErrNotRun) || errors.Is(err, store.ErrLocked) {
		return err
	}
	if _, statErr := os.Lstat(filepath.Join(dir, "config.yaml")); statErr != nil {
		return err
	}
	return fmt.Errorf("%w; whale resume %s goes on", err, dir)
}

func (a *app) options(v view) recipe.Options {
	o := recipe.Options{Now: a.now, Workers: a.workers, Require: a.require, Build: a.build()}
	if v != nil {
		o.Observe = v.event
	}
	return o
}

// execute spends a run's plan under a view, and prints the final table.
func (a *app) execute(ctx context.Context, r *recipe.Run, v view) (err error) {
	defer func() {
		if cerr := r.Close(); err == nil {
			err = cerr
		}
	}()
	memory, err := a.memoryOf(r)
	if err != nil {
		return err
	}
	v.begin(r)
	v.event(recipe.Event{Kind: recipe.EventNotice, Text: memory})
	if t := r.Bundle.Renderer; !t.PreservesPrefixes() {
		v.event(recipe.Event{Kind: recipe.EventNotice, Text: fmt.Sprintf("the chat template %s drops earlier reasoning, so that an episode makes several training sequences; policy.keep_reasoning keeps it", t.Template().Name)})
	}
	s, err := r.Execute(ctx)
	v.end()
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("%s: interrupted; whale resume %s goes on", r.Dir(), r.Dir())
		}
		return fmt.Errorf("%w; whale resume %s goes on", err, r.Dir())
	}
	return a.printSummary(s)
}
