package recipe

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/audit"
	"github.com/seed-095d5d2b/whale/harness/process"
	"github.com/seed-095d5d2b/whale/lm/kernel"
	"github.com/seed-095d5d2b/whale/rollout"
	"github.com/seed-095d5d2b/whale/store"
)

// Options are what a run needs from outside.
type Options struct {
	Now      func() time.Time // the clock, for the journal and for the ledger's seconds
	Workers  int              // CPU cores to use
	Require  bool             // refuse to run where a mechanism of isolation is missing
	Build    string           // names the binary; another one on resume is told
	siblings *siblings        // runs whose rollouts may be taken over; nil outside of a comparison
	Observe  func(Event)      // may be nil; called for one event at a time, not always by the caller of Execute
}

// Run is a run under way: its directory, its parts, and where it stands.
type Run struct {
	*Parts
	Progress Progress

	opt     Options
	store   *store.Run
	journal *journal
	plan    Plan
	done    []PlannedPhase // phases that ended, as they really were
	points  []CurvePoint   // of the curve so far
	open    int            // how often the run was opened, from 1

	base    whale.Harness // h_0
	harness whale.Harness // the incumbent
	trainer whale.Trainer
	trained int        // rollout steps that the trainer's weights have seen
	closing chan error // of the step whose snapshot is being sealed; nil where there is none
	known   *keySet
	corpus  *audit.Corpus  // nil until wanted
	lost    atomic.Int64   // rollouts of this opening that stayed in state error
	slots   *rollout.Slots // the places for episodes, of everything that runs side by side
	policy  whale.Policy   // the present weights, sampling; nil until wanted
}

// The kinds of journal entries that the recipe writes; harness phases write their own (package metaharness).
const (
	kindBegin   = "run/begin"
	kindOpen    = "run/open"
	kindStep    = "weight/step"
	kindPhase   = "phase/end"
	kindHarness = "harness/phase"
	kindCurve   = "evaluation/curve"
	kindHalves  = "evaluation/halves"
	kindFinal   = "evaluation/final"
)

// identities are what must be the same whenever the run is opened.
type identities struct {
	Task     whale.ID `json:"task"`
	Renderer whale.ID `json:"renderer"`
	Weights  whale.ID `json:"weights"` // θ_0
	Harness  whale.ID `json:"harness"` // h_0
	Contract int      `json:"contract"`
	Library  whale.ID `json:"library"` // what the contract's library does
	Source   string   `json:"source"`  // of h_0
	Config   string   `json:"config"`  // as resolved

	Rule *AdaptiveRule `json:"rule,omitempty"` // of the adaptive method, in rollout steps
}

// Start makes the run directory for a resolved config and opens it.
func Start(ctx context.Context, c Config, dir string, opt Options) (*Run, error) {
	prog, err := LoadProgram(c.Harness)
	if err != nil {
		return nil, err
	}
	parts, err := OpenParts(ctx, c, opt.resources())
	if err != nil {
		return nil, err
	}
	s, h, err := create(c, parts, prog, dir, opt)
	if err != nil {
		parts.Close()
		return nil, err
	}
	return begin(ctx, parts, s, h, opt)
}

// create makes the run directory, once everything that can be known before has been checked.
func create(c Config, parts *Parts, prog Program, dir string, opt Options) (*store.Run, whale.Harness, error) {
	h, err := parts.Harness(prog)
	if err != nil {
		return nil, nil, err
	}
	plan, err := planOf(parts)
	if err != nil {
		return nil, nil, err
	}
	if h.Language() != whale.LanguageStar && plan.Sessions > 0 {
		return nil, nil, configErrorf("harness: %s is written in %s, and the proposer %s rewrites Starlark; set schedule.sessions to 0 to train its model alone, or give a .star program",
			prog.Name, h.Language(), c.Search.Proposer)
	}
	text, err := c.YAML()
	if err != nil {
		return nil, nil, err
	}
	s, err := store.Create(dir, text, store.Options{Now: opt.Now})
	return s, h, err
}

