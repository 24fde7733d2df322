package star_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
	"github.com/seed-095d5d2b/whale/harness/star"
)

func TestLoadBounds(t *testing.T) {
	pad := func(n int) []byte {
		src := []byte("def run(task, model, env):\n    return None\n#")
		return append(src, bytes.Repeat([]byte("x"), n-len(src))...)
	}
	if _, err := star.Load("h.star", pad(star.MaxSource)); err != nil {
		t.Errorf("%d bytes: %v", star.MaxSource, err)
	}
	for _, tt := range []struct {
		name string
		src  []byte
		want string
	}{
		{"a byte too many", pad(star.MaxSource + 1), "h.star:1:1: program: got 65537 bytes, want at most 65536"},
		{"no UTF-8", []byte("x = 1\ny = \"é\xff\""), "h.star:2:7: program: got the byte 0xff, want UTF-8"},
		{"empty", nil, "h.star:1:1: run: not defined (define it at the top level: def run(task, model, env):)"},
		{"nested deep", []byte(strings.Repeat("(", 60_000)), "excessive nesting"},
		{"two errors", []byte("x = a\ny = b\n"), "h.star:1:5: undefined: a (and 1 more)"},
	} {
		_, err := star.Load("h.star", tt.src)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
		var one *star.Error
		if !errors.As(err, &one) || one.Gate == "" || one.Line < 1 || one.Col < 1 {
			t.Errorf("%s: got %#v, want a *star.Error with a gate and a place", tt.name, one)
		}
	}
	if _, err := star.Load("a\nb.star", nil); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("a name of two lines: got %v", err)
	}
}

func TestIdentity(t *testing.T) {
	src := []byte(simple)
	p, err := star.Load("one.star", src)
	if err != nil {
		t.Fatal(err)
	}
	q, err := star.Load("two.star", src)
	if err != nil {
		t.Fatal(err)
	}
	if p.ID() != whale.HarnessID(src) || p.ID() != q.ID() {
		t.Errorf("got the ids %s and %s, want %s", p.ID(), q.ID(), whale.HarnessID(src))
	}
	src[0] = '#'
	p.Source()[0] = '#'
	if string(p.Source()) != simple {
		t.Error("the source can be changed from outside")
	}
}

// Load neither panics nor gives an error without a place, whatever it reads; what loads also runs to an end that is one of the kinds.
func FuzzLoad(f *testing.F) {
	for _, file := range []string{"testdata/load.star", "testdata/run.star"} {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for part := range bytes.SplitSeq(data, []byte("\n---\n")) {
			if !bytes.Contains(part, []byte("1000000")) {
				f.Add(part)
			}
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := star.Load("h.star", src)
		if err != nil {
			var all star.Errors
			if !errors.As(err, &all) || len(all) == 0 {
				t.Fatalf("got the error %v of type %T", err, err)
			}
			for _, e := range all {
				if e.Line < 1 || e.Col < 1 || e.Message == "" || strings.ContainsAny(e.Error(), "\n\r") {
					t.Fatalf("got %#v", e)
				}
			}
			return
		}
		if bytes.Contains(src, []byte("*")) || bytes.Contains(src, []byte("<<")) || bytes.Contains(src, []byte("range")) || bytes.Contains(src, []byte("+")) {
			return // memory is not bounded here
		}
		h := harnesstest.Sums()
		h.Limits.Steps = 5000
		_, err = p.Run(context.Background(), h)
		var he *whale.HarnessError
		if err != nil && !errors.As(err, &he) {
			t.Fatalf("got %v", err)
		}
		if he != nil && (he.Failure.Reason == "" || strings.ContainsAny(he.Failure.Detail, "\n\r")) {
			t.Fatalf("got %#v", he.Failure)
		}
	})
}
