package gguf

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/token"
)

// These checks need files that are too large to keep here, or Python's libraries.

func readReference(t *testing.T, dir string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "reference.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// worst is the largest difference of the log-probabilities of ids from want.
func worst(t *testing.T, m *lm.Model, ids []int32, want []float64) float64 {
	t.Helper()
	got, err := m.LogProbs(nil, ids)
	if err != nil {
		t.Fatal(err)
	}
	if len(want) != len(ids)-1 {
		t.Fatalf("got %d reference values for %d ids", len(want), len(ids))
	}
	most := 0.0
	for i := range want {
		most = max(most, math.Abs(float64(got[i+1])-want[i]))
	}
	return most
}

// Files written by the gguf package; see testdata/families.py.
func TestFamiliesAreTransformers(t *testing.T) {
	dir := os.Getenv("WHALE_GGUF_FAMILIES")
	if dir == "" {
		t.Skip("WHALE_GGUF_FAMILIES names no folder; see testdata/families.py")
	}
	var ref map[string]struct {
		IDs      []int32   `json:"ids"`
		LogProbs []float64 `json:"logprobs"`
	}
	readReference(t, dir, &ref)
	for name, want := range ref {
		f, err := Open(filepath.Join(dir, name+".gguf"))
		if err != nil {
			t.Fatal(err)
		}
		m, err := f.Model()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		off := worst(t, m, want.IDs, want.LogProbs)
		t.Logf("%s: largest difference of %d log-probabilities %.2g", name, len(want.LogProbs), off)
		if off > 1e-4 {
			t.Errorf("%s: log-probabilities differ by %g, want at most 1e-4", name, off)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The real model, against Python's libraries; see testdata/smollm2.py.
func TestSmolLM2(t *testing.T) {
	dir := os.Getenv("WHALE_SMOLLM2")
	if dir == "" {
		t.Skip("WHALE_SMOLLM2 names no folder; see testdata/smollm2.py")
	}
	var ref struct {
		File     string    `json:"file"`
		Texts    []string  `json:"texts"`
		IDs      [][]int32 `json:"ids"`
		Prompt   []int32   `json:"prompt"`
		Greedy   []int32   `json:"greedy"`
		LogProbs []float64 `json:"logprobs"`
	}
	readReference(t, dir, &ref)
	f, err := Open(ref.File)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	tok, err := f.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for i, text := range ref.Texts {
		if got := tok.EncodeWithSpecials(text); slices.Equal(got, ref.IDs[i]) {
			same++
		} else if same == i {
			t.Errorf("ids of %.60q: got %v, want %v", text, got, ref.IDs[i])
		}
	}
	t.Logf("ids equal for %d of %d texts; split %s, %d tokens", same, len(ref.Texts), tok.Split(), tok.Vocab())
	if tok.Split() != token.Digits || !strings.Contains(f.ChatTemplate(), "<|im_start|>") {
		t.Errorf("split %s, template %.40q", tok.Split(), f.ChatTemplate())
	}
	if ids, err := f.EOS(); err != nil || !slices.Equal(ids, []int32{0, 2}) {
		t.Errorf("EOS = %v, %v, want <|endoftext|> and <|im_end|>", ids, err)
	}
	m, err := f.Model()
	if err != nil {
		t.Fatal(err)
	}
	off := worst(t, m, append(slices.Clone(ref.Prompt), ref.Greedy...), ref.LogProbs)
	t.Logf("largest difference of %d log-probabilities from transformers': %.2g", len(ref.LogProbs), off)
	if off > 1e-3 {
		t.Errorf("log-probabilities differ by %g, want at most 1e-3", off)
	}
}
