package main

import (
	"encoding/json"
	"io"
	"runtime"
	"testing"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/kernel"
	"github.com/seed-095d5d2b/whale/policy/local"
)

// open is a bench over whale-tiny that prints nothing.
func open(b testing.TB) *bench {
	b.Helper()
	m, err := local.Open("whale-tiny")
	if err != nil {
		b.Fatal(err)
	}
	pool := kernel.NewPool(runtime.GOMAXPROCS(0))
	b.Cleanup(pool.Close)
	return &bench{model: m.Model, opt: lm.GeneratorOptions{Pool: pool, MaxBatch: 64, CacheTokens: 1 << 14}, answer: json.NewEncoder(io.Discard)}
}

// BenchmarkBatch is 64 sequences of 64 prompt tokens, each continued by 128, greedily.
func BenchmarkBatch(b *testing.B) {
	t := open(b)
	for b.Loop() {
		if err := t.batch(64, 64, 128, 0); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(64*128*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
}

// BenchmarkFork is the first tokens of one and of eight samples of prompts of 500 tokens.
func BenchmarkFork(b *testing.B) {
	t := open(b)
	for b.Loop() {
		if err := t.fork(8, 500); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLines holds the protocol that compare.py speaks.
func TestLines(t *testing.T) {
	b := open(t)
	for _, line := range []string{"batch 3 5 2 0", "batch 1 5 1 0.7", "fork 2 20"} {
		if err := b.do(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, line := range []string{"", "batch 3", "fork x y", "sing 1", "batch 1 100000 1 0"} {
		if err := b.do(line); err == nil {
			t.Errorf("%q: got no error", line)
		}
	}
}
