package recipe

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/lm/kernel"
	"github.com/seed-095d5d2b/whale/rollout"
	"github.com/seed-095d5d2b/whale/store"
)

// Options are what a run needs from outside.
type Options struct {
	Now     func() time.Time // the clock, for the journal and for the ledger's seconds
	Workers int              // CPU cores to use
	Observe func(Event)      // may be nil
}

// Run is a run under way: its directory, its parts, and where it stands.
type Run struct {
	*Parts
	Progress Progress

	opt     Options
	store   *store.Run
	journal *journal
	plan    Plan
	open    int // how often the run was opened, from 1

	base    whale.Harness // h_0
	harness whale.Harness // the incumbent
	trainer whale.Trainer
	trained int          // rollout steps that the trainer's weights have seen
	policy  whale.Policy // the present weights, sampling; nil until wanted
}

// The kinds of journal entries that the recipe writes; harness phases write their own (package metaharness).
const (
	kindBegin   = "run/begin"
	kindOpen    = "run/open"
	kindStep    = "weight/step"
	kindHarness = "harness/phase"
	kindCurve   = "evaluation/curve"
	kindFinal   = "evaluation/final"
)

// identities are what must be the same whenever the run is opened.
type identities struct {
	Task     whale.ID `json:"task"`
	Renderer whale.ID `json:"renderer"`
	Weights  whale.ID `json:"weights"` // θ_0
	Harness  whale.ID `json:"harness"` // h_0
	Contract int      `json:"contract"`
}

// Start makes the run directory for a resolved config and opens it.
func Start(ctx context.Context, c Config, dir string, opt Options) (*Run, error) {
	h, err := LoadHarness(c.Harness)
	if err != nil {
		return nil, err
	}
	parts, err := OpenParts(ctx, c, opt.Workers)
	if err != nil {
		return nil, err
	}
	if _, err := planOf(parts); err != nil {
		parts.Close()
		return nil, err
	}
	text, err := c.YAML()
	if err != nil {
		parts.Close()
		return nil, err
	}
	s, err := store.Create(dir, text, store.Options{Now: opt.Now})
	if err != nil {
		parts.Close()
		return nil, err
	}
	return begin(ctx, parts, s, h, opt)
}

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
	h, err := firstHarness(ctx, s, c)
	if err != nil {
		return nil, nil, err
	}
	parts, err := OpenParts(ctx, c, opt.Workers)
	return parts, h, err
}

// firstHarness gives h_0: the run's own copy where the run had begun, else the config's file.
func firstHarness(ctx context.Context, s *store.Run, c Config) (whale.Harness, error) {
	j, err := openJournal(ctx, s)
	if err != nil {
		return nil, err
	}
	var ids identities
	ok, err := j.Lookup(ctx, kindBegin, "begin", &ids)
	if err != nil {
		return nil, err
	}
	if !ok {
		return LoadHarness(c.Harness)
	}
	return storedHarness(s, ids.Harness)
}

// OpenPair reads the config of a run directory and the harness that the run began with, from the run's own copies. The run may be in use.
func OpenPair(ctx context.Context, dir string) (Config, whale.Harness, error) {
	s, err := store.OpenReadOnly(dir)
	if err != nil {
		return Config{}, nil, err
	}
	defer s.Close()
	c, err := ParseConfig(filepath.Join(s.Dir(), "config.yaml"), s.Config())
	if err != nil {
		return c, nil, err
	}
	h, err := firstHarness(ctx, s, c)
	return c, h, err
}

func storedHarness(s *store.Run, id whale.ID) (whale.Harness, error) {
	src, err := s.Harness(string(id))
	if err != nil {
		return nil, err
	}
	return star.Load(id.Short()+".star", src)
}

