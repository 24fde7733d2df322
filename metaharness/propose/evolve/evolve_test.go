package evolve

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// Every product is a harness, differs from its parent and from what the workspace knows, and says what it is.
func TestProducts(t *testing.T) {
	start, rich, parts := read(t, "start.star"), read(t, "rich.star"), read(t, "parts.star")
	rejected := entry{line: metaharness.IndexLine{
		ID: whale.HarnessID([]byte(strings.Replace(start, "TURNS = 2", "TURNS = 4", 1))), Status: metaharness.StatusRejected, Gate: "canary", Reason: "no",
	}}
	kinds := map[string]int{}
	for seed := range uint32(40) {
		dir := makeWorkspace(t, evaluated(start, 0.3, 0, outOfTurns(8)), evaluated(rich, 0.4, 0.1, lackingBox(8)), evaluated(parts, 0.1, -0.2, nil), rejected)
		propose(t, dir, seed, 4)
		files := written(t, dir)
		if len(files) != 8 {
			t.Fatalf("seed %d: got %d files, want 8", seed, len(files))
		}
		seen := map[string]bool{start: true, rich: true, parts: true}
		for name, text := range files {
			if strings.HasSuffix(name, ".json") {
				var meta metaharness.CandidateMeta
				if err := json.Unmarshal([]byte(text), &meta); err != nil {
					t.Fatal(err)
				}
				if meta.Parent == "" || meta.Axis == "" || len(meta.Operators) == 0 || !strings.Contains(meta.Hypothesis, "Change: ") {
					t.Errorf("seed %d: %s: got %s", seed, name, text)
				}
				for _, op := range meta.Operators {
					kind, _, _ := strings.Cut(op, " ")
					kinds[kind]++
				}
				continue
			}
			if _, err := star.Load(name, []byte(text)); err != nil {
				t.Errorf("seed %d: %s does not load: %v\n%s", seed, name, err, text)
			}
			if seen[text] || whale.HarnessID([]byte(text)) == rejected.line.ID {
				t.Errorf("seed %d: %s is not new", seed, name)
			}
			seen[text] = true
		}
	}
	for _, kind := range []string{opConstant, opSay, opArgument, opBundle, opCrossover, opPart} {
		if kinds[kind] == 0 {
			t.Errorf("no candidate came from %s: got %v", kind, kinds)
		}
	}
}

func TestDeterminism(t *testing.T) {
	make := func(seed uint32) map[string]string {
		dir := makeWorkspace(t, evaluated(read(t, "start.star"), 0.3, 0, lackingBox(8)), evaluated(read(t, "rich.star"), 0.4, 0.1, outOfTurns(8)))
		propose(t, dir, seed, 5)
		return written(t, dir)
	}
	distinct := map[string]bool{}
	for seed := range uint32(5) {
		first := make(seed)
		if !maps.Equal(first, make(seed)) {
			t.Errorf("seed %d: two sessions differ", seed)
		}
		for _, text := range first {
			distinct[text] = true
		}
	}
	if len(distinct) < 25 {
		t.Errorf("got %d distinct files from 5 seeds, want at least 25", len(distinct))
	}
}

var moreTurns = regexp.MustCompile(`TURNS = [468]  # model calls`)

// Where episodes end after a tool call, nearly every session tries more turns.
func TestOutOfTurns(t *testing.T) {
	more := 0
	for seed := range uint32(40) {
		dir := makeWorkspace(t, evaluated(read(t, "start.star"), 0.1, 0, outOfTurns(12)))
		propose(t, dir, seed, 3)
		for name, text := range written(t, dir) {
			if strings.HasSuffix(name, ".star") && moreTurns.MatchString(text) {
				more++
				break
			}
		}
	}
	if more < 36 {
		t.Errorf("got %d of 40 sessions that try 4 turns, want 36", more)
	}
}

// Where replies lack what the verdict asks for, two sessions in three at least ask again for it, with a predicate that looks for it.
func TestNudge(t *testing.T) {
	asked := 0
	for seed := range uint32(40) {
		dir := makeWorkspace(t, evaluated(read(t, "start.star"), 0.25, 0, lackingBox(12)))
		propose(t, dir, seed, 3)
		for name, text := range written(t, dir) {
			if strings.HasSuffix(name, ".star") && strings.Contains(text, "done = loop.has_box, nudge = ") && strings.Contains(text, `\\boxed{}`) {
				asked++
				break
			}
		}
	}
	if asked < 27 {
		t.Errorf("got %d of 40 sessions that ask again for the box, want 27", asked)
	}
}

// What failed before is tried less, what paid off more.
func TestBandit(t *testing.T) {
	half := 0.5
	minus := -0.1
	m := &mutation{op: opConstant, target: "TURNS", detail: "up", axis: axisTurns}
	line := func(delta *float64) metaharness.IndexLine {
		return metaharness.IndexLine{Operators: []string{m.key()}, Axis: string(m.axis), Delta: delta}
	}
	won, lost := learn([]metaharness.IndexLine{line(&half)}).factor(m), learn([]metaharness.IndexLine{line(&minus)}).factor(m)
	none := learn(nil).factor(m)
	if !(won > none && none == 1 && lost < none) {
		t.Errorf("factors: got won %.2f, none %.2f, lost %.2f", won, none, lost)
	}
	twice := learn([]metaharness.IndexLine{line(&minus), line(nil)}).factor(m)
	if !(twice < lost && twice > 0) {
		t.Errorf("factor after two failures: got %.2f, want between 0 and %.2f", twice, lost)
	}
}

func TestHostileWorkspace(t *testing.T) {
	good := evaluated(read(t, "start.star"), 0.1, 0, outOfTurns(3))
	for name, spoil := range map[string]func(dir string) error{
		"index.jsonl:1": func(dir string) error { return os.WriteFile(filepath.Join(dir, "index.jsonl"), []byte("{"), 0o644) },
		"library.json":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "library.json"), []byte("[1]"), 0o644) },
		"got no evaluated program": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "index.jsonl"), []byte(`{"status":"rejected","id":"x"}`), 0o644)
		},
		"no archived program can be edited": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "harnesses", string(good.line.ID), "harness.star"), []byte("def ("), 0o644)
		},
		"no such file": func(dir string) error { return os.RemoveAll(filepath.Join(dir, "README.md")) },
	} {
		dir := makeWorkspace(t, good)
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		_, err := New().Propose(t.Context(), whale.Session{Workspace: dir, Candidates: 1})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New().Propose(ctx, whale.Session{Workspace: makeWorkspace(t, good), Candidates: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want a cancelled context", err)
	}
}

// The proposer knows no task: what it says of one comes from the workspace.
func TestNoDomain(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		checked++
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ToLower(string(data))
		for _, word := range []string{"boxed", "has_box", "chess", "calculator", "wikipedia", "<answer>", "hotpot", "puzzle", "lichess", "python", "passage", "retriev"} {
			if strings.Contains(text, word) {
				t.Errorf("%s knows %q", name, word)
			}
		}
	}
	if checked < 10 {
		t.Errorf("got %d source files, want at least 10", checked)
	}
}
