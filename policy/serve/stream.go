package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// writeTimeout bounds how long a client may take to receive one chunk.
const writeTimeout = 30 * time.Second

// chunks is the dialect of a stream.
type chunks interface {
	// first is sent before anything of a choice; nil for nothing.
	first(c *choice) any
	// said is what tokens say so far; hold says that nothing may be shown before the end.
	said(tokens []int32) (s said, hold bool)
	// delta is new text and token ids in the middle of a choice.
	delta(c *choice, added said, ids []int32) any
	// last ends a choice, with the rest of what it says.
	last(c *choice, shown said, ids []int32) any
	// usage is sent at the end where it was asked for.
	usage(u usage) any
}

// said is text for the client. Reasoning comes before the text.
type said struct{ reasoning, text string }

// stream answers with server-sent events while the choices are sampled. Errors before the first chunk are ordinary replies; later ones are an
// event, after which the stream ends without [DONE].
func (s *Server) stream(ctx context.Context, w http.ResponseWriter, r *request, prompts [][]int32, list []*choice, form chunks) *failure {
	// A signal is enough: whoever wakes looks at all choices.
	signal := make(chan struct{}, 1)
	wait := s.sample(ctx, list, func() {
		select {
		case signal <- struct{}{}:
		default:
		}
	})
	out := &eventWriter{w: w, ctl: http.NewResponseController(w), now: s.opt.Now}
	sent := make([]sentSoFar, len(list))
	for left := len(list); left > 0; {
		<-signal
		for i, c := range list {
			if !sent[i].done && s.advance(out, form, r, c, &sent[i]) {
				left--
			}
		}
	}
	if err := wait(); err != nil {
		f := s.failed(ctx, err)
		if f == nil || !out.begun {
			return f
		}
		out.send(f)
		return nil
	}
	if r.usage {
		out.send(form.usage(usageOf(prompts, list)))
	}
	out.done()
	return nil
}

// sentSoFar is how much of a choice the client has.
type sentSoFar struct {
	begun, done bool
	said        said
	ids         int
}

// advance sends what is new of a choice, and reports whether that was the end.
func (s *Server) advance(out *eventWriter, form chunks, r *request, c *choice, sent *sentSoFar) bool {
	tokens, done := c.progress()
	if done && c.err != nil {
		sent.done = true
		return true
	}
	if !sent.begun {
		sent.begun = true
		if v := form.first(c); v != nil {
			out.send(v)
		}
	}
	var ids []int32
	if r.ids {
		ids = tokens[sent.ids:]
	}
	if done {
		sent.done = true
		out.send(form.last(c, sent.said, ids))
		return true
	}
	now, hold := form.said(tokens)
	if hold {
		return false
	}
	now = said{settled(now.reasoning, nil), settled(now.text, r.stop)}
	added := now.after(sent.said)
	if added == nil || *added == (said{}) && len(ids) == 0 {
		return false
	}
	out.send(form.delta(c, *added, ids))
	sent.said, sent.ids = now, sent.ids+len(ids)
	return false
}

// after is what is new since shown; nil where a parser took back what had looked like text, which the end settles.
func (s said) after(shown said) *said {
	reasoning, ok := strings.CutPrefix(s.reasoning, shown.reasoning)
	text, too := strings.CutPrefix(s.text, shown.text)
	if !ok || !too {
		return nil
	}
	return &said{reasoning, text}
}

// eventWriter writes server-sent events. After a failed write it writes nothing more; the request's context ends with the connection.
type eventWriter struct {
	w     http.ResponseWriter
	ctl   *http.ResponseController
	now   func() time.Time
	begun bool
	err   error
}

func (e *eventWriter) send(v any) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		e.err = err
		return
	}
	e.write(strings.TrimSuffix(b.String(), "\n"))
}

func (e *eventWriter) done() { e.write("[DONE]") }

func (e *eventWriter) write(data string) {
	if e.err != nil {
		return
	}
	if !e.begun {
		e.begun = true
		e.w.Header().Set("Content-Type", "text/event-stream")
		e.w.Header().Set("Cache-Control", "no-store")
		e.w.WriteHeader(http.StatusOK)
	}
	_ = e.ctl.SetWriteDeadline(e.now().Add(writeTimeout)) // a recorder in a test has none
	if _, e.err = e.w.Write([]byte("data: " + data + "\n\n")); e.err == nil {
		e.err = e.ctl.Flush()
	}
}
