package process

import (
	"context"
	"errors"
	"fmt"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/sandbox"
)

// entryName is the stream entry of Starlark workers.
const entryName = "harness"

// Entries are what a worker of this package can do, for [sandbox.Main]. Each call makes a new cache of programs.
func Entries() map[string]sandbox.StreamEntry {
	programs := newCache()
	return map[string]sandbox.StreamEntry{
		entryName: func(ctx context.Context, m sandbox.Messages) error { return work(ctx, m, programs) },
	}
}

// work is one episode of a Starlark program inside a worker. It sends its requests to the host and ends with an answer or a failure. The
// error is the infrastructure's; it reaches the host as it is.
func work(ctx context.Context, m messages, programs *cache) error {
	h := &remote{messages: m}
	program, err := h.begin(programs)
	if err != nil {
		return err
	}
	ref, err := program.Run(ctx, h)
	var failed *whale.HarnessError
	switch {
	case err == nil:
		return m.Send(appendAnswer(h.buffer[:0], h.steps, ref))
	case errors.As(err, &failed):
		return m.Send(appendFailure(h.buffer[:0], h.steps, failed.Failure))
	}
	return err
}

// messages is a [sandbox.Messages].
type messages interface {
	Send(message []byte) error
	Receive() ([]byte, error)
}

// remote is the host of a program in a worker: a [whale.Host] whose every request goes to the parent.
type remote struct {
	messages
	start    whale.Start
	most     int // bytes of a message
	steps    uint64
	requests int
	buffer   []byte
}

var _ whale.Host = (*remote)(nil)

// begin receives the start and gets the program, from the cache or from the host.
func (h *remote) begin(programs *cache) (*star.Program, error) {
	m, err := h.receive(TypeStart)
	if err != nil {
		return nil, err
	}
	h.start, h.most = m.start, MaxLine(m.start.Limits)
	if m.program == nil {
		return nil, errors.New("process: worker: the start names no program")
	}
	if p := programs.get(*m.program); p != nil {
		return p, nil
	}
	if err := h.Send([]byte(`{"type":"` + TypeNeed + `"}`)); err != nil {
		return nil, err
	}
	sent, err := h.receive(TypeProgram)
	if err != nil {
		return nil, err
	}
	return programs.load(*m.program, sent.source)
}

// receive receives a message that must be of the given type.
func (h *remote) receive(kind string) (fromHost, error) {
	line, err := h.Receive()
	if err != nil {
		return fromHost{}, err
	}
	m, err := decodeHost(line)
	if err == nil && m.kind != kind {
		err = fmt.Errorf("got a message of type %s, want %s", brief(m.kind), kind)
	}
	if err != nil {
		return m, fmt.Errorf("process: worker: %w", err)
	}
	return m, nil
}

// Start implements [whale.Host].
func (h *remote) Start() whale.Start { return h.start }

// AddSteps implements [whale.Host]. The steps go with the next message.
func (h *remote) AddSteps(total uint64) { h.steps = total }

// Do implements [whale.Host]. A print is a request like every other. It could go without an answer, and take a few µs instead of some 20; but then
// the log would lack what a worker printed before it died, the program would go on after a print that its host refuses, and a flood of
// prints would wait in the parent's memory.
func (h *remote) Do(_ context.Context, r whale.Request) (resp whale.Response, err error) {
	if r.Op == whale.OpPrint {
		r.Text = cutPrint(r.Text, h.start.Limits)
	}
	h.requests++
	if h.buffer, err = appendRequest(h.buffer[:0], h.requests, h.steps, &r); err != nil {
		return resp, fmt.Errorf("process: worker: %s: %w", r.Op, err)
	}
	if len(h.buffer) > h.most {
		return resp, fail(whale.FailMessageBytes, "%s: a request of %d bytes, want at most %d", r.Op, len(h.buffer), h.most)
	}
	if err := h.Send(h.buffer); err != nil {
		return resp, err
	}
	m, err := h.receive(TypeResponse)
	if err == nil && m.id != h.requests {
		err = fmt.Errorf("process: worker: got the response %d, want %d", m.id, h.requests)
	}
	return m.response, err
}

// cutPrint cuts a print that fails the episode however much of it the host sees.
func cutPrint(text string, l whale.Limits) string {
	most := whale.LogFlood*max(l.LogBytes, 0) + 1
	if len(text) <= most {
		return text
	}
	for most > 0 && text[most]&0xc0 == 0x80 { // inside a character
		most--
	}
	return text[:most]
}
