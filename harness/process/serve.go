package process

import (
	"context"
	"errors"
	"fmt"
	"io"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/star"
)

// session says who is at the other end of a transport.
type session struct {
	// name is the program's file, which begins the detail of its failures.
	name string
	// worker says that the other end is our own interpreter. Its failures carry their own detail, and a message of it that is none is an
	// *Incident: the worker is broken, not the program.
	worker bool
	// program is what a worker runs, and source its text.
	program *ProgramRef
	source  []byte
}

// serve is the host's side of one episode: it sends the start, answers the program's requests one at a time in their order, and gives the
// reply that the program answered with. It returns as soon as the episode is decided: at the answer, at a failure, when the host ends it,
// at a message that is none, or when ctx ends. It does not wait for the program, and closes the transport. Errors as [whale.Harness] has
// them.
func serve(ctx context.Context, t transport, h whale.Host, p session) (whale.ReplyRef, error) {
	defer t.Close()
	stop := context.AfterFunc(ctx, t.Close) // a Send may block on a program that does not read
	defer stop()

	start := h.Start()
	l := &loop{transport: t, host: h, session: p, most: MaxLine(start.Limits)}
	var err error
	if l.buffer, err = appendStart(l.buffer, start, p.program); err != nil {
		return 0, fmt.Errorf("process: start: %w", err)
	}
	l.send()
	for {
		line, err := t.Receive(ctx)
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err != nil {
			return 0, l.ended(err)
		}
		done, err := l.message(ctx, line)
		if err != nil || done {
			return l.answer, err
		}
	}
}

// loop is the state of one episode.
type loop struct {
	session
	transport transport
	host      whale.Host
	most      int // bytes of a message
	buffer    []byte

	messages int            // received
	requests int            // with an id
	replies  whale.ReplyRef // given
	answer   whale.ReplyRef
}

// send sends what the buffer holds and empties it. What a program that is gone says about it is told by Receive.
func (l *loop) send() {
	_ = l.transport.Send(l.buffer)
	l.buffer = l.buffer[:0]
}

// message acts on one message of the program and says whether it was the last.
func (l *loop) message(ctx context.Context, line []byte) (done bool, err error) {
	l.messages++
	if len(line) > l.most {
		return false, l.violated(fmt.Errorf("got %d bytes, want at most %d", len(line), l.most))
	}
	m, err := decodeProgram(line, l.worker)
	if err != nil {
		return false, l.violated(err)
	}
	if l.worker && m.kind != TypeNeed {
		l.host.AddSteps(m.steps)
	}
	switch m.kind {
	case TypeRequest:
		return false, l.request(ctx, &m)
	case TypePrint:
		_, err := l.host.Do(ctx, m.request)
		return false, err
	case TypeAnswer:
		return true, l.answered(&m)
	case TypeFailure:
		return true, l.failed(&m)
	}
	if l.source == nil { // a worker needs a program once an episode
		return false, l.violated(errors.New("need: the program was sent before"))
	}
	l.buffer = appendProgram(l.buffer, l.source)
	l.source = nil
	l.send()
	return false, nil
}

func (l *loop) request(ctx context.Context, m *fromProgram) error {
	if l.requests++; m.id != l.requests {
		return l.violated(fmt.Errorf("request: got the id %d, want %d", m.id, l.requests))
	}
	if err := m.check(l.replies); err != nil {
		return err
	}
	resp, err := l.host.Do(ctx, m.request)
	if err != nil {
		return err
	}
	if resp.Reply != nil {
		l.replies = max(l.replies, resp.Reply.Ref)
	}
	if l.buffer, err = appendResponse(l.buffer, m.id, m.request.Op, &resp); err != nil {
		return fmt.Errorf("process: response to %s: %w", m.request.Op, err)
	}
	l.send()
	return nil
}

func (l *loop) answered(m *fromProgram) error {
	switch {
	case m.foreign != "":
		return fail(whale.FailAnswer, "%s: run returned %s, want a reply or None", l.name, m.foreign)
	case m.reply > l.replies:
		return fail(whale.FailAnswer, "%s: run returned reply %d, the episode has %d", l.name, m.reply, l.replies)
	}
	l.answer = m.reply
	return nil
}

func (l *loop) failed(m *fromProgram) error {
	switch {
	case l.worker:
		return &whale.HarnessError{Failure: whale.Failure{Reason: m.reason, Detail: m.detail}}
	case m.line > 0:
		return fail(m.reason, "%s:%d: %s", l.name, m.line, m.detail)
	}
	return fail(m.reason, "%s: %s", l.name, m.detail)
}

// violated is the end of an episode at a message that is none.
func (l *loop) violated(err error) error {
	detail := star.OneLine(fmt.Sprintf("message %d: %v", l.messages, err))
	if l.worker {
		return &whale.Incident{Reason: whale.FailWorker, Detail: "the worker broke the protocol: " + detail}
	}
	return fail(whale.FailProtocol, "%s: %s", l.name, detail)
}

// ended says what the end of a transport means.
func (l *loop) ended(err error) error {
	l.messages++
	switch {
	case errors.Is(err, io.EOF):
		return l.violated(errors.New("got the end of the pipe, want a request or an answer"))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return l.violated(errors.New("got the end of the pipe inside a line"))
	case errors.Is(err, errTooLong):
		return l.violated(fmt.Errorf("got a message that is too long, want at most %d bytes", l.most))
	}
	return err
}
