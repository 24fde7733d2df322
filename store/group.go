package store

import (
	"context"
	"errors"
	"time"
)

const (
	// maxGroup bounds how many requests share one commit.
	maxGroup = 512

	// groupAge is how long a request that nobody waits for stays uncommitted: what a kill may take of it. It is far below an
	// episode's time with any model for which an episode is dear.
	groupAge = 100 * time.Millisecond

	// gather is how many such requests wake the writer. Waking it for each would take a core from the model each time.
	gather = 16
)

// group is a transaction under way: requests that are applied and not yet committed. It belongs to the writer's goroutine.
type group struct {
	open     bool // the transaction has begun
	requests []*request
	verdicts []error // a refusal for each request, nil for one that is to be committed
	awaited  bool    // somebody waits for one of them
	charged  []charged
}

// join applies a request to the open group, which it begins where there is none. An error that is not about the request alone ends
// the group, and nothing of it remains.
func (w *writer) join(req *request) {
	// The callers' contexts do not reach in here: one caller giving up must not undo the others' writes.
	ctx := context.Background()
	w.group.requests = append(w.group.requests, req)
	w.group.awaited = w.group.awaited || req.done != nil
	err := w.failure(req.done != nil)
	if err != nil {
		err = &refusal{err}
	} else {
		err = w.applyIn(ctx, req)
	}
	req.ops, req.build = nil, nil // what they hold is written or lost, and the group and the queue keep the request for a while
	var no *refusal
	switch {
	case errors.As(err, &no):
		w.group.verdicts = append(w.group.verdicts, no.err)
		if req.done == nil {
			w.fail(no.err)
		}
	case err != nil:
		w.abandon(err)
	default:
		w.group.verdicts = append(w.group.verdicts, nil)
	}
}

// applyIn applies a request inside the group's transaction.
func (w *writer) applyIn(ctx context.Context, req *request) error {
	if req.build != nil {
		var err error
		if req.ops, err = req.build(); err != nil {
			return &refusal{err}
		}
	}
	if len(req.ops) == 0 {
		return nil
	}
	if !w.group.open {
		if err := w.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
		w.group.open = true
	}
	return w.applyRequest(ctx, req)
}

// commit makes the open group durable and answers each of its requests: the totals, then the trajectory frames, synced, then the rows.
func (w *writer) commit() {
	if len(w.group.requests) == 0 {
		return
	}
	if w.group.open {
		if err := w.seal(context.Background()); err != nil {
			w.abandon(err)
			return
		}
	}
	w.settle(len(w.group.requests))
	for i, req := range w.group.requests {
		if req.done != nil {
			req.done <- w.group.verdicts[i]
		}
	}
	w.group = group{requests: clearOf(w.group.requests), verdicts: clearOf(w.group.verdicts)}
}

func (w *writer) seal(ctx context.Context) error {
	if err := w.addTotals(ctx); err != nil {
		return err
	}
	if err := w.seg.flush(); err != nil {
		return err
	}
	if err := w.exec(ctx, "COMMIT"); err != nil {
		return err
	}
	w.seg.committed()
	return nil
}

// abandon takes the open group back, and tells all that wait for one of its requests.
func (w *writer) abandon(err error) {
	w.seg.discard()
	if w.group.open {
		// After a full disk SQLite may have rolled back already, and then this fails, which is fine.
		_ = w.exec(context.Background(), "ROLLBACK")
	}
	for _, req := range w.group.requests {
		if req.done == nil {
			w.fail(err)
		}
	}
	w.settle(len(w.group.requests))
	for _, req := range w.group.requests {
		if req.done != nil {
			req.done <- err
		}
	}
	w.group = group{}
}

// settle counts requests that are committed or failed.
func (w *writer) settle(n int) {
	w.mu.Lock()
	w.under -= n
	w.mu.Unlock()
}

// fail notes that a write is lost for which nobody waited: whatever is written after it would rest on it.
func (w *writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = err
	}
}

// failure is the error of a write that nobody waited for, if there is one. tell says that a caller will hear of it.
func (w *writer) failure(tell bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = w.told || tell && w.failed != nil
	return w.failed
}

// clearOf empties a list and keeps its memory, but not what it refers to.
func clearOf[T any](list []T) []T {
	clear(list)
	return list[:0]
}

// applyRequest applies the ops of one request; when one is refused the earlier ones are taken back.
func (w *writer) applyRequest(ctx context.Context, req *request) error {
	if len(req.ops) == 1 {
		return req.ops[0].apply(ctx, w) // an op that is refused wrote nothing
	}
	if err := w.exec(ctx, "SAVEPOINT request"); err != nil {
		return err
	}
	mark, charged := w.seg.mark(), len(w.group.charged)
	for _, o := range req.ops {
		err := o.apply(ctx, w)
		if err == nil {
			continue
		}
		var no *refusal
		if errors.As(err, &no) {
			w.seg.rewind(mark)
			w.group.charged = w.group.charged[:charged]
			if err := w.exec(ctx, "ROLLBACK TO request"); err != nil {
				return err
			}
			if err := w.exec(ctx, "RELEASE request"); err != nil {
				return err
			}
		}
		return err
	}
	return w.exec(ctx, "RELEASE request")
}
