package main

import (
	"bytes"
	"strings"
	"testing"
)

// The measured file is whole, and phases of it can be played: a row a way, and as many rollouts as a phase of plain argmax has.
func TestPlay(t *testing.T) {
	r, err := readRewards("math-quick.json")
	if err != nil || r == nil {
		t.Fatal(r, err)
	}
	for _, p := range r.Programs {
		if len(p.Passed) != r.Examples || len(p.Sampled) != r.Examples || len(p.Passed[0]) != r.Draws {
			t.Fatalf("program %s: got %d examples, want %d of %d draws", p.ID, len(p.Passed), r.Examples, r.Draws)
		}
	}
	p := playing{phases: 1, sessions: 2, level: 0.05, racing: 0.02, better: 0.02, seed: 1, dir: t.TempDir()}
	var out bytes.Buffer
	if err := p.play(t.Context(), r, &out); err != nil {
		t.Fatal(err)
	}
	if want := "| argmax (the paper's) | 448 |"; !strings.Contains(out.String(), want) || strings.Count(out.String(), "\n| ") != 1+len(p.ways()) {
		t.Errorf("got\n%s\nwant a row of each of %d ways, and %s", out.String(), len(p.ways()), want)
	}
}
