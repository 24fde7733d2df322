package sandbox

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/semaphore"
)

// Options describe a pool.
type Options struct {
	// Command is the worker's program and what to put before its arguments; empty means this binary. The program must
	// call [Main] with the entry that Spec names.
	Command []string
	Spec    Spec
	Workers int // how many requests run at a time, each in a process of its own

	// Require refuses to run where one of the mechanisms of a worker is missing (see [Probe]). Then NewPool starts a worker to see.
	Require bool

	without []string // mechanisms to leave out, for tests
}

// Pool runs requests in worker processes, which it starts when they are needed and keeps for the next request. All methods
// may be called from many goroutines at once.
type Pool struct {
	*crew
	spec    Spec
	workers int64

	// slots has one unit a worker. A request takes one; a request that is repeated alone takes all.
	slots *semaphore.Weighted

	idle []*worker // guarded by the mutex of the crew
}

// NewPool makes a pool. No process is started yet, unless Options.Require asks for a look.
func NewPool(opt Options) (*Pool, error) {
	if err := opt.Spec.check(); err != nil {
		return nil, err
	}
	if opt.Workers < 1 {
		return nil, fmt.Errorf("sandbox pool: workers: got %d, want at least 1", opt.Workers)
	}
	c, err := newCrew(opt.Command)
	if err != nil {
		return nil, err
	}
	if err := c.confineBy(opt.without, opt.Require, opt.Spec.hello()); err != nil {
		return nil, err
	}
	return &Pool{crew: c, spec: opt.Spec, workers: int64(opt.Workers), slots: semaphore.NewWeighted(int64(opt.Workers))}, nil
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
		if w, err = p.start(ctx, p.spec.hello()); err != nil {
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
	w, err := p.start(ctx, p.spec.hello())
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

// Close kills all workers and returns when every process is reaped and every goroutine of the pool has ended. Requests
// that were running return [ErrClosed].
func (p *Pool) Close() {
	p.killAll()
	p.buryAll()
	p.mu.Lock()
	p.idle = nil
	p.mu.Unlock()
}