func (o Options) resources() Resources { return Resources{Workers: o.Workers, Require: o.Require} }

// Resume opens a run directory to go on with it. A config, if given, must be the run's own; otherwise the keys that differ are named.
func Resume(ctx context.Context, dir string, given *Config, opt Options) (*Run, error) {
	s, err := store.Open(dir, store.Options{Now: opt.Now})
	if err != nil {
		return nil, err
	}
	parts, h, err := reopen(ctx, s, given, opt)
	if err != nil {
		s.Close()
		return nil, err
	}
	return begin(ctx, parts, s, h, opt)
}

func reopen(ctx context.Context, s *store.Run, given *Config, opt Options) (*Parts, whale.Harness, error) {
	if given != nil {
		text, err := given.YAML()
		if err != nil {
			return nil, nil, err
		}
		diff, err := DiffKeys(s.Config(), text)
		if err != nil {
			return nil, nil, fmt.Errorf("%s/config.yaml: %w", s.Dir(), err)
		}
		if len(diff) > 0 {
			return nil, nil, &ChangedError{Dir: s.Dir(), Keys: diff}
		}
	}
	c, err := ParseConfig(filepath.Join(s.Dir(), "config.yaml"), s.Config())
	if err != nil {
		return nil, nil, err
	}
	prog, err := firstProgram(ctx, s, c)
	if err != nil {
		return nil, nil, err
	}
	parts, err := OpenParts(ctx, c, opt.resources())
	if err != nil {
		return nil, nil, err
	}
	h, err := parts.Harness(prog)
	if err != nil {
		parts.Close()
		return nil, nil, err
	}
	return parts, h, nil
}

// firstProgram gives h_0: the run's own copy where the run had begun, else the config's file.
func firstProgram(ctx context.Context, s *store.Run, c Config) (Program, error) {
	j, err := openJournal(ctx, s)
	if err != nil {
		return Program{}, err
	}
	var ids identities
	ok, err := j.Lookup(ctx, kindBegin, "begin", &ids)
	if err != nil {
		return Program{}, err
	}
	if !ok {
		return LoadProgram(c.Harness)
	}
	return storedProgram(s, ids.Harness, []byte(ids.Source))
}

// OpenPair reads the config of a run directory and the harness that the run began with, from the run's own copies. The run may be in use.
func OpenPair(ctx context.Context, dir string) (Config, Program, error) {
	s, err := store.OpenReadOnly(dir)
	if err != nil {
		return Config{}, Program{}, err
	}
	defer s.Close()
	c, err := ParseConfig(filepath.Join(s.Dir(), "config.yaml"), s.Config())
	if err != nil {
		return c, Program{}, err
	}
	prog, err := firstProgram(ctx, s, c)
	return c, prog, err
}

// begin checks identities, journals that the run is open, and takes the last whole snapshot.
func begin(ctx context.Context, parts *Parts, s *store.Run, h whale.Harness, opt Options) (_ *Run, err error) {
	r := &Run{Parts: parts, opt: opt, store: s, slots: rollout.NewSlots(parts.Config.Concurrency)}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	if r.plan, err = planOf(parts); err != nil {
		return nil, err
	}
	if r.journal, err = openJournal(ctx, s); err != nil {
		return nil, err
	}
	if r.known, err = loadKeys(ctx, s); err != nil {
		return nil, err
	}
	if err = putHarness(s, h); err != nil {
		return nil, err
	}
	if h, err = r.stored(h.ID(), h.Source()); err != nil { // also the first time, for the name there
		return nil, err
	}
	r.base, r.harness = h, h
	ids := identities{
		Task: parts.Task.ID(), Renderer: parts.Bundle.Renderer.ID(), Weights: parts.Bundle.Weights().ID, Harness: h.ID(),
		Contract: whale.ContractVersion, Library: process.LibraryID(h.Language()), Source: string(h.Source()), Config: string(s.Config()), Rule: r.plan.Adaptive,
	}
	if err = r.checkIdentities(ctx, ids); err != nil {
		return nil, err
	}
	if err = r.countOpen(ctx); err != nil {
		return nil, err
	}
	if r.trainer, err = parts.newTrainer(); err != nil {
		return nil, err
	}
	if err = r.restore(ctx); err != nil {
		return nil, err
	}
	return r, r.prune(ctx) // a kill may have come between a snapshot and its prune
}

