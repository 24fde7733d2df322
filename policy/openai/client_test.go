package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-very-secret-0123456789"

func getenv(name string) string {
	if name == "TEST_KEY" {
		return secret
	}
	return ""
}

// client makes a quick client of a server.
func client(t *testing.T, url string, change func(*Config)) *Client {
	t.Helper()
	c := DefaultConfig()
	c.BaseURL, c.Model, c.KeyEnv = url+"/v1", "m", "TEST_KEY"
	c.PauseSeconds, c.MaxWaitSeconds, c.TimeoutSeconds, c.Retries = 0.001, 0.2, 5, 2
	if change != nil {
		change(&c)
	}
	out, err := New(c, getenv)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	return out
}

// server answers attempt n (from 1) as the handler says.
func server(t *testing.T, h func(n int, w http.ResponseWriter, r *http.Request)) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h(int(n.Add(1)), w, r) }))
	t.Cleanup(s.Close)
	return s, &n
}

const good = `{"choices":[{"message":{"role":"assistant","content":"Yes."},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}`

func TestAsk(t *testing.T) {
	var got map[string]any
	var header http.Header
	var path string
	s, _ := server(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		header, path = r.Header, r.URL.Path
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		fmt.Fprint(w, good)
	})
	text, err := client(t, s.URL, nil).Ask(t.Context(), `Is "x" right?`)
	if err != nil || text != "Yes." {
		t.Fatalf("got %q, %v", text, err)
	}
	if path != "/v1/chat/completions" || header.Get("Authorization") != "Bearer "+secret {
		t.Errorf("got path %s and authorization %q", path, header.Get("Authorization"))
	}
	want := `{"max_tokens":1024,"messages":[{"content":"Is \"x\" right?","role":"user"}],"model":"m","temperature":0}`
	if sent, _ := json.Marshal(got); string(sent) != want {
		t.Errorf("got the request %s, want %s", sent, want)
	}
}

func TestChat(t *testing.T) {
	var got map[string]any
	s, _ := server(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		fmt.Fprint(w, `{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"image_url"},{"type":"text","text":"b"}],"reasoning_content":"hm"},"finish_reason":"length"}]}`)
	})
	seed := uint32(5)
	r, err := client(t, s.URL, nil).Chat(t.Context(), Request{
		Messages: []Message{{"system", "s"}, {"user", "u"}}, Temperature: 0.5, TopP: 0.9, MaxTokens: 3, Seed: &seed, Stop: []string{"x"},
	})
	if err != nil || r != (Reply{Text: "ab", Reasoning: "hm", Finish: "length"}) {
		t.Fatalf("got %+v, %v", r, err)
	}
	want := `{"max_tokens":3,"messages":[{"content":"s","role":"system"},{"content":"u","role":"user"}],"model":"m","seed":5,"stop":["x"],"temperature":0.5,"top_p":0.9}`
	if sent, _ := json.Marshal(got); string(sent) != want {
		t.Errorf("got the request %s, want %s", sent, want)
	}
}

// What a server may do, how many attempts it gets, and what the error says.
func TestServers(t *testing.T) {
	status := func(code int, body string, header ...string) func(int, http.ResponseWriter, *http.Request) {
		return func(_ int, w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		}
	}
	then := func(bad func(int, http.ResponseWriter, *http.Request), times int) func(int, http.ResponseWriter, *http.Request) {
		return func(n int, w http.ResponseWriter, r *http.Request) {
			if n <= times {
				bad(n, w, r)
				return
			}
			fmt.Fprint(w, good)
		}
	}
	hangup := func(_ int, w http.ResponseWriter, _ *http.Request) {
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			c.Close()
		}
	}
	for _, tc := range []struct {
		name     string
		handler  func(int, http.ResponseWriter, *http.Request)
		attempts int32
		err      string // "" = a reply
		status   int
	}{
		{"overloaded, then well", then(status(503, "busy"), 2), 3, "", 0},
		{"too many requests, then well", then(status(429, "", "Retry-After", "0.01"), 1), 2, "", 0},
		{"hangs up, then well", then(hangup, 1), 2, "", 0},
		{"garbage, then well", then(status(200, "<html>"), 1), 2, "", 0},
		{"overloaded for good", status(500, `{"error":{"message":"out of\nmemory"}}`), 3, "status 500: out of memory", 500},
		{"our mistake", status(400, `{"error":{"message":"messages: got none"}}`), 1, "status 400: messages: got none", 400},
		{"wrong key", status(401, `{"error":"no such key: `+secret+`"}`), 1, "no such key: [key]", 401},
		{"key, escaped and late", status(401, `{"message":"`+strings.Repeat("x", 290)+`\u0073k-very-secret-0123456789"}`), 1, "xx[key]", 401},
		{"unknown path", status(404, ""), 1, "an empty body", 404},
		{"says not to repeat", status(504, "late", "X-Should-Retry", "false"), 1, "status 504: late", 504},
		{"asks for too long a pause", status(429, "quota", "Retry-After", "3600"), 1, "quota; it asks for a pause of 1h0m0s", 429},
		{"asks for nonsense", status(429, "quota", "Retry-After", "soon"), 3, "quota", 429},
		{"redirects", status(302, "", "Location", "http://127.0.0.1:1/steal"), 1, "status 302", 302},
		{"validation of FastAPI", status(422, `{"detail":[{"loc":["body"],"msg":"bad"}]}`), 1, `"msg":"bad"`, 422},
		{"no choices", status(200, `{"choices":[]}`), 3, "without a message", 200},
		{"content of another kind", status(200, `{"choices":[{"message":{"content":5}}]}`), 3, "neither a text", 200},
		{"endless", func(_ int, w http.ResponseWriter, _ *http.Request) {
			chunk := []byte(strings.Repeat("x", 1<<16))
			for range 64 {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, 1, "more than 2048 bytes", 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, n := server(t, tc.handler)
			text, err := client(t, s.URL, func(c *Config) { c.ReplyBytes = 2048 }).Ask(t.Context(), "?")
			if n.Load() != tc.attempts {
				t.Errorf("got %d attempts, want %d", n.Load(), tc.attempts)
			}
			if tc.err == "" {
				if err != nil || text != "Yes." {
					t.Errorf("got %q, %v; want the reply", text, err)
				}
				return
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if !strings.Contains(err.Error(), tc.err) || !strings.Contains(err.Error(), s.URL) || e.Status != tc.status || e.Attempts != int(tc.attempts) {
				t.Errorf("got %+v: %v; want status %d and %q", e, err, tc.status, tc.err)
			}
			if strings.Contains(err.Error(), secret[:8]) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got the error %q, want one line without the key", err)
			}
		})
	}
}

