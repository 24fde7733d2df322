package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/policy/local"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/store"
)

// agentOptions choose weights, harness and task for eval and harness run.
type agentOptions struct {
	model, harness, task string
	overrides
}

func (o *agentOptions) register(c *cobra.Command) {
	c.Flags().StringVar(&o.model, "model", "", "weights, instead of the config's: an embedded model, a model folder, an adapter folder, a .gguf file, a folder of whale export, "+
		"a run (what it has come to), or RUN@MOMENT (start, cycle0, 1-harness, step-000012)")
	c.Flags().StringVar(&o.harness, "harness", "", "harness, instead of the config's: a program, a folder of whale export, a run (what it has come to), RUN@MOMENT, or RUN@ID of a harness that it tried")
	c.Flags().StringVar(&o.task, "task", "", "config file or run whose task is taken, instead of the config's")
	o.overrides.register(c)
}

// pair is what was chosen, before it is opened.
type pair struct {
	config  recipe.Config
	program recipe.Program
	weights whale.ID // that the model must have; "" = whatever it has
}

// open reads the config (a file, or that of a run directory) and opens the pair.
func (o agentOptions) open(ctx context.Context, a *app, path string) (*recipe.Parts, whale.Harness, error) {
	p, err := o.choose(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	if run, moment, ok := runAt(path); ok && moment == "" && o.model == "" && o.harness == "" {
		fmt.Fprintf(a.stderr, "note: %s stands for the pair that the run began with; %s@%s is what it has come to\n", oneLine(path), oneLine(run), recipe.MomentLatest)
	}
	parts, err := p.open(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	h, err := parts.Harness(p.program)
	if err != nil {
		parts.Close()
		return nil, nil, err
	}
	return parts, h, nil
}

// open opens what was chosen, and checks that the weights are those that were meant.
func (p pair) open(ctx context.Context, a *app) (*recipe.Parts, error) {
	parts, err := a.openParts(ctx, p.config)
	if err != nil {
		return nil, err
	}
	if got := parts.Bundle.Weights().ID; p.weights != "" && got != p.weights {
		parts.Close()
		return nil, &recipe.InputError{Err: fmt.Errorf("model %s: its weights are %s, and the run's journal has %s; the model was changed", p.config.Policy.Model, got.Short(), p.weights.Short())}
	}
	return parts, nil
}

// choose finds config, weights and harness.
func (o agentOptions) choose(ctx context.Context, path string) (p pair, err error) {
	run, moment, ok := runAt(path)
	switch {
	case ok && moment != "":
		err = p.atMoment(ctx, run, moment)
	case isExport(path):
		err = p.fromExport(ctx, path)
	default:
		p.config, p.program, err = readPair(ctx, path)
	}
	if err != nil {
		return p, err
	}
	if o.task != "" {
		other, _, err := readPair(ctx, o.task)
		if err != nil {
			return p, fmt.Errorf("--task: %w", err)
		}
		p.config.Task = other.Task
	}
	if err := o.apply(&p.config); err != nil {
		return p, err
	}
	if o.model != "" {
		if err := p.useWeights(ctx, o.model); err != nil {
			return p, err
		}
	}
	if o.harness != "" {
		if p.program, err = harnessFrom(ctx, o.harness, path); err != nil {
			return p, err
		}
	}
	if p.program.Name == "" {
		p.program, err = recipe.LoadProgram(p.config.Harness)
	}
	return p, err
}

// atMoment is the pair that a run had.
func (p *pair) atMoment(ctx context.Context, run, moment string) error {
	story, err := recipe.ReadStory(ctx, run)
	if err != nil {
		return err
	}
	m, err := story.Moment(moment)
	if err != nil {
		return err
	}
	p.config = story.Config
	if p.program, err = story.Program(m); err != nil {
		return err
	}
	return p.useMoment(story, m)
}

// useMoment takes the weights that a run had.
func (p *pair) useMoment(story *recipe.Story, m recipe.Moment) error {
	path, err := story.ModelPath(m)
	if err != nil {
		return err
	}
	p.weights, p.config.Policy.Kind, p.config.Policy.Model = m.Weights, recipe.PolicyLocal, path
	p.config.Policy.Template = story.Config.Policy.Template
	return nil
}

// useWeights takes the weights that a flag names.
func (p *pair) useWeights(ctx context.Context, name string) error {
	p.weights = ""
	if err := noComparison(name); err != nil {
		return fmt.Errorf("--model: %w", err)
	}
	if slices.Contains(local.EmbeddedModels(), name) {
		return useModel(&p.config, name)
	}
	if run, moment, ok := runAt(name); ok {
		story, err := recipe.ReadStory(ctx, run)
		if err != nil {
			return fmt.Errorf("--model: %w", err)
		}
		m, err := story.Moment(moment)
		if err != nil {
			return fmt.Errorf("--model: %w", err)
		}
		return p.useMoment(story, m)
	}
	if file := filepath.Join(name, exportedGGUF); isFile(file) && !isFile(filepath.Join(name, "config.json")) {
		name = file
	}
	return useModel(&p.config, name)
}

// isExport says whether a path is a folder that whale export wrote.
func isExport(path string) bool {
	info, err := os.Stat(filepath.Join(path, "harness"))
	return err == nil && info.IsDir() && isFile(filepath.Join(path, "config.yaml")) && isFile(filepath.Join(path, "README.md")) && !isRun(path)
}

// fromExport is the pair of a folder that whale export wrote.
func (p *pair) fromExport(ctx context.Context, dir string) (err error) {
	if p.config, err = recipe.LoadConfig(filepath.Join(dir, "config.yaml")); err != nil {
		return err
	}
	if p.program, err = onlyHarness(dir); err != nil {
		return err
	}
	return p.useWeights(ctx, dir)
}

// exportedGGUF is the model's file in a folder that whale export wrote in that format.
const exportedGGUF = "model.gguf"

// harnessFrom finds the program that a flag names; of is the config or run that the command is about.
func harnessFrom(ctx context.Context, name, of string) (recipe.Program, error) {
	if isFile(name) {
		return recipe.LoadProgram(name)
	}
	if err := noComparison(name); err != nil {
		return recipe.Program{}, fmt.Errorf("--harness: %w", err)
	}
	if run, moment, ok := runAt(name); ok {
		return harnessOf(ctx, run, moment)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return onlyHarness(name)
	}
	// runs/NAME/harness/ID, and an ID alone where the command is about a run.
	if run, inRun := strings.CutSuffix(filepath.Dir(name), string(filepath.Separator)+"harness"); inRun && isRun(run) {
		return harnessOf(ctx, run, filepath.Base(name))
	}
	if run, _, ok := runAt(of); ok && !strings.ContainsRune(name, filepath.Separator) {
		return harnessOf(ctx, run, name)
	}
	return recipe.Program{}, &recipe.InputError{Err: fmt.Errorf("harness %s: no such file, want the path of a program, a run, RUN@MOMENT, RUN@ID of a harness that it tried, or a folder of whale export", name)}
}

// harnessOf is the harness of a run's moment, or one that it tried, by its id.
func harnessOf(ctx context.Context, run, at string) (recipe.Program, error) {
	story, err := recipe.ReadStory(ctx, run)
	if err != nil {
		return recipe.Program{}, fmt.Errorf("--harness: %w", err)
	}
	m, err := story.Moment(at)
	if err == nil {
		return story.Program(m)
	}
	prog, byID := story.ProgramByID(at)
	if byID != nil {
		return prog, fmt.Errorf("--harness: %w; and as an id: %w", err, byID)
	}
	return prog, nil
}

// onlyHarness is the program in a folder of whale export.
func onlyHarness(dir string) (recipe.Program, error) {
	entries, err := os.ReadDir(filepath.Join(dir, "harness"))
	if err != nil || len(entries) != 1 {
		return recipe.Program{}, &recipe.InputError{Err: fmt.Errorf("--harness: %s: got a folder, want a program, a run, or a folder of whale export, whose folder harness holds one program", dir)}
	}
	return recipe.LoadProgram(filepath.Join(dir, "harness", entries[0].Name()))
}

// runAt reads RUN or RUN@MOMENT. A path that is there as it is written is no RUN@MOMENT.
func runAt(name string) (run, moment string, ok bool) {
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return name, "", isRun(name)
	}
	at := strings.LastIndex(name, "@")
	if at < 0 {
		return "", "", false
	}
	return name[:at], name[at+1:], isRun(name[:at])
}

// noComparison refuses the directory of a comparison, with or without @MOMENT, where a run is wanted, and names its runs.
func noComparison(name string) error {
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		if at := strings.LastIndex(name, "@"); at >= 0 {
			name = name[:at]
		}
	}
	if !isFile(filepath.Join(name, recipe.ManifestName)) || isRun(name) {
		return nil
	}
	const most = 12
	var runs []string
	more := 0
	entries, err := os.ReadDir(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch dir := filepath.Join(name, e.Name()); {
		case !isRun(dir):
		case len(runs) == most:
			more++
		default:
			runs = append(runs, dir)
		}
	}
	which := "name one of its runs: " + strings.Join(runs, ", ")
	switch {
	case more > 0:
		which += fmt.Sprintf(" and %d more", more)
	case len(runs) == 0:
		which = "it has no run yet"
	}
	return fmt.Errorf("%s: %w but a comparison of runs; %s", name, store.ErrNotRun, which)
}

// isRun says whether a path is a run directory.
func isRun(path string) bool {
	return isFile(filepath.Join(path, "config.yaml")) && isFile(filepath.Join(path, "journal.db"))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// readPair gives a config and, from a run directory, the program that the run keeps.
func readPair(ctx context.Context, path string) (recipe.Config, recipe.Program, error) {
	if err := noComparison(path); err != nil {
		return recipe.Config{}, recipe.Program{}, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return recipe.OpenPair(ctx, path)
	}
	config, err := recipe.LoadConfig(path)
	return config, recipe.Program{}, err
}
