package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/store"
)

// TestExplainSaysWhyThereIsNoScore: candidates without a score are counted and their reasons are shown, as text that a terminal does not obey.
func TestExplainSaysWhyThereIsNoScore(t *testing.T) {
	t.Parallel()
	run := filepath.Join(t.TempDir(), "run")
	s, err := store.Create(run, []byte(testConfig), store.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	op := "1-harness/session-0"
	put := func(kind, op string, v any) {
		t.Helper()
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(t.Context(), kind, op, json.RawMessage(data)); err != nil {
			t.Fatal(err)
		}
	}
	put(metaharness.KindSession, op, metaharness.SessionRecord{Candidates: make([]metaharness.Candidate, 4)})
	for i, d := range []metaharness.Decision{
		{Status: metaharness.StatusEvaluated},
		{Status: metaharness.StatusRejected, Gate: metaharness.GateCanary, Reason: "all 2 trial episodes failed;\n\x1b[2Jthe first: program"},
		{Status: metaharness.StatusIncomplete, Reason: "not scored: 3 of 4 rollouts are missing"},
	} {
		put(metaharness.KindDecision, op+"/candidate-"+string(rune('0'+i)), d)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	out := must(t, "explain", run)
	want := "  session 1: 4 proposed, 1 evaluated, 1 rejected (canary), 1 not scored, 1 not judged yet\n" +
		"    rejected (canary): all 2 trial episodes failed; \ufffd[2Jthe first: program\n" +
		"    not scored: 3 of 4 rollouts are missing\n"
	if !strings.Contains(out, want) {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}
