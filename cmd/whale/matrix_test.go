package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/store"
)

// rolloutsOn counts a run's rollouts on a split.
func rolloutsOn(t *testing.T, run string, split whale.Split) int {
	t.Helper()
	s, err := store.OpenReadOnly(run)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := 0
	for row, err := range s.Rollouts(t.Context(), store.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		line, err := s.Trajectory(t.Context(), row.Key)
		if err != nil {
			t.Fatal(err)
		}
		var r whale.Rollout
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if r.Key.Split == split {
			n++
		}
	}
	return n
}

// TestClosedTest: where a run leaves the test split closed, so do matrix and eval, unless they are asked for it, and then they say so.
func TestClosedTest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := writeTest(t, dir, "evaluation:\n", "evaluation:\n  split: validation\n", "sessions: 1", "sessions: 0", "total_epochs: 2", "total_epochs: 1")
	run := filepath.Join(dir, "run")
	must(t, "run", config, "--dir", run)
	const note = "note: evaluation.split is validation, which keeps the test split closed; --split test opens it\n"

	code, out, errs := command(t, "matrix", run)
	if code != exitOK || !strings.HasPrefix(out, "Validation split, mean@1 over 2 examples") || strings.Contains(errs, note) {
		t.Errorf("matrix: got exit code %d, %q and %q", code, out, errs)
	}
	code, out, errs = command(t, "eval", run, "--draws", "1")
	if code != exitOK || !strings.HasPrefix(out, "validation, 2 examples") || strings.Contains(errs, note) {
		t.Errorf("eval: got exit code %d, %q and %q", code, out, errs)
	}
	if n := rolloutsOn(t, run, whale.SplitTest); n > 0 {
		t.Errorf("got %d rollouts on the test split, want none", n)
	}

	code, out, errs = command(t, "matrix", run, "--split", "test")
	if code != exitOK || !strings.HasPrefix(out, "Test split, mean@1 over 4 examples") || !strings.Contains(errs, note) {
		t.Errorf("matrix --split test: got exit code %d, %q and %q, want %q", code, out, errs, note)
	}
	if n := rolloutsOn(t, run, whale.SplitTest); n != 8 { // two weights, one harness, four examples
		t.Errorf("matrix --split test: got %d rollouts on the test split, want 8", n)
	}
	for _, path := range []string{run, config} {
		if code, out, errs := command(t, "eval", path, "--draws", "1", "--split", "test"); code != exitOK || !strings.HasPrefix(out, "test, 4 examples") || !strings.Contains(errs, note) {
			t.Errorf("eval %s --split test: got exit code %d, %q and %q, want %q", path, code, out, errs, note)
		}
	}
	if code, _, errs := command(t, "matrix", run, "--split", ""); code != exitUsage || !strings.Contains(errs, `--split: got ""`) {
		t.Errorf("matrix of no split: got exit code %d and %q", code, errs)
	}
}

// TestMatrixOfTest: a run that is measured on test has its matrix there, without a word about closed splits.
func TestMatrixOfTest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := writeTest(t, dir, "sessions: 1", "sessions: 0", "total_epochs: 2", "total_epochs: 1")
	run := filepath.Join(dir, "run")
	must(t, "run", config, "--dir", run)
	for _, args := range [][]string{{"matrix", run}, {"matrix", run, "--split", "test"}} {
		code, out, errs := command(t, args...)
		if code != exitOK || !strings.HasPrefix(out, "Test split, mean@1 over 4 examples") || strings.Contains(errs, "closed") {
			t.Errorf("%v: got exit code %d, %q and %q", args, code, out, errs)
		}
	}
	var m recipe.Matrix
	if err := json.Unmarshal([]byte(must(t, "matrix", run, "--json")), &m); err != nil || m.Split != whale.SplitTest || m.Draws != 1 {
		t.Errorf("got %+v, %v", m, err)
	}
}
