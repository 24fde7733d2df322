package sandbox

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/semaphore"

	whale "github.com/seed-095d5d2b/whale"
)

// Group runs streams in worker processes, many in each. Workers are started when they are needed and kept for later streams. All
// methods may be called from many goroutines at once.
type Group struct {
	*crew
	opt     GroupOptions
	recycle int                 // recycleAfter, and less in tests
	alone   *semaphore.Weighted // one unit a worker for a stream alone

	// Guarded by the mutex of the crew.
	workers []*streamWorker // that are not reaped, those for streams alone apart
	waiting []*waiter       // in order of arrival
}

// waiter is an Open for which no worker has a place.
type waiter struct {
	given chan *streamWorker // capacity 1; nil when the group is closed
}

// NewGroup makes a group. No process is started yet, unless the options' Require asks for a look.
func NewGroup(opt GroupOptions) (*Group, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	c, err := newCrew(opt.Command)
	if err != nil {
		return nil, err
	}
	g := &Group{crew: c, opt: opt, recycle: recycleAfter, alone: semaphore.NewWeighted(int64(opt.Alone))}
	if err := c.confineBy(opt.without, opt.Require, g.hello()); err != nil {
		return nil, err
	}
	return g, nil
}

// Open begins a stream in the worker that has the fewest, or in a new one while all have some and there may be more; where all are full it
// waits. With a context of [whale.WithAlone] the stream gets a fresh worker that nothing else uses and that ends with it. An
// error says nothing about the stream: ctx ended, [ErrStart], [ErrClosed]. The stream must be closed.
func (g *Group) Open(ctx context.Context) (*Conn, error) {
	for range startTries {
		m, err := g.take(ctx)
		if err != nil {
			return nil, err
		}
		select {
		case <-m.ready:
		case <-ctx.Done():
			g.release(m)
			return nil, ctx.Err()
		}
		if m.err != nil {
			return nil, m.err
		}
		if c := m.add(); c != nil {
			return c, nil
		}
		g.retire(m) // it died meanwhile, or is about to
	}
	if g.isClosed() {
		return nil, ErrClosed
	}
	return nil, fmt.Errorf("%w: %d died before they could be used", ErrStart, startTries)
}

// take takes a place in a worker that may not be ready yet.
func (g *Group) take(ctx context.Context) (*streamWorker, error) {
	if whale.IsAlone(ctx) {
		return g.takeAlone(ctx)
	}
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil, ErrClosed
	}
	if len(g.waiting) == 0 {
		if m := g.place(); m != nil {
			g.mu.Unlock()
			return m, nil
		}
	}
	w := &waiter{make(chan *streamWorker, 1)}
	g.waiting = append(g.waiting, w)
	g.mu.Unlock()
	select {
	case m := <-w.given:
		if m == nil {
			return nil, ErrClosed
		}
		return m, nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	at := slices.Index(g.waiting, w)
	if at >= 0 {
		g.waiting = slices.Delete(g.waiting, at, at+1)
	}
	g.mu.Unlock()
	if at < 0 {
		if m := <-w.given; m != nil {
			g.release(m)
		}
	}
	return nil, ctx.Err()
}

func (g *Group) takeAlone(ctx context.Context) (*streamWorker, error) {
	if err := g.alone.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		g.alone.Release(1)
		return nil, ErrClosed
	}
	m := newStreamWorker(g)
	m.alone, m.load, m.streams = true, 1, 1
	g.running.Go(m.live) // whose end gives the unit back
	return m, nil
}

// place finds a place for a stream and takes it, or returns nil. A worker that has served many is used only where no other has
// a place, so that it is idle one day and can be replaced. The mutex is held.
func (g *Group) place() *streamWorker {
	var best *streamWorker
	for _, m := range g.workers {
		if m.leaving || m.load >= g.opt.PerWorker {
			continue
		}
		if best == nil || m.old() != best.old() && best.old() || m.old() == best.old() && m.load < best.load {
			best = m
		}
	}
	if (best == nil || best.load > 0) && len(g.workers) < g.opt.Workers {
		best = newStreamWorker(g)
		g.workers = append(g.workers, best)
		g.running.Go(best.live)
	}
	if best != nil {
		best.load++
		best.streams++
	}
	return best
}

func (m *streamWorker) old() bool { return m.streams >= m.group.recycle }

// release gives a place back.
func (g *Group) release(m *streamWorker) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m.load--
	if m.load == 0 && !m.leaving && (m.alone || m.old()) {
		m.leaving = true
		m.kill(nil)
	}
	g.serve()
}

// retire keeps new streams from a worker that is dying.
func (g *Group) retire(m *streamWorker) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m.leaving = true
}

// remove forgets a worker that is reaped.
func (g *Group) remove(m *streamWorker) {
	if m.alone {
		g.alone.Release(1)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if at := slices.Index(g.workers, m); at >= 0 {
		g.workers = slices.Delete(g.workers, at, at+1)
	}
	g.serve()
}

// serve gives places to those who wait. The mutex is held.
func (g *Group) serve() {
	for len(g.waiting) > 0 && !g.closed {
		m := g.place()
		if m == nil {
			return
		}
		g.waiting[0].given <- m
		g.waiting = slices.Delete(g.waiting, 0, 1)
	}
}

func (g *Group) hello() hello {
	return hello{Entry: g.opt.Entry, Memory: g.opt.Memory, Streams: true, MaxMessage: g.opt.MaxMessage}
}

// budget is how many bytes of messages of one worker may wait, in each direction: one as long as allowed for each of its streams, but as that
// can be a lot, rather two such and 1 MiB for each stream.
func (g *Group) budget() int {
	return min(g.opt.PerWorker*g.opt.MaxMessage, g.opt.PerWorker<<20+2*g.opt.MaxMessage)
}

// Close kills all workers and returns when every process is reaped and every goroutine of the group has ended. Streams
// that were running return [ErrClosed].
func (g *Group) Close() {
	g.killAll()
	g.mu.Lock()
	for _, w := range g.waiting {
		close(w.given)
	}
	g.waiting = nil
	g.mu.Unlock()
	g.buryAll()
}
