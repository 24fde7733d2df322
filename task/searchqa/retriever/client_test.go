package retriever

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const good = `{"result":[[{"document":{"id":"7","contents":"\"Obama\"\nThe 44th president."},"score":0.5},{"document":{"id":8,"contents":"no title"},"score":-1e3}]]}`

// handler answers request n (from 1) of its server.
type answerer func(n int, w http.ResponseWriter, r *http.Request)

func says(status int, body string) answerer {
	return func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func hangup(_ int, w http.ResponseWriter, _ *http.Request) {
	if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
		c.Close()
	}
}

// stalls never answers.
func stalls(_ int, _ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client has gone
	select {
	case <-r.Context().Done():
	case <-time.After(5 * time.Second):
	}
}

// drips sends a byte now and then.
func drips(_ int, w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	for range 1000 {
		if _, err := io.WriteString(w, " "); err != nil || http.NewResponseController(w).Flush() != nil || r.Context().Err() != nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func endless(_ int, w http.ResponseWriter, _ *http.Request) {
	chunk := []byte(strings.Repeat(" ", 1<<16))
	for range 64 {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// first answers the first n requests in another way.
func first(n int, bad, then answerer) answerer {
	return func(i int, w http.ResponseWriter, r *http.Request) {
		if i <= n {
			bad(i, w, r)
			return
		}
		then(i, w, r)
	}
}

func start(t *testing.T, a answerer) (string, *atomic.Int32) {
	t.Helper()
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a(int(n.Add(1)), w, r) }))
	t.Cleanup(s.Close)
	return s.URL + "/retrieve", &n
}

func quick(endpoints ...string) Config {
	c := DefaultConfig()
	c.Endpoints, c.Corpus = endpoints, "test"
	c.TimeoutSeconds, c.Retries, c.PauseSeconds, c.RestSeconds, c.MaxBytes = 0.2, 2, 0.001, 0.1, 4096
	return c
}

func newClient(t *testing.T, c Config) *Client {
	t.Helper()
	out, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	return out
}

func TestSearch(t *testing.T) {
	var body string
	url, _ := start(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body = string(b)
		fmt.Fprint(w, good)
	})
	got, err := newClient(t, quick(url)).Search(t.Context(), `who "is" he`, 2)
	want := []corpus.Hit{
		{Passage: corpus.Passage{ID: "7", Title: "Obama", Text: "The 44th president."}, Score: 0.5},
		{Passage: corpus.Passage{ID: "8", Text: "no title"}, Score: -1000},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if want := `{"queries":["who \"is\" he"],"topk":2,"return_scores":true}`; body != want {
		t.Errorf("got the request %s, want %s", body, want)
	}
}

// What one server may do, how often it is asked, and what the error says.
func TestServers(t *testing.T) {
	list := func(hits string) answerer { return says(200, `{"result":[[`+hits+`]]}`) }
	for _, tc := range []struct {
		name     string
		server   answerer
		requests int32
		err      string // "" = hits
	}{
		{"well", says(200, good), 1, ""},
		{"nothing found", list(""), 1, ""},
		{"overloaded, then well", first(2, says(503, "busy"), says(200, good)), 3, ""},
		{"hangs up, then well", first(1, hangup, says(200, good)), 2, ""},
		{"too many requests, then well", first(1, says(429, ""), says(200, good)), 2, ""},
		{"slow once", first(1, stalls, says(200, good)), 2, ""},
		{"slow", stalls, 3, "no answer within 0.2 s (attempt 3 of 3)"},
		{"drips", drips, 3, "no answer within 0.2 s"},
		{"endless", endless, 3, "more than 4096 bytes"},
		{"broken", says(500, "<html>\n<b>Internal</b>"), 3, "status 500: <html> <b>Internal</b>"},
		{"our mistake", says(422, `{"detail":"topk"}`), 1, `status 422: {"detail":"topk"} (attempt 1 of 3)`},
		{"not found", says(404, ""), 1, "status 404"},
		{"redirects", says(302, ""), 3, "status 302"},
		{"garbage", says(200, "hello"), 3, "no answer of the protocol"},
		{"empty", says(200, ""), 3, "no answer of the protocol"},
		{"another shape", says(200, `{"result":{"a":1}}`), 3, "no answer of the protocol"},
		{"no list", says(200, `{"result":[]}`), 3, "got 0 lists for 1 query"},
		{"two lists", says(200, `{"result":[[],[]]}`), 3, "got 2 lists for 1 query"},
		{"too many", list(strings.Repeat(`{"document":{"id":"1","contents":"x"},"score":1},`, 5) + `{}`), 3, "got 6 passages, want at most 5"},
		{"null", list("null"), 3, "no document with a score"},
		{"no score", list(`{"document":{"id":"1","contents":"x"}}`), 3, "no document with a score"},
		{"score of another kind", list(`{"document":{"id":"1","contents":"x"},"score":"high"}`), 3, "result[0][0]"},
		{"score beyond floats", list(`{"document":{"id":"1","contents":"x"},"score":1e999}`), 3, "result[0][0]"},
		{"no id", list(`{"document":{"contents":"x"},"score":1}`), 3, "document.id: got none"},
		{"id of another kind", list(`{"document":{"id":{},"contents":"x"},"score":1}`), 3, "document.id"},
		{"long id", list(`{"document":{"id":"` + strings.Repeat("x", 300) + `","contents":"x"},"score":1}`), 3, "got 300 bytes"},
		{"no contents", list(`{"document":{"id":"1"},"score":1}`), 3, "document.contents: got none"},
		{"empty contents", list(`{"document":{"id":"1","contents":" "},"score":1}`), 3, "neither title nor text"},
		{"text apart", list(`{"document":{"id":"1","title":"T","text":"x"},"score":1}`), 1, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			url, n := start(t, tc.server)
			c := quick(url)
			c.Failures = 100
			_, err := newClient(t, c).Search(t.Context(), "x", 5)
			if n.Load() != tc.requests {
				t.Errorf("got %d requests, want %d", n.Load(), tc.requests)
			}
			switch {
			case tc.err == "" && err != nil:
				t.Errorf("got %v, want hits", err)
			case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err) || !strings.Contains(err.Error(), url) || strings.Contains(err.Error(), "\n")):
				t.Errorf("got %v, want one line with %q and the address", err, tc.err)
			}
		})
	}
}

