package metaharness

import (
	"context"
	"fmt"
	"reflect"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/stats"
)

// Choice is the record of paired tests and of what they accept.
type Choice struct {
	Incumbent whale.ID     `json:"incumbent"` // accepted before
	Accepted  whale.ID     `json:"accepted"`
	Test      string       `json:"test"`  // TestMcNemar or TestBootstrap
	Level     float64      `json:"level"` // of one test
	Tests     []PairedTest `json:"tests"`
}

// PairedTest compares a challenger with the incumbent on the same examples.
type PairedTest struct {
	Challenger whale.ID `json:"challenger"`
	stats.Paired
	Better bool `json:"better"` // the test rejects that it is no better
}

// choose accepts a program after session n, or before the first one (n = -1), where the entries from index first on are new; replayed says that
// all their decisions were recorded before. It says whether another program is accepted than before. Only paired tests are recorded: the
// best score follows from the decisions.
func (r *run) choose(ctx context.Context, n int, op string, first int, replayed bool) (choice *Choice, changed bool, err error) {
	next := best(r.archive.entries, r.archive.current)
	if r.testsChallengers() {
		if choice, next, err = r.test(first); err != nil {
			return nil, false, err
		}
		if replayed, err = r.recordChoice(ctx, op+"/choice", choice); err != nil {
			return nil, false, err
		}
	}
	changed = r.archive.accept(next)
	if changed {
		e := r.archive.accepted()
		r.observe(Event{Kind: EventAccepted, Session: n, Name: e.Name, ID: e.ID, Status: e.Status, Score: e.Score, Replayed: replayed})
	}
	return choice, changed, nil
}

// testsChallengers says whether programs are tested as they come. With re-evaluation they are tested at the end.
func (r *run) testsChallengers() bool {
	return r.selection.Accept == AcceptPaired && r.selection.Reevaluate == 0
}

// test compares every scored entry from index first on with the accepted one. It gives the best of those that are better, or the
// accepted one.
func (r *run) test(first int) (*Choice, int, error) {
	incumbent := r.archive.accepted()
	c := &Choice{
		Incumbent: incumbent.ID, Test: r.selection.Test, Level: r.selection.Level / float64(r.Config.tests(len(r.phase.RunnersUp))), Tests: []PairedTest{},
	}
	next := r.archive.current
	for i := first; i < len(r.archive.entries); i++ {
		e := &r.archive.entries[i]
		if e.Status != StatusEvaluated {
			continue
		}
		t, err := r.selection.compare(e.passes, incumbent.passes, 1, c.Level)
		if err != nil {
			return nil, 0, fmt.Errorf("paired test of %s: %w", e.ID, err)
		}
		t.Challenger = e.ID
		c.Tests = append(c.Tests, t)
		if t.Better && (next == r.archive.current || beats(r.archive.entries, i, next, -1)) {
			next = i
		}
	}
	c.Accepted = r.archive.entries[next].ID
	return c, next, nil
}

// compare tests whether a challenger is better than an incumbent, given how many of a number of draws each passed of each example.
func (s Selection) compare(challenger, incumbent []int, draws int, level float64) (PairedTest, error) {
	compare := stats.SignFlip
	if s.Test == TestBootstrap {
		compare = stats.PairedBootstrap
	}
	p, err := compare(challenger, incumbent, draws)
	return PairedTest{Paired: p, Better: p.P <= level}, err
}

// recordChoice records a choice unless the journal has it, and then it must be the same.
func (r *run) recordChoice(ctx context.Context, op string, c *Choice) (replayed bool, err error) {
	var was Choice
	replayed, err = r.Deps.Log.Lookup(ctx, KindChoice, op, &was)
	switch {
	case err != nil:
		return false, err
	case !replayed:
		return false, r.Deps.Log.Record(ctx, KindChoice, op, c)
	case !reflect.DeepEqual(was, *c):
		return true, fmt.Errorf("recorded choice and cached rollouts differ: got %+v, want %+v", *c, was)
	}
	return true, nil
}
