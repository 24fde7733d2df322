package kernel

import (
	"sync"
	"time"
)

// Stopwatch adds up the time in which at least one of its users is at work: the length of the union of their intervals, not their sum.
// A nil Stopwatch measures nothing and costs nothing.
type Stopwatch struct {
	now func() time.Time

	mu      sync.Mutex
	working int
	since   time.Time // from when on working is above 0
	total   time.Duration
}

// NewStopwatch makes a stopwatch that reads a clock whenever a user begins or ends.
func NewStopwatch(now func() time.Time) *Stopwatch { return &Stopwatch{now: now} }

// Begin notes that a user is at work, and gives the stopwatch for its End.
func (s *Stopwatch) Begin() *Stopwatch {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.working++; s.working == 1 {
		s.since = s.now()
	}
	return s
}

// End notes that a user that had begun is done.
func (s *Stopwatch) End() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.working--; s.working == 0 {
		s.total += s.now().Sub(s.since)
	}
}

// Elapsed is the time until now in which anybody was at work.
func (s *Stopwatch) Elapsed() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.working > 0 {
		return s.total + s.now().Sub(s.since)
	}
	return s.total
}

// Measure has a stopwatch told whenever the pool's users compute: a generator's step, a trainer's accumulation and step, scoring. What
// has begun before is not counted. Nil ends it.
func (p *Pool) Measure(s *Stopwatch) { p.watch.Store(s) }

// Work tells the pool's stopwatch, if there is one, that its caller computes from now on, until End of what it gives. It is for whole
// pieces of work, of which the loops are a part. Pieces may overlap.
func (p *Pool) Work() *Stopwatch {
	if p == nil {
		return nil
	}
	return p.watch.Load().Begin()
}
