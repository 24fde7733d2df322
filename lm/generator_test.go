package lm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newGenerator(t testing.TB, m *Model, opt GeneratorOptions) *Generator {
	t.Helper()
	g := NewGenerator(m, opt)
	t.Cleanup(g.Close)
	return g
}

func newPool(t testing.TB, workers int) *kernel.Pool {
	t.Helper()
	p := kernel.NewPool(workers)
	t.Cleanup(p.Close)
	return p
}

func generate(t testing.TB, g *Generator, r Request) Result {
	t.Helper()
	res, err := g.Generate(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// mixedRequests differ in everything; some share prompts or prefixes.
func mixedRequests(vocab int) []Request {
	rng := rand.New(rand.NewPCG(1, 2))
	shared := randomTokens(rng, vocab, 90)
	var rs []Request
	for i := range 24 {
		prompt := randomTokens(rng, vocab, 1+rng.IntN(100))
		if i%2 == 0 {
			prompt = append(slices.Clone(shared[:30+rng.IntN(60)]), randomTokens(rng, vocab, rng.IntN(3))...)
		}
		if i%6 == 0 {
			prompt = shared
		}
		r := Request{Prompt: prompt, MaxTokens: 1 + rng.IntN(60), Seed: uint64(i / 2), Temperature: 1}
		switch i % 5 {
		case 1:
			r.Temperature, r.TopK = 0.7, 5
		case 2:
			r.Temperature, r.TopP = 1.3, 0.8
		case 3:
			r.Temperature = 0
		case 4:
			r.TopK, r.TopP, r.Stop = 10, 0.9, []int32{3, 4}
		}
		rs = append(rs, r)
	}
	return rs
}

// TestSamplingMatchesScoring wants the log-probabilities of sampling to have the very
// bits of the training forward pass.
func TestSamplingMatchesScoring(t *testing.T) {
	for _, cfg := range []Config{tinyConfig(), organismConfig()} {
		m := newModel(t, cfg, 9)
		p := newPool(t, 2)
		g := newGenerator(t, m, GeneratorOptions{Pool: p, MaxBatch: 8, CacheTokens: 4096})
		for i, r := range mixedRequests(cfg.Vocab)[:8] {
			res := generate(t, g, r)
			if len(res.Tokens) == 0 || len(res.Tokens) != len(res.LogProbs) || len(res.Tokens) != len(res.SampleLogProbs) {
				t.Fatalf("request %d: got %d tokens, %d and %d log-probabilities", i, len(res.Tokens), len(res.LogProbs), len(res.SampleLogProbs))
			}
			lps, err := m.LogProbs(p, slices.Concat(r.Prompt, res.Tokens))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := res.LogProbs, lps[len(r.Prompt):]; !slices.Equal(got, want) {
				t.Errorf("request %d: log-probabilities: got %v, want %v", i, got, want)
			}
		}
	}
}

// TestBatchInvariance runs requests alone, together, with other pools, batch sizes
// and caches, and twice over a warm cache, and wants equal bits throughout.
func TestBatchInvariance(t *testing.T) {
	cfg := tinyConfig()
	m := newModel(t, cfg, 21)
	rs := mixedRequests(cfg.Vocab)
	want := make([]Result, len(rs))
	for i, r := range rs {
		g := NewGenerator(m, GeneratorOptions{})
		want[i] = generate(t, g, r)
		g.Close()
	}
	for _, workers := range []int{1, 2, 3} {
		for _, opt := range []GeneratorOptions{{MaxBatch: 64, CacheTokens: 1 << 14}, {MaxBatch: 5, CacheTokens: 160}, {MaxBatch: 3}} {
			t.Run(fmt.Sprintf("workers=%d,batch=%d,cache=%d", workers, opt.MaxBatch, opt.CacheTokens), func(t *testing.T) {
				opt.Pool = newPool(t, workers)
				g := newGenerator(t, m, opt)
				for range 2 {
					got := make([]Result, len(rs))
					var wg sync.WaitGroup
					for i, r := range rs {
						wg.Go(func() {
							var err error
							if got[i], err = g.Generate(t.Context(), r); err != nil {
								t.Error(err)
							}
						})
					}
					wg.Wait()
					for i := range rs {
						if !reflect.DeepEqual(got[i], want[i]) {
							t.Errorf("request %d: got %+v, want %+v as when alone", i, got[i], want[i])
						}
					}
				}
				g.Close()
				checkCache(t, g.batch.pool)
			})
		}
	}
}

// checkCache checks the books of a pool that nobody uses any more: every block of the
// tree is ready, fits its key, hangs under a block of the tree and waits for eviction
// before its parent; all other memory is free.
func checkCache(t *testing.T, bp *blockPool) {
	t.Helper()
	if len(bp.blocks) > bp.keep || bp.made > bp.limit || bp.used != 0 {
		t.Errorf("blocks: got %d kept, %d made, %d used, want at most %d, at most %d, none", len(bp.blocks), bp.made, bp.used, bp.keep, bp.limit)
	}
	place := map[*block]int{bp.root: bp.idle.Len()}
	for e := bp.idle.Front(); e != nil; e = e.Next() {
		place[e.Value.(*block)] = len(place) - 1
	}
	for key, b := range bp.blocks {
		if b.parent != key.parent || b.tokens != key.tokens || !b.inTree || !b.ready || b.users != 0 || b.owner != nil {
			t.Errorf("block: got %d users, ready %v, owner %p, want an idle one that fits its key", b.users, b.ready, b.owner)
		}
		at, ok := place[b]
		parent, under := place[b.parent]
		if !ok || !under || at >= parent {
			t.Errorf("block: got place %d of the eviction queue (%v), its parent %d (%v), want both there and the parent later", at, ok, parent, under)
		}
	}
	if bp.idle.Len() != len(bp.blocks) || len(bp.free) != bp.made-len(bp.blocks) {
		t.Errorf("got %d idle and %d free of %d, want %d and the rest", bp.idle.Len(), len(bp.free), bp.made, len(bp.blocks))
	}
	for _, b := range bp.free {
		if b.users != 0 || b.inTree || b.idle != nil {
			t.Error("a free block is in use")
		}
	}
}

// TestPrefixReuse counts what the model has to compute for prompts seen before.
func TestPrefixReuse(t *testing.T) {
	cfg := tinyConfig()
	m := newModel(t, cfg, 2)
	rng := rand.New(rand.NewPCG(4, 4))
	g := newGenerator(t, m, GeneratorOptions{CacheTokens: 1 << 12})
	first := Request{Prompt: randomTokens(rng, cfg.Vocab, 70), MaxTokens: 40, Temperature: 1}
	res := generate(t, g, first)
	fed := func() int { g.Close(); return g.batch.fed }
	longer := slices.Concat(first.Prompt, res.Tokens, []int32{1, 2, 3})
	generate(t, g, Request{Prompt: first.Prompt, MaxTokens: 1})
	generate(t, g, Request{Prompt: longer, MaxTokens: 1})
	// 70 and the 39 sampled tokens before the last; then all beyond the whole blocks:
	// 64 of 70, and 96 of the 109 that were computed out of 113.
	if got, want := fed(), 70+39+(70-64)+(113-96); got != want {
		t.Errorf("tokens fed: got %d, want %d", got, want)
	}
}

func TestSharedPromptIsComputedOnce(t *testing.T) {
	cfg := tinyConfig()
	m := newModel(t, cfg, 2)
	g := newGenerator(t, m, GeneratorOptions{CacheTokens: 1 << 12, Pool: newPool(t, 2)})
	prompt := randomTokens(rand.New(rand.NewPCG(4, 4)), cfg.Vocab, 100)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if _, err := g.Generate(t.Context(), Request{Prompt: prompt, MaxTokens: 1, Seed: uint64(i), Temperature: 1}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	g.Close()
	if got, want := g.batch.fed, 96+16*4; got != want {
		t.Errorf("tokens fed: got %d, want %d: 96 once and 4 for each request", got, want)
	}
}

func TestFinish(t *testing.T) {
	cfg := tinyConfig()
	cfg.MaxSeq = 32
	m := newModel(t, cfg, 5)
	g := newGenerator(t, m, GeneratorOptions{})
	prompt := []int32{1, 2, 3}
	full := generate(t, g, Request{Prompt: prompt, MaxTokens: 100, Temperature: 1})
	if full.Finish != FinishLength || len(full.Tokens) != 29 {
		t.Fatalf("beyond the context: got %q after %d tokens, want length after 29", full.Finish, len(full.Tokens))
	}
	if _, err := m.LogProbs(nil, slices.Concat(prompt, full.Tokens)); err != nil {
		t.Errorf("a full sequence must be trainable: %v", err)
	}
	at := slices.Index(full.Tokens, full.Tokens[4])
	stop := generate(t, g, Request{Prompt: prompt, MaxTokens: 100, Temperature: 1, Stop: []int32{full.Tokens[4]}})
	if stop.Finish != FinishStop || !slices.Equal(stop.Tokens, full.Tokens[:at+1]) {
		t.Errorf("stop id: got %q %v, want stop %v", stop.Finish, stop.Tokens, full.Tokens[:at+1])
	}
	calls := 0
	byFunc := generate(t, g, Request{Prompt: prompt, MaxTokens: 100, Temperature: 1, StopFunc: func(ts []int32) bool {
		calls++
		return len(ts) == 7
	}})
	if byFunc.Finish != FinishStop || !slices.Equal(byFunc.Tokens, full.Tokens[:7]) || calls != 7 {
		t.Errorf("stop function: got %q %v after %d calls, want stop %v after 7", byFunc.Finish, byFunc.Tokens, calls, full.Tokens[:7])
	}
	exact := generate(t, g, Request{Prompt: prompt, MaxTokens: 5, Temperature: 1})
	if exact.Finish != FinishLength || !slices.Equal(exact.Tokens, full.Tokens[:5]) {
		t.Errorf("max tokens: got %q %v, want length %v", exact.Finish, exact.Tokens, full.Tokens[:5])
	}
	filled := generate(t, g, Request{Prompt: make([]int32, 32), MaxTokens: 5})
	if filled.Finish != FinishLength || len(filled.Tokens) != 0 {
		t.Errorf("full prompt: got %+v, want an empty completion", filled)
	}
}

func TestBadRequests(t *testing.T) {
	cfg := tinyConfig()
	g := newGenerator(t, newModel(t, cfg, 5), GeneratorOptions{})
	nan := float32(0)
	nan /= nan
	for _, tt := range []struct {
		r    Request
		want string
	}{
		{Request{MaxTokens: 1}, "prompt: got 0 tokens, want 1 to 256"},
		{Request{Prompt: make([]int32, 257), MaxTokens: 1}, "prompt: got 257 tokens, want 1 to 256"},
		{Request{Prompt: []int32{1}}, "max tokens: got 0, want at least 1"},
		{Request{Prompt: []int32{1, 19}, MaxTokens: 1}, "prompt: token 1: got id 19, want 0 to 18"},
		{Request{Prompt: []int32{-1}, MaxTokens: 1}, "prompt: token 0: got id -1, want 0 to 18"},
		{Request{Prompt: []int32{1}, MaxTokens: 1, Stop: []int32{99}}, "stop: token 0: got id 99, want 0 to 18"},
		{Request{Prompt: []int32{1}, MaxTokens: 1, Temperature: -1}, "temperature: got -1, want a finite number, at least 0"},
		{Request{Prompt: []int32{1}, MaxTokens: 1, Temperature: nan}, "temperature: got NaN, want a finite number, at least 0"},
		{Request{Prompt: []int32{1}, MaxTokens: 1, TopP: 1.5}, "top-p: got 1.5, want a number in (0, 1], or 0 for off"},
		{Request{Prompt: []int32{1}, MaxTokens: 1, TopK: -2}, "top-k: got -2, want at least 1, or 0 for off"},
	} {
		if _, err := g.Generate(t.Context(), tt.r); err == nil || err.Error() != "generate: "+tt.want {
			t.Errorf("got error %v, want %s", err, tt.want)
		}
	}
}

// TestErrorsStayApart lets requests fail beside good ones.
func TestErrorsStayApart(t *testing.T) {
	cfg := tinyConfig()
	m := newModel(t, cfg, 5)
	for i := range cfg.Dim { // a token whose embedding breaks every number after it
		m.w.embed[7*cfg.Dim+i] = float32(math.NaN())
	}
	g := newGenerator(t, m, GeneratorOptions{Pool: newPool(t, 2), CacheTokens: 1024})
	good := Request{Prompt: []int32{1, 2, 3}, MaxTokens: 50, Temperature: 1, Seed: 3, Stop: []int32{7}}
	want := generate(t, g, good)
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			switch i % 3 {
			case 0:
				_, err := g.Generate(t.Context(), Request{Prompt: []int32{1, 2}, MaxTokens: 5, StopFunc: func([]int32) bool { panic("boom\nboom") }})
				if err == nil || err.Error() != "generate: stop function panicked: boom boom" {
					t.Errorf("got error %v, want the panic", err)
				}
			case 1:
				_, err := g.Generate(t.Context(), Request{Prompt: []int32{1, 7}, MaxTokens: 5})
				if err == nil || !strings.HasPrefix(err.Error(), "generate: logits at position 2") {
					t.Errorf("got error %v, want bad logits", err)
				}
			default:
				got, err := g.Generate(t.Context(), good)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("got %v, %v, want %v", got, err, want)
				}
			}
		})
	}
	wg.Wait()
}

