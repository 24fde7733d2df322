package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/recipe"
)

// TestCompareGrows adds a method and a seed to a comparison: what was there stays in its manifest and in its report, and what a person should know of
// all runs is told once.
func TestCompareGrows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := writeTest(t, dir)
	out := filepath.Join(dir, "cmp")
	for _, tc := range []struct {
		args []string
		arms string
		told map[string]int // how often the command says it
	}{
		{[]string{"--methods", "weight-only", "--seeds", "1"}, "weight-only", map[string]int{"warning: the test split": 1}},
		{[]string{"--methods", "harness-only", "--seeds", "2"}, "weight-only harness-only", map[string]int{"warning: the test split": 1, "proposer session": 1}},
		{[]string{"--methods", "weight-only", "--seeds", "1"}, "weight-only harness-only", map[string]int{"warning": 0}},
	} {
		code, text, errs := command(t, append([]string{"compare", config, "--dir", out}, tc.args...)...)
		if code != exitOK {
			t.Fatalf("%v: got exit code %d: %s", tc.args, code, errs)
		}
		for what, n := range tc.told {
			if got := strings.Count(errs, what); got != n {
				t.Errorf("%v: %q is told %d times, want %d:\n%s", tc.args, what, got, n, errs)
			}
		}
		var m struct{ Methods []string }
		data, err := os.ReadFile(filepath.Join(out, recipe.ManifestName))
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		if got := strings.Join(m.Methods, " "); err != nil || got != tc.arms {
			t.Errorf("%v: the manifest has %q (%v), want %q", tc.args, got, err, tc.arms)
		}
		for _, method := range m.Methods {
			if !strings.Contains(text, "\n"+method+" ") {
				t.Errorf("%v: the report has no row of %s:\n%s", tc.args, method, text)
			}
		}
	}
}

// TestCompareSeedRange refuses seeds that do not exist before anything is written, so that the corrected command works.
func TestCompareSeedRange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := writeTest(t, dir)
	out := filepath.Join(dir, "cmp")
	code, _, errs := command(t, "compare", config, "--dir", out, "--methods", "weight-only", "--seeds", "2", "--seed", "18446744073709551615")
	if _, err := os.Stat(out); code != exitUsage || !strings.Contains(errs, "leaves no room for 2 seeds") || !os.IsNotExist(err) {
		t.Errorf("got exit code %d and %q (%v), want it refused and nothing written", code, errs, err)
	}
}
