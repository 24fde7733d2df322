package lm

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// smolConfig is the shape of SmolLM2-135M.
func smolConfig() Config {
	return Config{
		Vocab: 49152, Dim: 576, Layers: 30, Heads: 9, KVHeads: 3, HeadDim: 64, FFN: 1536, MaxSeq: 8192,
		RopeTheta: 100000, NormEps: 1e-5, TieEmbeddings: true,
	}
}

// quickModel fills weights faster than New, with small numbers that do not grow over
// the layers.
func quickModel(b testing.TB, cfg Config) *Model {
	b.Helper()
	m, err := empty(cfg)
	if err != nil {
		b.Fatal(err)
	}
	state := uint32(1)
	for i := range m.w.flat {
		state = state*1664525 + 1013904223
		m.w.flat[i] = (float32(state>>8)/(1<<23) - 1) * 0.03
	}
	return m
}

// BenchmarkDecode has 64 sequences of their own prompts of 100 tokens sample 20 tokens
// each, with two workers, at two shapes.
func BenchmarkDecode(b *testing.B) {
	for _, shape := range []struct {
		name string
		cfg  Config
	}{{"tiny", organismConfig()}, {"smol", smolConfig()}} {
		for _, topP := range []float32{0, 0.95} {
			b.Run(fmt.Sprintf("%s/topP=%g", shape.name, topP), func(b *testing.B) {
				p := kernel.NewPool(2)
				defer p.Close()
				g := NewGenerator(quickModel(b, shape.cfg), GeneratorOptions{Pool: p, MaxBatch: 64, CacheTokens: 1 << 15, MemoryBytes: 4 << 30})
				defer g.Close()
				rng := rand.New(rand.NewPCG(1, 1))
				prompts := make([][]int32, 64)
				for i := range prompts {
					prompts[i] = randomTokens(rng, shape.cfg.Vocab, 100)
				}
				run := func(tokens int) {
					var wg sync.WaitGroup
					for i, prompt := range prompts {
						wg.Go(func() {
							if _, err := g.Generate(b.Context(), Request{Prompt: prompt, MaxTokens: tokens, Seed: uint64(i), Temperature: 1, TopP: topP}); err != nil {
								b.Error(err)
							}
						})
					}
					wg.Wait()
				}
				run(1) // prompts go to the cache
				b.ReportAllocs()
				for b.Loop() {
					run(20)
				}
				b.ReportMetric(float64(64*20*b.N)/b.Elapsed().Seconds(), "tokens/s")
			})
		}
	}
}

// BenchmarkPrefill computes prompts of 500 tokens that nobody has seen, for one sample
// and for eight.
func BenchmarkPrefill(b *testing.B) {
	for _, shape := range []struct {
		name string
		cfg  Config
	}{{"tiny", organismConfig()}, {"smol", smolConfig()}} {
		for _, samples := range []int{1, 8} {
			b.Run(fmt.Sprintf("%s/G=%d", shape.name, samples), func(b *testing.B) {
				p := kernel.NewPool(2)
				defer p.Close()
				g := NewGenerator(quickModel(b, shape.cfg), GeneratorOptions{Pool: p})
				defer g.Close()
				rng := rand.New(rand.NewPCG(1, 1))
				for b.Loop() {
					prompt := randomTokens(rng, shape.cfg.Vocab, 500)
					var wg sync.WaitGroup
					for i := range samples {
						wg.Go(func() {
							if _, err := g.Generate(b.Context(), Request{Prompt: prompt, MaxTokens: 1, Seed: uint64(i), Temperature: 1}); err != nil {
								b.Error(err)
							}
						})
					}
					wg.Wait()
				}
				b.ReportMetric(float64(500*b.N)/b.Elapsed().Seconds(), "prompt-tokens/s")
			})
		}
	}
}

// BenchmarkLongContext has 8 samples of one prompt of 1,000 tokens, which are in the cache,
// go on for 20 tokens each.
func BenchmarkLongContext(b *testing.B) {
	cfg := smolConfig()
	p := kernel.NewPool(2)
	defer p.Close()
	g := NewGenerator(quickModel(b, cfg), GeneratorOptions{Pool: p, CacheTokens: 1 << 12})
	defer g.Close()
	r := Request{Prompt: randomTokens(rand.New(rand.NewPCG(1, 1)), cfg.Vocab, 1000), MaxTokens: 1, Temperature: 1}
	if _, err := g.Generate(b.Context(), r); err != nil {
		b.Fatal(err)
	}
	r.MaxTokens = 20
	for b.Loop() {
		var wg sync.WaitGroup
		for i := range 8 {
			sample := r
			sample.Seed = uint64(i)
			wg.Go(func() {
				if _, err := g.Generate(b.Context(), sample); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(8*20*b.N)/b.Elapsed().Seconds(), "tokens/s")
}
