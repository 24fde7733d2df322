package recipe

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/store"
)

// decisionsOf are the journal's decisions by operation id.
func decisionsOf(t *testing.T, s *store.Run) map[string]metaharness.Decision {
	t.Helper()
	events, err := s.Events(t.Context(), metaharness.KindDecision)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]metaharness.Decision{}
	for _, e := range events {
		var d metaharness.Decision
		if err := json.Unmarshal(e.Data, &d); err != nil {
			t.Fatal(err)
		}
		out[e.Op] = d
	}
	return out
}

// A run with every option of selection, stopped within a harness phase and gone on with, comes to what one never stopped comes to. It scores the
// runners-up of the first phase anew in the second, under the second's weights, and keeps to its plan.
func TestSelectionOptions(t *testing.T) {
	t.Parallel()
	c := testConfig(t, t.TempDir())
	c.Search.Selection = metaharness.Selection{Accept: metaharness.AcceptPaired, Test: metaharness.TestBootstrap, Level: 0.4, Reevaluate: 1, Draws: 2, Racing: 0.3}
	c.Search.RunnersUp = 1
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Start(t.Context(), c, dir, testOptions(nil))
	want := execute(t, r, err)
	s, err := store.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var first, second harnessRecord
	record(t, s, kindHarness, "1-harness", &first)
	record(t, s, kindHarness, "3-harness", &second)
	if len(first.Ranked) != 1 || first.Rescored != 0 || second.Rescored != 4 {
		t.Fatalf("got %d ranked beside the accepted one and %d rescored, then %d; want 1, 0 and 4", len(first.Ranked), first.Rescored, second.Rescored)
	}
	rescored := 0
	for op, d := range decisionsOf(t, s) {
		if strings.Contains(op, "/runner-up/") {
			rescored++
			if !strings.HasPrefix(op, "3-harness/") || !strings.HasSuffix(op, string(first.Ranked[0].ID)) || d.Score == nil || d.Score.Weights != second.Weights {
				t.Errorf("%s: got %+v, want the first phase's best other program under weights %s", op, d, second.Weights.Short())
			}
		}
	}
	if rescored != 1 {
		t.Errorf("got %d programs scored anew, want 1", rescored)
	}
	seeds := map[uint32]string{}
	for _, ro := range rolloutsOf(t, s) {
		if p := ro.row.Purpose; p == "confirm" || p == "search" {
			at := fmt.Sprintln(p, ro.row.Phase, ro.Key.Example, ro.Key.Draw)
			if was, ok := seeds[ro.Key.Seed()]; ok && was != at {
				t.Errorf("%s has the random numbers of %s", at, was)
			}
			seeds[ro.Key.Seed()] = at
		}
	}
	plan, err := MakePlan(c, Counts{Train: 16, Search: 4, Validation: 2, Test: 4})
	if err != nil {
		t.Fatal(err)
	}
	spent := want.Ledger["confirm"]["rollouts"]
	if most := float64(plan.ConfirmRollouts); spent < 16 || spent > most {
		t.Errorf("confirm: got %v rollouts, want 16 to %v", spent, most)
	}
	if got, most := want.Ledger["search"]["rollouts"], float64(plan.SearchRollouts); got > most {
		t.Errorf("search: got %v rollouts, want %v at most", got, most)
	}
	for _, at := range []func(Event) bool{
		func(e Event) bool { return e.Kind == EventCandidate && strings.Contains(e.Text, "anew") },
		func(e Event) bool { return e.Kind == EventCandidate && e.Phase.Index == 3 && e.Text == "incoming" },
	} {
		stopped := stopAt(t, c, at)
		got, _ := resume(t, stopped)
		same(t, got, want)
	}
}

// The control runs in the place of the search: its proposer is told in the journal, and its candidates are edits of the incoming harness.
func TestBestOfRandomRun(t *testing.T) {
	t.Parallel()
	c := testConfig(t, t.TempDir())
	c.Search.Kind, c.Search.RunnersUp = SearchBestOfRandom, 0
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Start(t.Context(), c, dir, testOptions(nil))
	execute(t, r, err)
	s, err := store.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	events, err := s.Events(context.Background(), metaharness.KindSession)
	if err != nil || len(events) != 2 {
		t.Fatalf("got %d sessions, %v; want 2", len(events), err)
	}
	for i, phase := range []string{"1-harness", "3-harness"} {
		var rec metaharness.SessionRecord
		if err := json.Unmarshal(events[i].Data, &rec); err != nil {
			t.Fatal(err)
		}
		var end harnessRecord
		record(t, s, kindHarness, phase, &end)
		if rec.Proposer != "random" || len(rec.Candidates) != 2 || rec.Error != "" {
			t.Errorf("session %d: got %d candidates of proposer %s, %s; want 2 of random", i, len(rec.Candidates), rec.Proposer, rec.Error)
		}
		for _, cand := range rec.Candidates {
			if cand.Parent != end.Incoming {
				t.Errorf("session %d: %s is an edit of %s, want %s", i, cand.Name, cand.Parent.Short(), end.Incoming.Short())
			}
		}
	}
}

func TestSearchConfigIsChecked(t *testing.T) {
	for text, want := range map[string]string{
		"search: {kind: best-of-rand}":                         `search.kind: got "best-of-rand", want meta-harness or best-of-random: did you mean "best-of-random"?`,
		"search: {runners_up: -1}":                             "search.runners_up: got -1, want 0 to 1000",
		"search: {selection: {accept: pair}}":                  `search.selection.accept: got "pair", want argmax or paired`,
		"search: {selection: {level: 0.01}}":                   "search.selection.level: got 0.01 with accept argmax",
		"search: {selection: {accept: paired, level: 0}}":      "search.selection.level: got 0, want 0.000001 to 0.5",
		"search: {selection: {draws: 0}}":                      "search.selection.draws: got 0, want 1 to 64",
		"search: {selection: {racing: 2}}":                     "search.selection.racing: got 2, want 0 to less than 1",
		"search: {selection: {reevaluate: 2, drawz: 3}}":       `unknown key "drawz": did you mean "draws"?`,
		"search: {selection: {accept: paired, test: mcnemer}}": `search.selection.test: got "mcnemer", want mcnemar or bootstrap`,
	} {
		_, err := ParseConfig("c.yaml", []byte(text))
		if err == nil {
			t.Errorf("%s: accepted", text)
			continue
		}
		mustContain(t, text, err.Error(), want)
	}
	c, err := ParseConfig("c.yaml", []byte("search: {selection: {accept: paired, reevaluate: 2}}"))
	if err != nil || c.Search.Selection != (metaharness.Selection{Accept: "paired", Test: "mcnemar", Level: 0.05, Reevaluate: 2, Draws: 1}) || c.Search.RunnersUp != 2 {
		t.Errorf("got %+v, %v", c.Search, err)
	}
}
