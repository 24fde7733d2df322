package lm

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// Head sizes of whole vectors and of others, groups that do and do not fill a tile, and
// contexts beyond one cut of a sum: what sampling reports has the bits of scoring.
func TestAttentionOverBlocksHasTheBitsOfScoring(t *testing.T) {
	for _, shape := range []struct{ headDim, heads, kvHeads int }{{32, 4, 2}, {64, 3, 1}, {16, 2, 2}, {80, 2, 1}, {24, 7, 1}, {136, 2, 1}} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			cfg := tinyConfig()
			cfg.HeadDim, cfg.Heads, cfg.KVHeads = shape.headDim, shape.heads, shape.kvHeads
			m := newModel(t, cfg, 5)
			g := newGenerator(t, m, GeneratorOptions{CacheTokens: 64})
			rng := rand.New(rand.NewPCG(3, 3))
			for _, n := range []int{1, 15, 16, 100, 127, 150} {
				prompt := randomTokens(rng, cfg.Vocab, n)
				res := generate(t, g, Request{Prompt: prompt, MaxTokens: 40, Seed: uint64(n), Temperature: 1})
				want, err := m.LogProbs(nil, slices.Concat(prompt, res.Tokens))
				if err != nil {
					t.Fatal(err)
				}
				if want = want[len(want)-len(res.Tokens):]; !slices.Equal(res.LogProbs, want) {
					t.Errorf("prompt of %d: got %v, want %v", n, res.LogProbs, want)
				}
			}
		})
	}
}

// On one core callers wait for the batch's goroutine to give way; they must not find it
// only when it has nothing left to do.
func TestRequestsShareABatchOnOneCore(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	m := newModel(t, tinyConfig(), 1)
	g := newGenerator(t, m, GeneratorOptions{})
	const callers, tokens = 8, 100
	var calls []int // who got a token; written by the batch's goroutine alone
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			r := Request{Prompt: []int32{int32(i)}, MaxTokens: tokens, StopFunc: func([]int32) bool {
				calls = append(calls, i)
				return false
			}}
			if _, err := g.Generate(t.Context(), r); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	turns := 0
	for i := 1; i < len(calls); i++ {
		if calls[i] != calls[i-1] {
			turns++
		}
	}
	if least := callers * tokens / 2; turns < least {
		t.Errorf("tokens of another sequence than the one before: got %d of %d, want at least %d", turns, len(calls), least)
	}
}
