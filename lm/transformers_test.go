package lm

import (
	"encoding/json"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recorded is a case of testdata/reference.json, which testdata/reference.py makes with
// transformers and PyTorch.
type recorded struct {
	Name   string
	Config json.RawMessage
	Scores []struct {
		Tokens   []int32
		Logits   []float64 // after the last token
		LogProbs []float64 // of every token but the first
	}
	Train struct {
		Settings struct {
			LR, Beta1, Beta2, Eps float32
			WeightDecay           float32 `json:"weight_decay"`
			Clip                  float32
			Context, Steps        int
		}
		Steps []struct{ Loss, Norm float64 }
		After map[string][3]float64 // first, middle and last value of each tensor
	}
}

func readRecorded(t *testing.T) []recorded {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "reference.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []recorded
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// counterTensor is the formula for weights in reference.py.
func counterTensor(name string, n int) []float32 {
	h := fnv.New64a()
	h.Write([]byte(name))
	seed, out := h.Sum64(), make([]float32, n)
	for i := range out {
		out[i] = float32(mix(seed+uint64(i)*0x9e3779b97f4a7c15)>>40)*0x1p-23 - 1
		out[i] *= 0.25
		if strings.HasSuffix(name, "norm.weight") {
			out[i]++
		}
	}
	return out
}

func (r recorded) model(t *testing.T) *Model {
	t.Helper()
	cfg, err := ParseConfig(r.Config)
	if err != nil {
		t.Fatalf("%s: %v", r.Name, err)
	}
	sizes := map[string]int{}
	for _, s := range cfg.layout() {
		sizes[s.name] = s.n
	}
	m, err := NewModel(cfg, func(name string) ([]float32, error) { return counterTensor(name, sizes[name]), nil })
	if err != nil {
		t.Fatalf("%s: %v", r.Name, err)
	}
	return m
}

func within(got, want []float64, tolerance float64) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) <= tolerance })
}

func widen(xs []float32) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = float64(x)
	}
	return out
}

// TestTransformers compares every family with what transformers computes: logits by the
// sampling path, log-probabilities by the training path.
func TestTransformers(t *testing.T) {
	families := map[Family]int{}
	for _, r := range readRecorded(t) {
		m := r.model(t)
		families[m.cfg.Family()]++
		for _, s := range r.Scores {
			path := newBlockPool(m.cfg, 100, 0)
			f := feed{tokens: s.Tokens, logits: true}
			for range blocksOf(len(s.Tokens)) {
				f.path = append(f.path, path.take())
			}
			logits := newDecoder(m).run(nil, []feed{f}, &decodeScratch{})
			if !within(widen(logits), s.Logits, 1e-4) {
				t.Errorf("%s: logits after %d tokens: got %v, want %v", r.Name, len(s.Tokens), logits, s.Logits)
			}
			lps, err := m.LogProbs(nil, s.Tokens)
			if err != nil || !within(widen(lps[1:]), s.LogProbs, 1e-4) {
				t.Errorf("%s: log-probabilities of %d tokens: got %v, %v, want %v", r.Name, len(s.Tokens), lps[1:], err, s.LogProbs)
			}
		}
	}
	for _, f := range Families() {
		if families[f] < 2 {
			t.Errorf("recorded models of %s: got %d, want both tied and untied", f, families[f])
		}
	}
}

// TestTorchTraining takes PyTorch's steps.
func TestTorchTraining(t *testing.T) {
	for _, r := range readRecorded(t) {
		set := r.Train.Settings
		tr := NewTrainer(r.model(t), nil, AdamW{Beta1: set.Beta1, Beta2: set.Beta2, Eps: set.Eps, WeightDecay: set.WeightDecay, ClipNorm: set.Clip})
		var seqs []Sequence
		for _, s := range r.Scores[1:] {
			weights := make([]float32, len(s.Tokens))
			for i := set.Context; i < len(weights); i++ {
				weights[i] = 1
			}
			seqs = append(seqs, Sequence{s.Tokens, weights})
		}
		for i, want := range r.Train.Steps {
			loss := accumulate(t, tr, seqs).Mean()
			stats := step(t, tr, set.LR)
			if math.Abs(loss-want.Loss) > 1e-4 || math.Abs(stats.GradNorm-want.Norm) > 1e-4*(1+want.Norm) {
				t.Errorf("%s: step %d: got loss %g and gradient norm %g, want %g and %g", r.Name, i, loss, stats.GradNorm, want.Loss, want.Norm)
			}
		}
		tensors := tr.Model().Tensors()
		if len(tensors) != len(r.Train.After) {
			t.Errorf("%s: tensors: got %d, want %d", r.Name, len(tensors), len(r.Train.After))
		}
		for _, ts := range tensors {
			n, want := len(ts.Data), r.Train.After[ts.Name]
			got := widen([]float32{ts.Data[0], ts.Data[n/2], ts.Data[n-1]})
			if !within(got, want[:], 1e-4) {
				t.Errorf("%s: %s after %d steps: got %v, want %v", r.Name, ts.Name, len(r.Train.Steps), got, want)
			}
		}
	}
}
