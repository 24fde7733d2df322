package lm

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// BenchmarkTrain trains on minibatches of 28 sequences of 150 tokens, all of them
// trained, with two workers.
func BenchmarkTrain(b *testing.B) {
	cfg := organismConfig()
	m := newModel(b, cfg, 1)
	p := kernel.NewPool(2)
	defer p.Close()
	lengths := make([]int, 28)
	for i := range lengths {
		lengths[i] = 150
	}
	seqs := randomSequences(1, cfg.Vocab, lengths...)
	for _, s := range seqs {
		for i := range s.Weights[1:] {
			s.Weights[i+1] = 1
		}
	}
	tr := NewTrainer(m, p, DefaultAdamW())
	for b.Loop() {
		if _, err := tr.Accumulate(b.Context(), seqs); err != nil {
			b.Fatal(err)
		}
		if _, err := tr.Step(1e-3); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(28*150*b.N)/b.Elapsed().Seconds(), "tokens/s")
}

// BenchmarkGenerate samples 64 sequences at once with two workers: 8 prompts of 60
// tokens, 8 samples each, 90 tokens a sample.
func BenchmarkGenerate(b *testing.B) {
	cfg := organismConfig()
	p := kernel.NewPool(2)
	defer p.Close()
	g := NewGenerator(newModel(b, cfg, 1), GeneratorOptions{Pool: p, MaxBatch: 64, CacheTokens: 1 << 15})
	defer g.Close()
	rng := rand.New(rand.NewPCG(1, 1))
	b.ReportAllocs()
	for b.Loop() {
		var wg sync.WaitGroup
		for range 8 {
			prompt := randomTokens(rng, cfg.Vocab, 60)
			for s := range 8 {
				wg.Go(func() {
					if _, err := g.Generate(b.Context(), Request{Prompt: prompt, MaxTokens: 90, Seed: uint64(s), Temperature: 1}); err != nil {
						b.Error(err)
					}
				})
			}
		}
		wg.Wait()
	}
	b.ReportMetric(float64(64*90*b.N)/b.Elapsed().Seconds(), "tokens/s")
}
