package math

import (
	"context"
	"encoding/json"
	"math/big"
	"path/filepath"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/tasktest"
)

// testdata is the folder with real files.
func testdata(t *testing.T) string { t.Helper(); return tasktest.Data(t, 2) }

// Real files: every reference answer in a box is right, every reference answer plus one is wrong.
func TestRealFiles(t *testing.T) {
	dir := testdata(t)
	counts := map[string]int{"aime2024.jsonl": 30, "aime2025.jsonl": 30, "gsm8k_test_500.jsonl": 500}
	for file, want := range counts {
		t.Run(file, func(t *testing.T) {
			loaded, err := Load(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			if len(loaded.Examples) != want || loaded.Duplicates != 0 {
				t.Errorf("got %d examples and %d duplicates, want %d and 0", len(loaded.Examples), loaded.Duplicates, want)
			}
			for _, x := range loaded.Examples {
				checkReference(t, x)
			}
		})
	}
	c := smallConfig()
	c.Source = SourceFiles
	c.Files = map[whale.Split][]string{
		whale.SplitTrain: {filepath.Join(dir, "gsm8k_test_500.jsonl")},
		whale.SplitTest:  {filepath.Join(dir, "aime2024.jsonl"), filepath.Join(dir, "aime2025.jsonl")},
	}
	if test, err := newTask(t, c).Examples(whale.SplitTest); err != nil || len(test) != 60 {
		t.Errorf("test split: got %d examples (%v), want 60", len(test), err)
	}
}

func TestGeneratedReferences(t *testing.T) {
	m := newTask(t, smallConfig())
	for _, s := range splits() {
		examples, err := m.Examples(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range examples {
			checkReference(t, x)
		}
	}
}

func checkReference(t *testing.T, x whale.Example) {
	t.Helper()
	var reference string
	if err := json.Unmarshal(x.Answer, &reference); err != nil {
		t.Fatal(err)
	}
	n, ok := new(big.Int).SetString(reference, 10)
	if !ok {
		t.Fatalf("example %s: got reference %q, want an integer", x.ID, reference)
	}
	other := new(big.Int).Add(n, big.NewInt(1)).String()
	for text, want := range map[string]float64{
		`So the answer is \boxed{` + reference + `}.`:        1,
		`So $\boxed {` + n.String() + `}$ it is`:             1,
		`First \boxed{0}, then \boxed{` + reference + `}`:    1,
		`So the answer is \boxed{` + other + `}.`:            0,
		`So the answer is ` + reference + `.`:                0,
		`\boxed{` + reference + `} or \boxed{` + other + `}`: 0,
	} {
		got, err := newVerifier(t, 0).Verify(context.Background(), x, replies(text))
		if err != nil {
			t.Fatal(err)
		}
		if got.Reward != want {
			t.Errorf("example %s: %q: got reward %v (%s), want %v", x.ID, text, got.Reward, got.Reason, want)
		}
	}
}
