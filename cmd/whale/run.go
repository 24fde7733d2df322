package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

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
	o.overrides.register(c)
	return c
}

type runOptions struct {
	dir       string
	overrides overrides
}

// overrides are flags that stand in for config keys, for quick trials of one config.
type overrides struct {
	seed, generatorSeed int64
}

func (o *overrides) register(c *cobra.Command) {
	c.Flags().Int64Var(&o.seed, "seed", -1, "run seed, instead of the config's")
	c.Flags().Int64Var(&o.generatorSeed, "generator-seed", -1, "seed of the problem generator, instead of the config's")
}

func (o overrides) apply(c *recipe.Config) {
	if o.seed >= 0 {
		c.Seed = uint64(o.seed)
	}
	if o.generatorSeed >= 0 {
		c.Task.Math.Generator.Seed = uint64(o.generatorSeed)
	}
}

func (a *app) run(ctx context.Context, path string, o runOptions) error {
	config, err := recipe.LoadConfig(path)
	if err != nil {
		return err
	}
	o.overrides.apply(&config)
	view := a.newView()
	r, err := a.start(ctx, config, o.dir, view)
	if err != nil {
		return err
	}
	return a.execute(ctx, r, view)
}

// start makes the run in the given directory, or in the first free one of the config's name.
func (a *app) start(ctx context.Context, config recipe.Config, dir string, view view) (*recipe.Run, error) {
	opt := a.options(view)
	if dir != "" {
		r, err := recipe.Start(ctx, config, dir, opt)
		if errors.Is(err, store.ErrExists) {
			return nil, fmt.Errorf("%w; go on with it by whale resume %s, or name another --dir", err, dir)
		}
		return r, err
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
		if errors.Is(err, store.ErrExists) {
			continue // another process was faster
		}
		return r, err
	}
}

func (a *app) options(v view) recipe.Options {
	return recipe.Options{Now: a.now, Workers: a.workers, Observe: v.event}
}

// execute spends a run's plan under a view, and prints the final table.
func (a *app) execute(ctx context.Context, r *recipe.Run, v view) (err error) {
	defer func() {
		if cerr := r.Close(); err == nil {
			err = cerr
		}
	}()
	v.begin(r)
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
