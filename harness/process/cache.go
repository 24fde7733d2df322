package process

import (
	"container/list"
	"sync"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/star"
)

// The bounds of a worker's cache. A program's compiled form is a few times its source.
const (
	cachedPrograms = 64
	cachedBytes    = 1 << 20 // of sources
)

// cache keeps the programs that a worker ran last. The streams of a worker share it.
type cache struct {
	mu    sync.Mutex
	known map[ProgramRef]*list.Element
	order *list.List // of *cached, the latest first
	bytes int
}

type cached struct {
	ref     ProgramRef
	program *star.Program
	bytes   int
}

func newCache() *cache { return &cache{known: map[ProgramRef]*list.Element{}, order: list.New()} }

func (c *cache) get(ref ProgramRef) *star.Program {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.known[ref]
	if at == nil {
		return nil
	}
	c.order.MoveToFront(at)
	return at.Value.(*cached).program
}

// load compiles a program and keeps it. The gates were passed in the parent; an error here is the infrastructure's.
func (c *cache) load(ref ProgramRef, source string) (*star.Program, error) {
	if got := whale.HarnessID([]byte(source)); got != ref.ID {
		return nil, violate("process: worker: got a program of id %s, want %s", got, brief(string(ref.ID)))
	}
	program, err := star.Load(ref.Name, []byte(source))
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[ref] != nil {
		return program, nil // another stream was faster
	}
	c.known[ref] = c.order.PushFront(&cached{ref, program, len(source)})
	for c.bytes += len(source); c.order.Len() > cachedPrograms || c.bytes > cachedBytes; {
		last := c.order.Remove(c.order.Back()).(*cached)
		delete(c.known, last.ref)
		c.bytes -= last.bytes
	}
	return program, nil
}
