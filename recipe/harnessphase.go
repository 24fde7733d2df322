package recipe

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/rollout"
	"github.com/seed-095d5d2b/whale/store"
)

// harnessRecord is the journal entry of a finished harness phase.
type harnessRecord struct {
	Weights    whale.ID        `json:"weights"`
	Incoming   whale.ID        `json:"incoming"`
	Accepted   whale.ID        `json:"accepted"`
	Source     string          `json:"source"` // of the accepted harness
	Before     float64         `json:"before"` // score of the incoming harness
	After      float64         `json:"after"`  // score of the accepted one
	Proposed   int             `json:"proposed"`
	Evaluated  int             `json:"evaluated"`
	Rejected   int             `json:"rejected"`
	Incomplete int             `json:"incomplete"`
	GivenUp    int             `json:"given_up"`         // candidates that racing stopped
	Saved      int             `json:"saved"`            // rollouts that racing saved
	Rescored   int             `json:"rescored"`         // rollouts of runners-up of earlier phases
	Ranked     []rankedProgram `json:"ranked,omitempty"` // the best beside the accepted one: runners-up of later phases

	Confirmation *metaharness.Confirmation `json:"confirmation,omitempty"` // fresh scores that decided, with re-evaluation
	End          metaharness.End           `json:"end"`                    // why the phase ended
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
	if c := h.Confirmation; c != nil {
		for _, p := range c.Programs {
			if p.ID == h.Accepted {
				how += fmt.Sprintf("; on %d fresh episodes %.3f, and %.3f of what came in", p.Episodes, p.Mean, c.Programs[0].Mean)
			}
		}
	}
	how += fmt.Sprintf("; %d proposed, %d evaluated, %d rejected", h.Proposed, h.Evaluated, h.Rejected)
	if h.GivenUp > 0 {
		how += fmt.Sprintf(", %d given up, which saved %d rollouts", h.GivenUp, h.Saved)
	}
	return how
}

// harnessPhase searches for a better harness under the present weights, unless the journal has the phase's end. It gives the phase as it was
// and why it ended.
func (r *Run) harnessPhase(ctx context.Context, ph PlannedPhase) (PlannedPhase, phaseEnd, error) {
	var rec harnessRecord
	done, err := r.journal.Lookup(ctx, kindHarness, ph.Name(), &rec)
	if err != nil {
		return ph, phaseEnd{}, err
	}
	if !done {
		rec, err = r.search(ctx, ph)
	} else {
		err = r.recallMarks(ctx, ph)
	}
	if err != nil {
		return ph, phaseEnd{}, err
	}
	if err := r.bound(ctx, "harness phase "+ph.Name(), ph.From, rec.Weights, rec.Incoming, r.harness); err != nil {
		return ph, phaseEnd{}, err
	}
	if r.harness, err = r.stored(rec.Accepted, []byte(rec.Source)); err != nil {
		return ph, phaseEnd{}, err
	}
	r.tell(Event{Kind: EventAccepted, Phase: &ph, Harness: string(rec.Accepted), Score: &rec.After, Replayed: done, Text: rec.describe()})
	end := phaseEnd{Why: EndBudget, Search: &rec.End}
	if rec.End.Why == metaharness.EndPatience {
		end.Why = EndRule
	}
	return r.plan.ended(ph, rec.End.Sessions), end, nil
}

// markAt is the curve point inside of a harness phase, after some sessions of the run.
func markAt(ph PlannedPhase, sessions int) point {
	return point{At: fmt.Sprintf("%s/%d", ph.Name(), sessions), Phase: ph.Index, Steps: ph.From, Sessions: sessions}
}

// afterSession takes the curve points inside of a harness phase. Nothing of them goes back to the search.
func (r *Run) afterSession(ctx context.Context, ph PlannedPhase, session int, accepted metaharness.Entry) error {
	if sessions := ph.First + session + 1; slices.Contains(ph.Marks, sessions) {
		h, err := r.stored(accepted.ID, []byte(accepted.Source))
		if err != nil {
			return err
		}
		return r.curve(ctx, markAt(ph, sessions), h)
	}
	return nil
}

