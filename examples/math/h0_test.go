// Package math_test runs the starting harness on the math task with a scripted model.
package math_test

import (
	"context"
	"os"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/task/math"
)

// table is a calculator that knows a few programs; an unknown one is an error of the program.
type table map[string]string

func (t table) Do(_ context.Context, src string) (string, string, error) {
	if out, ok := t[src]; ok {
		return out, "", nil
	}
	return "", "line 1: syntax error", nil
}

func TestStartingHarness(t *testing.T) {
	source, err := os.ReadFile("h0.star")
	if err != nil {
		t.Fatal(err)
	}
	harness, err := star.Load("h0.star", source)
	if err != nil {
		t.Fatal(err)
	}
	c := math.DefaultConfig()
	c.Generator.Counts = math.Counts{Test: 1}
	task, err := math.New(t.Context(), c, table{"2+3": "5\n"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name     string
		replies  []string
		answer   whale.ReplyRef
		reward   float64
		tools    int
		observed string // the tool message of the second call
	}{
		{"answers at once", []string{`\boxed{5}`}, 1, 1, 0, ""},
		{"calls, then answers", []string{"```python\n2+3\n```", `It is \boxed{5}.`}, 2, 1, 1, "5\n"},
		{"first of two blocks", []string{"```python\n2+3\n```\n```python\n9+9\n```", `\boxed{5}`}, 2, 1, 1, "5\n"},
		{"a mistake is shown", []string{"```python\n2 plus 3\n```", `\boxed{6}`}, 2, 0, 1, "line 1: syntax error"},
		{"another language", []string{"```text\n2+3\n```"}, 1, 0, 0, ""},
		{"two turns and no more", []string{"```python\n2+3\n```", "```python\n2+3\n```"}, 2, 0, 2, "5\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := whale.Example{ID: "x", View: map[string]string{"question": "What is {2} + 3?"}, Answer: []byte(`"5"`)}
			e, verdict, err := harnesstest.Play(t.Context(), task, x, harness, tc.replies...)
			if err != nil {
				t.Fatal(err)
			}
			if e.Answer != tc.answer || verdict.Reward != tc.reward || len(e.Calls) != len(tc.replies) || len(e.Tools) != tc.tools {
				t.Fatalf("got answer %d, reward %v, %d calls, %d tool calls; want %d, %v, %d, %d",
					e.Answer, verdict.Reward, len(e.Calls), len(e.Tools), tc.answer, tc.reward, len(tc.replies), tc.tools)
			}
			first := e.Calls[0].Messages
			if want := "What is {2} + 3?\nPut the final answer in \\boxed{}."; len(first) != 1 || first[0].Role != whale.RoleUser || first[0].Content != want {
				t.Errorf("got opening %+v, want one user message %q", first, want)
			}
			if tc.observed == "" {
				return
			}
			second := e.Calls[1].Messages
			if len(second) != 3 || second[1].Reply != 1 || second[2].Role != whale.RoleTool || second[2].Content != tc.observed {
				t.Errorf("got messages %+v, want the reply by reference and the tool message %q", second, tc.observed)
			}
		})
	}
	if lines := strings.Count(string(source), "\n"); lines > 30 {
		t.Errorf("h0.star: got %d lines, want a short program", lines)
	}
}
