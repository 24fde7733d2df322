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
	asleep  atomic.Int32 // workers that wait for a ticket, or are about to
	quit    chan struct{}
	once    sync.Once
	workers sync.WaitGroup
	watch   atomic.Pointer[Stopwatch]
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
	asleep := p.asleep.Load() > 0
offer:
	for range min(n, p.size) - 1 {
		select {
		case p.tickets <- l:
		default: // every worker has enough to do
			break offer
		}
	}
	if asleep {
		push()
	}
	l.run()
	l.wait()
	if r := l.panicked.Load(); r != nil {
		panic(r.value)
	}
}

// push lets a worker that was just given a ticket begin on another processor without
// delay. Go puts a goroutine that becomes runnable next in line on the processor of the one
// that woke it, whence others take it only after a sleep (runqgrab in runtime/proc.go), which
// with Linux's timer slack lasts 55 µs. One more goroutine moves it on into the queue, from
// which it is taken at once, if the other processor has not begun that sleep already: with
// loops back to back it seldom has, and products of 0.2 ms took three quarters of the time; one
// that slept deeply may have, and then the worker begins after 70 µs as it would without.
// (Workers that looked for tickets for some 30 µs before they slept began after 0.2 µs, but
// products were hardly faster than with this, and each gap between loops cost a core.)
func push() { go func() {}() }

func (p *Pool) work() {
	for {
		l := p.ticket()
		if l == nil {
			return
		}
		if l.join() {
			l.run()
		}
	}
}

// ticket waits for one; nil when the pool closes.
func (p *Pool) ticket() *loop {
	p.asleep.Add(1)
	defer p.asleep.Add(-1)
	select {
	case <-p.quit:
		return nil
	case l := <-p.tickets:
		return l
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
