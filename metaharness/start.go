package metaharness

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
)

// start gives the archive what the phase knows before its first session: the incoming harness, and the runners-up of earlier phases,
// scored anew under the phase's weights, because a score that was measured under others says nothing here.
func (r *run) start(ctx context.Context) error {
	missing, _, err := r.rescore(ctx, "incoming", r.op+"/incoming", r.phase.Incoming)
	if err == nil && missing != "" {
		// Without a complete score of it nothing could be compared.
		err = fmt.Errorf("evaluation is incomplete: %s", missing)
	}
	if err != nil {
		return fmt.Errorf("incoming harness: %w", err)
	}
	r.result.Incoming = *r.archive.entries[0].Score
	r.archive.accept(0)
	replayed := true
	for i, h := range r.phase.RunnersUp {
		if _, known := r.archive.find(h.ID()); known {
			return fmt.Errorf("runner-up %d: got %s, which the archive has: want other programs than the incoming harness, each once", i+1, h.ID())
		}
		_, known, err := r.rescore(ctx, fmt.Sprintf("runner-up-%d", i+1), r.op+"/runner-up/"+string(h.ID()), h)
		if err != nil {
			return fmt.Errorf("runner-up %d: %w", i+1, err)
		}
		replayed = replayed && known
		r.result.Rescored += len(r.examples)
	}
	if len(r.phase.RunnersUp) > 0 {
		if r.result.Choice, _, err = r.choose(ctx, -1, r.op+"/runners-up", 1, replayed); err != nil {
			return fmt.Errorf("runners-up: %w", err)
		}
	}
	r.noteBest()
	return r.archive.writeIndex()
}

// rescore evaluates a harness that was accepted or scored before, and adds it to the archive. It says what is missing for a complete score,
// which is not recorded for the incoming harness (the phase stops then, and is run again), and whether the decision was recorded before.
func (r *run) rescore(ctx context.Context, name, op string, h whale.Harness) (missing string, replayed bool, err error) {
	e := Entry{Candidate: Candidate{Name: name, ID: h.ID(), Source: string(h.Source())}, Session: -1, Harness: h}
	replayed, err = r.Deps.Log.Lookup(ctx, KindDecision, op, &e.Decision)
	if err != nil {
		return "", false, err
	}
	if e.Status == StatusIncomplete {
		return e.Reason, true, r.welcome(e, true)
	}
	rollouts, err := r.Deps.Evaluator.Evaluate(ctx, h, Ask{Purpose: whale.PurposeSearch})
	if err != nil {
		return "", replayed, err
	}
	incoming := len(r.archive.entries) == 0
	if incoming {
		for i := range rollouts {
			r.examples = append(r.examples, rollouts[i].Key.Example)
		}
	}
	score, missing, err := r.score(h, rollouts)
	switch {
	case err != nil:
		return "", replayed, err
	case replayed && (missing != "" || e.Score == nil || *e.Score != score):
		return "", replayed, fmt.Errorf("recorded score and cached rollouts differ: got %+v %s, want %+v", score, missing, e.Score)
	case missing != "" && incoming:
		return missing, false, nil
	case missing != "":
		e.Decision = Decision{Status: StatusIncomplete, Reason: cut("not scored: "+missing, maxReason)}
	default:
		e.Decision, e.passes = Decision{Status: StatusEvaluated, Score: &score}, passesOf(rollouts)
		if err := r.archive.stage(e.Candidate, score, rollouts); err != nil {
			return "", replayed, err
		}
	}
	if !replayed {
		if err := r.Deps.Log.Record(ctx, KindDecision, op, e.Decision); err != nil {
			return "", false, err
		}
	}
	return missing, replayed, r.welcome(e, replayed)
}

// welcome adds a program of an earlier phase to the archive.
func (r *run) welcome(e Entry, replayed bool) error {
	kind := EventCandidate
	if len(r.archive.entries) == 0 {
		kind = EventIncoming
	}
	r.observe(Event{Kind: kind, Session: -1, Name: e.Name, ID: e.ID, Status: e.Status, Score: e.Score, Text: e.Reason, Replayed: replayed})
	return r.archive.add(e)
}
