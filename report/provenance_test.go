package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/recipe"
)

// TestProvenance: runs that other binaries or kernels made are told apart, and all runs show theirs.
func TestProvenance(t *testing.T) {
	noted := func(stories []*recipe.Story) string { return strings.Join(build(t, stories).Groups[0].Notes, "\n") }
	stories := small()
	if n := noted(stories); strings.Contains(n, "made with different") {
		t.Errorf("one build, one kernel: got the notes %q", n)
	}
	stories[1].Begin.Build, stories[1].Begin.Kernels = "build-b", "generic"
	stories[5].Begin.Build, stories[6].Begin.Build = "", ""
	n := noted(stories)
	for _, want := range []string{
		"made with different builds of whale: build-a (whale seed 1 and 3, weight-only), build-b (whale seed 2), not recorded (harness-only);",
		"made with different kernels: avx2 (whale seed 1 and 3, weight-only, harness-only), generic (whale seed 2);",
	} {
		if !strings.Contains(n, want) {
			t.Errorf("got the notes %q, want %q", n, want)
		}
	}
	r := build(t, stories)
	source, _ := page1(t, r)
	var text, runs bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteCSV(&runs, "runs"); err != nil {
		t.Fatal(err)
	}
	for what, s := range map[string]string{"page": source, "text": text.String(), "runs.csv": runs.String()} {
		if !strings.Contains(s, "build-b") || !strings.Contains(s, "generic") {
			t.Errorf("the %s lacks a build or kernels", what)
		}
	}
}
