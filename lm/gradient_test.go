package lm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// lossOf is the weighted sum by an independent path: one sequence at a time through
// LogProbs.
func lossOf(t *testing.T, m *Model, seqs []Sequence) float64 {
	t.Helper()
	var sum float64
	for _, s := range seqs {
		lps, err := m.LogProbs(nil, s.Tokens)
		if err != nil {
			t.Fatal(err)
		}
		for i, lp := range lps {
			sum -= float64(s.Weights[i]) * float64(lp)
		}
	}
	return sum
}

// TestGradients compares every tensor's gradient with central differences, both along
// random directions of the whole tensor and at single entries.
func TestGradients(t *testing.T) {
	for _, tied := range []bool{false, true} {
		for _, qkNorm := range []bool{false, true} {
			cfg := tinyConfig()
			cfg.TieEmbeddings, cfg.QKNorm = tied, qkNorm
			t.Run(fmt.Sprintf("tied=%v,qkNorm=%v", tied, qkNorm), func(t *testing.T) {
				m := newModel(t, cfg, 3)
				rng := rand.New(rand.NewPCG(5, 5))
				for _, ts := range m.Tensors() { // norms off their starting point
					if len(ts.Shape) == 1 {
						for i := range ts.Data {
							ts.Data[i] = 1 + 0.3*float32(rng.NormFloat64())
						}
					}
				}
				// Longer than a block of queries, short ones, and one that is all context.
				seqs := randomSequences(11, cfg.Vocab, 80, 7, 2, 23)
				seqs = append(seqs, Sequence{Tokens: []int32{1, 2, 3}, Weights: make([]float32, 3)})
				tr := NewTrainer(m, nil, DefaultAdamW())
				loss, err := tr.Accumulate(t.Context(), seqs)
				if err != nil {
					t.Fatal(err)
				}
				if want := lossOf(t, m, seqs); math.Abs(loss.NLL-want) > 1e-3*math.Abs(want) {
					t.Fatalf("loss: got %g, want %g as by LogProbs", loss.NLL, want)
				}
				for _, s := range cfg.layout() {
					w, g := m.w.flat[s.off:s.off+s.n], tr.grads.flat[s.off:s.off+s.n]
					for trial := range 3 {
						dir := make([]float64, s.n)
						if trial < 2 {
							for i := range dir {
								dir[i] = rng.NormFloat64()
							}
						} else {
							dir[rng.IntN(s.n)] = 10
						}
						checkDirection(t, s.name, w, g, dir, func() float64 { return lossOf(t, m, seqs) })
					}
				}
			})
		}
	}
}

// checkDirection compares g·dir with the slope of loss along dir. Extrapolating
// from two step widths removes the cubic term, so that float32 noise is what remains.
func checkDirection(t *testing.T, name string, w, g []float32, dir []float64, loss func() float64) {
	t.Helper()
	old := append([]float32(nil), w...)
	at := func(h float64) float64 {
		for i := range w {
			w[i] = old[i] + float32(h*dir[i])
		}
		return loss()
	}
	slope := func(h float64) float64 { return (at(h) - at(-h)) / (2 * h) }
	norm := 0.0
	var got float64
	for i := range dir {
		norm += dir[i] * dir[i]
		got += dir[i] * float64(g[i])
	}
	h := 1e-2 / math.Sqrt(norm) * math.Sqrt(math.Sqrt(float64(len(dir))))
	want := (4*slope(h) - slope(2*h)) / 3
	copy(w, old)
	if math.Abs(got-want) > 0.02*math.Abs(want)+0.003*math.Sqrt(norm) {
		t.Errorf("%s: gradient along a direction: got %g, want %g by differences", name, got, want)
	}
}
