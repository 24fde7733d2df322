package metaharness_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// Nothing that a proposer can read names an example, a split, a draw, a hash of the run, or a token id.
func TestAnonymity(t *testing.T) {
	files := 0
	p := scripted{func(s whale.Session) (whale.SessionCost, error) {
		err := filepath.WalkDir(s.Workspace, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files++
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, secret := range []string{
				"secret-id", `"split":`, `"example":`, `"draw":`, `"answer_text"`, "task-hash", "renderer-hash", "sampling-hash", string(weights.ID),
				"70001", "logprob",
			} {
				if strings.Contains(string(data), secret) {
					t.Errorf("%s holds %q", path, secret)
				}
			}
			return nil
		})
		if s.Index == 0 {
			put(t, s, "a", strings.Replace(startProgram, "TURNS = 2", "TURNS = 3", 1))
		}
		return whale.SessionCost{}, err
	}}
	res, err := search(metaharness.Config{Sessions: 2, Candidates: 1}, p, newWorld(6), newLog()).Run(context.Background(), phaseIn(t, t.TempDir(), 1))
	if err != nil {
		t.Fatal(err)
	}
	if res.Evaluated != 1 || files < 18 {
		t.Fatalf("got %d evaluated and %d files, want 1 and at least 18", res.Evaluated, files)
	}
}

// The workspace holds what the README says, and a proposer's changes to it do not reach the archive.
func TestWorkspaceIsACopy(t *testing.T) {
	phase := phaseIn(t, t.TempDir(), 1)
	p := scripted{func(s whale.Session) (whale.SessionCost, error) {
		id := string(phase.Incoming.ID())
		for _, name := range []string{
			"README.md", "index.jsonl", "library.json", "candidates", "reports", "harnesses/" + id + "/harness.star", "harnesses/" + id + "/meta.json",
			"harnesses/" + id + "/score.json", "harnesses/" + id + "/outcomes.jsonl", "harnesses/" + id + "/trajectories.jsonl",
			"harnesses/" + id + "/failures.md",
		} {
			if _, err := os.Stat(filepath.Join(s.Workspace, name)); err != nil {
				t.Error(err)
			}
		}
		return whale.SessionCost{}, os.WriteFile(filepath.Join(s.Workspace, "index.jsonl"), []byte("mine"), 0o644)
	}}
	if _, err := search(metaharness.Config{Sessions: 1, Candidates: 1}, p, newWorld(6), newLog()).Run(context.Background(), phase); err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile(filepath.Join(phase.ArchiveDir, "index.jsonl"))
	if err != nil || !strings.HasPrefix(string(index), `{"id":`) {
		t.Errorf("index of the archive: got %q, %v", index, err)
	}
	data, err := os.ReadFile(filepath.Join(phase.ArchiveDir, "harnesses", string(phase.Incoming.ID()), "trajectories.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var first metaharness.Trajectory
	line, _, _ := strings.Cut(string(data), "\n")
	if err := json.Unmarshal([]byte(line), &first); err != nil {
		t.Fatal(err)
	}
	if first.Example != 1 || len(first.Turns) != 2 || len(first.Turns[0].Tools) != 1 || first.Turns[1].Kept != 1 ||
		len(first.Turns[1].Messages) != 2 || first.Turns[1].Messages[0].ReplyOf != 1 || first.Turns[1].Messages[1].Content != "seven" {
		t.Errorf("first trajectory: got %s", line)
	}
}
