// Package custom_test runs the starting harnesses of the example folders with a scripted model.
package custom_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/task/custom"
)

// calculator stands in for the built-in tool: it knows one program.
type calculator struct{}

func (calculator) ID() whale.ID { return "calculator" }

func (calculator) Spec() whale.ToolSpec {
	return whale.ToolSpec{Name: "calculator", Description: "Calculates.", Parameters: []whale.ToolParameter{{Name: "code", Type: "string", Required: true}}}
}

func (calculator) Call(_ context.Context, args map[string]json.RawMessage) (whale.ToolResult, error) {
	if string(args["code"]) != `"2+3"` {
		return whale.ToolResult{Error: "line 1: syntax error"}, nil
	}
	return whale.ToolResult{Text: "5"}, nil
}

// open opens a folder on data in another one.
func open(t *testing.T, folder, data string) *custom.Task {
	t.Helper()
	task, err := custom.New(t.Context(), custom.Config{Folder: folder}, custom.Deps{
		Getenv:  func(string) string { return data },
		Builtin: func(context.Context, custom.Builtin) (custom.Tool, error) { return calculator{}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := task.Close(); err != nil {
			t.Error(err)
		}
	})
	return task
}

// play runs the task's harness on the first example of its test split.
func play(t *testing.T, task *custom.Task, replies ...string) (whale.Episode, whale.Verdict) {
	t.Helper()
	source, err := os.ReadFile(task.HarnessFile())
	if err != nil {
		t.Fatal(err)
	}
	harness, err := star.Load("h0.star", source)
	if err != nil {
		t.Fatal(err)
	}
	list, err := task.Examples(whale.SplitTest)
	if err != nil {
		t.Fatal(err)
	}
	e, verdict, err := harnesstest.Play(t.Context(), task, list[0], harness, replies...)
	if err != nil {
		t.Fatal(err)
	}
	return e, verdict
}

// TestGSM8K needs no data but some that looks like it.
func TestGSM8K(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "{\"id\": \"%d\", \"question\": \"What is 2 + 3, for the %dth time?\", \"answer\": \"5\"}\n", i, i)
	}
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "gsm8k_test_500.jsonl"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	task := open(t, "gsm8k", data)
	e, verdict := play(t, task, "```python\n2+3\n```", `It is \boxed{5.0}`)
	if verdict.Reward != 1 || len(e.Tools) != 1 || e.Answer != 2 {
		t.Errorf("got %+v after %d tool calls, want 1 after one", verdict, len(e.Tools))
	}
	if first := e.Calls[0].Messages[0].Content; !strings.Contains(first, "What is 2 + 3") || !strings.Contains(first, `\boxed{}`) {
		t.Errorf("got the prompt %q", first)
	}
	if last := e.Calls[1].Messages; last[len(last)-1].Content != "5" {
		t.Errorf("got the messages %+v, want the tool's answer last", last)
	}
	if _, verdict := play(t, task, `It is \boxed{6}`); verdict.Reward != 0 {
		t.Errorf("a wrong answer: got %+v", verdict)
	}
}

func TestBamboogle(t *testing.T) {
	data := os.Getenv("WHALE_TESTDATA")
	if data == "" {
		t.Skip("WHALE_TESTDATA is not set")
	}
	if !filepath.IsAbs(data) {
		data = filepath.Join("..", "..", data)
	}
	task := open(t, "bamboogle", data)
	e, verdict := play(t, task, "<answer>nobody at all</answer>")
	if verdict.Reward != 0 || verdict.Metrics[custom.MetricFormat] != 1 || len(e.Calls) != 1 {
		t.Errorf("got %+v after %d calls, want 0 with an answer after one", verdict, len(e.Calls))
	}
	if first := e.Calls[0].Messages[0].Content; !strings.Contains(first, "<answer>") || !strings.Contains(first, "?") {
		t.Errorf("got the prompt %q", first)
	}
}
