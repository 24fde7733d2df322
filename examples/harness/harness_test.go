// Package harness_test runs one math harness in three languages on the math task with a scripted model.
package harness_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
	"github.com/seed-095d5d2b/whale/harness/process"
	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/task/math"
)

func TestMain(m *testing.M) {
	if sandbox.Main(sandbox.Entries{Streams: process.Entries()}) {
		return // this process was a worker
	}
	m.Run()
}

// table is a calculator that knows a few programs; an unknown one is an error of the program.
type table map[string]string

func (t table) Do(_ context.Context, src string) (string, string, error) {
	if out, ok := t[src]; ok {
		return out, "", nil
	}
	return "", "line 1: syntax error", nil
}

func TestTheSameHarness(t *testing.T) {
	r, err := process.Open(process.Options{Workers: 1, Concurrency: 4, Memory: 512 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	c := math.DefaultConfig()
	c.Generator.Counts = math.Counts{Test: 1}
	task, err := math.New(t.Context(), c, table{"2+3": "5\n", "a\nb": "6\n"})
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]whale.Episode{} // of the language that came first
	for _, file := range []string{"starlark.star", "python.py", "node.mjs"} {
		t.Run(file, func(t *testing.T) {
			h, err := r.Load(file)
			if err != nil {
				unavailable(t, err)
			}
			for _, tt := range []struct {
				name    string
				replies []string
				answer  whale.ReplyRef
				reward  float64
				tools   int
			}{
				{"answers at once", []string{`\boxed{5}`}, 1, 1, 0},
				{"calls, then answers", []string{"```python\n2+3\n```", `It is \boxed{5}.`}, 2, 1, 1},
				{"two lines, and no closing fence", []string{"I compute ```Py\na\nb", `\boxed{5}`}, 2, 1, 1},
				{"a mistake is shown", []string{"```python\n2 plus 3\n```", `\boxed{6}`}, 2, 0, 1},
				{"another language", []string{"```text\n2+3\n```"}, 1, 0, 0},
				{"two turns and no more", []string{"```python\n2+3\n```", "```python\n2+3\n```"}, 2, 0, 1},
			} {
				x := whale.Example{ID: "x", View: map[string]string{"question": "What is {2} + $& 3?"}, Answer: []byte(`"5"`)}
				e, verdict, err := harnesstest.Play(t.Context(), task, x, h, tt.replies...)
				if errors.Is(err, sandbox.ErrStart) {
					unavailable(t, err)
				}
				if err != nil {
					t.Fatalf("%s: %v", tt.name, err)
				}
				if e.Answer != tt.answer || verdict.Reward != tt.reward || len(e.Tools) != tt.tools {
					t.Errorf("%s: got answer %d, reward %v, %d tool calls; want %d, %v, %d", tt.name, e.Answer, verdict.Reward, len(e.Tools), tt.answer, tt.reward, tt.tools)
				}
				if other, ok := first[tt.name]; !ok {
					first[tt.name] = e
				} else if !reflect.DeepEqual(e, other) {
					t.Errorf("%s: got the episode\n%+v, want that of the other language\n%+v", tt.name, e, other)
				}
			}
		})
	}
	source, err := os.ReadFile("node.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(source), "\n"); lines > 40 {
		t.Errorf("node.mjs: got %d lines, want at most 40: the protocol is small", lines)
	}
}

// unavailable skips where this system has no interpreter or no bubblewrap.
func unavailable(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("WHALE_REQUIRE_SANDBOX") != "" {
		t.Fatal(err)
	}
	t.Skip(err)
}