// begin checks identities, journals that the run is open, and takes the last whole snapshot.
func begin(ctx context.Context, parts *Parts, s *store.Run, h whale.Harness, opt Options) (_ *Run, err error) {
	r := &Run{Parts: parts, opt: opt, store: s}
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
	if err = s.PutHarness(string(h.ID()), h.Source()); err != nil {
		return nil, err
	}
	// From the store also the first time: its name there stands in the messages of failed episodes, which proposers read, and they must
	// read the same after a kill.
	if h, err = storedHarness(s, h.ID()); err != nil {
		return nil, err
	}
	r.base, r.harness = h, h
	ids := identities{Task: parts.Task.ID(), Renderer: parts.Bundle.Renderer.ID(), Weights: parts.Bundle.Weights().ID, Harness: h.ID(), Contract: whale.ContractVersion}
	if err = r.checkIdentities(ctx, ids); err != nil {
		return nil, err
	}
	if err = r.countOpen(ctx); err != nil {
		return nil, err
	}
	r.trainer = parts.newTrainer()
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
	for _, x := range []struct {
		what     string
		was, now any
	}{
		{"task", was.Task, ids.Task}, {"renderer", was.Renderer, ids.Renderer}, {"base weights", was.Weights, ids.Weights},
		{"first harness", was.Harness, ids.Harness}, {"harness contract", was.Contract, ids.Contract},
	} {
		if x.was != x.now {
			return &ReplacedError{Dir: r.store.Dir(), What: x.what, Was: fmt.Sprint(x.was), Now: fmt.Sprint(x.now)}
		}
	}
	return nil
}

// opened is the journal entry of one opening.
type opened struct {
	Kernels string `json:"kernels"` // the kernel variant, which decides the last bits of every number
}

func (r *Run) countOpen(ctx context.Context) error {
	var was opened
	for r.open = 1; ; r.open++ {
		var o opened
		ok, err := r.journal.Lookup(ctx, kindOpen, strconv.Itoa(r.open), &o)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		was = o
	}
	now := opened{Kernels: kernel.Variant()}
	if r.open > 1 && was != now {
		r.tell(Event{Kind: EventNotice, Text: fmt.Sprintf("this machine's kernels are %s, the run's were %s: results will differ in their last bits, and so may decisions", now.Kernels, was.Kernels)})
	}
	return r.journal.Record(ctx, kindOpen, strconv.Itoa(r.open), now)
}

// Execute spends the plan, or the rest of it, and gives the final table.
func (r *Run) Execute(ctx context.Context) (*Summary, error) {
	r.tell(Event{Kind: EventBegin, Dir: r.store.Dir(), Plan: &r.plan, Text: r.opening()})
	if err := r.curve(ctx, "start"); err != nil {
		return nil, err
	}
	for _, ph := range r.plan.Phases {
		r.tell(Event{Kind: EventPhase, Phase: &ph})
		var err error
		if ph.Kind == PhaseWeight {
			err = r.weightPhase(ctx, ph)
		} else {
			err = r.harnessPhase(ctx, ph)
		}
		if err != nil {
			return nil, fmt.Errorf("phase %s: %w", ph.Name(), err)
		}
		if err := r.curve(ctx, ph.Name()); err != nil {
			return nil, err
		}
	}
	return r.finish(ctx)
}

// Plan is what the run will spend.
func (r *Run) Plan() Plan { return r.plan }

// Dir is the run directory.
func (r *Run) Dir() string { return r.store.Dir() }

func (r *Run) opening() string {
	space := r.plan.Space(r.Config, r.Bundle.Model.NumParams())
	return fmt.Sprintf("%d rollouts at most, about %d MB of disk, kernels %s, %d workers", r.plan.Total(), space>>20, kernel.Variant(), r.opt.Workers)
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
		Concurrency: r.Config.Concurrency, Retries: r.Config.Retries, Cache: rolloutCache{run: r.store, phase: phase, step: step},
		Observe: r.Progress.count,
	}
}

func (p *Progress) count(ro *whale.Rollout, fresh bool) {
	if ro.Complete() {
		p.Rewarded.Add(int64(ro.Reward()))
	}
	if !fresh {
		p.Cached.Add(1)
		return
	}
	p.Rollouts.Add(1)
	p.SampledTokens.Add(int64(ro.Episode.Usage.SampledTokens))
	p.PromptTokens.Add(int64(ro.Episode.Usage.PromptTokens))
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
	err := r.retire()
	r.Parts.Close()
	return errors.Join(err, r.store.Close())
}
