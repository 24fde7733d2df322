package math_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/task/math"
)

// recorder is a tool that keeps what it was asked.
type recorder struct{ code []string }

func (r *recorder) Do(_ context.Context, src string) (string, string, error) {
	r.code = append(r.code, src)
	return "7", "exit status 1: no", nil
}

// What the starting harness makes of a block of Python, and what it shows of the result.
func TestPaperHarness(t *testing.T) {
	source, err := os.ReadFile("h0-paper.star")
	if err != nil {
		t.Fatal(err)
	}
	harness, err := star.Load("h0-paper.star", source)
	if err != nil {
		t.Fatal(err)
	}
	c := math.DefaultConfig()
	c.Generator.Counts, c.Tool = math.Counts{Test: 1}, math.ToolPython
	for _, tc := range []struct{ name, code, want string }{
		{"expression", "x = 3\nx + 4", "x = 3\nprint(x + 4\n)"},
		{"comment at its end", "2 + 2  # four", "print(2 + 2  # four\n)"},
		{"call", "f(1, y=2)", "print(f(1, y=2)\n)"},
		{"comparison", "x == 3", "print(x == 3\n)"},
		{"empty lines after it", "5\n\n", "print(5\n)"},
		{"name like a statement", "important", "print(important\n)"},
		{"printed already", "print(5)", "print(5)"},
		{"assignment", "x = 5", "x = 5"},
		{"other assignment", "x += 5", "x += 5"},
		{"import", "import math", "import math"},
		{"end of a loop", "for i in range(3):\n    i", "for i in range(3):\n    i"},
		{"end of a call", "print(\n5\n)", "print(\n5\n)"},
		{"comment", "5\n# done", "5\n# done"},
		{"if", "if True: 5", "if True: 5"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tool := &recorder{}
			task, err := math.New(t.Context(), c, tool)
			if err != nil {
				t.Fatal(err)
			}
			x := whale.Example{ID: "x", View: map[string]string{"question": "What?"}, Answer: []byte(`"5"`)}
			e, _, err := harnesstest.Play(t.Context(), task, x, harness, "Let me see.\n```python\n"+tc.code+"\n```\n```python\n6\n```", `\boxed{5}`)
			if err != nil {
				t.Fatal(err)
			}
			if len(tool.code) != 1 || tool.code[0] != tc.want {
				t.Errorf("got code %q, want %q", tool.code, tc.want)
			}
			second := e.Calls[1].Messages
			if e.Answer != 2 || len(second) != 3 || second[2].Content != "7\nexit status 1: no" {
				t.Errorf("got answer %d and messages %+v", e.Answer, second)
			}
		})
	}
}

// The config of the paper's scale can be read, and loads data as the paper's: here a few rows in its layout.
func TestPaperConfig(t *testing.T) {
	c, err := recipe.LoadConfig("paper.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m := c.Task.Math
	if m.Draw != (math.DrawOptions{Search: 256, Seed: 1, Shared: true}) || m.Verifier != (math.VerifierOptions{Kind: "strict", TailChars: 100}) || m.Tool != "python" || m.Repeats != "drop" {
		t.Errorf("got %+v", m)
	}
	if c.Weight.Batch != 256 || c.Weight.Group != 8 || c.Weight.Minibatch != 64 || c.Weight.LearningRate != 1e-7 || c.Limits.Tokens != 8192 || c.Schedule.Epochs != 0.6 ||
		c.Schedule.Sessions != 6 || c.Schedule.TotalEpochs != 6 || c.Search.Candidates != 3 || c.Evaluation.Draws != 8 || c.Sampling.TopK != 20 {
		t.Errorf("got %+v", c)
	}
	if filepath.Base(m.Files[whale.SplitTrain][0]) != "dapo-math-17k.parquet" || len(m.Files[whale.SplitTest]) != 2 {
		t.Errorf("got files %+v", m.Files)
	}
}
