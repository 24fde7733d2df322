package metaharness

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
)

// decide takes the decision about a candidate of session n that was judged: it records the decision, unless the journal has it, and adds
// the program to the archive.
func (r *run) decide(ctx context.Context, n int, c *hearingCase) error {
	v := &c.verdict
	if v.err != nil {
		return v.err
	}
	if !v.replayed {
		if err := r.Deps.Log.Record(ctx, KindDecision, c.op, v.Decision); err != nil {
			return err
		}
	}
	r.observe(Event{Kind: EventCandidate, Session: n, Name: c.Name, ID: c.ID, Status: v.Status, Score: v.Score, Text: v.Reason, Replayed: v.replayed})
	return r.archive.add(Entry{Candidate: c.Candidate, Decision: v.Decision, Session: n, Harness: v.harness, passes: v.passes})
}

// judged is what came of a candidate.
type judged struct {
	Decision
	harness whale.Harness
	passes  []int // of an evaluated one
}

// judge passes a candidate through the gates in order, evaluates it and stages its folder of the archive. twin finds the evaluated program
// that it repeats; reach is the number of passed examples that racing asks for.
func (r *run) judge(ctx context.Context, c Candidate, reach int, twin func() (Candidate, bool, error)) (judged, error) {
	h, err := r.Deps.Loader(c.Name+".star", []byte(c.Source))
	if err != nil {
		return judged{Decision: rejected(GateLoad, err.Error())}, ctx.Err()
	}
	j := judged{harness: h}
	if h.ID() != c.ID {
		return judged{}, fmt.Errorf("loader: got a harness %s, want %s, the hash of its source", h.ID(), c.ID)
	}
	switch same, ok, err := twin(); {
	case err != nil:
		return j, err
	case ok:
		j.Decision = rejected(GateDuplicate, fmt.Sprintf("the archive has this program: %s (%s)", same.ID, same.Name))
		return j, nil
	}
	for _, gate := range r.Deps.Gates {
		if err := gate.Check(ctx, h); err != nil {
			j.Decision = rejected(gate.Name, err.Error())
			return j, ctx.Err()
		}
	}
	reason, err := r.canary(ctx, h)
	if err != nil {
		return j, err
	}
	if reason != "" {
		j.Decision = rejected(GateCanary, reason)
		return j, nil
	}
	rollouts, stopped, err := r.evaluate(ctx, h, reach)
	if err != nil {
		return j, err
	}
	if stopped != nil {
		j.Decision = Decision{Status: StatusStopped, Reason: stopped.reason(), Partial: stopped}
		return j, nil
	}
	score, missing, err := r.score(h, rollouts)
	if err != nil {
		return j, err
	}
	if missing != "" {
		j.Decision = Decision{Status: StatusIncomplete, Reason: cut("not scored: "+missing, maxReason)}
		return j, nil
	}
	j.Decision = Decision{Status: StatusEvaluated, Score: &score}
	j.passes = passesOf(rollouts)
	return j, r.archive.stage(c, score, rollouts)
}

// recall gives back the harness of a recorded decision, and stages its folder of the archive again. The record decides: rollouts that no
// longer agree with it are an error.
func (r *run) recall(ctx context.Context, c Candidate, d Decision) (judged, error) {
	j := judged{Decision: d}
	switch {
	case d.Status == StatusStopped && d.Partial == nil:
		return j, fmt.Errorf("recorded decision: got status %s without what was seen", d.Status)
	case d.Status != StatusEvaluated:
		return j, nil
	}
	var err error
	if j.harness, err = r.Deps.Loader(c.Name+".star", []byte(c.Source)); err != nil {
		return j, fmt.Errorf("it was evaluated before, and does not load now: %w", err)
	}
	rollouts, err := r.Deps.Evaluator.Evaluate(ctx, j.harness, Ask{Purpose: whale.PurposeSearch})
	if err != nil {
		return j, err
	}
	score, missing, err := r.score(j.harness, rollouts)
	switch {
	case err != nil:
		return j, err
	case missing != "" || d.Score == nil || score != *d.Score:
		return j, fmt.Errorf("recorded score and cached rollouts differ: got %+v %s, want %+v", score, missing, d.Score)
	}
	j.passes = passesOf(rollouts)
	return j, r.archive.stage(c, score, rollouts)
}

// canary runs the trial episodes. The text is empty unless every one of them failed because the program is broken: a limit that was
// hit or a wrong answer is for the evaluation to judge.
func (r *run) canary(ctx context.Context, h whale.Harness) (string, error) {
	if r.Config.CanaryEpisodes == 0 {
		return "", nil
	}
	rollouts, err := r.Deps.Evaluator.Evaluate(ctx, h, Ask{Purpose: whale.PurposeCanary})
	if err != nil {
		return "", err
	}
	if n := len(rollouts); n < 1 || n > r.Config.CanaryEpisodes {
		return "", fmt.Errorf("canary episodes: got %d, want 1 to %d", n, r.Config.CanaryEpisodes)
	}
	for i := range rollouts {
		if !rollouts[i].BrokenProgram() {
			return "", nil
		}
	}
	f := rollouts[0].Episode.Failure
	return fmt.Sprintf("all %d trial episodes failed; the first: %s: %s", len(rollouts), f.Reason, f.Detail), nil
}

func rejected(gate, reason string) Decision {
	return Decision{Status: StatusRejected, Gate: gate, Reason: cut(reason, maxReason)}
}