func planOf(p *Parts) (Plan, error) {
	n, err := p.Counts()
	if err != nil {
		return Plan{}, err
	}
	return MakePlan(p.Config, n)
}

func (r *Run) checkIdentities(ctx context.Context, ids identities) error {
	var was identities
	ok, err := r.journal.Lookup(ctx, kindBegin, "begin", &was)
	if err != nil {
		return err
	}
	if !ok {
		return r.journal.Record(ctx, kindBegin, "begin", ids)
	}
	if diff, err := DiffKeys([]byte(was.Config), []byte(ids.Config)); err != nil || len(diff) > 0 {
		return errors.Join(err, &ChangedError{Dir: r.store.Dir(), Keys: diff})
	}
	for _, x := range []struct {
		what     string
		was, now any
	}{
		{"task", was.Task, ids.Task}, {"renderer", was.Renderer, ids.Renderer}, {"base weights", was.Weights, ids.Weights},
		{"first harness", was.Harness, ids.Harness}, {"harness contract", was.Contract, ids.Contract}, {"contract's library", was.Library, ids.Library},
	} {
		if x.was != x.now {
			return &ReplacedError{Dir: r.store.Dir(), What: x.what, Was: fmt.Sprint(x.was), Now: fmt.Sprint(x.now)}
		}
	}
	return nil
}

// opened is the journal entry of one opening.
type opened struct {
	Kernels string `json:"kernels"`         // the kernel variant, which decides the last bits of every number
	Build   string `json:"build,omitempty"` // the binary
}

// opened is what an opening by this process is.
func (o Options) opened() opened { return opened{Kernels: kernel.Variant(), Build: o.Build} }

// unlike says for people in what this process is unlike those that opened a run before.
func (now opened) unlike(before []opened) []string {
	var out []string
	var kernels []string
	build := false
	for _, was := range before {
		if was.Kernels != now.Kernels && !slices.Contains(kernels, was.Kernels) {
			kernels = append(kernels, was.Kernels)
			out = append(out, fmt.Sprintf("this machine's kernels are %s, the run was also made with %s: results differ in their last bits, and so may decisions", now.Kernels, was.Kernels))
		}
		build = build || was.Build != now.Build
	}
	if build {
		out = append(out, "this binary is another build than one that made the run until here: where their code differs, so may decisions")
	}
	return out
}

func (r *Run) countOpen(ctx context.Context) error {
	now := r.opt.opened()
	var before []opened
	for r.open = 1; ; r.open++ {
		var was opened
		ok, err := r.journal.Lookup(ctx, kindOpen, strconv.Itoa(r.open), &was)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		before = append(before, was)
	}
	for _, text := range now.unlike(before) {
		r.tell(Event{Kind: EventNotice, Text: text})
	}
	return r.journal.Record(ctx, kindOpen, strconv.Itoa(r.open), now)
}

// weightsAfter gives the weights after a number of rollout steps, as journaled.
func (r *Run) weightsAfter(ctx context.Context, steps int) (whale.ID, error) {
	if steps == 0 {
		return r.Bundle.Weights().ID, nil
	}
	var rec stepRecord
	ok, err := r.journal.Lookup(ctx, kindStep, strconv.Itoa(steps-1), &rec)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", fmt.Errorf("%s: the journal has no rollout step %d", r.store.Dir(), steps-1)
	}
	return rec.Weights, nil
}

// bound checks that a journaled result belongs to a pair of this run: the weights after steps rollout steps, and a harness.
func (r *Run) bound(ctx context.Context, what string, steps int, weights, harness whale.ID, h whale.Harness) error {
	want, err := r.weightsAfter(ctx, steps)
	if err != nil {
		return err
	}
	if weights != want || harness != h.ID() {
		return fmt.Errorf("%s: the journal's %s belongs to weights %s and harness %s, the run is at %s and %s; the run directory was changed, start a new run",
			r.store.Dir(), what, weights.Short(), harness.Short(), want.Short(), h.ID().Short())
	}
	return nil
}

