package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/metaharness/propose/evolve"
	"github.com/seed-095d5d2b/whale/metaharness/propose/random"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/rollout"
)

// measuring says how programs and rewards are made.
type measuring struct {
	config, model   string
	draws, sessions int
}

func (m measuring) measure(ctx context.Context) (*rewards, error) {
	c, err := recipe.LoadConfig(m.config)
	if err != nil {
		return nil, err
	}
	if m.model != "" {
		if c.Policy.Model, err = filepath.Abs(m.model); err != nil {
			return nil, err
		}
	}
	prog, err := recipe.LoadProgram(c.Harness)
	if err != nil {
		return nil, err
	}
	parts, err := recipe.OpenParts(ctx, c, recipe.Resources{Workers: runtime.GOMAXPROCS(0)})
	if err != nil {
		return nil, err
	}
	defer parts.Close()
	policy := parts.BasePolicy()
	defer policy.Close()
	h, err := parts.Harness(prog)
	if err != nil {
		return nil, err
	}
	examples, err := parts.Task.Examples(whale.SplitSearch)
	if err != nil {
		return nil, err
	}
	e := &episodes{examples: examples, canaries: c.Search.Canaries, runner: &rollout.Runner{
		Task: parts.Task, Policy: policy, Limits: c.Limits, Sampling: c.Sampling, RunSeed: c.Seed, Concurrency: c.Concurrency, Retries: c.Retries, Cache: newMemory(),
	}}
	programs, err := m.gather(ctx, parts, e, h)
	if err != nil {
		return nil, err
	}
	out := &rewards{Config: m.config, Task: parts.Task.ID(), Weights: policy.Weights().ID, Seed: c.Seed, Examples: len(examples), Draws: m.draws}
	for i := range programs {
		if err := e.fill(ctx, &programs[i].program, programs[i].harness, m.draws); err != nil {
			return nil, err
		}
		out.Programs = append(out.Programs, programs[i].program)
		fmt.Fprintf(os.Stderr, "measured %d of %d programs: %.3f\n", i+1, len(programs), programs[i].mean())
	}
	return out, nil
}

type gathered struct {
	program
	harness whale.Harness
}

// gather makes programs by both proposers, from the incoming harness.
func (m measuring) gather(ctx context.Context, parts *recipe.Parts, e *episodes, h whale.Harness) ([]gathered, error) {
	dir, err := os.MkdirTemp("", "selection")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := []gathered{{program{ID: h.ID(), By: "incoming", Source: string(h.Source())}, h}}
	known := map[whale.ID]bool{h.ID(): true}
	deps := metaharness.Deps{
		Evaluator: e, Log: journal{}, About: parts.Task.About(),
		Loader: func(name string, source []byte) (whale.Harness, error) {
			return parts.Harness(recipe.Program{Name: name, Source: source})
		},
	}
	cfg := metaharness.Config{Sessions: m.sessions, Candidates: 3, CanaryEpisodes: e.canaries, AtOnce: 3}
	for _, p := range []whale.Proposer{evolve.New(), random.New()} {
		deps.Proposer, deps.Log = p, journal{}
		var s metaharness.HarnessSearch = &metaharness.Search{Config: cfg, Deps: deps}
		if p.Name() == random.New().Name() {
			s = &metaharness.BestOfRandom{Config: cfg, Deps: deps}
		}
		res, err := s.Run(ctx, metaharness.Phase{
			Op: "gather", Incoming: h, Weights: e.runner.Policy.Weights(), RunSeed: e.runner.RunSeed, ArchiveDir: filepath.Join(dir, p.Name(), "archive"),
			SessionDir: func(n int) string { return filepath.Join(dir, p.Name(), fmt.Sprint(n)) },
		})
		if err != nil {
			return nil, err
		}
		for _, a := range res.Archive {
			if !known[a.ID] {
				known[a.ID] = true
				out = append(out, gathered{program{ID: a.ID, By: p.Name(), Source: a.Source}, a.Harness})
			}
		}
	}
	return out, nil
}

// episodes runs real episodes.
type episodes struct {
	runner   *rollout.Runner
	examples []whale.Example
	canaries int
}

// Evaluate runs what is asked for, of draw 0.
func (e *episodes) Evaluate(ctx context.Context, h whale.Harness, ask metaharness.Ask) ([]whale.Rollout, error) {
	examples := e.examples
	if ask.Purpose == whale.PurposeCanary {
		examples = examples[:min(e.canaries, len(examples))]
	}
	return e.run(ctx, h, examples, ask.Purpose, 0)
}

func (e *episodes) run(ctx context.Context, h whale.Harness, examples []whale.Example, purpose whale.Purpose, draw int) ([]whale.Rollout, error) {
	jobs := make([]rollout.Job, len(examples))
	for i, x := range examples {
		jobs[i] = rollout.Job{Harness: h, Example: x, Split: whale.SplitSearch, Purpose: purpose, Draw: draw}
	}
	rollouts, err := e.runner.Run(ctx, jobs)
	if err != nil {
		return nil, err
	}
	out := make([]whale.Rollout, len(rollouts))
	for i, ro := range rollouts {
		out[i] = *ro
	}
	return out, nil
}

// fill measures all draws of a program.
func (e *episodes) fill(ctx context.Context, p *program, h whale.Harness, draws int) error {
	p.Passed, p.Sampled = make([][]int, len(e.examples)), make([][]int, len(e.examples))
	for d := range draws {
		rollouts, err := e.run(ctx, h, e.examples, whale.PurposeSearch, d)
		if err != nil {
			return err
		}
		for i := range rollouts {
			if !rollouts[i].Complete() {
				return fmt.Errorf("program %s: example %d, draw %d: %s", p.ID, i+1, d+1, rollouts[i].Error)
			}
			p.Passed[i] = append(p.Passed[i], int(rollouts[i].Reward()))
			p.Sampled[i] = append(p.Sampled[i], rollouts[i].Episode.Usage.SampledTokens)
		}
	}
	return nil
}

// memory keeps rollouts of this process.
type memory struct {
	mu   sync.Mutex
	kept map[whale.RolloutKey]*whale.Rollout
}

func newMemory() *memory { return &memory{kept: map[whale.RolloutKey]*whale.Rollout{}} }

func (m *memory) Get(_ context.Context, key whale.RolloutKey) (*whale.Rollout, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.kept[key]
	return r, ok, nil
}

func (m *memory) Put(_ context.Context, r *whale.Rollout) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[r.Key] = r
	return nil
}

func (m *memory) Lost(context.Context, *whale.Rollout) error { return nil }

// journal is one of this process: a phase is run once.
type journal map[string]json.RawMessage

func (j journal) Lookup(_ context.Context, kind, op string, v any) (bool, error) {
	data, ok := j[kind+" "+op]
	if !ok {
		return false, nil
	}
	return true, json.Unmarshal(data, v)
}

func (j journal) Record(_ context.Context, kind, op string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	maps.Copy(j, journal{kind + " " + op: data})
	return nil
}
