package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale/recipe"
)

type compareOptions struct {
	methods string
	seeds   int
	dir     string
	lanes   int
	smoke   bool
	model   string
	overrides
}

func (a *app) compareCmd() *cobra.Command {
	var o compareOptions
	c := &cobra.Command{
		Use:   "compare CONFIG",
		Short: "Run several methods of a config with several seeds, and write a report of them",
		Long: "Runs every method with every seed: a run directory DIR/METHOD-SEED for each. Runs of one seed take over each other's rollouts where keys are\n" +
			"equal; seeds run side by side, as many as fit. An interrupted comparison goes on when the same command is given again, to the same numbers.\n" +
			"At the end the report of all runs that DIR holds is written to DIR/report: seeds and methods can be added by later calls.",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			given := cmd.Flags().Changed
			if o.smoke && !given("seeds") {
				o.seeds = 1
			}
			return a.compare(cmd.Context(), list[0], o)
		},
	}
	c.Flags().StringVar(&o.methods, "methods", "all", "methods, separated by commas, or all: "+strings.Join(recipe.Methods(), ", "))
	c.Flags().IntVar(&o.seeds, "seeds", 3, "how many run seeds, counted on from the config's")
	c.Flags().StringVar(&o.dir, "dir", "", "directory of the comparison (default: runs/NAME-compare)")
	c.Flags().IntVar(&o.lanes, "at-once", 0, "seeds that run side by side (default: as many as cores and memory allow)")
	c.Flags().BoolVar(&o.smoke, "smoke", false, "a small size, to see it work: two cycles, at most two sessions each, mean@2, one seed unless --seeds says otherwise")
	registerModel(c, &o.model)
	o.overrides.register(c)
	return c
}

// maxSeeds bounds a comparison.
const maxSeeds = 1000

func (a *app) compare(ctx context.Context, path string, o compareOptions) error {
	methods, err := methodsOf(o.methods)
	if err != nil {
		return err
	}
	if o.seeds < 1 || o.seeds > maxSeeds {
		return &usageError{fmt.Sprintf("--seeds: got %d, want 1 to %d", o.seeds, maxSeeds)}
	}
	if o.lanes < 0 {
		return &usageError{fmt.Sprintf("--at-once: got %d, want 1 or more", o.lanes)}
	}
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
	if o.smoke {
		config = recipe.Smoke(config)
	}
	dir := o.dir
	if dir == "" {
		dir = filepath.Join("runs", config.Name+"-compare")
	}
	lanes := o.lanes
	if lanes == 0 {
		if lanes, err = a.lanesThatFit(ctx, config, o.seeds); err != nil {
			return inConfig(path, err)
		}
	}
	c := recipe.Comparison{Dir: dir, Config: config, Methods: methods, Seeds: o.seeds, Lanes: lanes, Options: a.options(nil), Observe: a.comparisonView()}
	if !a.json {
		fmt.Fprintf(a.stderr, "%s: %s (%s; seeds %d to %d), %s side by side\n", dir, english.Plural(len(c.Arms()), "run", ""), strings.Join(methods, ", "), config.Seed, config.Seed+uint64(o.seeds)-1, english.Plural(min(lanes, o.seeds), "seed", ""))
	}
	if err := c.Run(ctx); err != nil {
		again := "; the same command goes on"
		if ctx.Err() != nil {
			return fmt.Errorf("%s: interrupted%s", dir, again)
		}
		if code := exitCode(ctx, err); code == exitUsage || code == exitInput || code == exitRunDir {
			return inConfig(path, err)
		}
		return fmt.Errorf("%w%s", err, again)
	}
	return a.report(ctx, []string{dir}, filepath.Join(dir, "report"))
}

// comparisonView shows the events of several runs, each with its run's name.
func (a *app) comparisonView() func(recipe.Arm, recipe.Event) {
	start := a.now()
	told := map[string]bool{} // notices: most are the same for every run
	return func(arm recipe.Arm, e recipe.Event) {
		if a.json {
			a.printJSON(struct {
				Arm recipe.Arm `json:"arm"`
				recipe.Event
			}{arm, e})
			return
		}
		if e.Kind == recipe.EventNotice {
			if told[e.Text] {
				return
			}
			told[e.Text] = true
		}
		if line := describe(e); line != "" && shownInComparison(e) {
			fmt.Fprintf(a.stderr, "%s  %-12s seed %d  %s\n", clock(a.now().Sub(start)), arm.Method, arm.Seed, line)
		}
	}
}

// shownInComparison says whether a person who watches many runs wants to see an event.
func shownInComparison(e recipe.Event) bool {
	switch e.Kind {
	case recipe.EventPhase, recipe.EventAccepted, recipe.EventCurve, recipe.EventNotice:
		return true
	case recipe.EventFinal:
		return e.Text == recipe.PairFinal
	}
	return false
}

func methodsOf(list string) ([]string, error) {
	if list == "all" {
		return recipe.Methods(), nil
	}
	var out []string
	for m := range strings.SplitSeq(list, ",") {
		m = strings.TrimSpace(m)
		if !slices.Contains(recipe.Methods(), m) {
			return nil, &usageError{fmt.Sprintf("--methods: got %q, want all or some of %s", m, strings.Join(recipe.Methods(), ", "))}
		}
		if slices.Contains(out, m) {
			return nil, &usageError{fmt.Sprintf("--methods: got %s twice", m)}
		}
		out = append(out, m)
	}
	return out, nil
}

// lanesThatFit is how many runs may go side by side: one a core, as long as memory holds them.
func (a *app) lanesThatFit(ctx context.Context, config recipe.Config, seeds int) (int, error) {
	parts, err := a.openParts(ctx, config)
	if err != nil {
		return 0, err
	}
	defer parts.Close()
	m, err := parts.Memory(a.workers)
	if err != nil {
		return 0, err
	}
	lanes := min(seeds, a.workers)
	if free := freeMemory(); free > 0 {
		// Half as much again before the garbage collector takes it back.
		lanes = min(lanes, int(float64(free)/(1.5*float64(m.Run()))))
	}
	return max(1, lanes), nil
}
