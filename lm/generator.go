package lm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// GeneratorOptions bounds a Generator's work and memory. Results depend on none of it.
type GeneratorOptions struct {
	Pool     *kernel.Pool // may be nil; the caller keeps it and closes it after the generator
	MaxBatch int          // requests in the batch at once; 0 or less means 64
	// CacheTokens is how many tokens' keys and values are kept, once no request uses
	// them, for prompts that begin alike; less than 16 means none. Requests under way
	// share what they have in common in any case.
	CacheTokens int
	// MemoryBytes bounds all keys and values, of requests under way and kept; 0 or less
	// means 1 GiB. Memory is taken as sequences grow. Requests that do not fit wait.
	MemoryBytes int64
}

const (
	defaultBatch  = 64
	defaultMemory = 1 << 30
)

// batch is MaxBatch with its default.
func (o GeneratorOptions) batch() int {
	if o.MaxBatch <= 0 {
		return defaultBatch
	}
	return o.MaxBatch
}

// blocks is the number of blocks within MemoryBytes, at least one.
func (o GeneratorOptions) blocks(c Config) int {
	bytes := o.MemoryBytes
	if bytes <= 0 {
		bytes = defaultMemory
	}
	return int(max(1, min(bytes/c.pageBytes(), 1<<31)))
}

// Request asks for one completion.
type Request struct {
	Prompt    []int32
	MaxTokens int // at least 1; the sequence also ends at the model's MaxSeq
	// Stop lists ids that end the completion; the one sampled stays in it.
	Stop []int32
	// StopFunc, if set, is called after each token with the completion so far and ends
	// it by returning true. It runs on the batch's goroutine, so it must be quick, and
	// must neither keep nor change the slice. It is not called after Generate returned.
	StopFunc func(tokens []int32) bool
	// Seed keys the draws, together with the position in the sequence.
	Seed        uint64
	Temperature float32 // 0 takes the likeliest token
	TopP        float32 // in (0, 1]; 0 means off
	TopK        int     // 0 means off
}

// How a completion can end.
const (
	FinishStop   = "stop"   // a stop id was sampled, or StopFunc said so
	FinishLength = "length" // MaxTokens or the model's MaxSeq was reached
)

// Result is a completion.
type Result struct {
	Tokens         []int32
	LogProbs       []float32 // of each token under the full distribution at temperature 1
	SampleLogProbs []float32 // after temperature, top-k and top-p; 0 when greedy
	Finish         string
}

// ErrClosed is what Generate answers on a closed Generator.
var ErrClosed = errors.New("generator: closed")

// Generator samples from a snapshot of a model with continuous batching: any
// number of goroutines call Generate, and one goroutine, which the generator owns,
// steps all their sequences at once, letting new ones in between steps.
//
// A completion and its log-probabilities depend on the weights, the request and the
// kernel variant alone, to the bit: not on what else is in the batch, the pool, or
// the cache. The log-probabilities have the same bits as Model.LogProbs gives.
type Generator struct {
	dec  *decoder
	opt  GeneratorOptions
	done chan struct{} // closed when the loop has ended

	mu     sync.Mutex
	wake   *sync.Cond // queue or closed changed
	queue  []*job
	closed bool

	batch batch // the loop's own
}

// job is a request under way. After it leaves the queue only the loop touches it,
// until done is closed.
type job struct {
	req       Request
	cancelled atomic.Bool
	done      chan struct{}
	result    Result
	err       error

	tokens []int32  // prompt and completion
	limit  int      // length of tokens at which generation ends
	path   []*block // keys and values, see path.go
	shared int      // blocks of path that hang in the tree
	fed    int      // tokens whose keys and values are in path
	row    int      // of this step's logits; -1 for none
}

// NewGenerator starts a generator over the weights as they are now. Close it.
func NewGenerator(m *Model, opt GeneratorOptions) *Generator {
	defer opt.Pool.Work().End() // it lays out the weights for decoding
	opt.MaxBatch = opt.batch()
	g := &Generator{dec: newDecoder(m), opt: opt, done: make(chan struct{})}
	g.wake = sync.NewCond(&g.mu)
	g.batch.init(g.dec, opt)
	go g.loop()
	return g
}

// Close ends all requests with ErrClosed, waits for the generator's goroutine, and lets go
// of the copy of the weights and of all keys and values.
func (g *Generator) Close() {
	g.mu.Lock()
	g.closed = true
	g.wake.Signal()
	g.mu.Unlock()
	<-g.done
}

