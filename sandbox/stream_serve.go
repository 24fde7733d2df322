package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// streamServer is the inside of a worker with streams: one goroutine reads what the parent sends, and each stream has one.
type streamServer struct {
	entry StreamEntry
	max   int
	out   *streamWriter

	mu   sync.Mutex
	open map[uint32]*served
}

// served is one stream in its worker. It is what the entry gets as its [Messages].
type served struct {
	id     uint32
	server *streamServer
	ctx    context.Context
	cancel context.CancelCauseFunc
	inbox  chan []byte
}

var (
	errGivenUp = errors.New("stream was given up")
	errAhead   = fmt.Errorf("stream: more than %d messages wait to be received", StreamAhead)
)

// serveStreams serves until the input ends, which is when the parent is gone or needs this worker no more: then the
// process exits at once, whatever its streams do. It returns the exit status.
func serveStreams(in io.Reader, out io.Writer, entry StreamEntry, maxMessage int) int {
	s := &streamServer{
		entry: entry, max: maxMessage, open: map[uint32]*served{},
		out: newStreamWriter(out, maxMessage+streamHeader),
	}
	r := bufio.NewReaderSize(in, streamBuffer)
	for {
		f, err := readStreamFrame(r, maxMessage)
		if err != nil {
			return 0
		}
		s.take(f)
	}
}

func (s *streamServer) take(f streamFrame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.kind == streamOpen {
		st := &served{id: f.stream, server: s, inbox: make(chan []byte, StreamAhead)}
		st.ctx, st.cancel = context.WithCancelCause(context.Background())
		s.open[f.stream] = st
		go st.run()
		return
	}
	st := s.open[f.stream]
	if st == nil {
		return // it has ended meanwhile
	}
	if f.kind == streamCancel {
		st.cancel(errGivenUp)
		return
	}
	select {
	case st.inbox <- f.payload:
	default:
		st.cancel(errAhead)
	}
}

// run is the life of a stream.
func (st *served) run() {
	err := st.server.entry(st.ctx, st)
	st.cancel(nil)
	st.server.mu.Lock()
	delete(st.server.open, st.id)
	st.server.mu.Unlock()
	last := streamFrame{kind: streamEnd, stream: st.id}
	if err != nil {
		text := err.Error()
		last.kind, last.payload = streamError, []byte(text[:min(len(text), maxText)])
	}
	_ = st.server.out.write(last) // when the pipe is broken the input ends too
}

func (st *served) Send(msg []byte) error {
	if len(msg) > st.server.max {
		return fmt.Errorf("stream message: got %d bytes, want at most %d", len(msg), st.server.max)
	}
	if st.ctx.Err() != nil {
		return context.Cause(st.ctx)
	}
	return st.server.out.write(streamFrame{kind: streamMessage, stream: st.id, payload: msg})
}

func (st *served) Receive() ([]byte, error) {
	select {
	case msg := <-st.inbox:
		return msg, nil
	case <-st.ctx.Done():
		return nil, context.Cause(st.ctx)
	}
}
