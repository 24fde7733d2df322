package lm

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// heapInUse is what is reachable, in bytes.
func heapInUse() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools hold goes with the second
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// TestSamplingPlan fills a generator's pool and weighs it against the plan.
func TestSamplingPlan(t *testing.T) {
	cfg := organismConfig()
	vocab := cfg
	vocab.Vocab, vocab.TieEmbeddings = 4096, false
	for _, tt := range []struct {
		cfg      Config
		opt      GeneratorOptions
		prompt   int
		requests int
	}{
		{cfg, GeneratorOptions{MaxBatch: 16, CacheTokens: 1 << 20, MemoryBytes: 24 << 20}, 300, 50}, // keys and values dominate
		{cfg, GeneratorOptions{MaxBatch: 4, CacheTokens: 1024}, 100, 40},                            // weights and scratch do
		{vocab, GeneratorOptions{MaxBatch: 8, CacheTokens: 4096}, 40, 60},                           // a larger vocabulary
	} {
		plan, err := PlanSampling(tt.cfg, tt.opt, tt.prompt+40, 2)
		if err != nil {
			t.Fatal(err)
		}
		p := newPool(t, 2)
		before := heapInUse()
		m := newModel(t, tt.cfg, 1)
		tt.opt.Pool = p
		g := NewGenerator(m, tt.opt)
		rng := rand.New(rand.NewPCG(1, 1))
		var rs []Request
		for range tt.requests {
			rs = append(rs, Request{Prompt: randomTokens(rng, tt.cfg.Vocab, tt.prompt), MaxTokens: 40, Temperature: 1, TopP: 0.9})
		}
		generateAll(t, g, rs)
		rs = nil
		got, want := heapInUse()-before, plan.Total()
		if ratio := float64(got) / float64(want); ratio > 1.05 || ratio < 0.8 {
			t.Errorf("batch %d: got %.1f MiB, want about %.1f (%v)", tt.opt.MaxBatch, float64(got)/(1<<20), float64(want)/(1<<20), plan)
		}
		t.Logf("%.1f of %v", float64(got)/(1<<20), plan)
		g.Close()
		runtime.KeepAlive(m)
	}
	if _, err := PlanSampling(cfg, GeneratorOptions{}, cfg.MaxSeq+1, 1); err == nil || !strings.HasPrefix(err.Error(), "sampling plan: longest: got 1025 tokens, want 1 to 1024") {
		t.Errorf("too long: got error %v", err)
	}
	if _, err := PlanSampling(Config{}, GeneratorOptions{}, 1, 1); err == nil {
		t.Error("no config: got no error")
	}
}
