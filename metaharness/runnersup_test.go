package metaharness_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// withRunnersUp is a phase that scores variants anew.
func withRunnersUp(t *testing.T, dir string, variants ...int) metaharness.Phase {
	t.Helper()
	p := phaseIn(t, dir, 1)
	for _, n := range variants {
		p.RunnersUp = append(p.RunnersUp, mustLoad(t, variant(n)))
	}
	return p
}

// Runners-up are scored under the phase's weights after the incoming harness, are shown to proposers, and can be accepted.
func TestRunnersUp(t *testing.T) {
	w, dir := newWorld(24), t.TempDir()
	w.luck = passing(map[int]int{2: 8, 3: 6, 4: 18, 5: 17})
	var index []string
	p := scripted{func(s whale.Session) (whale.SessionCost, error) {
		index = strings.Split(strings.TrimSpace(readFile(t, s.Workspace, "index.jsonl")), "\n")
		put(t, s, "a", variant(5))
		put(t, s, "b-again", variant(3))
		return whale.SessionCost{}, nil
	}}
	s := search(metaharness.Config{Sessions: 1, Candidates: 2, CanaryEpisodes: 2}, p, w, newLog())
	var events []string
	s.Deps.Observer = func(e metaharness.Event) { events = append(events, fmt.Sprintf("%s %d %s", e.Kind, e.Session, e.Name)) }
	res, err := s.Run(context.Background(), withRunnersUp(t, dir, 3, 4))
	if err != nil {
		t.Fatal(err)
	}
	if variantOf(res.Accepted) != 4 || res.Entry.Session != -1 || res.Rescored != 48 || res.Proposed != 2 || res.Evaluated != 1 {
		t.Errorf("got %d of session %d accepted, %d rescored, %d proposed, %d evaluated", variantOf(res.Accepted), res.Entry.Session, res.Rescored, res.Proposed, res.Evaluated)
	}
	if d := res.Sessions[0].Decisions[1]; d.Gate != metaharness.GateDuplicate {
		t.Errorf("a runner-up proposed again: got %+v, want a duplicate", d)
	}
	if len(index) != 3 || !strings.Contains(index[2], `"name":"runner-up-2","status":"evaluated","accepted":true`) || !strings.Contains(index[2], `"session":-1`) {
		t.Errorf("index: got %v", index)
	}
	want := []string{"incoming -1 incoming", "candidate -1 runner-up-1", "candidate -1 runner-up-2", "accepted -1 runner-up-2", "session 0 ", "proposed 0 ", "candidate 0 a", "candidate 0 b-again"}
	if !slices.Equal(events, want) {
		t.Errorf("events: got %v, want %v", events, want)
	}
	var ranked []int
	for _, e := range res.Ranked {
		ranked = append(ranked, variantOf(e.Harness))
	}
	if !slices.Equal(ranked, []int{4, 5, 2, 3}) {
		t.Errorf("ranked: got %v, want 4 5 2 3", ranked)
	}
	if got := (metaharness.Config{Sessions: 1, Candidates: 2, CanaryEpisodes: 2}).MostRollouts(24, 2); got.RunnersUp != res.Rescored || w.spent[whale.PurposeSearch] != got.Search()-24 {
		t.Errorf("budget: got %+v, spent %v", got, w.spent)
	}
}

// With paired acceptance a runner-up must beat the incoming harness as a candidate must, and counts as a test.
func TestRunnersUpArePaired(t *testing.T) {
	for passed, want := range map[int]int{12: 2, 18: 4} {
		w := newWorld(24)
		w.luck = passing(map[int]int{2: 8, 4: passed})
		cfg := metaharness.Config{Sessions: 1, Candidates: 3, Selection: metaharness.Selection{Accept: metaharness.AcceptPaired}}
		res, err := search(cfg, proposes(t, nil), w, newLog()).Run(context.Background(), withRunnersUp(t, t.TempDir(), 4))
		if err != nil {
			t.Fatal(err)
		}
		if variantOf(res.Accepted) != want || res.Choice == nil || res.Choice.Level != 0.05/4 {
			t.Errorf("%d against 8: got %d accepted by %+v, want %d at level 0.05/4", passed, variantOf(res.Accepted), res.Choice, want)
		}
	}
}

// A runner-up without a complete score is not ranked, and does not stop the phase; its record stands.
func TestRunnerUpIncomplete(t *testing.T) {
	w, log, dir := newWorld(24), newLog(), t.TempDir()
	w.luck = passing(map[int]int{2: 8, 4: 24})
	w.spoil = func(h whale.Harness, _ whale.Purpose, i int) bool { return variantOf(h) == 4 && i == 3 }
	s := search(metaharness.Config{Sessions: 1, Candidates: 1}, proposes(t, nil), w, log)
	for range 2 {
		res, err := s.Run(context.Background(), withRunnersUp(t, dir, 4))
		if err != nil || variantOf(res.Accepted) != 2 || len(res.Ranked) != 1 {
			t.Errorf("got %v, %d accepted, %d ranked; want the incoming harness alone", err, variantOf(res.Accepted), len(res.Ranked))
		}
		w.spoil = nil
		clear(w.cache)
	}
}

func TestRunnersUpRefuse(t *testing.T) {
	w := newWorld(3)
	s := search(metaharness.Config{}, proposes(t), w, newLog())
	for _, variants := range [][]int{{2}, {3, 3}} {
		if _, err := s.Run(context.Background(), withRunnersUp(t, t.TempDir(), variants...)); err == nil || !strings.Contains(err.Error(), "which the archive has") {
			t.Errorf("%v: got %v, want it refused", variants, err)
		}
	}
	// A score that was measured under other weights is never compared.
	phase := withRunnersUp(t, t.TempDir(), 5)
	h := phase.RunnersUp[0]
	for i := range 3 {
		r, err := w.one(context.Background(), h, whale.PurposeSearch, 0, i)
		if err != nil {
			t.Fatal(err)
		}
		r.Key.Weights = "other"
		w.cache[rolloutName(h, whale.PurposeSearch, 0, i)] = r
	}
	if _, err := s.Run(context.Background(), phase); err == nil || !strings.Contains(err.Error(), "runner-up 1: evaluation: rollout 1: got weights other") {
		t.Errorf("rollouts of other weights: got %v, want them refused", err)
	}
}
