package sandbox

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Conn is the parent's end of a stream. One goroutine at a time may send and one receive; Close may be called by any.
type Conn struct {
	in     *streamWorker
	id     uint32
	pushed atomic.Bool
	wake   chan struct{} // capacity 1: something has changed for Receive
	grace  *time.Timer   // set when given up; guarded by the mutex of the worker

	mu    sync.Mutex
	queue [][]byte
	bytes int   // in the queue
	end   error // what Receive returns after the queue; nil while the stream runs
}

// Send copies the message and returns, perhaps before it is on its way; it never waits for the worker to read. At most [StreamAhead]
// messages may wait for the entry to receive them. After the end of the stream Send returns what Receive returns.
func (c *Conn) Send(msg []byte) error {
	if limit := c.in.group.opt.MaxMessage; len(msg) > limit {
		return fmt.Errorf("sandbox stream: message: got %d bytes, want at most %d", len(msg), limit)
	}
	c.mu.Lock()
	err := c.end
	c.mu.Unlock()
	if err != nil {
		return err
	}
	return c.write(streamFrame{kind: streamMessage, stream: c.id, payload: msg})
}

// write sends a frame, or returns why the worker died.
func (c *Conn) write(f streamFrame) error {
	c.pushed.Store(true)
	err := c.in.out.write(f)
	if err == nil {
		return nil
	}
	c.in.failed(err)
	<-c.in.gone
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end
}

// Receive returns the next message. After the last one it returns how the stream ended: io.EOF (the entry returned), an
// [*EntryError] (with an error), a [*whale.Incident] (its worker died: FailMemory or FailWorker), or [ErrClosed] (Close of the
// stream or the group). Where ctx ends first it returns the error of ctx, and the stream goes on.
func (c *Conn) Receive(ctx context.Context) ([]byte, error) {
	if !c.pushed.Swap(true) {
		c.in.out.push()
	}
	for {
		c.mu.Lock()
		if len(c.queue) > 0 {
			msg := c.queue[0]
			c.queue = c.queue[1:]
			c.keep(-len(msg))
			c.mu.Unlock()
			return msg, nil
		}
		err := c.end
		c.mu.Unlock()
		if err != nil {
			return nil, err
		}
		select {
		case <-c.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Close gives the stream up, without waiting: the context of its entry ends, and if the entry does not return within the
// grace of the group its worker is killed. A stream that runs alone is killed at once. Its place is taken until it has ended.
// After the end of the stream Close does nothing.
func (c *Conn) Close() {
	c.mu.Lock()
	running := c.end == nil
	if running {
		c.end = ErrClosed
	}
	c.queue = nil
	c.keep(-c.bytes)
	c.mu.Unlock()
	c.signal()
	if running {
		c.in.giveUp(c)
	}
}

// deliver adds a message, or tells why it cannot wait.
func (c *Conn) deliver(msg []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		return nil // nobody wants it
	}
	switch n, limit := len(c.queue), c.in.group.opt.MaxMessage; {
	case n == StreamAhead:
		return errAhead
	case n > 0 && c.bytes+len(msg) > limit:
		return fmt.Errorf("stream: more than %d bytes wait to be received", limit)
	case c.in.kept.Load()+int64(len(msg)) > int64(c.in.group.budget()):
		return fmt.Errorf("stream: more than %d bytes of its worker wait to be received", c.in.group.budget())
	}
	c.queue = append(c.queue, msg)
	c.keep(len(msg))
	c.signal()
	return nil
}

// keep counts the bytes in the queue. The mutex is held.
func (c *Conn) keep(n int) {
	c.bytes += n
	c.in.kept.Add(int64(n))
}

// finish sets how the stream ended, unless it is given up already.
func (c *Conn) finish(err error) {
	c.mu.Lock()
	if c.end == nil {
		c.end = err
	}
	c.mu.Unlock()
	c.signal()
}

func (c *Conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// ended is how a stream ended whose entry returned: with the frame of kind end or error.
func ended(f streamFrame) error {
	if f.kind == streamError {
		return &EntryError{Text: string(f.payload)}
	}
	return io.EOF
}
