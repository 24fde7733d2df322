package rollout

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Slots are the places for episodes of several runners that run side by side: together they run no more than that many at once, and an
// episode that is repeated alone waits until none of the others' runs, and keeps them waiting. Whoever asks first is served first, so no
// runner starves another.
type Slots struct {
	n    int64
	free *semaphore.Weighted
}

// NewSlots makes n places, at least 1.
func NewSlots(n int) *Slots {
	size := int64(max(1, n))
	return &Slots{size, semaphore.NewWeighted(size)}
}

// one takes a place, and gives what frees it. Without slots there is always a place: the runner's own concurrency bounds it.
func (s *Slots) one(ctx context.Context) (free func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	return s.take(ctx, 1)
}

// all takes every place.
func (s *Slots) all(ctx context.Context) (free func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	return s.take(ctx, s.n)
}

func (s *Slots) take(ctx context.Context, n int64) (func(), error) {
	if err := s.free.Acquire(ctx, n); err != nil {
		return nil, context.Cause(ctx)
	}
	return func() { s.free.Release(n) }, nil
}
