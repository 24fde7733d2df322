package rollout

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seed-095d5d2b/whale"
)

// clock measures a harness's own time: it runs from the episode's start and stands still while the host answers, so that a slow model
// or tool is never charged to the program. When the time is over it ends the context with an *[whale.Incident].
type clock struct {
	cancel context.CancelCauseFunc
	limit  time.Duration

	mu      sync.Mutex
	left    time.Duration
	since   time.Time   // of the running stretch
	timer   *time.Timer // nil while it stands still
	stopped bool
}

// newClock makes a clock that stands still. seconds 0 means no limit.
func newClock(ctx context.Context, seconds float64) (context.Context, *clock) {
	ctx, cancel := context.WithCancelCause(ctx)
	limit := time.Duration(seconds * float64(time.Second))
	return ctx, &clock{cancel: cancel, limit: limit, left: limit}
}

// run lets the clock run, if it does not.
func (c *clock) run() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.limit <= 0 || c.stopped || c.timer != nil {
		return
	}
	c.since = time.Now()
	c.timer = time.AfterFunc(c.left, func() {
		c.cancel(&whale.Incident{Reason: whale.FailWall, Detail: fmt.Sprintf("the harness took more than %v of its own time", c.limit)})
	})
}

// pause lets it stand still.
func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil {
		return
	}
	c.timer.Stop()
	c.timer = nil
	c.left -= time.Since(c.since)
}

// stop ends it, and its context.
func (c *clock) stop() {
	c.pause()
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.cancel(nil)
}

// overdue is how long a model or a tool that ignores the end of its context is waited for.
const overdue = time.Second

// within runs f under a deadline of its own. If f ignores the end of its context it is left behind: gone is closed when it has
// returned. The error of a deadline is the infrastructure's.
func within[T any](ctx context.Context, seconds float64, what string, f func(context.Context) (T, error)) (v T, gone <-chan struct{}, err error) {
	d := time.Duration(seconds * float64(time.Second))
	if d <= 0 {
		d = time.Duration(1<<63 - 1)
	}
	limited, cancel := context.WithTimeoutCause(ctx, d, fmt.Errorf("%s: no answer within %g s", what, seconds))
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1)
	ended := make(chan struct{})
	go func() {
		defer cancel()
		defer close(ended)
		v, err := f(limited)
		done <- outcome{v, err}
	}()
	var o outcome
	select {
	case o = <-done:
	case <-limited.Done():
		wait := time.NewTimer(overdue)
		defer wait.Stop()
		select {
		case o = <-done:
		case <-wait.C:
			o.err = context.Cause(limited)
		}
	}
	if o.err != nil && ctx.Err() == nil && limited.Err() == context.DeadlineExceeded {
		o.err = context.Cause(limited)
	}
	return o.v, ended, o.err
}
