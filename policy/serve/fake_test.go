package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-095d5d2b/whale"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a policy whose tokens are bytes, with an end and a role token above them. It says what say answers, one token at a time.
type fake struct {
	say   func(r whale.SampleRequest) string
	pause func(ctx context.Context, token int) error // before each token
}

const (
	fakeEnd     = 256
	fakeRole    = 257
	fakeVocab   = 258
	fakeContext = 400
)

func (fake) ID() whale.ID                   { return "fake" }
func (fake) StopIDs() []int32               { return []int32{fakeEnd} }
func (fake) Count(text string) int          { return len(text) }
func (fake) Clip(text string, n int) string { return text[:min(n, len(text))] }
func (fake) Close() error                   { return nil }
func (fake) Weights() whale.WeightsRef      { return whale.WeightsRef{ID: "w"} }
func (fake) Capabilities() whale.Capabilities {
	return whale.Capabilities{Access: whale.TokenExact, Seeds: true, LogProbs: true, MaxContext: fakeContext}
}

func (f fake) Render(messages []whale.Message, tools []whale.ToolSpec, _ func(whale.ReplyRef) []int32) ([]int32, error) {
	var ids []int32
	for _, t := range tools {
		ids = append(ids, f.Encode(fmt.Sprintf("%+v\n", t))...)
	}
	for _, m := range messages {
		ids = append(append(ids, fakeRole), f.Encode(m.Role+":"+m.Content)...)
	}
	return append(ids, fakeRole), nil
}

// Parse finds calls of the form [name].
func (f fake) Parse(ids []int32) (string, []whale.ToolCall) {
	text := f.Decode(ids)
	if name, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(name, "]") {
		return text, []whale.ToolCall{{Name: strings.TrimSuffix(name, "]"), Args: map[string]json.RawMessage{"x": json.RawMessage("1")}}}
	}
	return text, nil
}

func (fake) Encode(text string) []int32 {
	ids := []int32{}
	for _, b := range []byte(text) {
		ids = append(ids, int32(b))
	}
	return ids
}

func (fake) Decode(ids []int32) string {
	var b []byte
	for _, id := range ids {
		if id < 256 {
			b = append(b, byte(id))
		}
	}
	return string(b)
}

func (f fake) DecodeAll(ids []int32) string {
	if len(ids) == 1 && ids[0] == fakeEnd {
		return "<end>"
	}
	return f.Decode(ids)
}

func (f fake) Sample(ctx context.Context, r whale.SampleRequest) (whale.Completion, error) {
	return f.SampleStream(ctx, r, func([]int32) {})
}

func (f fake) SampleStream(ctx context.Context, r whale.SampleRequest, grown func([]int32)) (whale.Completion, error) {
	all := append(f.Encode(f.say(r)), fakeEnd)
	stopped := stopWatch(f, r.StopText)
	c := whale.Completion{Prompt: r.Prompt, Finish: whale.FinishLength}
	for i, id := range all {
		if f.pause != nil {
			if err := f.pause(ctx, i); err != nil {
				return whale.Completion{}, err
			}
		}
		c.Tokens = append(c.Tokens, id)
		c.LogProbs = append(c.LogProbs, -float32(i))
		grown(c.Tokens)
		if stopped(c.Tokens) || id == fakeEnd && len(r.StopIDs) > 0 {
			c.Finish = whale.FinishStop
			break
		}
		if len(c.Tokens) == r.MaxTokens {
			break
		}
	}
	return c, nil
}

// says is a fake that always says the same.
func says(text string) fake { return fake{say: func(whale.SampleRequest) string { return text }} }

func newServer(t testing.TB, p fake, edit func(*Options)) *Server {
	t.Helper()
	opt := Options{Now: time.Now, Seed: 7}
	if edit != nil {
		edit(&opt)
	}
	s, err := New(Model{Name: "m", Policy: p, Text: p, Vocab: fakeVocab}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// post sends a body to a path and gives the answer.
func post(t testing.TB, s http.Handler, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// ask posts a body that has to be answered well, and decodes the answer.
func ask[T any](t testing.TB, s http.Handler, path, body string) T {
	t.Helper()
	var v T
	w := post(t, s, path, body)
	if w.Code != http.StatusOK {
		t.Fatalf("%s %s: got %d %s", path, body, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%s: %v in %s", path, err, w.Body)
	}
	return v
}

// events posts a body that has to be answered by a stream, and decodes its chunks.
func events[T any](t testing.TB, s http.Handler, path, body string) []T {
	t.Helper()
	w := post(t, s, path, body)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s %s: got %d %s %s", path, body, w.Code, w.Header(), w.Body)
	}
	rest, ok := strings.CutSuffix(w.Body.String(), "data: [DONE]\n\n")
	if !ok {
		t.Fatalf("stream does not end with [DONE]: %s", w.Body)
	}
	var list []T
	for block := range strings.SplitSeq(strings.TrimSuffix(rest, "\n\n"), "\n\n") {
		var v T
		data, ok := strings.CutPrefix(block, "data: ")
		if err := json.Unmarshal([]byte(data), &v); err != nil || !ok {
			t.Fatalf("event %q: %v", block, err)
		}
		list = append(list, v)
	}
	return list
}
