package metaharness

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
)

// Confirmation is the record of a re-evaluation: what the best programs of a phase score on fresh episodes, and which one is accepted for
// that.
type Confirmation struct {
	Draws    int         `json:"draws"`           // fresh episodes an example
	Test     string      `json:"test,omitempty"`  // with paired acceptance: TestMcNemar or TestBootstrap
	Level    float64     `json:"level,omitempty"` // with paired acceptance: of each test of the sequence
	Programs []Confirmed `json:"programs"`        // the incoming harness, then the others in the order of their scores in the search
	Accepted whale.ID    `json:"accepted"`
}

// Confirmed is one program on fresh episodes.
type Confirmed struct {
	ID            whale.ID    `json:"id"`
	Episodes      int         `json:"episodes"`
	Passed        int         `json:"passed"`
	Mean          float64     `json:"mean"` // 0 to 1
	SampledTokens int         `json:"sampled_tokens"`
	Missing       string      `json:"missing,omitempty"` // why it has no fresh score, and cannot be accepted
	Test          *PairedTest `json:"test,omitempty"`    // against the incoming harness; absent where the sequence had ended

	passes []int // of Draws, an example
}

// confirm chooses the program to return on fresh episodes alone, where that is asked for.
func (r *run) confirm(ctx context.Context) error {
	challengers := r.challengers()
	if len(challengers) == 0 {
		return nil
	}
	op := r.op + "/confirmation"
	c := new(Confirmation)
	replayed, err := r.Deps.Log.Lookup(ctx, KindConfirmation, op, c)
	if err != nil {
		return err
	}
	if !replayed {
		if c, err = r.reevaluate(ctx, challengers); err != nil {
			return err
		}
		if err := r.Deps.Log.Record(ctx, KindConfirmation, op, c); err != nil {
			return err
		}
	}
	next, err := r.confirmed(c)
	if err != nil {
		return err
	}
	r.result.Confirmation = c
	for i := range c.Programs {
		p := &c.Programs[i]
		r.observe(Event{Kind: EventConfirmed, Session: -1, ID: p.ID, Status: StatusEvaluated, Count: p.Episodes, Fresh: p.Mean, Text: p.Missing, Replayed: replayed})
	}
	if r.archive.accept(next) {
		e := r.archive.accepted()
		r.observe(Event{Kind: EventAccepted, Session: -1, Name: e.Name, ID: e.ID, Status: e.Status, Score: e.Score, Replayed: replayed})
	}
	return r.archive.writeIndex()
}

// challengers are the indices of the programs to evaluate anew beside the incoming one, best score first.
func (r *run) challengers() []int {
	var out []int
	for _, i := range order(r.archive.entries, -1) {
		if i != 0 && len(out) < r.selection.Reevaluate {
			out = append(out, i)
		}
	}
	return out
}

// reevaluate runs the incoming harness and the challengers anew, and chooses.
func (r *run) reevaluate(ctx context.Context, challengers []int) (*Confirmation, error) {
	c := &Confirmation{Draws: r.selection.Draws}
	for _, i := range append([]int{0}, challengers...) {
		p, err := r.fresh(ctx, r.archive.entries[i].Harness)
		if err != nil {
			return nil, err
		}
		if i == 0 && p.Missing != "" {
			return nil, fmt.Errorf("incoming harness: evaluation is incomplete: %s", p.Missing)
		}
		c.Programs = append(c.Programs, p)
	}
	if r.selection.Accept == AcceptPaired {
		c.Test, c.Level = r.selection.Test, r.selection.Level
		if err := r.testInSequence(c); err != nil {
			return nil, err
		}
	}
	c.Accepted = c.choose().ID
	return c, nil
}

// testInSequence tests the challengers against the incoming harness in order, each at the plain level, until one fails.
func (r *run) testInSequence(c *Confirmation) error {
	for i := 1; i < len(c.Programs); i++ {
		p := &c.Programs[i]
		if p.Missing != "" {
			return nil
		}
		t, err := r.selection.compare(p.passes, c.Programs[0].passes, c.Draws, c.Level)
		if err != nil {
			return fmt.Errorf("paired test of %s: %w", p.ID, err)
		}
		t.Challenger = p.ID
		p.Test = &t
		if !t.Better {
			return nil
		}
	}
	return nil
}

// choose gives the best fresh mean of the programs that may be accepted; on a tie fewer sampled tokens, then the earlier, so that the
// incoming harness goes before its equals.
func (c *Confirmation) choose() *Confirmed {
	top := &c.Programs[0]
	for i := 1; i < len(c.Programs); i++ {
		p := &c.Programs[i]
		switch {
		case p.Missing != "" || c.Test != "" && (p.Test == nil || !p.Test.Better):
		case p.Passed > top.Passed || p.Passed == top.Passed && p.SampledTokens < top.SampledTokens:
			top = p
		}
	}
	return top
}

// fresh runs a harness on fresh episodes.
func (r *run) fresh(ctx context.Context, h whale.Harness) (Confirmed, error) {
	c := Confirmed{ID: h.ID(), passes: make([]int, len(r.examples))}
	for draw := range r.selection.Draws {
		rollouts, err := r.Deps.Evaluator.Evaluate(ctx, h, Ask{Purpose: whale.PurposeConfirm, Draw: draw})
		if err != nil {
			return c, err
		}
		score, missing, err := r.score(h, rollouts)
		if err != nil {
			return c, err
		}
		if missing != "" {
			return Confirmed{ID: c.ID, Missing: cut(missing, maxReason)}, nil
		}
		for i, p := range passesOf(rollouts) {
			c.passes[i] += p
		}
		c.Episodes += score.Examples
		c.Passed += score.Passed
		c.SampledTokens += score.SampledTokens
	}
	c.Mean = float64(c.Passed) / float64(c.Episodes)
	return c, nil
}

// confirmed finds the accepted program of a confirmation in the archive.
func (r *run) confirmed(c *Confirmation) (int, error) {
	for i := range r.archive.entries {
		if e := &r.archive.entries[i]; e.ID == c.Accepted && e.Status == StatusEvaluated {
			return i, nil
		}
	}
	return 0, fmt.Errorf("confirmation: got %s accepted, which the archive has no score of", c.Accepted)
}
