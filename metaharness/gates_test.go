package metaharness_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// Each gate refuses its kind of candidate with a text that the next session reads.
func TestGates(t *testing.T) {
	body := func(s string) string {
		return strings.Replace(startProgram, "def run(task, model, env):\n", "def run(task, model, env):\n    "+s+"\n", 1)
	}
	cases := []struct{ name, source, gate, reason string }{
		{"a-parse", "def run(task, model, env)\n    return None\n", metaharness.GateLoad, "a-parse.star:1:26"},
		{"b-resolve", body("nowhere()"), metaharness.GateLoad, "undefined: nowhere"},
		{"c-contract", "def run(task):\n    return None\n", metaharness.GateLoad, "want (task, model, env)"},
		{"d-duplicate", startProgram, metaharness.GateDuplicate, "the archive has this program: "},
		{"e-audit", body("x = \"forbidden\""), "audit", "it quotes an example"},
		{"f-canary", body("fail(\"on purpose\")"), metaharness.GateCanary, "all 2 trial episodes failed; the first: program: "},
		{"g-foreign", body("return \"not a reply\""), metaharness.GateCanary, "all 2 trial episodes failed; the first: "},
		{"h-good", body("x = 1"), "", ""},
	}
	p := scripted{func(s whale.Session) (whale.SessionCost, error) {
		if s.Index == 0 {
			for _, c := range cases {
				put(t, s, c.name, c.source)
			}
			return whale.SessionCost{}, nil
		}
		for _, name := range []string{"index.jsonl", "reports/session-0000.md"} {
			data, err := os.ReadFile(filepath.Join(s.Workspace, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cases {
				if !strings.Contains(string(data), c.name) || !strings.Contains(string(data), c.reason) {
					t.Errorf("%s: want %s with %q", name, c.name, c.reason)
				}
			}
		}
		return whale.SessionCost{}, nil
	}}
	s := search(metaharness.Config{Sessions: 2, Candidates: len(cases), CanaryEpisodes: 2}, p, newWorld(5), newLog())
	s.Deps.Gates = []metaharness.Gate{{Name: "audit", Check: func(_ context.Context, h whale.Harness) error {
		if strings.Contains(string(h.Source()), "forbidden") {
			return errors.New("it quotes an example")
		}
		return nil
	}}}
	res, err := s.Run(context.Background(), phaseIn(t, t.TempDir(), 1))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		d := res.Sessions[0].Decisions[i]
		if d.Gate != c.gate || !strings.Contains(d.Reason, c.reason) {
			t.Errorf("%s: got gate %q with %q, want %q with %q", c.name, d.Gate, d.Reason, c.gate, c.reason)
		}
	}
	if res.Rejected != 7 || res.Evaluated != 1 {
		t.Errorf("got %d rejected and %d evaluated, want 7 and 1", res.Rejected, res.Evaluated)
	}
}

// One canary episode that does not fail by the program's fault is enough to be evaluated.
func TestCanaryNeedsAllToFail(t *testing.T) {
	source := strings.Replace(startProgram, "def run(task, model, env):\n", `def run(task, model, env):
    if "python" not in model.chat([chat.user("x")]).text:
        fail("sometimes")
`, 1)
	p := scripted{func(s whale.Session) (whale.SessionCost, error) {
		put(t, s, "a", source)
		return whale.SessionCost{}, nil
	}}
	w := newWorld(5)
	h := mustLoad(t, source)
	canary, err := w.Evaluate(context.Background(), h, metaharness.Ask{Purpose: whale.PurposeCanary})
	if err != nil {
		t.Fatal(err)
	}
	canary[0].State, canary[0].Episode.Failure = whale.StateFailed, &whale.Failure{Reason: whale.FailProgram, Detail: "sometimes"}
	w.cache[rolloutName(h, whale.PurposeCanary, 0, 0)] = canary[0]
	res, err := search(metaharness.Config{Sessions: 1, Candidates: 1, CanaryEpisodes: 2}, p, w, newLog()).Run(context.Background(), phaseIn(t, t.TempDir(), 1))
	if err != nil {
		t.Fatal(err)
	}
	if d := res.Sessions[0].Decisions[0]; d.Status != metaharness.StatusEvaluated {
		t.Errorf("got %+v, want it evaluated", d)
	}
}
