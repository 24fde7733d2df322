package process

import (
	"context"
	"errors"
)

// transport carries the messages of one episode. A [sandbox.Conn] is one, and so is a pair of pipes ([newLines]).
type transport interface {
	// Send sends one message, without a newline, and keeps nothing of the slice. Close ends it where it blocks. Its error is of no interest: what
	// ended the transport is told by Receive.
	Send(message []byte) error
	// Receive gives the next message. Errors: io.EOF where the program has closed its side in order; errTooLong; ctx's; a *whale.HarnessError, a
	// *whale.Incident or an error of the infrastructure, which end the episode as such.
	Receive(ctx context.Context) ([]byte, error)
	// Close gives the program up, without waiting for it. It may be called again, and from other goroutines.
	Close()
}

// errTooLong is a message that is longer than the transport allows.
var errTooLong = errors.New("the message is too long")
