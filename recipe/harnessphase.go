package recipe

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/metaharness/propose/evolve"
	"github.com/seed-095d5d2b/whale/rollout"
	"github.com/seed-095d5d2b/whale/store"
)

// harnessRecord is the journal entry of a finished harness phase.
type harnessRecord struct {
	Weights    whale.ID `json:"weights"`
	Incoming   whale.ID `json:"incoming"`
	Accepted   whale.ID `json:"accepted"`
	Source     string   `json:"source"` // of the accepted harness
	Before     float64  `json:"before"` // score of the incoming harness
	After      float64  `json:"after"`  // score of the accepted one
	Proposed   int      `json:"proposed"`
	Evaluated  int      `json:"evaluated"`
	Rejected   int      `json:"rejected"`
	Incomplete int      `json:"incomplete"`
}

// describe says for people what the phase came to.
func (h harnessRecord) describe() string {
	how := fmt.Sprintf("%s had %.3f", h.Incoming.Short(), h.Before)
	switch {
	case h.Accepted == h.Incoming:
		how = "it came in; nothing better was found"
	case h.After == h.Before:
		how += ": a tie, and fewer sampled tokens"
	}
	return fmt.Sprintf("%s; %d proposed, %d evaluated, %d rejected", how, h.Proposed, h.Evaluated, h.Rejected)
}

// harnessPhase searches for a better harness under the present weights, unless the journal has the phase's end.
func (r *Run) harnessPhase(ctx context.Context, ph PlannedPhase) error {
	var rec harnessRecord
	done, err := r.journal.Lookup(ctx, kindHarness, ph.Name(), &rec)
	if err != nil {
		return err
	}
	if !done {
		if rec, err = r.search(ctx, ph); err != nil {
			return err
		}
	}
	if err := r.bound(ctx, "harness phase "+ph.Name(), r.stepsBefore(ph), rec.Weights, rec.Incoming); err != nil {
		return err
	}
	if r.harness, err = r.stored(rec.Accepted, []byte(rec.Source)); err != nil {
		return err
	}
	r.tell(Event{Kind: EventAccepted, Phase: &ph, Harness: string(rec.Accepted), Score: &rec.After, Replayed: done, Text: rec.describe()})
	return nil
}

func (r *Run) search(ctx context.Context, ph PlannedPhase) (harnessRecord, error) {
	start := r.opt.Now()
	policy, err := r.current(ctx, r.stepsBefore(ph))
	if err != nil {
		return harnessRecord{}, err
	}
	examples, err := r.Task.Examples(whale.SplitSearch)
	if err != nil {
		return harnessRecord{}, err
	}
	gates, err := r.gates()
	if err != nil {
		return harnessRecord{}, err
	}
	phaseCtx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := metaharness.Search{
		Config: metaharness.Config{
			Sessions: ph.Sessions, Candidates: r.Config.Search.Candidates, CanaryEpisodes: r.Config.Search.Canaries,
			AtOnce: judgedAtOnce(r.Config.Concurrency, len(examples)),
		},
		Deps: metaharness.Deps{
			Proposer:  &diskProposer{evolve.New(), stop},
			Evaluator: &searchEvaluator{run: r, runner: r.runner(policy, ph.Name(), 0), examples: examples, draw: ph.Cycle},
			Log:       r.journal,
			Loader:    r.harnesses.New,
			Gates:     gates,
			About:     r.Task.About(),
			Observer:  func(e metaharness.Event) { r.tellSearch(ph, e) },
		},
	}
	dir, err := filepath.Abs(r.store.Dir())
	if err != nil {
		return harnessRecord{}, err
	}
	res, err := s.Run(phaseCtx, metaharness.Phase{
		Index: ph.Index, Op: ph.Name(), Incoming: r.harness, Weights: policy.Weights(), RunSeed: r.Config.Seed, SessionBase: ph.First,
		ArchiveDir: filepath.Join(dir, "archive", ph.Name()),
		SessionDir: func(n int) string { return filepath.Join(dir, "sessions", strconv.Itoa(n)) },
	})
	if err != nil {
		if cause := context.Cause(phaseCtx); cause != nil && ctx.Err() == nil {
			err = cause
		}
		return harnessRecord{}, err
	}
	rec := harnessRecord{
		Weights: policy.Weights().ID, Incoming: r.harness.ID(), Accepted: res.Accepted.ID(), Source: string(res.Accepted.Source()), Before: res.Incoming.Mean, After: res.Entry.Score.Mean,
		Proposed: res.Proposed, Evaluated: res.Evaluated, Rejected: res.Rejected, Incomplete: res.Incomplete,
	}
	if err := r.chargeSessions(ctx, res.Sessions); err != nil {
		return rec, err
	}
	if err := r.journal.Record(ctx, kindHarness, ph.Name(), rec); err != nil {
		return rec, err
	}
	return rec, r.charge(ctx, ph.Name(), string(whale.PurposeSearch), start)
}