// Execute spends the plan, or the rest of it, and gives the final table.
func (r *Run) Execute(ctx context.Context) (*Summary, error) {
	r.tell(Event{Kind: EventBegin, Dir: r.store.Dir(), Plan: &r.plan, Text: r.opening()})
	for _, w := range r.plan.Warnings(r.Config) {
		r.tell(Event{Kind: EventNotice, Text: "warning: " + w})
	}
	for _, n := range r.Notes() {
		r.tell(Event{Kind: EventNotice, Text: n})
	}
	isolation, _, err := r.Isolation(ctx)
	if err != nil {
		return nil, err
	}
	r.tell(Event{Kind: EventNotice, Text: isolation})
	if err := r.tryFirst(ctx); err != nil {
		return nil, err
	}
	if err := r.curve(ctx, point{At: "start", Phase: -1}, r.harness); err != nil {
		return nil, err
	}
	if err := r.phases(ctx); err != nil {
		return nil, err
	}
	return r.finish(ctx)
}

// Plan is what the run will spend.
func (r *Run) Plan() Plan { return r.plan }

// Dir is the run directory.
func (r *Run) Dir() string { return r.store.Dir() }

func (r *Run) opening() string {
	disk := "an unknown amount of disk"
	if m, err := r.Memory(r.opt.Workers); err == nil {
		disk = fmt.Sprintf("about %d MB of disk", r.plan.Space(r.Config, m.Trained)>>20)
	}
	return fmt.Sprintf("%d rollouts at most, %s, kernels %s, %d workers", r.plan.Total(), disk, kernel.Variant(), r.opt.Workers)
}

func (r *Run) tell(e Event) {
	if r.opt.Observe != nil {
		r.opt.Observe(e)
	}
}

// runner runs episodes under a policy, with the journal as its cache.
func (r *Run) runner(p whale.Policy, phase string, step int) *rollout.Runner {
	return &rollout.Runner{
		Task: r.Task, Policy: p, Limits: r.Config.Limits, Sampling: r.Config.Sampling, RunSeed: r.Config.Seed,
		Concurrency: r.Config.Concurrency, Slots: r.slots, Retries: r.Config.Retries, Cache: rolloutCache{run: r.store, phase: phase, step: step, open: r.open, known: r.known, siblings: r.opt.siblings, lost: &r.lost},
		Observe: r.Progress.count,
	}
}

// current gives the policy of the present weights, which must have seen exactly steps rollout steps.
func (r *Run) current(ctx context.Context, steps int) (whale.Policy, error) {
	if steps != r.trained {
		return nil, fmt.Errorf("%s: the weights after step %d are wanted, the last whole snapshot is after step %d; the run cannot go on", r.store.Dir(), steps, r.trained)
	}
	if r.policy == nil {
		p, err := r.trainer.Publish(ctx)
		if err != nil {
			return nil, err
		}
		if err := requireTrainable(p.Capabilities(), r.trainer.Reduction()); err != nil {
			p.Close()
			return nil, err
		}
		r.policy = p
	}
	return r.policy, nil
}

func (r *Run) retire() error {
	if r.policy == nil {
		return nil
	}
	err := r.policy.Close()
	r.policy = nil
	return err
}

// charge adds the seconds since a time to the ledger; each opening of the run has its own operations.
func (r *Run) charge(ctx context.Context, op, purpose string, since time.Time) error {
	seconds := max(0, r.opt.Now().Sub(since).Seconds())
	return r.store.Charge(ctx, fmt.Sprintf("wall/%d/%s", r.open, op), store.Item{Purpose: purpose, Counters: map[string]float64{"seconds": seconds}})
}

// Close ends everything the run started and gives the directory free.
func (r *Run) Close() error {
	err := errors.Join(r.retire(), r.stepClosed())
	r.Parts.Close()
	return errors.Join(err, r.store.Close())
}