func TestSlowServer(t *testing.T) {
	s, n := server(t, func(_ int, _ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client has gone
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
		}
	})
	start := time.Now()
	_, err := client(t, s.URL, func(c *Config) { c.TimeoutSeconds, c.Retries = 0.05, 1 }).Ask(t.Context(), "?")
	if err == nil || !strings.Contains(err.Error(), "no answer within 0.05 s") || n.Load() != 2 {
		t.Errorf("got %v after %d attempts, want two that ran out of time", err, n.Load())
	}
	if time.Since(start) > 3*time.Second {
		t.Errorf("took %v", time.Since(start))
	}
}

// A pause is cut short, and a place is given up, when the caller gives up.
func TestContext(t *testing.T) {
	s, _ := server(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })
	c := client(t, s.URL, func(c *Config) { c.PauseSeconds, c.MaxWaitSeconds, c.Concurrency = 60, 60, 1 })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if _, err := c.Ask(ctx, "?"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want the deadline", err)
			}
		})
	}
	group.Wait()
}

func TestConcurrency(t *testing.T) {
	var now, most atomic.Int32
	s, _ := server(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		time.Sleep(5 * time.Millisecond)
		now.Add(-1)
		fmt.Fprint(w, good)
	})
	c := client(t, s.URL, func(c *Config) { c.Concurrency = 2 })
	var group sync.WaitGroup
	for range 12 {
		group.Go(func() {
			if _, err := c.Ask(t.Context(), "?"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if most.Load() > 2 {
		t.Errorf("got %d requests at a time, want at most 2", most.Load())
	}
}

func TestConfig(t *testing.T) {
	for _, tc := range []struct {
		change func(*Config)
		err    string
	}{
		{func(c *Config) { c.BaseURL = "localhost:8000" }, "base_url"},
		{func(c *Config) { c.BaseURL = "ftp://host/v1" }, "base_url"},
		{func(c *Config) { c.BaseURL = "http://user:word@host/v1" }, "base_url: got a name or a password"},
		{func(c *Config) { c.BaseURL = "http://user:word@ho st/v1" }, "base_url"},
		{func(c *Config) { c.Model = " " }, "model"},
		{func(c *Config) { c.KeyEnv = "A=B" }, "key_env"},
		{func(c *Config) { c.KeyEnv = "UNSET" }, "environment variable UNSET"},
		{func(c *Config) { c.TimeoutSeconds = 0 }, "timeout_seconds"},
		{func(c *Config) { c.Retries = -1 }, "retries"},
		{func(c *Config) { c.PauseSeconds = 61 }, "pause_seconds"},
		{func(c *Config) { c.MaxTokens = 0 }, "max_tokens"},
		{func(c *Config) { c.Concurrency = 0 }, "concurrency"},
		{func(c *Config) { c.ReplyBytes = 1 }, "reply_bytes"},
	} {
		c := DefaultConfig()
		c.BaseURL, c.Model = "http://127.0.0.1:1/v1", "m"
		tc.change(&c)
		_, err := New(c, getenv)
		if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), "word") && strings.Contains(err.Error(), "user:") {
			t.Errorf("got %v, want an error about %q", err, tc.err)
		}
	}
	c := DefaultConfig()
	c.BaseURL, c.Model, c.KeyEnv = "http://127.0.0.1:1/v1", "m", "BAD"
	if _, err := New(c, func(string) string { return "sk-bad\nX-Injected: 1" }); err == nil || strings.Contains(err.Error(), "sk-bad") {
		t.Errorf("got %v, want an error that does not tell the key", err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"0": 0, "2": 2 * time.Second, "0.5": 500 * time.Millisecond, "Fri, 02 Jan 2026 03:04:35 GMT": 30 * time.Second, "Fri, 02 Jan 2026 03:04:00 GMT": 0,
		"": -1, "-5": -1, "NaN": -1, "Inf": -1, "1e99": -1, "tomorrow": -1,
	} {
		got := retryAfter(value, now)
		if want < 0 && got != nil || want >= 0 && (got == nil || *got != want) {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"choices":[{"message":{"content":[{"type":"text","text":"a"}]}}]}`))
	f.Add([]byte(`{"choices":[{"message":null}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := parse(body); err != nil {
			return
		}
		if !json.Valid(body) {
			t.Errorf("took %q", body)
		}
	})
}
