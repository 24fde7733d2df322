package export

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/policy/local"
)

// TestOtherLibraries compares what transformers, PEFT and llama.cpp make of exports with what they mean here: ids, ends of replies and log-probabilities.
// It needs a Python with these libraries, named by WHALE_EXPORT_PYTHON.
func TestOtherLibraries(t *testing.T) {
	python := os.Getenv("WHALE_EXPORT_PYTHON")
	if python == "" {
		t.Skip("WHALE_EXPORT_PYTHON names no Python with transformers, peft and llama-cpp-python")
	}
	hf := export(t, full.make(t), Options{Format: HF, Type: TypeF32})
	one := export(t, full.make(t), Options{Format: GGUF, Type: TypeF32})
	base := export(t, adapter.make(t), Options{Format: HF, Type: TypeF32, At: "start"})
	peft := export(t, adapter.make(t), Options{Format: PEFT, Type: TypeF32})

	const text = "<|system|>You calculate.<|end|><|user|>What is 12 + 30?<|end|><|assistant|>"
	cmd := exec.Command(python, "testdata/others.py", hf.Dir, filepath.Join(one.Dir, fileGGUF), base.Dir, peft.Dir, text)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		IDs           []int32   `json:"ids"`
		LlamaIDs      []int32   `json:"llama_ids"`
		Transformers  []float64 `json:"transformers"`
		Llama         []float64 `json:"llama"`
		PEFT          []float64 `json:"peft"`
		EOS           int32     `json:"eos"`
		LlamaEOS      int32     `json:"llama_eos"`
		GenerationEOS []int32   `json:"generation_eos"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	full, adapted := open(t, hf.Dir), open(t, peft.Dir)
	end, _ := full.Tokenizer.Special(local.TokenEnd)
	if got.EOS != end || got.LlamaEOS != end || !slices.Equal(got.GenerationEOS, []int32{end}) {
		t.Errorf("replies end at %d, %d and %v, want %d", got.EOS, got.LlamaEOS, got.GenerationEOS, end)
	}
	if len(got.IDs) < 20 || !slices.Equal(got.IDs, got.LlamaIDs) {
		t.Errorf("got ids %v and %v", got.IDs, got.LlamaIDs)
	}
	for _, tc := range []struct {
		what  string
		model *lm.Model
		got   []float64
	}{{"transformers", full.Model, got.Transformers}, {"llama.cpp", full.Model, got.Llama}, {"PEFT", adapted.Model, got.PEFT}} {
		want, err := tc.model.LogProbs(nil, got.IDs)
		if err != nil {
			t.Fatal(err)
		}
		most := 0.0
		for i, x := range tc.got {
			most = max(most, math.Abs(x-float64(want[i+1])))
		}
		if most > 1e-3 || len(tc.got) != len(got.IDs)-1 {
			t.Errorf("%s: log-probabilities differ by %g", tc.what, most)
		}
		t.Logf("%s: log-probabilities differ by %.2g at most", tc.what, most)
	}
}
