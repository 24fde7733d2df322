package metaharness_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/metaharness/propose/evolve"
)

var errKilled = errors.New("killed")

// killer fails its nth call, and all after it.
type killer struct {
	mu        sync.Mutex
	calls, at int
}

func (k *killer) fault() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls++
	if k.calls > k.at {
		return errKilled
	}
	return nil
}

// decisions is everything that a phase decided, as text.
func decisions(res metaharness.Result) string {
	var b strings.Builder
	for _, s := range res.Sessions {
		for i, c := range s.Candidates {
			fmt.Fprintf(&b, "%d %s %s %s %+v\n%s\n", s.Session, c.Name, c.ID, c.Hypothesis, s.Decisions[i].Status, c.Source)
			if score := s.Decisions[i].Score; score != nil {
				fmt.Fprintf(&b, "%+v\n", *score)
			}
		}
		fmt.Fprintf(&b, "best %s\n", s.Accepted)
	}
	return b.String() + string(res.Entry.ID)
}

// A phase that is killed before or after any journal entry or evaluation, and run again, decides the same.
func TestResume(t *testing.T) {
	t.Parallel()
	cfg := metaharness.Config{Sessions: 2, Candidates: 2, CanaryEpisodes: 2}
	run := func(dir string, w *world, log *memLog) (metaharness.Result, error) {
		return search(cfg, evolve.New(), w, log).Run(context.Background(), phaseIn(t, dir, 5))
	}
	reference, err := run(t.TempDir(), newWorld(6), newLog())
	if err != nil {
		t.Fatal(err)
	}
	want := decisions(reference)
	if reference.Evaluated < 2 {
		t.Fatalf("the reference evaluated %d candidates: too few to test with", reference.Evaluated)
	}
	for at := 0; ; at++ {
		dir, w, log := t.TempDir(), newWorld(6), newLog()
		k := &killer{at: at}
		w.fault, log.fault = k.fault, k.fault
		if _, err := run(dir, w, log); err == nil {
			if at < 30 {
				t.Fatalf("only %d places to be killed at", at)
			}
			return
		} else if !errors.Is(err, errKilled) {
			t.Fatalf("killed at %d: got %v", at, err)
		}
		w.fault, log.fault = nil, nil
		res, err := run(dir, w, log)
		if err != nil {
			t.Fatalf("killed at %d, run again: %v", at, err)
		}
		if got := decisions(res); got != want {
			t.Fatalf("killed at %d, run again: other decisions\ngot\n%s\nwant\n%s", at, got, want)
		}
		if at%8 != 0 {
			continue
		}
		after := w.runs
		if _, err := run(dir, w, log); err != nil || w.runs != after {
			t.Fatalf("a third run: got %v and %d new episodes, want none", err, w.runs-after)
		}
	}
}

// Killed again and again, at every place in turn, the phase still comes to the same end.
func TestResumeOftenKilled(t *testing.T) {
	t.Parallel()
	cfg := metaharness.Config{Sessions: 2, Candidates: 2, CanaryEpisodes: 2}
	reference, err := search(cfg, evolve.New(), newWorld(6), newLog()).Run(context.Background(), phaseIn(t, t.TempDir(), 5))
	if err != nil {
		t.Fatal(err)
	}
	dir, w, log := t.TempDir(), newWorld(6), newLog()
	for at := 1; ; at++ {
		k := &killer{at: at}
		w.fault, log.fault = k.fault, k.fault
		res, err := search(cfg, evolve.New(), w, log).Run(context.Background(), phaseIn(t, dir, 5))
		if errors.Is(err, errKilled) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, want := decisions(res), decisions(reference); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		return
	}
}

// A session that is cancelled in the middle is not the proposer's failure: it is begun again, and says so.
func TestCancelledSession(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := scripted{func(s whale.Session) (whale.SessionCost, error) {
		put(t, s, "a", strings.Replace(startProgram, "TURNS = 2", "TURNS = 3", 1))
		cancel()
		return whale.SessionCost{}, context.Canceled
	}}
	dir, w, log := t.TempDir(), newWorld(3), newLog()
	s := search(metaharness.Config{Sessions: 1, Candidates: 1}, p, w, log)
	if _, err := s.Run(ctx, phaseIn(t, dir, 1)); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want a cancelled context", err)
	}
	res, err := s.Run(context.Background(), phaseIn(t, dir, 1))
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Sessions[0]; got.Attempts != 2 || len(got.Candidates) != 1 {
		t.Errorf("got %d attempts and %d candidates, want 2 and 1", got.Attempts, len(got.Candidates))
	}
}

// Decisions made under other weights are not met again.
func TestOtherWeights(t *testing.T) {
	proposed := 0
	p := scripted{func(s whale.Session) (whale.SessionCost, error) { proposed++; return whale.SessionCost{}, nil }}
	w, log := newWorld(3), newLog()
	s := search(metaharness.Config{Sessions: 1, Candidates: 1}, p, w, log)
	if _, err := s.Run(context.Background(), phaseIn(t, t.TempDir(), 1)); err != nil {
		t.Fatal(err)
	}
	phase := phaseIn(t, t.TempDir(), 1)
	phase.Weights.ID = "other"
	_, err := s.Run(context.Background(), phase)
	if err == nil || !strings.Contains(err.Error(), "got weights") {
		t.Errorf("got %v, want the cached rollouts refused", err)
	}
	for key := range log.entries {
		if !strings.Contains(key, string(whale.HashOf("phase", []whale.ID{weights.ID, phase.Incoming.ID()}))) {
			t.Errorf("journal entry %s is not bound to its weights", key)
		}
	}
}
