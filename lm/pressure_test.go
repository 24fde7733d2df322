package lm

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// generateAll runs requests side by side.
func generateAll(t interface{ Errorf(string, ...any) }, g *Generator, rs []Request) []Result {
	got := make([]Result, len(rs))
	var wg sync.WaitGroup
	for i, r := range rs {
		wg.Go(func() {
			var err error
			if got[i], err = g.Generate(context.Background(), r); err != nil {
				t.Errorf("request %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	return got
}

// TestPressure gives the generator hardly more memory than its largest request needs:
// jobs wait, give their blocks back and begin again, and nobody sees it.
func TestPressure(t *testing.T) {
	cfg := tinyConfig()
	m := newModel(t, cfg, 21)
	rs := mixedRequests(cfg.Vocab)
	alone := newGenerator(t, m, GeneratorOptions{MaxBatch: 1})
	want := make([]Result, len(rs))
	for i, r := range rs {
		want[i] = generate(t, alone, r)
	}
	preempted := 0
	for _, blocks := range []int64{10, 13, 25, 60} { // the largest request is 160 tokens
		for _, cache := range []int{0, 64, 1 << 14} {
			g := newGenerator(t, m, GeneratorOptions{Pool: newPool(t, 2), MemoryBytes: blocks * cfg.pageBytes(), CacheTokens: cache})
			for range 2 {
				for i, got := range generateAll(t, g, rs) {
					if !reflect.DeepEqual(got, want[i]) {
						t.Errorf("%d blocks, cache %d: request %d: got %+v, want %+v as when alone", blocks, cache, i, got, want[i])
					}
				}
			}
			g.Close()
			checkCache(t, g.batch.pool)
			if g.batch.pool.limit != int(blocks) {
				t.Errorf("blocks: got %d, want %d", g.batch.pool.limit, blocks)
			}
			preempted += g.batch.preempted
		}
	}
	if preempted == 0 {
		t.Error("no job had to give its blocks back, so this test shows nothing")
	}
}

// TestAnyPressure draws requests that begin alike, end early, or are cancelled, over
// pools of any size that fits each of them.
func TestAnyPressure(t *testing.T) {
	cfg := tinyConfig()
	m := newModel(t, cfg, 3)
	shared := randomTokens(rand.New(rand.NewPCG(9, 9)), cfg.Vocab, 120)
	alone := newGenerator(t, m, GeneratorOptions{MaxBatch: 1})
	rapid.Check(t, func(t *rapid.T) {
		rs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Request {
			prompt := slices.Clone(shared[:rapid.IntRange(1, 120).Draw(t, "shared")])
			if rapid.Bool().Draw(t, "own") {
				prompt[rapid.IntRange(0, len(prompt)-1).Draw(t, "at")] = 1
			}
			return Request{Prompt: prompt, MaxTokens: rapid.IntRange(1, 40).Draw(t, "tokens"), Seed: uint64(rapid.IntRange(0, 2).Draw(t, "seed")), Temperature: 1}
		}), 1, 12).Draw(t, "requests")
		g := NewGenerator(m, GeneratorOptions{
			MaxBatch: rapid.IntRange(1, 12).Draw(t, "batch"), CacheTokens: rapid.SampledFrom([]int{0, 100, 1 << 12}).Draw(t, "cache"),
			MemoryBytes: int64(rapid.IntRange(10, 40).Draw(t, "blocks")) * cfg.pageBytes(),
		})
		defer g.Close()
		ctx, cancel := context.WithCancel(context.Background())
		cancelled := make(chan error, 1)
		if rapid.Bool().Draw(t, "cancel") {
			go func() {
				r := Request{Prompt: shared[:100], MaxTokens: 60, StopFunc: func(ts []int32) bool {
					if len(ts) == 20 {
						cancel()
					}
					return false
				}}
				_, err := g.Generate(ctx, r)
				cancelled <- err
			}()
		} else {
			cancel()
			cancelled <- context.Canceled
		}
		for i, got := range generateAll(t, g, rs) {
			want, err := alone.Generate(context.Background(), rs[i])
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("request %d: got %+v, want %+v as when alone (%v)", i, got, want, err)
			}
		}
		// The context ends before the last token unless the step that saw it was the last.
		if err := <-cancelled; err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled request: got error %v", err)
		}
	})
}

// TestTooLarge is about requests that no waiting helps.
func TestTooLarge(t *testing.T) {
	cfg := tinyConfig()
	g := newGenerator(t, newModel(t, cfg, 5), GeneratorOptions{MemoryBytes: 4*cfg.pageBytes() + 5})
	_, err := g.Generate(t.Context(), Request{Prompt: make([]int32, 40), MaxTokens: 25})
	want := "generate: prompt and max tokens: got 65, want at most the 64 whose keys and values fit the generator's memory"
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if res := generate(t, g, Request{Prompt: make([]int32, 40), MaxTokens: 24}); len(res.Tokens) != 24 {
		t.Errorf("got %d tokens, want 24", len(res.Tokens))
	}
}

// TestWaiting fills the pool with one request and cancels one that waits for it, in the
// queue or after giving its blocks back.
func TestWaiting(t *testing.T) {
	cfg := tinyConfig()
	g := newGenerator(t, newModel(t, cfg, 5), GeneratorOptions{MemoryBytes: 16 * cfg.pageBytes()})
	release := make(chan struct{})
	long := make(chan error, 1)
	begun := make(chan struct{})
	go func() {
		_, err := g.Generate(t.Context(), Request{Prompt: make([]int32, 100), MaxTokens: 156, StopFunc: func(ts []int32) bool {
			if len(ts) == 1 {
				close(begun)
				<-release
			}
			return false
		}})
		long <- err
	}()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	others := make(chan error, 3)
	for i := range 3 {
		prompt := make([]int32, 140)
		prompt[0] = int32(i + 1)
		go func() {
			_, err := g.Generate(ctx, Request{Prompt: prompt, MaxTokens: 100})
			others <- err
		}()
	}
	close(release)
	if err := <-long; err != nil {
		t.Errorf("the request that held the pool: %v", err)
	}
	cancel()
	for range 3 {
		if err := <-others; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("a request that waited: got error %v", err)
		}
	}
	if _, err := g.Generate(t.Context(), Request{Prompt: make([]int32, 10), MaxTokens: 200}); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

// TestSharedByReference counts blocks while samples of one prompt, and turns that extend
// it, are under way together.
func TestSharedByReference(t *testing.T) {
	cfg := tinyConfig()
	m := newModel(t, cfg, 2)
	prompt := randomTokens(rand.New(rand.NewPCG(4, 4)), cfg.Vocab, 100)
	g := newGenerator(t, m, GeneratorOptions{CacheTokens: 1 << 12, Pool: newPool(t, 2)})
	var rs []Request
	for i := range 8 {
		rs = append(rs, Request{Prompt: prompt, MaxTokens: 20, Seed: uint64(i), Temperature: 1})
	}
	generateAll(t, g, rs)
	g.Close()
	// 96 tokens once; each sample's own: the rest of the prompt and 20 tokens.
	if got, want := g.batch.pool.made, 96/blockTokens+8*2; got > want {
		t.Errorf("blocks: got %d, want at most %d", got, want)
	}
	t.Run("memory grows on demand", func(t *testing.T) {
		long := cfg
		long.MaxSeq = 1 << 15
		g := newGenerator(t, newModel(t, long, 1), GeneratorOptions{MaxBatch: 64})
		generate(t, g, Request{Prompt: []int32{1}, MaxTokens: 30})
		g.Close()
		if got := g.batch.pool.made; got != 2 {
			t.Errorf("blocks after a request of 31 tokens: got %d, want 2", got)
		}
	})
}

// TestSharedPrefill holds 8 samples of a prompt of 500 tokens to less than 1.3 times the
// tokens of one.
func TestSharedPrefill(t *testing.T) {
	cfg := tinyConfig()
	cfg.MaxSeq = 600
	m := newModel(t, cfg, 2)
	prompt := randomTokens(rand.New(rand.NewPCG(4, 4)), cfg.Vocab, 500)
	fed := map[int]int{}
	for _, samples := range []int{1, 8} {
		g := newGenerator(t, m, GeneratorOptions{Pool: newPool(t, 2), CacheTokens: 1 << 10})
		var rs []Request
		for i := range samples {
			rs = append(rs, Request{Prompt: prompt, MaxTokens: 1, Seed: uint64(i), Temperature: 1})
		}
		generateAll(t, g, rs)
		g.Close()
		fed[samples] = g.batch.fed
	}
	if fed[1] != 500 || fed[8] >= 650 {
		t.Errorf("tokens fed: got %v, want 500 for one sample and less than 650 for eight", fed)
	}
}

// TestTrim wants memory back once nothing is under way, but for what is kept.
func TestTrim(t *testing.T) {
	cfg := tinyConfig()
	g := newGenerator(t, newModel(t, cfg, 2), GeneratorOptions{CacheTokens: 20 * blockTokens, MemoryBytes: 100 * cfg.pageBytes()})
	var rs []Request
	for i := range 8 {
		prompt := make([]int32, 150)
		prompt[0] = int32(i)
		rs = append(rs, Request{Prompt: prompt, MaxTokens: 5})
	}
	generateAll(t, g, rs)
	g.Close()
	checkCache(t, g.batch.pool)
	if got := g.batch.pool.made; got > 20+16 {
		t.Errorf("blocks: got %d, want at most the 20 that are kept and a few", got)
	}
}

// TestEviction fills a small cache with prompts and wants the least recently used gone.
func TestEviction(t *testing.T) {
	cfg := tinyConfig()
	m := newModel(t, cfg, 2)
	g := newGenerator(t, m, GeneratorOptions{CacheTokens: 10 * blockTokens, MemoryBytes: 16 * cfg.pageBytes()})
	prompts := make([][]int32, 3)
	for i := range prompts {
		prompts[i] = append(make([]int32, 0, 66), int32(i))
		prompts[i] = append(prompts[i], randomTokens(rand.New(rand.NewPCG(uint64(i), 4)), cfg.Vocab, 65)...)
	}
	want := 0
	for _, tt := range []struct{ prompt, fed int }{
		{0, 66}, {1, 66}, {0, 2}, // of 66 tokens 64 are kept; both prompts fit
		{2, 66},         // drives out half of prompt 1, from its end
		{0, 2}, {1, 34}, // prompt 1 keeps its first two blocks
	} {
		generate(t, g, Request{Prompt: prompts[tt.prompt], MaxTokens: 1})
		want += tt.fed
	}
	g.Close()
	if g.batch.fed != want {
		t.Errorf("tokens fed: got %d, want %d", g.batch.fed, want)
	}
	checkCache(t, g.batch.pool)
	if n := len(g.batch.pool.blocks); n != 10 {
		t.Errorf("blocks kept: got %d, want 10", n)
	}
}
