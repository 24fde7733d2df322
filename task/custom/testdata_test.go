package custom

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/tasktest"
)

// testdata is the folder with real files.
func testdata(t *testing.T) string { t.Helper(); return tasktest.Data(t, 2) }

// calculator stands in for the built-in one.
func calculator(context.Context, Builtin) (Tool, error) { return calculatorTool{}, nil }

type calculatorTool struct{}

func (calculatorTool) ID() whale.ID { return "calculator" }
func (calculatorTool) Spec() whale.ToolSpec {
	return whale.ToolSpec{Name: "calculator", Description: "Calculates.", Parameters: []whale.ToolParameter{{Name: "code", Type: "string", Required: true}}}
}
func (calculatorTool) Call(context.Context, map[string]json.RawMessage) (whale.ToolResult, error) {
	return whale.ToolResult{Text: "5"}, nil
}

// The folders of the examples, on real data: no problem, every reference answer right, the splits as written.
func TestExamples(t *testing.T) {
	data := testdata(t)
	for name, want := range map[string]struct {
		train, search, validation, test, verified int
		wrong                                     string
	}{
		"gsm8k":     {200, 100, 50, 150, 500, `\boxed{-1}`},
		"bamboogle": {40, 30, 15, 40, 125, "<answer>nobody</answer>"},
	} {
		c := Config{Folder: filepath.Join("..", "..", "examples", "custom", name)}
		d := Deps{Getenv: func(string) string { return data }, Builtin: calculator}
		r, err := Check(t.Context(), c, d, CheckOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !r.OK() || len(r.Warnings) > 0 || r.Verified != want.verified || r.Skipped != "" {
			t.Errorf("%s: got problems %v, warnings %v, %d verified%s; want none and %d", name, r.Problems, r.Warnings, r.Verified, r.Skipped, want.verified)
		}
		for i, n := range []int{want.train, want.search, want.validation, want.test} {
			if r.Splits[i].Examples != n {
				t.Errorf("%s: split %s: got %d examples, want %d", name, r.Splits[i].Split, r.Splits[i].Examples, n)
			}
		}
		task := newTask(t, c.Folder, d)
		if task.ID() != r.ID {
			t.Errorf("%s: the check saw task %s, opened it is %s", name, r.ID, task.ID())
		}
		list, err := task.Examples(whale.SplitTest)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			if len(x.View) != 1 || x.View["question"] == "" {
				t.Errorf("%s: %s: got the view %v, want a question alone", name, x.ID, x.View)
			}
			if got, err := task.Verifier().Verify(t.Context(), x, replied(want.wrong)); err != nil || got.Reward != 0 {
				t.Errorf("%s: %s: %s: got %+v (%v), want reward 0", name, x.ID, want.wrong, got, err)
			}
		}
		if _, err := New(t.Context(), c, Deps{Builtin: calculator}); err == nil || !strings.Contains(err.Error(), "WHALE_TESTDATA is not set") {
			t.Errorf("%s: without the data: got %v", name, err)
		}
	}
}