// Generate samples one completion. It returns early with ctx's error if ctx ends. A
// prompt of MaxSeq tokens gives an empty completion that ends with FinishLength; a
// longer one is an error.
func (g *Generator) Generate(ctx context.Context, r Request) (Result, error) {
	if err := g.check(&r); err != nil {
		return Result{}, fmt.Errorf("generate: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("generate: %w", err)
	}
	j := &job{req: r, done: make(chan struct{})}
	room := min(r.MaxTokens, g.dec.m.cfg.MaxSeq-len(r.Prompt))
	if room == 0 {
		return Result{Finish: FinishLength}, nil
	}
	j.limit = len(r.Prompt) + room
	if got, most := blocksOf(j.limit), g.batch.pool.limit; got > most {
		return Result{}, fmt.Errorf("generate: prompt and max tokens: got %d, want at most the %d whose keys and values fit the generator's memory", j.limit, most*blockTokens)
	}
	ahead := min(room, 256) // so that a token costs no allocation
	j.tokens = append(make([]int32, 0, len(r.Prompt)+ahead), r.Prompt...)
	j.result = Result{LogProbs: make([]float32, 0, ahead), SampleLogProbs: make([]float32, 0, ahead)}
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return Result{}, ErrClosed
	}
	g.queue = append(g.queue, j)
	g.wake.Signal()
	g.mu.Unlock()

	select {
	case <-j.done:
	case <-ctx.Done():
		if g.withdraw(j) {
			return Result{}, fmt.Errorf("generate: %w", ctx.Err())
		}
		j.cancelled.Store(true)
		<-j.done // at most one step away
		if j.err == nil || errors.Is(j.err, errCancelled) {
			return Result{}, fmt.Errorf("generate: %w", ctx.Err())
		}
	}
	return j.result, j.err
}

var errCancelled = errors.New("cancelled")

// withdraw takes a job out of the queue, if it is still there.
func (g *Generator) withdraw(j *job) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.queue, j)
	if i < 0 {
		return false
	}
	g.queue = slices.Delete(g.queue, i, i+1)
	return true
}

func (g *Generator) check(r *Request) error {
	c := g.dec.m.cfg
	switch {
	case len(r.Prompt) < 1 || len(r.Prompt) > c.MaxSeq:
		return fmt.Errorf("prompt: got %d tokens, want 1 to %d", len(r.Prompt), c.MaxSeq)
	case r.MaxTokens < 1:
		return fmt.Errorf("max tokens: got %d, want at least 1", r.MaxTokens)
	case !(r.Temperature >= 0) || !finite(float64(r.Temperature)):
		return fmt.Errorf("temperature: got %g, want a finite number, at least 0", r.Temperature)
	case !(r.TopP >= 0 && r.TopP <= 1):
		return fmt.Errorf("top-p: got %g, want a number in (0, 1], or 0 for off", r.TopP)
	case r.TopK < 0:
		return fmt.Errorf("top-k: got %d, want at least 1, or 0 for off", r.TopK)
	}
	if err := g.dec.m.checkTokens("stop", r.Stop); err != nil {
		return err
	}
	return g.dec.m.checkTokens("prompt", r.Prompt)
}

// loop is the generator's goroutine: admit, step, until closed.
func (g *Generator) loop() {
	defer close(g.done)
	for g.admit() {
		g.batch.step()
		// Callers that wait for a core come in now and share the next step. On one core
		// each would find the batch empty, and be stepped alone, otherwise.
		runtime.Gosched()
	}
	g.batch.abort(ErrClosed)
	g.batch.rest()
	g.batch.release()
}

// admit moves requests into the batch while there is room, those first that had to
// leave it, and waits for one if there is nothing to do. It reports false once the
// generator is closed.
func (g *Generator) admit() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := &g.batch
	for !g.closed && len(g.queue) == 0 && len(b.jobs) == 0 && len(b.waiting) == 0 {
		b.rest()
		g.wake.Wait()
	}
	if g.closed {
		for _, j := range g.queue {
			j.finish(ErrClosed)
		}
		g.queue = nil
		return false
	}
	for len(b.jobs) < g.opt.MaxBatch {
		from := &g.queue
		if len(b.waiting) > 0 {
			from = &b.waiting
		}
		// Each job under way may soon need a block. An empty batch takes anybody.
		if len(*from) == 0 || !b.enter((*from)[0], len(b.jobs)) {
			break
		}
		b.jobs = append(b.jobs, (*from)[0])
		*from = slices.Delete(*from, 0, 1)
	}
	return true
}

func (j *job) finish(err error) {
	j.err = err
	if err != nil {
		j.result = Result{}
	}
	close(j.done)
}
