package process

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/sandbox"
)

// memory is a stream in memory: a transport for the host, and what its worker gets.
type memory struct {
	down, up chan []byte
	ctx      context.Context // ends when the host gives up
	cancel   context.CancelFunc
	ended    chan struct{}
	err      error // of the worker, valid after ended
}

var errGivenUp = errors.New("given up")

func newMemory() *memory {
	m := &memory{down: make(chan []byte, 4), up: make(chan []byte), ended: make(chan struct{})}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

// end is the end of the worker.
func (m *memory) end(err error) { m.err = err; close(m.ended) }

func (m *memory) Send(b []byte) error {
	select {
	case m.down <- append([]byte(nil), b...):
	case <-m.ended:
	case <-m.ctx.Done():
	}
	return nil
}

func (m *memory) Receive(ctx context.Context) ([]byte, error) {
	select {
	case b := <-m.up:
		return b, nil
	case <-m.ended:
		if m.err != nil {
			return nil, m.err
		}
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-m.ctx.Done():
		return nil, errGivenUp
	}
}

func (m *memory) Close() { m.cancel() }

// worker is the other end.
type worker struct{ *memory }

func (w worker) Send(b []byte) error {
	select {
	case w.up <- append([]byte(nil), b...):
		return nil
	case <-w.ctx.Done():
		return errGivenUp
	}
}

func (w worker) Receive() ([]byte, error) {
	select {
	case b := <-w.down:
		return b, nil
	case <-w.ctx.Done():
		return nil, errGivenUp
	}
}

// inMemory runs a program as a worker does, in this process.
func inMemory(t testing.TB, programs *cache) func(ctx context.Context, name string, source []byte, h whale.Host) (whale.ReplyRef, error) {
	return func(ctx context.Context, name string, source []byte, h whale.Host) (whale.ReplyRef, error) {
		m := newMemory()
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() {
			err := work(m.ctx, worker{m}, programs)
			if err != nil {
				err = &sandbox.EntryError{Text: err.Error()}
			}
			m.end(err)
		})
		return serve(ctx, m, h, session{
			name: name, worker: true, program: &ProgramRef{ID: whale.HarnessID(source), Name: name}, source: source,
		})
	}
}
