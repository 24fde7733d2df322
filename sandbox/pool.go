package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Options describe a pool.
type Options struct {
	// Command is the worker's program and what to put before its arguments; empty means this binary. The program must
	// call [Main] with the entry that Spec names.
	Command []string
	Spec    Spec
	Workers int // how many requests run at a time, each in a process of its own
}

// Pool runs requests in worker processes, which it starts when they are needed and keeps for the next request. All methods
// may be called from many goroutines at once.
type Pool struct {
	command []string
	spec    Spec
	workers int64

	// slots has one unit a worker. A request takes one; a request that is repeated alone takes all.
	slots    *semaphore.Weighted
	launches chan launchRequest
	quit     chan struct{}
	running  sync.WaitGroup // the starter and the Do calls

	mu     sync.Mutex
	closed bool
	all    map[*worker]bool
	idle   []*worker
}

type launchRequest struct {
	done chan<- launched
}

type launched struct {
	w   *worker
	err error
}

// NewPool makes a pool. No process is started yet.
func NewPool(opt Options) (*Pool, error) {
	if err := opt.Spec.check(); err != nil {
		return nil, err
	}
	if opt.Workers < 1 {
		return nil, fmt.Errorf("sandbox pool: workers: got %d, want at least 1", opt.Workers)
	}
	command := opt.Command
	if len(command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrStart, err)
		}
		command = []string{self}
	}
	p := &Pool{
		command: command, spec: opt.Spec, workers: int64(opt.Workers),
		slots:    semaphore.NewWeighted(int64(opt.Workers)),
		launches: make(chan launchRequest), quit: make(chan struct{}), all: map[*worker]bool{},
	}
	p.running.Go(p.starter)
	return p, nil
}

// starter starts all processes of the pool on one thread that lives as long as the pool does: the kernel sends the death
// signal when the thread that started a process ends, and other threads of a Go program may end at any time.
func (p *Pool) starter() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		select {
		case <-p.quit:
			return
		case req := <-p.launches:
			w, err := launch(p.command)
			req.done <- launched{w, err}
		}
	}
}

// Do runs one request and returns the entry's reply. A request that broke a limit is a [*Violation], an error that the
// entry returned an [*EntryError]; anything else says nothing about the request: ctx ended, [ErrStart], [ErrClosed].
func (p *Pool) Do(ctx context.Context, req []byte) ([]byte, error) {
	if len(req) > maxFrame {
		return nil, fmt.Errorf("sandbox request: got %d bytes, want at most %d", len(req), maxFrame)
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	p.running.Add(1)
	p.mu.Unlock()
	defer p.running.Done()

	reply, err := p.shared(ctx, req)
	var first *incident
	if !errors.As(err, &first) {
		return reply, err
	}
	reply, err = p.alone(ctx, req)
	var second *incident
	if !errors.As(err, &second) {
		return reply, err
	}
	return nil, &Violation{Reason: second.reason, Detail: second.detail}
}

// shared runs a request beside others, in any worker that is free.
func (p *Pool) shared(ctx context.Context, req []byte) ([]byte, error) {
	if err := p.slots.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer p.slots.Release(1)
	w := p.takeIdle()
	if w == nil {
		var err error
		if w, err = p.start(ctx); err != nil {
			return nil, err
		}
	}
	return p.callIn(ctx, w, req)
}

// alone runs a request while no other of the pool runs, in a worker that has seen none.
func (p *Pool) alone(ctx context.Context, req []byte) ([]byte, error) {
	if err := p.slots.Acquire(ctx, p.workers); err != nil {
		return nil, err
	}
	defer p.slots.Release(p.workers)
	w, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	return p.callIn(ctx, w, req)
}

// callIn runs the request in w, and keeps w for the next one if it is still good.
func (p *Pool) callIn(ctx context.Context, w *worker, req []byte) ([]byte, error) {
	reply, err := w.call(ctx, p.spec, req)
	var own *EntryError
	var broke *Violation
	if err == nil || errors.As(err, &own) || errors.As(err, &broke) {
		if p.keep(w) {
			return reply, err
		}
	}
	p.bury(w)
	if err != nil && p.isClosed() {
		return nil, ErrClosed // Close killed it; the request is not to blame
	}
	return reply, err
}

// startTries is how often a worker that dies before it is ready is replaced. A program that cannot serve dies every
// time; one that somebody else killed does not.
const startTries = 3

// start gets a new worker that is ready for a request.
func (p *Pool) start(ctx context.Context) (w *worker, err error) {
	for range startTries {
		w, err = p.startOnce(ctx)
		var early *earlyDeath
		if !errors.As(err, &early) {
			return w, err
		}
	}
	return nil, err
}

func (p *Pool) startOnce(ctx context.Context) (*worker, error) {
	done := make(chan launched, 1)
	select {
	case p.launches <- launchRequest{done}:
	case <-p.quit:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	got := <-done
	if got.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, got.err)
	}
	w := got.w
	p.mu.Lock()
	p.all[w] = true
	if p.closed {
		w.kill() // Close has gone through the list already
	}
	p.mu.Unlock()
	if err := w.greet(ctx, p.spec); err != nil {
		p.bury(w)
		if p.isClosed() {
			return nil, ErrClosed
		}
		return nil, err
	}
	return w, nil
}

func (p *Pool) takeIdle() *worker {
	for {
		p.mu.Lock()
		n := len(p.idle)
		if n == 0 {
			p.mu.Unlock()
			return nil
		}
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		if !w.dead() {
			return w
		}
		p.bury(w)
	}
}

// keep makes w available again, unless the pool is closed or has enough.
func (p *Pool) keep(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= int(p.workers) {
		return false
	}
	p.idle = append(p.idle, w)
	return true
}

// bury kills w and waits until the process is reaped.
func (p *Pool) bury(w *worker) {
	w.kill()
	<-w.reaped
	p.mu.Lock()
	delete(p.all, w)
	p.mu.Unlock()
}

func (p *Pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Close kills all workers and returns when every process is reaped and every goroutine of the pool has ended. Requests
// that were running return [ErrClosed].
func (p *Pool) Close() {
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	for w := range p.all {
		w.kill()
	}
	p.mu.Unlock()
	if first {
		close(p.quit)
	}
	p.running.Wait()
	p.mu.Lock()
	left := make([]*worker, 0, len(p.all))
	for w := range p.all {
		left = append(left, w)
	}
	p.idle = nil
	p.mu.Unlock()
	for _, w := range left {
		p.bury(w)
	}
}
