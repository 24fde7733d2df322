package searchqa_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/task/searchqa"
)

// The configuration of the paper has the paper's numbers (section 2 and its main setting).
func TestPaper(t *testing.T) {
	c, err := recipe.LoadConfig("paper.yaml")
	if err != nil {
		t.Fatal(err)
	}
	q := c.Task.SearchQA
	for split, want := range map[whale.Split][]int{
		whale.SplitTrain: {14801, 4145}, whale.SplitSearch: {200, 56}, whale.SplitTest: {100, 100, 100, 100, 100, 100, 100},
	} {
		files := q.Files[split]
		if len(files) != len(want) {
			t.Fatalf("%s: got %d files, want %d", split, len(files), len(want))
		}
		for i, f := range files {
			if f.Count != want[i] || !filepath.IsAbs(f.Path) {
				t.Errorf("%s: got %+v, want %d questions of a file beside the config", split, f, want[i])
			}
		}
	}
	if q.Source != searchqa.SourceFiles || q.Retrieval.Kind != searchqa.RetrievalHTTP || q.Verifier.Kind != searchqa.VerifierJudge || q.Search.TopK != 1 {
		t.Errorf("got %+v", q)
	}
	for what, got := range map[string][2]float64{
		"response limit": {float64(c.Limits.Tokens), 8192}, "turns": {float64(c.Limits.ModelCalls), 16},
		"batch": {float64(c.Weight.Batch), 256}, "group": {float64(c.Weight.Group), 8}, "minibatch": {float64(c.Weight.Minibatch), 64},
		"passes": {float64(c.Weight.Passes), 1}, "learning rate": {c.Weight.LearningRate, 1e-7}, "accept": {c.Weight.Accept, 0.5},
		"temperature": {c.Sampling.Temperature, 1}, "top_p": {c.Sampling.TopP, 1}, "top_k": {float64(c.Sampling.TopK), 20},
		"E": {c.Schedule.Epochs, 0.6}, "I": {float64(c.Schedule.Sessions), 6}, "epochs": {c.Schedule.TotalEpochs, 4}, "M": {float64(c.Search.Candidates), 3},
		"draws": {float64(c.Evaluation.Draws), 8},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: got %v, want %v", what, got[0], got[1])
		}
	}
}

// The paper's configs say at their head where they depart from it: by whom programs are proposed, and how many sessions whole cycles make.
func TestPaperDepartures(t *testing.T) {
	for domain, iterations := range map[string]int{"searchqa": 40, "math": 60, "chess": 40} {
		path := filepath.Join("..", domain, "paper.yaml")
		c, err := recipe.LoadConfig(path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(text), "\nname: ")
		want := []string{"Where it departs from the paper:", "search.proposer, by default " + c.Search.Proposer, "LLM coding agent"}
		sessions := int(math.Ceil(c.Schedule.TotalEpochs/c.Schedule.Epochs-1e-9)) * c.Schedule.Sessions
		want = append(want, fmt.Sprintf("%d sessions", sessions))
		if sessions != iterations {
			want = append(want, fmt.Sprintf("%d iterations", iterations))
		}
		if c.Task.Counts.Validation > 0 {
			want = append(want, fmt.Sprintf("a validation split of %d", c.Task.Counts.Validation))
		}
		for _, w := range want {
			if !strings.Contains(head, w) {
				t.Errorf("%s: its head lacks %q", path, w)
			}
		}
	}
}

// The quick configuration needs nothing that is not here.
func TestQuick(t *testing.T) {
	c, err := recipe.LoadConfig("quick.yaml")
	if err != nil {
		t.Fatal(err)
	}
	task, err := searchqa.New(t.Context(), c.Task.SearchQA, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer task.Close()
	if list, err := task.Examples(whale.SplitTest); err != nil || len(list) < 100 {
		t.Errorf("got %d test questions (%v), want at least 100", len(list), err)
	}
}
