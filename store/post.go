package store

import (
	"context"
	"fmt"
)

// Post hands writes over without waiting for them. build fills a batch in the writer's goroutine, so that encoding costs the caller
// nothing; it must not call methods of the Run. Posted writes keep their order, also with those of [Run.Commit] and its kin, and are
// durable once [Run.Sync] or a later Commit returned nil; a kill before that may take those of the last tenth of a second.
//
// A posted write that fails, and be it a refused one, fails all that come after it, posted or not: they would rest on what is not there.
// The next call returns its error.
//
// When the disk does not keep up, Post waits as Commit does.
func (r *Run) Post(ctx context.Context, build func(*Batch) error) error {
	if r.writer == nil {
		return fmt.Errorf("%s: run is opened %w", r.dir, ErrReadOnly)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	req := &request{build: func() ([]op, error) {
		b := new(Batch)
		if err := build(b); err != nil {
			return nil, err
		}
		return b.take(r.encoder)
	}}
	posted, err := r.writer.enqueue(req, maxGroup)
	if posted || err != nil {
		return err
	}
	return r.writer.submit(ctx, req)
}

// Sync waits until everything that was posted before is durable.
func (r *Run) Sync(ctx context.Context) error {
	if r.writer == nil {
		return fmt.Errorf("%s: run is opened %w", r.dir, ErrReadOnly)
	}
	if r.writer.idle() {
		return ctx.Err()
	}
	return r.writer.submit(ctx, &request{})
}
