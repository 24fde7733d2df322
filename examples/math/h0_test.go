// Package math_test runs the starting harness on the math task with a scripted model.
package math_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
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

// host plays the model from a script and gives tool calls to the environment.
type host struct {
	view    map[string]string
	env     whale.Env
	replies []string
	episode whale.Episode
}

func (h *host) Start() whale.Start {
	return whale.Start{Contract: whale.ContractVersion, Task: h.view, Tools: h.env.Tools(), Limits: whale.Limits{Steps: 100_000}}
}

func (h *host) AddSteps(uint64) {}

func (h *host) Do(ctx context.Context, r whale.Request) (whale.Response, error) {
	made := len(h.episode.Calls)
	switch r.Op {
	case whale.OpChat:
		if made == len(h.replies) {
			return whale.Response{}, errors.New("more model calls than the script has")
		}
		text := h.replies[made]
		h.episode.Calls = append(h.episode.Calls, whale.ModelCall{Messages: r.Messages, Tools: r.Tools, Text: text})
		return whale.Response{Reply: &whale.Reply{Ref: whale.ReplyRef(made + 1), Text: text, Finish: whale.FinishStop}}, nil
	case whale.OpTool:
		result, err := h.env.Call(ctx, r.Name, r.Args)
		h.episode.Tools = append(h.episode.Tools, whale.ToolEvent{After: whale.ReplyRef(made), Name: r.Name, Args: r.Args, Result: result})
		return whale.Response{Result: &result}, err
	case whale.OpLeft:
		return whale.Response{Left: &whale.Left{Tokens: 1000, ModelCalls: 10 - made, ToolCalls: 10}}, nil
	}
	return whale.Response{}, errors.New("unexpected request " + r.Op)
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
			env, err := task.NewEnv(t.Context(), x, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer env.Close()
			h := &host{view: x.View, env: env, replies: tc.replies}
			h.episode.Answer, err = harness.Run(t.Context(), h)
			if err != nil {
				t.Fatal(err)
			}
			verdict, err := task.Verifier().Verify(t.Context(), x, &h.episode)
			if err != nil {
				t.Fatal(err)
			}
			e := h.episode
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
