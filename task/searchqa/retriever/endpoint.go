package retriever

import (
	"sync"
	"time"
)

// endpoint is a server as a client knows it: how much it has to do, and whether it works.
type endpoint struct {
	url string

	busy     int       // requests under way
	failures int       // in a row
	resting  time.Time // until then it is left alone
	probing  bool      // the one request is under way that decides whether it works again
}

// pool chooses endpoints. An endpoint with too many failures in a row rests; after that one request tries it, and the others follow if it works.
type pool struct {
	failures    int
	rest        time.Duration
	concurrency int

	mu   sync.Mutex
	list []*endpoint
	next int           // where the search for the least busy one begins
	free chan struct{} // closed and replaced when something may have become free
}

func newPool(c Config) *pool {
	p := &pool{failures: c.Failures, rest: seconds(c.RestSeconds), concurrency: c.Concurrency, free: make(chan struct{})}
	for _, e := range c.Endpoints {
		p.list = append(p.list, &endpoint{url: e})
	}
	return p
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// take gives the least busy endpoint that works and is not one of avoid, unless there is no other; nil where all are busy or rest. wake is closed when it is worth to ask again, and
// wait is how long to wait for that at most.
func (p *pool) take(now time.Time, avoid string) (e *endpoint, wake <-chan struct{}, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait = p.rest
	var best *endpoint
	for i := range p.list {
		c := p.list[(p.next+i)%len(p.list)]
		open := c.failures < p.failures
		if !open {
			left := c.resting.Sub(now)
			if left > 0 || c.probing {
				wait = min(wait, max(left, time.Millisecond))
				continue
			}
		}
		if c.busy >= p.concurrency {
			continue
		}
		if best == nil || better(c, best, avoid) {
			best = c
		}
	}
	if best == nil {
		return nil, p.free, max(wait, time.Millisecond)
	}
	p.next = (p.next + 1) % len(p.list)
	best.busy++
	best.probing = best.failures >= p.failures
	return best, nil, 0
}

// better prefers another endpoint to the one that has just failed, and then the less busy one.
func better(a, b *endpoint, avoid string) bool {
	if x, y := a.url == avoid, b.url == avoid; x != y {
		return y
	}
	return a.busy < b.busy
}

// give puts an endpoint back. A request that the caller gave up says nothing about it.
func (p *pool) give(e *endpoint, now time.Time, o outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.busy--
	e.probing = false
	switch o {
	case worked:
		e.failures = 0
	case failed:
		if e.failures++; e.failures >= p.failures {
			e.resting = now.Add(p.rest)
		}
	}
	close(p.free)
	p.free = make(chan struct{})
}

// outcome is what a request says about its endpoint.
type outcome int

const (
	worked outcome = iota
	failed
	unknown
)
