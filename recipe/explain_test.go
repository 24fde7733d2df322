package recipe

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale/metaharness"
)

func candidate(status metaharness.Status, gate, reason string) SearchedCandidate {
	return SearchedCandidate{Decision: metaharness.Decision{Status: status, Gate: gate, Reason: reason}}
}

// TestExplainSession: every candidate of a session is counted, and those without a score have their reasons, each once.
func TestExplainSession(t *testing.T) {
	const (
		evaluated, rejected, stopped, incomplete = metaharness.StatusEvaluated, metaharness.StatusRejected, metaharness.StatusStopped, metaharness.StatusIncomplete
	)
	for _, tc := range []struct {
		name string
		s    SearchedSession
		want string
	}{
		{"all evaluated", SearchedSession{Session: 1, Candidates: []SearchedCandidate{candidate(evaluated, "", ""), candidate(evaluated, "", "")}}, "  session 2: 2 proposed, 2 evaluated\n"},
		{"one not scored", SearchedSession{Candidates: []SearchedCandidate{candidate(evaluated, "", ""), candidate(evaluated, "", ""), candidate(incomplete, "", "not scored: 1 of 64 rollouts stayed in state error")}},
			"  session 1: 3 proposed, 2 evaluated, 1 not scored\n    not scored: 1 of 64 rollouts stayed in state error\n"},
		{"of every kind", SearchedSession{Candidates: []SearchedCandidate{
			candidate(rejected, "load", "a.star:1:2: parse:\n  got )"), candidate(rejected, "canary", "all 2 failed"), candidate(rejected, "load", "a.star:1:2: parse: got )"), candidate(stopped, "", "3 of 9"),
			candidate("", "", ""), candidate(incomplete, "", ""),
		}}, "  session 1: 6 proposed, 0 evaluated, 1 rejected (canary), 2 rejected (load), 1 stopped early, 1 not scored, 1 not judged yet\n" +
			"    rejected (load): a.star:1:2: parse: got ) (2 times)\n    rejected (canary): all 2 failed\n"},
		{"a hostile journal", SearchedSession{Error: "a\n  session 9: 9 proposed\x1b[2J", Candidates: []SearchedCandidate{
			candidate(rejected, "\x1b]0;x\x07\ngate", "\x1b[2J"+strings.Repeat("x", 5000)), candidate("other", "\n", "\u202egone"),
		}}, "  session 1: 2 proposed, 0 evaluated, 1 rejected (\ufffd]0;x\ufffd gate), 1 not scored; the proposer failed: a session 9: 9 proposed\ufffd[2J\n" +
			"    rejected (\ufffd]0;x\ufffd gate): \ufffd[2J" + strings.Repeat("x", maxReason-5) + "…\n    not scored: \ufffdgone\n"},
	} {
		var b strings.Builder
		explainSession(&b, tc.s)
		if b.String() != tc.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.name, b.String(), tc.want)
		}
	}
}

// TestExplainSessionAddsUp: whatever a journal says of candidates, the counts add up to those that were proposed, and the text is bounded and harmless.
func TestExplainSessionAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s SearchedSession
		for range rapid.IntRange(0, 30).Draw(t, "candidates") {
			status := rapid.SampledFrom([]metaharness.Status{"", "evaluated", "rejected", "stopped", "incomplete", "else"}).Draw(t, "status")
			s.Candidates = append(s.Candidates, candidate(status, rapid.SampledFrom([]string{"load", "canary"}).Draw(t, "gate"), rapid.StringN(0, 400, -1).Draw(t, "reason")))
		}
		var b strings.Builder
		explainSession(&b, s)
		first, rest, _ := strings.Cut(b.String(), "\n")
		parts := strings.Split(strings.TrimPrefix(first, "  session 1: "), ", ")
		sum := 0
		for _, part := range parts[1:] {
			n := 0
			if _, err := fmt.Sscanf(part, "%d", &n); err != nil {
				t.Fatalf("%q: %v", part, err)
			}
			sum += n
		}
		if parts[0] != fmt.Sprintf("%d proposed", len(s.Candidates)) || sum != len(s.Candidates) {
			t.Fatalf("got %q, want counts of %d candidates", first, len(s.Candidates))
		}
		if n := strings.Count(rest, "\n"); n > maxReasons+1 || len([]rune(rest)) > (maxReasons+1)*(maxReason+50) {
			t.Fatalf("got %d lines of reasons, %d bytes", n, len(rest))
		}
		if i := strings.IndexFunc(rest, func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) }); i >= 0 {
			t.Fatalf("got %q", rest[i:])
		}
	})
}

// TestQuotedEnds: docs/choosing-e-and-i.md explains the texts that runs really print of why a phase ended.
func TestQuotedEnds(t *testing.T) {
	page, err := os.ReadFile("../docs/choosing-e-and-i.md")
	if err != nil {
		t.Fatal(err)
	}
	weight, window := PlannedPhase{Kind: PhaseWeight, Steps: 4, ByRule: true}, &WindowStop{Steps: 4, BestAt: 2}
	search := func(e metaharness.End) *metaharness.End { e.Best = []float64{0, 0}; return &e }
	for _, end := range []phaseEnd{
		{Phase: weight, Why: EndBudget},
		{Phase: weight, Why: EndBudget, Window: window},
		{Phase: weight, Why: EndCap, Window: window},
		{Phase: weight, Why: EndRule, Window: window},
		{Phase: weight, Why: EndRest},
		{Why: EndBudget, Search: search(metaharness.End{Why: metaharness.EndSessions, Sessions: 5, Planned: 5})},
		{Why: EndBudget, Search: search(metaharness.End{Why: metaharness.EndSessions, Sessions: 1, Planned: 1})},
		{Why: EndCap, Search: search(metaharness.End{Why: metaharness.EndSessions, Sessions: 5, Planned: 5})},
		{Why: EndRule, Search: search(metaharness.End{Why: metaharness.EndPatience, Stale: 2, Sessions: 8, Planned: 15})},
	} {
		_, text, ok := strings.Cut(end.describe(), " ended: ")
		if !ok {
			t.Fatalf("got %q", end.describe())
		}
		text, _, _ = strings.Cut(text, ";")
		if what, limit, ok := strings.Cut(text, " ("); ok && end.Why == EndCap {
			mustContain(t, "the page", string(page), "*("+limit+"*")
			text = what
		}
		text, _, _ = strings.Cut(text, " (patience")
		for _, less := range []string{", after ", ", since "} {
			text, _, _ = strings.Cut(text, less)
		}
		mustContain(t, "the page", string(page), "*"+text+"*")
	}
}