// Queries go round the endpoints; a broken one is tried few times, and then left alone until it works again.
func TestEndpoints(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	bad, asked := start(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			w.WriteHeader(500)
			return
		}
		fmt.Fprint(w, good)
	})
	one, n1 := start(t, says(200, good))
	two, n2 := start(t, says(200, good))
	c := quick(bad, one, two)
	c.Failures, c.RestSeconds, c.Retries = 2, 0.2, 1
	client := newClient(t, c)
	search := func() {
		t.Helper()
		if _, err := client.Search(t.Context(), "x", 5); err != nil {
			t.Error(err)
		}
	}
	for range 30 {
		search()
	}
	if got := asked.Load(); got != 2 {
		t.Errorf("the broken endpoint was asked %d times, want 2", got)
	}
	if a, b := n1.Load(), n2.Load(); a+b != 30 || a < 10 || b < 10 {
		t.Errorf("the others were asked %d and %d times, want 30 in all and about the same", a, b)
	}
	broken.Store(false)
	time.Sleep(250 * time.Millisecond)
	for range 30 {
		search()
	}
	if got := asked.Load(); got < 10 {
		t.Errorf("the mended endpoint was asked %d times in all, want it back", got)
	}
}

// While an endpoint is tried again, only one request goes there.
func TestProbe(t *testing.T) {
	p := newPool(quick("http://a/", "http://b/"))
	now := time.Unix(1000, 0)
	a, _, _ := p.take(now, "")
	for range 3 {
		p.give(a, now, failed)
		a.busy++
	}
	a.busy--
	for range 4 {
		if e, _, _ := p.take(now, ""); e == a {
			t.Fatal("got the endpoint that rests")
		}
	}
	later := now.Add(time.Second)
	tried := 0
	for range 4 {
		if e, _, _ := p.take(later, "http://b/"); e == a {
			tried++
		}
	}
	if tried != 1 {
		t.Errorf("got the endpoint that rested %d times, want once", tried)
	}
	p.give(a, later, failed)
	if e, _, _ := p.take(later, ""); e == a {
		t.Error("got it again after it failed its trial")
	}
	p.give(p.list[1], later, unknown)
	if p.list[1].failures != 0 {
		t.Error("a request that was given up counts as a failure")
	}
}

