package star_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
	"github.com/seed-095d5d2b/whale/harness/star"
)

// load loads a program that must pass the gates.
func load(t testing.TB, src string) *star.Program {
	t.Helper()
	p, err := star.Load("h.star", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs a program that must succeed.
func run(t testing.TB, h *harnesstest.Host, src string) whale.ReplyRef {
	t.Helper()
	ref, err := load(t, src).Run(context.Background(), h)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// failure runs a program that must fail.
func failure(t testing.TB, h *harnesstest.Host, src string) whale.Failure {
	t.Helper()
	ref, err := load(t, src).Run(context.Background(), h)
	var he *whale.HarnessError
	if !errors.As(err, &he) || ref != 0 {
		t.Fatalf("got %d, %v, want a *whale.HarnessError", ref, err)
	}
	return he.Failure
}

func TestRunChunks(t *testing.T) {
	data, err := os.ReadFile("testdata/run.star")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(data), "\n---\n")
	if len(parts) < 50 {
		t.Fatalf("got %d chunks, want at least 50", len(parts))
	}
	line := 1
	for _, part := range parts {
		first := line
		line += strings.Count(part, "\n") + 2
		wantLine, want := 0, ""
		for i, l := range strings.Split(part, "\n") {
			if _, mark, ok := strings.Cut(l, "### "); ok {
				wantLine, want = first+i, mark
			}
		}
		p, err := star.Load("run.star", []byte(strings.Repeat("\n", first-1)+part))
		if err != nil {
			t.Error(err)
			continue
		}
		_, err = p.Run(context.Background(), harnesstest.Sums())
		var he *whale.HarnessError
		switch {
		case want == "" && err != nil:
			t.Errorf("run.star:%d: %v", first, err)
		case want == "":
		case !errors.As(err, &he):
			t.Errorf("run.star:%d: got the error %v, want %s", wantLine, err, want)
		default:
			reason, text, _ := strings.Cut(want, ": ")
			got := string(he.Failure.Reason) + ": " + he.Failure.Detail
			if !strings.HasPrefix(got, reason+": ") || !strings.Contains(got, text) || strings.Contains(got, "\n") {
				t.Errorf("run.star:%d:\n got %s\nwant %s", wantLine, got, want)
			}
			// What the host refuses carries the host's own detail; everything else carries the place.
			at := fmt.Sprintf("run.star:%d:", wantLine)
			if !strings.HasPrefix(he.Failure.Detail, at) && !hostMade[he.Failure.Reason] {
				t.Errorf("run.star:%d: the detail %q does not begin with %s", wantLine, he.Failure.Detail, at)
			}
		}
	}
}

var hostMade = map[whale.FailReason]bool{
	whale.FailModelCalls: true, whale.FailToolCalls: true, whale.FailTokens: true, whale.FailMessageBytes: true, whale.FailContract: true,
}
