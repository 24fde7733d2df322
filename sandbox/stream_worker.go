package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	whale "github.com/seed-095d5d2b/whale"
)

// streamBuffer is how much of a pipe is read at once.
const streamBuffer = 32 << 10

// streamWorker is a worker of a [Group] with its streams. It has one goroutine, live, which starts it, reads what it sends, and
// buries it.
type streamWorker struct {
	group *Group
	alone bool

	ready chan struct{} // closed when it is started, or could not be
	err   error         // why it could not be started; valid after ready
	out   *streamWriter // valid after ready without err
	kept  atomic.Int64  // bytes of messages that wait to be received
	gone  chan struct{} // closed when it is dead and its streams know

	// Guarded by the mutex of the group.
	load    int  // places that are taken
	streams int  // that it has had
	leaving bool // gets no more streams

	mu     sync.Mutex
	proc   *worker
	next   uint32
	open   map[uint32]*Conn
	doomed bool
	cause  *whale.Incident // why this side killed it
}

func newStreamWorker(g *Group) *streamWorker {
	return &streamWorker{group: g, ready: make(chan struct{}), gone: make(chan struct{}), open: map[uint32]*Conn{}}
}

// live is the life of a worker. It ends soon after kill.
func (m *streamWorker) live() {
	defer close(m.gone)
	defer m.group.remove(m)
	proc, err := m.group.start(context.Background(), m.group.hello())
	if err != nil {
		m.err = err
		m.group.retire(m)
		close(m.ready)
		return
	}
	m.out = newStreamWriter(proc.to, m.group.budget()+3*streamHeader*m.group.opt.PerWorker)
	m.out.try, m.out.spawn = nowWriter(proc.to), m.group.spawn
	m.mu.Lock()
	m.proc = proc
	doomed := m.doomed
	m.mu.Unlock()
	if doomed {
		proc.kill()
	}
	close(m.ready)
	m.die(m.read())
}

// read passes on what the worker sends, until that ends or is no honest worker's. It never waits for the user of a stream.
func (m *streamWorker) read() error {
	limit := m.group.opt.MaxMessage
	r := bufio.NewReaderSize(m.proc.from, streamBuffer)
	for {
		f, err := readStreamFrame(r, limit)
		if err != nil {
			return err
		}
		m.mu.Lock()
		c := m.open[f.stream]
		switch {
		case c == nil:
			m.mu.Unlock()
			return &badFrame{fmt.Sprintf("got a frame of stream %d, which is not open", f.stream)}
		case f.kind == streamEnd, f.kind == streamError:
			delete(m.open, f.stream)
			if c.grace != nil {
				c.grace.Stop()
			}
			m.mu.Unlock()
			c.finish(ended(f))
			m.group.release(m)
		case f.kind == streamMessage:
			m.mu.Unlock()
			if err := c.deliver(f.payload); err != nil {
				c.finish(&whale.Incident{Reason: whale.FailWorker, Detail: err.Error()})
				m.giveUp(c)
			}
		default:
			m.mu.Unlock()
			return &badFrame{fmt.Sprintf("got a frame of kind %q from a worker", f.kind)}
		}
	}
}

// die kills and reaps the process and tells its streams why.
func (m *streamWorker) die(err error) {
	m.group.retire(m)
	m.group.bury(m.proc)
	m.mu.Lock()
	m.doomed = true
	left, cause := m.open, m.cause
	m.open = nil
	for _, c := range left {
		if c.grace != nil {
			c.grace.Stop()
		}
	}
	m.mu.Unlock()
	var end error = cause
	if cause == nil {
		end = m.incident(err)
	}
	if m.group.isClosed() {
		end = ErrClosed
	}
	for _, c := range left {
		c.finish(end)
	}
}

// incident tells why the process, which is reaped, died after reading from it ended with err.
func (m *streamWorker) incident(err error) *whale.Incident {
	var bad *badFrame
	if errors.As(err, &bad) {
		return &whale.Incident{Reason: whale.FailWorker, Detail: bad.Error()}
	}
	found := m.proc.autopsy(err)
	if found.reason == ReasonMemory {
		return &whale.Incident{Reason: whale.FailMemory, Detail: found.detail}
	}
	return &whale.Incident{Reason: whale.FailWorker, Detail: found.detail}
}

// add makes a new stream, or returns nil if the worker is dead or about to be.
func (m *streamWorker) add() *Conn {
	m.mu.Lock()
	if m.doomed {
		m.mu.Unlock()
		return nil
	}
	m.next++
	c := &Conn{in: m, id: m.next, wake: make(chan struct{}, 1)}
	m.open[c.id] = c
	m.mu.Unlock()
	if err := m.out.post(streamFrame{kind: streamOpen, stream: c.id}); err != nil {
		m.failed(err)
		return nil
	}
	return c
}

// giveUp cancels a stream that is not wanted any more, and sees to it that it ends.
func (m *streamWorker) giveUp(c *Conn) {
	if m.alone {
		m.kill(nil)
		return
	}
	grace := m.group.opt.Grace
	m.mu.Lock()
	if m.open[c.id] == nil || c.grace != nil { // it has ended, or is given up already
		m.mu.Unlock()
		return
	}
	c.grace = time.AfterFunc(grace, func() {
		m.kill(&whale.Incident{Reason: whale.FailWorker, Detail: fmt.Sprintf("a stream beside it did not end within %v of being given up", grace)})
	})
	m.mu.Unlock()
	if err := m.out.write(streamFrame{kind: streamCancel, stream: c.id}); err != nil {
		m.failed(err)
	}
}

// failed ends a worker to which nothing can be written.
func (m *streamWorker) failed(err error) {
	if errors.Is(err, errBacklog) {
		m.kill(&whale.Incident{Reason: whale.FailWorker, Detail: "its worker does not read: " + err.Error()})
		return
	}
	m.kill(nil)
}

// kill ends the process; die follows. The cause is for its streams; nil leaves it to the autopsy.
func (m *streamWorker) kill(cause *whale.Incident) {
	m.mu.Lock()
	if m.cause == nil {
		m.cause = cause
	}
	m.doomed = true
	proc := m.proc
	m.mu.Unlock()
	if proc != nil {
		proc.kill()
	}
}