// TestCancel fills the batch with endless requests and wants their slots back.
func TestCancel(t *testing.T) {
	cfg := tinyConfig()
	cfg.MaxSeq = 1 << 16
	m := newModel(t, cfg, 5)
	g := newGenerator(t, m, GeneratorOptions{MaxBatch: 2, CacheTokens: 256})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	running := make(chan bool, 4)
	for i := range 4 { // two run, two wait in the queue
		wg.Go(func() {
			started := false
			_, err := g.Generate(ctx, Request{Prompt: []int32{int32(i)}, MaxTokens: 1 << 16, StopFunc: func([]int32) bool {
				if !started {
					started = true
					running <- true
				}
				return false
			}})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got error %v, want %v", err, context.Canceled)
			}
		})
	}
	for range 2 {
		<-running
	}
	cancel()
	wg.Wait()
	generate(t, g, Request{Prompt: []int32{1}, MaxTokens: 3})
	if _, err := g.Generate(ctx, Request{Prompt: []int32{1}, MaxTokens: 3}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: got error %v, want %v", err, context.Canceled)
	}
}

func TestClose(t *testing.T) {
	cfg := tinyConfig()
	cfg.MaxSeq = 1 << 16
	g := NewGenerator(newModel(t, cfg, 5), GeneratorOptions{MaxBatch: 1})
	errs := make(chan error)
	started := make(chan struct{}, 1)
	for range 2 {
		go func() {
			_, err := g.Generate(context.Background(), Request{Prompt: []int32{1}, MaxTokens: 1 << 16, StopFunc: func([]int32) bool {
				select {
				case started <- struct{}{}:
				default:
				}
				return false
			}})
			errs <- err
		}()
	}
	<-started
	g.Close()
	g.Close()
	for range 2 {
		select {
		case err := <-errs:
			if !errors.Is(err, ErrClosed) {
				t.Errorf("got error %v, want %v", err, ErrClosed)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("a request did not end on Close")
		}
	}
	if _, err := g.Generate(t.Context(), Request{Prompt: []int32{1}, MaxTokens: 1}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: got error %v, want %v", err, ErrClosed)
	}
}

// TestSnapshot trains the model on while a generator made before samples.
func TestSnapshot(t *testing.T) {
	cfg := tinyConfig()
	m := newModel(t, cfg, 5)
	g := newGenerator(t, m, GeneratorOptions{})
	r := Request{Prompt: []int32{1, 2, 3}, MaxTokens: 20, Temperature: 1}
	want := generate(t, g, r)
	for i := range m.w.flat {
		m.w.flat[i] *= 2
	}
	if got := generate(t, g, r); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v as before the weights changed", got, want)
	}
}
