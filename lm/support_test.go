package lm

import (
	"math/rand/v2"
	"testing"
)

// tinyConfig has every feature on, and sizes that are no multiple of a vector.
func tinyConfig() Config {
	return Config{
		Vocab: 19, Dim: 12, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 6, FFN: 20, MaxSeq: 256,
		RopeTheta: 100, NormEps: 1e-5, QKNorm: true,
	}
}

// organismConfig is the size of the product's embedded model.
func organismConfig() Config {
	return Config{
		Vocab: 512, Dim: 128, Layers: 4, Heads: 4, KVHeads: 2, HeadDim: 32, FFN: 384, MaxSeq: 1024,
		RopeTheta: 10000, NormEps: 1e-6, TieEmbeddings: true, QKNorm: true,
	}
}

func newModel(t testing.TB, cfg Config, seed uint64) *Model {
	t.Helper()
	m, err := New(cfg, seed)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// randomTokens draws n ids.
func randomTokens(rng *rand.Rand, vocab, n int) []int32 {
	tokens := make([]int32, n)
	for i := range tokens {
		tokens[i] = int32(rng.IntN(vocab))
	}
	return tokens
}

// randomSequences draws sequences of the given lengths; about a third of the tokens
// is context, and some weights are not 1.
func randomSequences(seed uint64, vocab int, lengths ...int) []Sequence {
	rng := rand.New(rand.NewPCG(seed, 7))
	var seqs []Sequence
	for _, n := range lengths {
		s := Sequence{Tokens: randomTokens(rng, vocab, n), Weights: make([]float32, n)}
		for i := 1; i < n; i++ {
			s.Weights[i] = []float32{0, 1, 1, 0.5, 2, 0}[rng.IntN(6)]
		}
		seqs = append(seqs, s)
	}
	return seqs
}
