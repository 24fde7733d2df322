package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale/recipe"
)

// TestLiveView reads what a run writes to a terminal as the terminal would show it.
func TestLiveView(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := writeTest(t, dir)
	var out, errs bytes.Buffer
	const width = 60
	a := &app{stdout: &out, stderr: &errs, now: time.Now, workers: 2, live: true, width: func() int { return width }}
	if code := a.main(context.Background(), []string{"run", config, "--dir", filepath.Join(dir, "run")}); code != exitOK {
		t.Fatalf("got exit code %d: %s", code, errs.String())
	}
	const erase = "\r\x1b[K"
	shown, drawn := "", 0
	for part := range strings.SplitSeq(errs.String(), erase) {
		line, rest, event := strings.Cut(part, "\n")
		if event && rest != "" {
			t.Fatalf("got %q after a line, want the next to begin with an erased line", rest)
		}
		if event {
			shown += line + "\n"
			continue
		}
		if len([]rune(line)) >= width {
			t.Errorf("got a status line of %d characters, want fewer than the width %d, or it wraps: %q", len([]rune(line)), width, line)
		}
		if line != "" {
			drawn++
			if !strings.Contains(line, "/200 rollouts") {
				t.Errorf("got the status line %q", line)
			}
		}
	}
	if !strings.HasSuffix(errs.String(), erase) {
		t.Errorf("got an end of %q, want the status line erased", errs.String()[max(0, errs.Len()-40):])
	}
	if strings.ContainsAny(shown, "\r\x1b") || strings.Count(shown, "\n") < 20 {
		t.Errorf("got the lines\n%swant those of the plain log", shown)
	}
	if strings.ContainsAny(out.String(), "\r\x1b") {
		t.Error("the table on stdout has control characters")
	}
	if drawn == 0 {
		t.Error("got no status line")
	}
}

func TestDescribeShowsWhatTerminalsObey(t *testing.T) {
	score := 0.5
	for _, e := range []recipe.Event{
		{Kind: recipe.EventCandidate, Harness: "0123456789", Text: "bad: \x1b[2J\nsecond line \u202e reversed"},
		{Kind: recipe.EventCandidate, Harness: "0123456789", Text: "\x07name", Score: &score},
		{Kind: recipe.EventSession, Text: "\x9b31m"},
		{Kind: recipe.EventNotice, Text: "\r\x1b[K"},
	} {
		line := describe(e)
		if strings.ContainsAny(line, "\x1b\x07\r\n\u202e\u009b") {
			t.Errorf("%s: got %q", e.Kind, line)
		}
	}
	if got, want := describe(recipe.Event{Kind: recipe.EventCandidate, Harness: "0123456789", Text: "a\tb"}), "    01234567  a b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestClock(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0:00", 59_900 * time.Millisecond: "0:59", time.Minute: "1:00", 3599 * time.Second: "59:59", 3661 * time.Second: "1:01:01", 100 * time.Hour: "100:00:00",
	} {
		if got := clock(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}
