package random

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/metaharness"
)

const start = `SYSTEM_PROMPT = ""
USER_PROMPT = "{question}\nPut the final answer in \\boxed{}. Show your work."
TURNS = 2

def run(task, model, env):
    return loop.run(task, model, env, system = SYSTEM_PROMPT, user = USER_PROMPT, turns = TURNS, act = loop.code(), done = loop.has_box)
`

// workspace is a folder that shows the start, and names programs that were drawn before.
func workspace(t testing.TB, drawn []whale.ID) string {
	t.Helper()
	dir := t.TempDir()
	id := whale.HarnessID([]byte(start))
	library, err := json.Marshal(star.Library())
	if err != nil {
		t.Fatal(err)
	}
	index := fmt.Sprintf(`{"id":%q,"name":"incoming","status":"evaluated","mean":0,"session":-1}`+"\n", id)
	for _, d := range drawn {
		index += fmt.Sprintf(`{"id":%q,"status":"hidden","session":0}`+"\n", d)
	}
	write(t, dir, "README.md", "# Harness search\n\n## The task\n\nAnswer with a number in \\boxed{}.\n\n## What to do\n")
	write(t, dir, "library.json", string(library))
	write(t, dir, "index.jsonl", index)
	write(t, dir, "harnesses/"+string(id)+"/harness.star", start)
	if err := os.Mkdir(filepath.Join(dir, "candidates"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func draw(t testing.TB, dir string, n int, seed uint32) []metaharness.Candidate {
	t.Helper()
	cost, err := New().Propose(t.Context(), whale.Session{Workspace: dir, Candidates: n, Seed: seed})
	if err != nil || cost != (whale.SessionCost{}) {
		t.Fatalf("got cost %+v, %v; want none", cost, err)
	}
	found, bad, err := metaharness.Collect(dir, n)
	if err != nil || len(bad) > 0 || len(found) != n {
		t.Fatalf("got %d candidates, %v, %v; want %d", len(found), bad, err, n)
	}
	return found
}

// What is drawn follows from the seed and the names of what was drawn before, and from nothing that happened to a program.
func TestDrawsDependOnTheSeedAlone(t *testing.T) {
	first := draw(t, workspace(t, nil), 6, 3)
	told := workspace(t, nil)
	write(t, told, "harnesses/"+string(whale.HarnessID([]byte(start)))+"/trajectories.jsonl", `{"n":1,"reward":0,"reason":"no \\boxed{}","turns":[],"view":{}}`+"\n")
	write(t, told, "reports/session-0000.md", "TURNS = 9 is best")
	other := draw(t, workspace(t, nil), 6, 4)
	same := 0
	for i, c := range draw(t, told, 6, 3) {
		if c.Source != first[i].Source {
			t.Errorf("candidate %d: evidence changed it", i)
		}
		if c.Source == other[i].Source {
			same++
		}
		if _, err := star.Load("c.star", []byte(c.Source)); err != nil {
			t.Errorf("candidate %d: %v", i, err)
		}
	}
	if same > 3 {
		t.Errorf("another seed drew %d of 6 programs again", same)
	}
	var drawn []whale.ID
	for _, c := range first {
		drawn = append(drawn, c.ID)
	}
	for _, c := range draw(t, workspace(t, drawn), 6, 3) {
		for _, id := range drawn {
			if c.ID == id {
				t.Errorf("%s was drawn again", c.Name)
			}
		}
	}
}

// Every kind of edit is drawn, none of them most of the time, and a third of the candidates combine two or three.
func TestDrawsAreSpread(t *testing.T) {
	kinds := map[string]int{}
	edits, combined, total := 0, 0, 0
	for seed := range uint32(40) {
		for _, c := range draw(t, workspace(t, nil), 3, seed) {
			total++
			if len(c.Operators) > 1 {
				combined++
			}
			for _, op := range c.Operators {
				kind, _, _ := strings.Cut(op, " ")
				kinds[kind]++
				edits++
			}
		}
	}
	if len(kinds) < 6 {
		t.Errorf("got kinds %v, want at least 6", kinds)
	}
	for kind, n := range kinds {
		if 2*n > edits {
			t.Errorf("%s is %d of %d edits", kind, n, edits)
		}
	}
	if combined != total/3 {
		t.Errorf("got %d of %d candidates with several edits, want a third", combined, total)
	}
}

func TestProposeFails(t *testing.T) {
	if _, err := New().Propose(t.Context(), whale.Session{Workspace: t.TempDir(), Candidates: 1}); err == nil || !strings.HasPrefix(err.Error(), "random: ") {
		t.Errorf("an empty folder: got %v, want an error", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New().Propose(ctx, whale.Session{Workspace: workspace(t, nil), Candidates: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
}
