package lm

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var peftPython = flag.String("peft", "", "record testdata/peft anew with this `python`")

// TestPEFT compares with what Hugging Face's PEFT computed from our files (recorded), and
// reads an adapter that it wrote.
func TestPEFT(t *testing.T) {
	cfg := Config{
		Vocab: 40, Dim: 24, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 6, FFN: 32, MaxSeq: 64,
		RopeTheta: 100, NormEps: 1e-5, TieEmbeddings: true,
	}
	m := newModel(t, cfg, 21)
	a := noisyAdapter(t, cfg, LoRA{Rank: 3, Alpha: 6, Targets: LoRATargets(), Seed: 2})
	tokens := []int32{1, 5, 39, 0, 17, 17, 22, 3, 8, 30, 11, 2}
	dir := filepath.Join("testdata", "peft")
	if *peftPython != "" {
		recordPEFT(t, dir, m, a, tokens)
	}
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Tokens             []int32
		Base, Ours, Theirs []float64
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(want.Tokens) != fmt.Sprint(tokens) {
		t.Fatalf("recorded tokens: got %v, want %v", want.Tokens, tokens)
	}
	theirs, err := LoadAdapter(dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		adapter *Adapter
		want    []float64
	}{{"base", nil, want.Base}, {"our adapter", a, want.Ours}, {"an adapter of PEFT", theirs, want.Theirs}} {
		merged := m.Clone()
		if c.adapter != nil {
			if err := merged.Merge(nil, c.adapter); err != nil {
				t.Fatal(err)
			}
		}
		got, err := merged.LogProbs(nil, tokens)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.want) != len(got)-1 {
			t.Fatalf("%s: recorded %d log-probabilities, want %d", c.name, len(c.want), len(got)-1)
		}
		worst := 0.0
		for i, w := range c.want {
			worst = max(worst, math.Abs(float64(got[i+1])-w))
		}
		if !(worst <= 1e-4) {
			t.Errorf("%s: log-probabilities differ by up to %g, want at most 1e-4", c.name, worst)
		}
		t.Logf("%s: within %.1g", c.name, worst)
	}
}

// recordPEFT has PEFT read what we write.
func recordPEFT(t *testing.T, dir string, m *Model, a *Adapter, tokens []int32) {
	t.Helper()
	tmp := t.TempDir()
	if err := m.Save(filepath.Join(tmp, "base"), F32); err != nil {
		t.Fatal(err)
	}
	if err := a.Save(filepath.Join(tmp, "adapter"), filepath.Join(tmp, "base")); err != nil {
		t.Fatal(err)
	}
	ids, err := json.Marshal(tokens)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), *peftPython, filepath.Join(dir, "peft_reference.py"), filepath.Join(tmp, "base"), filepath.Join(tmp, "adapter"), string(ids))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
