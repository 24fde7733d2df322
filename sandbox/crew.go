package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
)

// crew starts and ends the processes of a [Pool] or a [Group]. Which of them does what is up to these.
type crew struct {
	command  []string // empty: this program
	launches chan launchRequest
	quit     chan struct{}
	without  []string       // mechanisms to leave out; only tests do
	required bool           // a worker that lacks a mechanism is not used
	running  sync.WaitGroup // the starter, and what else the owner of the crew counts here

	mu     sync.Mutex
	closed bool
	all    map[*worker]bool // that may not be reaped yet
}

type launchRequest struct {
	done chan<- launched
}

type launched struct {
	w   *worker
	err error
}

// newCrew makes a crew of workers of a program; an empty command means this binary. No process is started yet.
func newCrew(command []string) (*crew, error) {
	if len(command) == 0 {
		if err := checkMain(os.Args); err != nil {
			return nil, err
		}
		if _, err := thisProgram(); err != nil {
			return nil, err
		}
	}
	c := &crew{command: command, launches: make(chan launchRequest), quit: make(chan struct{}), all: map[*worker]bool{}}
	c.running.Go(c.starter)
	return c, nil
}

// starter starts all processes of the crew on one thread that lives as long as the crew does: the kernel sends the death
// signal when the thread that started a process ends, and other threads of a Go program may end at any time.
func (c *crew) starter() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		select {
		case <-c.quit:
			return
		case req := <-c.launches:
			w, err := c.launch()
			req.done <- launched{w, err}
		}
	}
}

// launch starts a process without waiting until it is ready. It must run on the starter's thread.
func (c *crew) launch() (*worker, error) {
	command := c.command
	if len(command) == 0 {
		self, err := thisProgram()
		if err != nil {
			return nil, err
		}
		command = []string{self}
	}
	return launch(command, c.without)
}

// startTries is how often a worker that dies before it is ready is replaced. A program that cannot serve dies every
// time; one that somebody else killed does not, and since it is confined in two stages it takes long enough to be hit more than once.
const startTries = 8

// start gets a new worker that knows its task and is confined and ready.
func (c *crew) start(ctx context.Context, h hello) (w *worker, err error) {
	for range startTries {
		w, err = c.startOnce(ctx, h)
		var early *earlyDeath
		if !errors.As(err, &early) {
			return w, err
		}
	}
	return nil, err
}

func (c *crew) startOnce(ctx context.Context, h hello) (*worker, error) {
	done := make(chan launched, 1)
	select {
	case c.launches <- launchRequest{done}:
	case <-c.quit:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	got := <-done
	if got.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, got.err)
	}
	w := got.w
	c.mu.Lock()
	c.all[w] = true
	if c.closed {
		w.kill() // killAll has gone through the list already
	}
	c.mu.Unlock()
	err := w.greet(ctx, h)
	if err == nil && c.required {
		err = Require(w.mechanisms)
	}
	if err != nil {
		c.bury(w)
		if c.isClosed() {
			return nil, ErrClosed
		}
		return nil, err
	}
	return w, nil
}

// bury kills w and waits until the process is reaped.
func (c *crew) bury(w *worker) {
	w.kill()
	<-w.reaped
	c.mu.Lock()
	delete(c.all, w)
	c.mu.Unlock()
}

func (c *crew) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// spawn runs f in a goroutine that buryAll waits for, unless the crew is closed.
func (c *crew) spawn(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.running.Go(f)
	}
	return !c.closed
}

// killAll closes the crew: it kills every worker, and none is started any more. It waits for nothing.
func (c *crew) killAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		close(c.quit)
	}
	for w := range c.all {
		w.kill()
	}
}

// buryAll waits, after killAll, for whatever counts as running and until every process is reaped.
func (c *crew) buryAll() {
	c.running.Wait()
	c.mu.Lock()
	left := make([]*worker, 0, len(c.all))
	for w := range c.all {
		left = append(left, w)
	}
	c.mu.Unlock()
	for _, w := range left {
		c.bury(w)
	}
}