// judgedAtOnce is how many candidates are judged side by side: as many as give every place for an episode one, and two more, for there is
// mostly one in its trial episodes or at its gates, and one that waits for its last few.
func judgedAtOnce(concurrency, examples int) int {
	return 2 + (concurrency+examples-1)/max(1, examples)
}

func (r *Run) chargeSessions(ctx context.Context, sessions []metaharness.SessionResult) error {
	for _, s := range sessions {
		c := s.Cost
		err := r.store.Charge(ctx, fmt.Sprintf("session/%d", s.Session), store.Item{Purpose: "proposer", Counters: map[string]float64{
			"sessions": 1, "candidates": float64(len(s.Candidates)), "prompt_tokens": float64(c.PromptTokens),
			"sampled_tokens": float64(c.SampledTokens), "usd": c.USD, "seconds": c.Seconds,
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// stepsBefore is the number of rollout steps that lie before a phase.
func (r *Run) stepsBefore(ph PlannedPhase) int {
	steps := 0
	for _, p := range r.plan.Phases[:ph.Index] {
		steps = max(steps, p.To)
	}
	return steps
}

// searchEvaluator scores harnesses on the search split, one draw an example. Every harness of a phase meets the same draw, so that
// they are compared on common random numbers; the next cycle's draw is a new one.
type searchEvaluator struct {
	run      *Run
	runner   *rollout.Runner
	examples []whale.Example
	draw     int
}

// Evaluate runs a harness on all search examples, or on the first few for the canary gate. The rollouts may still be on their way to the
// disk; the record of what is decided from them comes after them (store.Run.Post), and nothing is acted on before that.
func (e *searchEvaluator) Evaluate(ctx context.Context, h whale.Harness, purpose whale.Purpose) ([]whale.Rollout, error) {
	if err := putHarness(e.run.store, h); err != nil {
		return nil, err
	}
	examples := e.examples
	if purpose == whale.PurposeCanary {
		examples = examples[:min(len(examples), e.run.Config.Search.Canaries)]
	}
	jobs := make([]rollout.Job, len(examples))
	for i, x := range examples {
		jobs[i] = rollout.Job{Harness: h, Example: x, Split: whale.SplitSearch, Purpose: purpose, Draw: e.draw}
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

func (r *Run) tellSearch(ph PlannedPhase, e metaharness.Event) {
	out := Event{Phase: &ph, Session: e.Session + 1, Harness: string(e.ID), Text: e.Text, Replayed: e.Replayed}
	if e.Score != nil {
		out.Score = &e.Score.Mean
	}
	switch e.Kind {
	case metaharness.EventIncoming:
		out.Kind, out.Session, out.Text = EventCandidate, 0, "incoming"
	case metaharness.EventCandidate:
		out.Kind = EventCandidate
		if out.Text == "" {
			out.Text = e.Name
		} else {
			out.Text = e.Name + ": " + string(e.Status) + ": " + out.Text
		}
	case metaharness.EventProposed:
		out.Kind = EventSession
		if out.Text == "" {
			out.Text = fmt.Sprintf("%d candidates", e.Count)
		}
	default:
		return
	}
	r.tell(out)
}
