package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/store"
)

// TestComparisonIsNoRun: commands that want a run say of a comparison's directory what it is, and which runs it has.
func TestComparisonIsNoRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := writeTest(t, dir)
	cmp := filepath.Join(dir, "cmp")
	write(t, filepath.Join(cmp, recipe.ManifestName), "{}")
	write(t, filepath.Join(cmp, "report", "report.html"), "")
	check := func(args []string, before, want string) {
		t.Helper()
		code, out, errs := command(t, args...)
		if line := "whale: " + before + cmp + ": not a run directory but a comparison of runs; " + want + "\n"; code != exitRunDir || out != "" || errs != line {
			t.Errorf("%v: got exit code %d, %q and %q, want %d and %q", args, code, out, errs, exitRunDir, line)
		}
	}
	out := filepath.Join(dir, "out")
	check([]string{"explain", cmp}, "", "it has no run yet")
	add := func(name string) string {
		run := filepath.Join(cmp, name)
		s, err := store.Create(run, []byte(testConfig), store.Options{Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return run
	}
	runs := []string{add("harness-only-1"), add("whale-1")}
	which := "name one of its runs: " + strings.Join(runs, ", ")
	for _, tc := range []struct {
		args   []string
		before string
	}{
		{[]string{"explain", cmp}, ""},
		{[]string{"matrix", cmp}, ""},
		{[]string{"matrix", cmp, "--split", "test"}, ""},
		{[]string{"export", cmp, "--out", out}, ""},
		{[]string{"eval", cmp}, ""},
		{[]string{"eval", cmp + "@final"}, ""},
		{[]string{"eval", config, "--model", cmp}, "--model: "},
		{[]string{"eval", config, "--harness", cmp}, "--harness: "},
		{[]string{"eval", config, "--harness", cmp + "@latest"}, "--harness: "},
		{[]string{"eval", config, "--task", cmp}, "--task: "},
	} {
		check(tc.args, tc.before, which)
	}
	if _, err := os.Lstat(out); err == nil {
		t.Error("export made its folder")
	}
	for i := range 20 {
		add(fmt.Sprintf("whale-%d", 100+i))
	}
	code, _, errs := command(t, "explain", cmp)
	if code != exitRunDir || !strings.Contains(errs, "whale-100") || !strings.Contains(errs, " and 10 more\n") || strings.Contains(errs, "whale-119") {
		t.Errorf("a large comparison: got exit code %d and %q", code, errs)
	}
	code, _, errs = command(t, "explain", filepath.Join(dir, "none"))
	if code != exitRunDir || !strings.Contains(errs, "it does not exist") {
		t.Errorf("no directory: got exit code %d and %q", code, errs)
	}
}
