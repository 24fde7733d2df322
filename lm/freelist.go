package lm

import "sync"

// freeList hands memory to whichever goroutine runs the next piece. The zero list is empty and ready.
type freeList[T any] struct {
	mu   sync.Mutex
	free []*T
}

func (l *freeList[T]) take() *T {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.free); n > 0 {
		s := l.free[n-1]
		l.free = l.free[:n-1]
		return s
	}
	return new(T)
}

func (l *freeList[T]) put(s *T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, s)
}
