package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/recipe"
)

// TestSameSeedSameRun runs one config with different numbers of workers and episodes at once, and with another seed.
func TestSameSeedSameRun(t *testing.T) {
	t.Parallel()
	run := func(args []string, edits ...string) map[string][]string {
		dir := t.TempDir()
		run := filepath.Join(dir, "run")
		must(t, append([]string{"run", writeTest(t, dir, edits...), "--dir", run}, args...)...)
		return fingerprint(t, run)
	}
	want := run([]string{"--workers", "2"})
	if d := differ(run([]string{"--workers", "1"}, "concurrency: 16", "concurrency: 3"), want); len(d) > 0 {
		t.Errorf("with one worker and three episodes at once:\n%s", strings.Join(d, "\n"))
	}
	other := run([]string{"--seed", "2"})
	if a, b := pairsOf(t, want)[3], pairsOf(t, other)[3]; a.Weights == b.Weights {
		t.Errorf("another seed gives the same weights %s", a.Weights)
	}
	if strings.Join(other["harness"], "\n") == strings.Join(want["harness"], "\n") {
		t.Error("another seed gives the same candidates")
	}
}

// pairsOf is the final table of a fingerprint.
func pairsOf(t *testing.T, p map[string][]string) []recipe.Pair {
	t.Helper()
	var s recipe.Summary
	if err := json.Unmarshal([]byte(p["summary"][0]), &s); err != nil {
		t.Fatal(err)
	}
	return s.Pairs
}
