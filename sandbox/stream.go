package sandbox

import (
	"context"
	"fmt"
	"time"
)

// StreamEntry serves one stream inside a worker: a conversation of messages in both directions. Its context ends when the
// parent gives the stream up; then it has to return soon (see [GroupOptions].Grace). An error it returns reaches the other side as
// an [EntryError]. A panic ends the worker, and with it every stream in it. The entries of a worker take turns on one
// thread, so one that computes makes the others slower but does not stop them.
type StreamEntry func(ctx context.Context, m Messages) error

// Messages are the worker's end of a stream. Both methods fail once the parent has given the stream up.
type Messages interface {
	// Send copies the message and returns, perhaps before it is on its way. At most StreamAhead messages may wait for the
	// other side to receive them, so a protocol on top should ask and answer.
	Send(msg []byte) error
	// Receive waits for the next message.
	Receive() ([]byte, error)
}

// StreamAhead is how many messages of one direction of a stream may wait to be received; together they are no longer than one
// message may be. One more breaks the stream, and no other. So it does where all streams of a worker keep more waiting than is kept for
// them (see [GroupOptions]).
const StreamAhead = 4

// GroupOptions describe a group. It has at most Workers + Alone processes at a time. For a worker that floods and does not read, the parent
// holds three times PerWorker MiB and two messages at most, or three times PerWorker messages where that is less.
type GroupOptions struct {
	// Command is the worker's program and what to put before its arguments; empty means this binary. The program must
	// call [Main] with the stream entry that Entry names.
	Command []string
	Entry   string

	Memory     int64 // bytes a worker, for all its streams; as [Spec].Memory
	MaxMessage int   // bytes of a message in either direction, at most [MaxReply]

	Workers   int // how many workers share the streams
	PerWorker int // how many streams run at a time in one of them
	Alone     int // how many more workers may run at a time for streams that run alone; 0 means 1

	// Grace is how long a stream may take to end after it was given up, before its worker is killed. 0 means DefaultGrace.
	Grace time.Duration

	// Require refuses to run where one of the mechanisms of a worker is missing (see [Probe]). Then NewGroup starts a worker to see.
	Require bool

	without []string // mechanisms to leave out, for tests
}

// DefaultGrace is the usual grace of a stream that was given up.
const DefaultGrace = 2 * time.Second

// recycleAfter is how many streams a worker serves before a new one takes its place, so that what they leave behind does not add up.
const recycleAfter = 10_000

func (o GroupOptions) withDefaults() (GroupOptions, error) {
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	if o.Alone == 0 {
		o.Alone = 1
	}
	switch {
	case o.Entry == "":
		return o, fmt.Errorf("sandbox group: got no entry")
	case o.Memory < MinMemory || o.Memory > MaxMemory:
		return o, fmt.Errorf("sandbox group: memory: got %d bytes, want %d to %d", o.Memory, MinMemory, MaxMemory)
	case o.MaxMessage < 1 || o.MaxMessage > MaxReply:
		return o, fmt.Errorf("sandbox group: max message: got %d, want 1 to %d bytes", o.MaxMessage, MaxReply)
	case o.Workers < 1:
		return o, fmt.Errorf("sandbox group: workers: got %d, want at least 1", o.Workers)
	case o.PerWorker < 1:
		return o, fmt.Errorf("sandbox group: streams a worker: got %d, want at least 1", o.PerWorker)
	case o.Alone < 0:
		return o, fmt.Errorf("sandbox group: workers for streams that run alone: got %d, want at least 0", o.Alone)
	case o.Grace < 0:
		return o, fmt.Errorf("sandbox group: grace: got %v, want at least 0", o.Grace)
	}
	return o, nil
}
