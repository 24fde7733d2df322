package sandbox

import (
	"errors"
	"fmt"
)

// Infrastructure errors: they say nothing about the request.
var (
	ErrStart  = errors.New("cannot start a sandbox worker")
	ErrClosed = errors.New("sandbox is closed")
	// ErrUnconfined is that a mechanism is missing which the options require.
	ErrUnconfined = errors.New("the sandbox is required but not whole")
)

// The limits a request can break; a [Violation] is one of them.
var (
	ErrMemory  = errors.New("memory limit exceeded")
	ErrDied    = errors.New("worker process died")
	ErrTimeout = errors.New("time limit exceeded")
	ErrOutput  = errors.New("output limit exceeded")
)

// Reason names the limit that a request broke.
type Reason string

// The reasons of violations.
const (
	ReasonMemory Reason = "memory"
	ReasonDied   Reason = "died"
	ReasonWall   Reason = "wall"
	ReasonOutput Reason = "output"
)

// Violation is the verdict that a request broke a limit by its own doing. errors.Is matches it with the Err value
// of its reason.
type Violation struct {
	Reason Reason
	Detail string // one line for people
}

func (v *Violation) Error() string {
	if v.Detail == "" {
		return v.kind().Error()
	}
	return fmt.Sprintf("%v: %s", v.kind(), v.Detail)
}

// Is makes errors.Is(v, ErrTimeout) and the like hold.
func (v *Violation) Is(target error) bool { return target == v.kind() }

func (v *Violation) kind() error {
	switch v.Reason {
	case ReasonMemory:
		return ErrMemory
	case ReasonWall:
		return ErrTimeout
	case ReasonOutput:
		return ErrOutput
	}
	return ErrDied
}

// EntryError is an error that the entry returned, as text.
type EntryError struct{ Text string }

func (e *EntryError) Error() string { return e.Text }