// recallMarks tells again of the curve points inside of a harness phase that is done.
func (r *Run) recallMarks(ctx context.Context, ph PlannedPhase) error {
	if !r.Config.Evaluation.Curve {
		return nil
	}
	for _, sessions := range ph.Marks {
		at := markAt(ph, sessions)
		var rec CurvePoint
		ok, err := r.journal.Lookup(ctx, kindCurve, at.At, &rec)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%s: the journal has the end of phase %s and no curve point %s; the run directory was changed, start a new run", r.store.Dir(), ph.Name(), at.At)
		}
		h, err := r.stored(rec.Harness, []byte(rec.Source))
		if err != nil {
			return err
		}
		if err := r.curve(ctx, at, h); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) search(ctx context.Context, ph PlannedPhase) (harnessRecord, error) {
	start := r.opt.Now()
	policy, err := r.current(ctx, ph.From)
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
	rule := metaharness.Config{}
	if ph.ByRule {
		rule.Patience, rule.MinSessions = r.plan.Adaptive.PatienceSessions, r.plan.Adaptive.MinimumSessions
	}
	phaseCtx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	runnersUp, err := r.runnersUp(ctx, ph)
	if err != nil {
		return harnessRecord{}, err
	}
	c := r.Config.Search.PhaseConfig(ph.Sessions)
	c.AtOnce, c.PromptOnly = judgedAtOnce(r.Config.Concurrency, len(examples), c.Selection), r.Config.promptOnly()
	c.Patience, c.MinSessions = rule.Patience, rule.MinSessions
	s := harnessSearch(r.Config.Search.Kind, c, metaharness.Deps{
		Evaluator: &searchEvaluator{run: r, runner: r.runner(policy, ph.Name(), 0), examples: examples, draw: ph.Cycle},
		Log:       r.journal,
		Loader:    r.harnesses.New,
		Gates:     gates,
		About:     r.Task.About(),
		Observer:  func(e metaharness.Event) { r.tellSearch(ph, e) },
		AfterSession: func(ctx context.Context, session int, accepted metaharness.Entry) error {
			return r.afterSession(ctx, ph, session, accepted)
		},
	}, stop)
	dir, err := filepath.Abs(r.store.Dir())
	if err != nil {
		return harnessRecord{}, err
	}
	res, err := s.Run(phaseCtx, metaharness.Phase{
		Index: ph.Index, Op: ph.Name(), Incoming: r.harness, RunnersUp: runnersUp, Weights: policy.Weights(), RunSeed: r.Config.Seed, SessionBase: ph.First,
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
		Proposed: res.Proposed, Evaluated: res.Evaluated, Rejected: res.Rejected, Incomplete: res.Incomplete, End: res.End,
		GivenUp: res.GivenUp, Saved: res.Saved, Rescored: res.Rescored, Ranked: bestOthers(res.Ranked, r.Config.Search.RunnersUp), Confirmation: res.Confirmation,
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
// mostly one in its trial episodes or at its gates, and one that waits for its last few. Racing runs a block of each at a time.
func judgedAtOnce(concurrency, examples int, s metaharness.Selection) int {
	if s.Racing > 0 {
		examples = min(examples, metaharness.Block(examples))
	}
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

// searchEvaluator scores harnesses on the search split, one draw an example. Every harness of a phase meets the same draw, so that
// they are compared on common random numbers; the next cycle's draw is a new one.
type searchEvaluator struct {
	run      *Run
	runner   *rollout.Runner
	examples []whale.Example
	draw     int
}

// Evaluate runs a harness on the search examples that are asked for, for the canary gate on the first few. The rollouts may still be on their
// way to the disk; the record of what is decided from them comes after them (store.Run.Post), and nothing is acted on before that.
func (e *searchEvaluator) Evaluate(ctx context.Context, h whale.Harness, ask metaharness.Ask) ([]whale.Rollout, error) {
	if err := putHarness(e.run.store, h); err != nil {
		return nil, err
	}
	examples, draw := e.examples, e.draw
	switch {
	case ask.Examples != nil:
		examples = make([]whale.Example, len(ask.Examples))
		for i, at := range ask.Examples {
			examples[i] = e.examples[at]
		}
	case ask.Purpose == whale.PurposeCanary:
		examples = examples[:min(len(examples), e.run.Config.Search.Canaries)]
	}
	if ask.Purpose == whale.PurposeConfirm {
		draw = e.draw*e.run.Config.Search.Selection.Draws + ask.Draw // no phase repeats another's
	}
	jobs := make([]rollout.Job, len(examples))
	for i, x := range examples {
		jobs[i] = rollout.Job{Harness: h, Example: x, Split: whale.SplitSearch, Purpose: ask.Purpose, Draw: draw}
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
	case metaharness.EventConfirmed:
		out.Kind, out.Session, out.Score = EventCandidate, 0, &e.Fresh
		out.Text = fmt.Sprintf("anew, on %d fresh episodes", e.Count)
		if e.Text != "" {
			out.Score, out.Text = nil, "anew: "+e.Text
		}
	default:
		return
	}
	r.tell(out)
}