// All endpoints rest: a search waits for them, as long as its context lets it.
func TestAllRest(t *testing.T) {
	url, n := start(t, first(3, says(500, ""), says(200, good)))
	c := quick(url)
	c.Failures, c.RestSeconds, c.Retries = 1, 0.02, 5
	client := newClient(t, c)
	if _, err := client.Search(t.Context(), "x", 5); err != nil || n.Load() != 4 {
		t.Errorf("got %v after %d requests, want hits after 4", err, n.Load())
	}
	dead, _ := start(t, says(500, ""))
	c = quick(dead)
	c.Failures, c.RestSeconds, c.Retries = 1, 60, 5
	client = newClient(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := client.Search(ctx, "x", 5); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
}

func TestConcurrency(t *testing.T) {
	var now, most atomic.Int32
	url, _ := start(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		time.Sleep(3 * time.Millisecond)
		now.Add(-1)
		fmt.Fprint(w, good)
	})
	c := quick(url)
	c.Concurrency, c.TimeoutSeconds = 3, 10
	client := newClient(t, c)
	var group sync.WaitGroup
	for range 30 {
		group.Go(func() {
			if _, err := client.Search(t.Context(), "x", 5); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if most.Load() > 3 {
		t.Errorf("got %d requests at a time, want at most 3", most.Load())
	}
}

func TestClientErrors(t *testing.T) {
	client := newClient(t, quick("http://127.0.0.1:1/"))
	for _, k := range []int{0, MaxTopK + 1} {
		if _, err := client.Search(t.Context(), "x", k); err == nil {
			t.Errorf("k = %d: got no error", k)
		}
	}
	if _, err := client.Search(t.Context(), strings.Repeat("x", MaxQuery+1), 1); err == nil {
		t.Error("a long query: got no error")
	}
	if _, err := client.Search(t.Context(), "x", 1); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("nobody listens: got %v", err)
	}
	for _, tc := range []struct {
		change func(*Config)
		err    string
	}{
		{func(c *Config) { c.Endpoints = nil }, "endpoints: got 0"},
		{func(c *Config) { c.Endpoints = []string{"localhost:8000"} }, "endpoints[0]"},
		{func(c *Config) { c.Endpoints = []string{"http://a", "http://a"} }, "twice"},
		{func(c *Config) { c.Corpus = "" }, "corpus"},
		{func(c *Config) { c.TimeoutSeconds = 0 }, "timeout_seconds"},
		{func(c *Config) { c.Retries = -1 }, "retries"},
		{func(c *Config) { c.PauseSeconds = 31 }, "pause_seconds"},
		{func(c *Config) { c.Failures = 0 }, "failures"},
		{func(c *Config) { c.RestSeconds = -1 }, "rest_seconds"},
		{func(c *Config) { c.Concurrency = 0 }, "concurrency"},
		{func(c *Config) { c.MaxBytes = 1 }, "max_bytes"},
	} {
		c := quick("http://127.0.0.1:1/")
		tc.change(&c)
		if _, err := New(c); err == nil || !strings.HasPrefix(err.Error(), strings.Fields(tc.err)[0]) && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("got %v, want an error about %s", err, tc.err)
		}
	}
}

func FuzzParseResult(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"result":[[{"document":{"id":1,"title":"t","text":"x"},"score":1}]]}`))
	f.Add([]byte(`{"result":[[null]]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		hits, err := parseResult(body, 3)
		if err != nil {
			return
		}
		if len(hits) > 3 {
			t.Errorf("got %d hits", len(hits))
		}
		for _, h := range hits {
			if err := h.Validate(); err != nil {
				t.Errorf("%v: %v", h, err)
			}
		}
		if _, err := json.Marshal(hits); err != nil {
			t.Error(err)
		}
	})
}
