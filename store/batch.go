package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// Batch is a list of journal writes that happen together or not at all: a rollout with its charge, a decision with the
// event that follows from it. The zero Batch is empty and ready. It is for one goroutine and one [Run.Commit].
type Batch struct {
	ops  []op
	errs []error
}

// Append adds an event, as [Run.Append].
func (b *Batch) Append(kind, op string, v any) {
	o, err := newAppendOp(kind, op, v)
	b.add(o, err)
}

// PutRollout adds a rollout, as [Run.PutRollout].
func (b *Batch) PutRollout(row RolloutRow, trajectory []byte) {
	o, err := newRolloutOp(row, trajectory)
	b.add(o, err)
}

// Charge adds a ledger item, as [Run.Charge].
func (b *Batch) Charge(op string, item Item) {
	o, err := newChargeOp(op, item)
	b.add(o, err)
}

func (b *Batch) add(o op, err error) {
	if err != nil {
		b.errs = append(b.errs, err)
		return
	}
	b.ops = append(b.ops, o)
}

// Commit makes the writes of b durable, all or none. After a nil return they survive a kill. When ctx ends before that, they
// may or may not happen; committing an equal batch again is harmless either way.
func (r *Run) Commit(ctx context.Context, b *Batch) error {
	if r.writer == nil {
		return fmt.Errorf("%s: run is opened %w", r.dir, ErrReadOnly)
	}
	ops, err := b.take(r.encoder)
	if err != nil || len(ops) == 0 {
		return err
	}
	return r.writer.submit(ctx, &request{ops: ops})
}

// take gives the writes of b, with the trajectories compressed.
func (b *Batch) take(enc *zstd.Encoder) ([]op, error) {
	if len(b.errs) > 0 {
		return nil, errors.Join(b.errs...)
	}
	for _, o := range b.ops {
		// Compression happens here, before the writer gets to the ops, so that a group of Commits is compressed by their callers side by side.
		if p, ok := o.(*rolloutOp); ok {
			p.compress(enc)
		}
	}
	return b.ops, nil
}
