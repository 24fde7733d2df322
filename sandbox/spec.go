package sandbox

import (
	"context"
	"fmt"
	"time"
)

// Entry runs one request inside a worker. An error it returns reaches the caller as an [EntryError]. A panic ends the
// worker. Entries of one worker run one at a time.
type Entry func(ctx context.Context, req []byte, lim Limits) ([]byte, error)

// Limits are what an entry has to keep itself, deterministically.
type Limits struct {
	Steps     uint64 // interpreter steps; 0 means the entry's own default
	MaxOutput int    // bytes of a reply; a longer one is a violation
}

// Spec says what a worker runs and what it may use.
type Spec struct {
	Entry string // name of an entry that the worker's binary gives to Main

	// Memory is how many bytes of address space, and of writable memory, the worker may take beyond what it has when it is
	// ready (RLIMIT_AS and RLIMIT_DATA over their values at that time: a Go program reserves gigabytes at its start that it
	// never touches). The runtime takes memory in pieces of 64 MiB, so less than MinMemory is refused.
	Memory int64

	Wall      time.Duration // for one request, measured by the parent
	Steps     uint64        // handed to the entry
	MaxOutput int           // bytes of a reply
}

// The range of a worker's memory, in bytes, and the longest reply.
const (
	MinMemory int64 = 128 << 20
	MaxMemory int64 = 1 << 40
	MaxReply        = maxFrame
)

// hello is what a worker of this spec is told.
func (s Spec) hello() hello {
	return hello{Entry: s.Entry, Memory: s.Memory, Steps: s.Steps, MaxOutput: s.MaxOutput}
}

func (s Spec) check() error {
	switch {
	case s.Entry == "":
		return fmt.Errorf("sandbox spec: got no entry")
	case s.Memory < MinMemory || s.Memory > MaxMemory:
		return fmt.Errorf("sandbox spec: memory: got %d bytes, want %d to %d", s.Memory, MinMemory, MaxMemory)
	case s.Wall <= 0:
		return fmt.Errorf("sandbox spec: wall: got %v, want more than 0", s.Wall)
	case s.MaxOutput <= 0 || s.MaxOutput > MaxReply:
		return fmt.Errorf("sandbox spec: max output: got %d, want 1 to %d bytes", s.MaxOutput, MaxReply)
	}
	return nil
}
