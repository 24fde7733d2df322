package kernel

import (
	"sync"
	"sync/atomic"
)

// Pool is a fixed set of goroutines that share the iterations of loops. A nil
// Pool, and one of size 1, runs everything on the calling goroutine. Its creator
// closes it.
type Pool struct {
	size    int
	tickets chan *loop
	quit    chan struct{}
	once    sync.Once
	workers sync.WaitGroup
}

// NewPool starts a pool that runs a loop on up to workers goroutines, the caller of For
// being one of them. Less than 1 counts as 1.
func NewPool(workers int) *Pool {
	workers = max(workers, 1)
	p := &Pool{
		size:    workers,
		tickets: make(chan *loop, 4*workers),
		quit:    make(chan struct{}),
	}
	for range workers - 1 {
		p.workers.Go(p.work)
	}
	return p
}

// Size is the number of goroutines that can share a loop; 1 for a nil Pool.
func (p *Pool) Size() int {
	if p == nil {
		return 1
	}
	return p.size
}

// Close ends the pool's goroutines and waits for them. Loops under way are
// finished by their callers, and For runs inline from then on. Closing twice, or
// closing a nil Pool, does nothing.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	p.once.Do(func() { close(p.quit) })
	p.workers.Wait()
}

// For runs f(0) … f(n-1), in any order and at the same time, and returns when all
// have returned. It may be called from several goroutines at once and
// from inside f: a caller works on its own loop and waits only for iterations that are
// already running. A panic in f is raised again in the caller of For, after the
// other iterations that had begun.
func (p *Pool) For(n int, f func(i int)) {
	if n <= 0 {
		return
	}
	if p.Size() == 1 || n == 1 {
		for i := range n {
			f(i)
		}
		return
	}
	l := &loop{n: int64(n), f: f}
	l.running.Add(1) // the caller's own share
offer:
	for range min(n, p.size) - 1 {
		select {
		case p.tickets <- l:
		default: // every worker has enough to do
			break offer
		}
	}
	l.run()
	l.wait()
	if r := l.panicked.Load(); r != nil {
		panic(r.value)
	}
}

func (p *Pool) work() {
	for {
		select {
		case <-p.quit:
			return
		case l := <-p.tickets:
			if l.join() {
				l.run()
			}
		}
	}
}

// loop is one call of For. A ticket for it may be drawn after it has ended, which
// is why it is never reused.
type loop struct {
	n        int64
	f        func(i int)
	next     atomic.Int64
	mu       sync.Mutex // guards ended and every Add to running that is not the caller's
	ended    bool
	running  sync.WaitGroup // goroutines inside run
	panicked atomic.Pointer[caught]
}

type caught struct{ value any }

// join enters the loop unless its caller has stopped waiting for newcomers.
func (l *loop) join() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || l.next.Load() >= l.n {
		return false
	}
	l.running.Add(1)
	return true
}

func (l *loop) run() {
	defer l.running.Done()
	defer func() {
		if r := recover(); r != nil {
			l.panicked.CompareAndSwap(nil, &caught{r})
			l.next.Store(l.n) // begin nothing more
		}
	}()
	for {
		i := l.next.Add(1) - 1
		if i >= l.n {
			return
		}
		l.f(int(i))
	}
}

func (l *loop) wait() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.running.Wait()
	l.f = nil
}
