package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/recipe"
)

// rows reads a CSV file of a report: its head, and its rows by column.
func rows(t *testing.T, r *Report, name string) (out []map[string]string) {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteCSV(&b, name); err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range all[1:] {
		m := map[string]string{}
		for c, v := range row {
			m[all[0][c]] = v
		}
		out = append(out, m)
	}
	return out
}

// TestPhaseEnds: phases say by code why they ended, what they might have had, and what the rule saw.
func TestPhaseEnds(t *testing.T) {
	st := fake{method: recipe.MethodAdaptive, seed: 1, gain: 0.5, cycles: 2, examples: 4, draws: 1, steps: 3, sessions: 2}.story()
	st.Begin.Rule = &recipe.AdaptiveRule{Maximum: 5}
	st.Phases[0].Why, st.Phases[1].Why, st.Phases[2].Why = recipe.EndRule, recipe.EndRule, recipe.EndRule
	st.Phases[1].Search.Planned = 7
	got := rows(t, build(t, []*recipe.Story{st}), "phases")
	for i, want := range []string{
		"0-weight rule 5 3 1", // the rule's cap
		"1-harness rule 7 2 ", // what the search might have had
		"2-weight rule 3 3 1", // what the run had left: 6 steps in all
		"3-harness budget 2 2 ",
	} {
		m := got[i]
		if s := fmt.Sprint(m["phase"], " ", m["end"], " ", m["planned"], " ", m["made"], " ", m["window_best_step"]); s != want {
			t.Errorf("phase %d: got %q, want %q", i, s, want)
		}
	}
	w, h := got[0], got[1]
	if w["window_mean"] != "0.2" || w["window_best"] != "0.325" || w["accepted_harness"] != "" || w["weights"] != string(st.Phases[0].Weights) {
		t.Errorf("weight phase: got %v", w)
	}
	if h["accepted"] != num(*st.Phases[1].Accepted) || h["accepted_harness"] != string(st.Phases[1].Harness) || h["window_mean"] != "" {
		t.Errorf("harness phase: got %v", h)
	}
	st.Final = nil // the whole number of steps is not known yet
	if got := rows(t, build(t, []*recipe.Story{st}), "phases")[0]; got["planned"] != "" {
		t.Errorf("unfinished run, ended by rule: got the size %q, want none", got["planned"])
	}
}

// TestCandidatesInFull: a program that racing stopped has the episodes that it ran, and no score; one without a fresh score has none of 0.
func TestCandidatesInFull(t *testing.T) {
	st := fake{method: recipe.MethodWhale, seed: 1, gain: 0.5, cycles: 1, examples: 4, draws: 1, steps: 1, sessions: 1}.story()
	s := &st.Phases[1].Searched[0]
	s.Error, s.Candidates[0].Score.Passed = "the proposer died", 21
	s.Candidates[1].Decision = metaharness.Decision{Status: metaharness.StatusStopped, Partial: &metaharness.Partial{Examples: 16, Of: 64, Passed: 3}}
	r := build(t, []*recipe.Story{st})
	got := rows(t, r, "search")
	if m := got[0]; m["examples"] != "64" || m["passed"] != "21" || m["failed"] != "0" || m["score"] == "" || m["hypothesis"] != "it helps" {
		t.Errorf("evaluated: got %v", m)
	}
	if m := got[1]; m["examples"] != "16" || m["passed"] != "3" || m["failed"] != "" || m["score"] != "" {
		t.Errorf("stopped: got %v", m)
	}
	if m := rows(t, r, "sessions")[0]; m["error"] != "the proposer died" || m["usd"] != "0.25" || m["seconds"] != "1.5" || m["prompt_tokens"] != "9000" || m["evaluated"] != "1" {
		t.Errorf("session: got %v", m)
	}
	fresh := rows(t, r, "confirmation")
	if a, b, c := fresh[0], fresh[1], fresh[2]; a["incoming"] != "true" || a["mean"] != "0.25" || a["p"] != "" || b["accepted"] != "true" || b["p"] != "0.03" || c["mean"] != "" || c["missing"] == "" {
		t.Errorf("fresh scores: got %v", fresh)
	}
}

// TestSharedEnds: an end of a phase is drawn where every seed that went on has it.
func TestSharedEnds(t *testing.T) {
	run := func(lengths ...int) *Run {
		r := &Run{}
		for phase, n := range lengths {
			for range n {
				r.Steps = append(r.Steps, Step{Step: len(r.Steps) + 1, Phase: 2 * phase})
			}
		}
		return r
	}
	for _, tc := range []struct {
		runs []*Run
		want []int
	}{
		{[]*Run{run(2, 2, 2), run(2, 2, 2)}, []int{2, 4}},
		{[]*Run{run(2, 3, 1), run(3, 2, 1)}, []int{5}},
		{[]*Run{run(2, 2, 2), run(2, 1)}, []int{2, 4}}, // the second has not come to 4 yet
		{[]*Run{run(2, 2), run(4)}, nil},
		{[]*Run{run(4), run()}, nil},
		{nil, nil},
	} {
		if got := sharedEnds(tc.runs); !slices.Equal(got, tc.want) {
			t.Errorf("got the ends %v, want %v", got, tc.want)
		}
	}
}

// TestFiguresName: the plots name what they show without their captions.
func TestFiguresName(t *testing.T) {
	g := &build(t, small()).Groups[0]
	ls := looks(g.Arms)
	for name, want := range map[string][]string{
		"differences": {"whale − weight-only", "whale − harness-only"},
		"steps":       {"reward of a single seed", "end of a phase, of all seeds"},
		"accuracy":    {BandInterval},
	} {
		for _, f := range []*figure{g.forest(ls), g.stepsFigure(ls), g.curves(ls)} {
			if f.name != name {
				continue
			}
			s, err := f.svg()
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range want {
				if !strings.Contains(s, ">"+w+"<") {
					t.Errorf("%s.svg lacks the text %q", name, w)
				}
			}
			if name == "accuracy" && strings.Count(s, "fill-opacity:0.1") != len(g.Arms) {
				t.Errorf("accuracy.svg: got %d bands, want one a method", strings.Count(s, "fill-opacity:0.1"))
			}
		}
	}
}

// TestLedgerTable: rollouts that another run made are told, and time that nobody measured is no zero.
func TestLedgerTable(t *testing.T) {
	head, rows := []string(nil), map[string][]string{}
	for i, row := range (&build(t, small()).Groups[0]).ledgerRows() {
		if i == 0 {
			head = row
		} else {
			rows[row[0]+" "+row[1]] = row
		}
	}
	at := func(row, column string) string { return rows[row][slices.Index(head, column)] }
	for _, tc := range []struct{ row, column, want string }{
		{"whale weight", "of them shared", "256"}, {"whale search", "of them shared", "0"}, {"whale total", "of them shared", "256"},
		{"whale canary", "rollouts", "6"}, {"whale canary", "seconds", "-"}, {"whale weight", "seconds", "14.0"}, {"whale total", "seconds", "46.0"},
	} {
		if got := at(tc.row, tc.column); got != tc.want {
			t.Errorf("%s, %s: got %q, want %q", tc.row, tc.column, got, tc.want)
		}
	}
}
