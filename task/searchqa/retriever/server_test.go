package retriever

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
)

// searcher finds the query itself, k times.
type searcher func(ctx context.Context, query string, k int) ([]corpus.Hit, error)

func (s searcher) Search(ctx context.Context, query string, k int) ([]corpus.Hit, error) {
	return s(ctx, query, k)
}

func echo(_ context.Context, query string, k int) ([]corpus.Hit, error) {
	var hits []corpus.Hit
	for i := range k {
		hits = append(hits, corpus.Hit{Passage: corpus.Passage{ID: fmt.Sprint(i), Title: `A "title"`, Text: query}, Score: float64(k - i)})
	}
	return hits, nil
}

func send(h http.Handler, method, path, body string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w.Code, strings.TrimSpace(w.Body.String())
}

func TestHandler(t *testing.T) {
	h := Handler(searcher(echo), ServerOptions{TopK: 1, BodyBytes: 40_000})
	document := func(id, text string) string {
		b, _ := json.Marshal(map[string]string{"contents": "\"A \"title\"\"\n" + text, "id": id})
		return string(b)
	}
	for _, tc := range []struct {
		name, method, path, body string
		status                   int
		want                     string // in the body
	}{
		{"scores", "POST", "/retrieve", `{"queries":["a","b"],"topk":2,"return_scores":true}`, 200, `"score":2}`},
		{"no scores", "POST", "/retrieve", `{"queries":["a"],"topk":1}`, 200, `{"result":[[{"id":"0","contents":`},
		{"default", "POST", "/retrieve", `{"queries":["a"]}`, 200, "\\na\"}]]}"},
		{"empty query", "POST", "/retrieve", `{"queries":[""]}`, 200, `{"result":[[{`},
		{"health", "GET", "/health", "", 200, `{"status":"ok"}`},
		{"no queries", "POST", "/retrieve", `{"queries":[]}`, 422, "queries: got 0, want 1 to 256"},
		{"many queries", "POST", "/retrieve", `{"queries":["` + strings.Repeat(`","`, 256) + `"]}`, 422, "queries: got 257"},
		{"long query", "POST", "/retrieve", `{"queries":["` + strings.Repeat("x", MaxQuery+1) + `"]}`, 422, "queries[0]"},
		{"topk", "POST", "/retrieve", `{"queries":["a"],"topk":0}`, 422, "topk: got 0, want 1 to 100"},
		{"topk of another kind", "POST", "/retrieve", `{"queries":["a"],"topk":"3"}`, 422, "no request of the protocol"},
		{"garbage", "POST", "/retrieve", `hello`, 422, "no request of the protocol"},
		{"empty", "POST", "/retrieve", ``, 422, "no request of the protocol"},
		{"long body", "POST", "/retrieve", strings.Repeat(" ", 40_001), 413, "too large"},
		{"method", "GET", "/retrieve", "", 405, ""},
		{"path", "POST", "/other", "", 404, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, body := send(h, tc.method, tc.path, tc.body)
			if status != tc.status || !strings.Contains(body, tc.want) {
				t.Errorf("got %d %.200s, want %d with %q", status, body, tc.status, tc.want)
			}
		})
	}
	_, body := send(h, "POST", "/retrieve", `{"queries":["a","b"],"topk":1,"return_scores":true}`)
	var got, want any
	_ = json.Unmarshal([]byte(body), &got)
	_ = json.Unmarshal([]byte(`{"result":[[{"document":`+document("0", "a")+`,"score":1}],[{"document":`+document("0", "b")+`,"score":1}]]}`), &want)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %s", body)
	}
}

func TestHandlerFailures(t *testing.T) {
	var told string
	fails := Handler(searcher(func(context.Context, string, int) ([]corpus.Hit, error) {
		return nil, errors.New("/secret/path is gone")
	}),
		ServerOptions{Failed: func(query string, err error) { told = query + ": " + err.Error() }})
	if status, body := send(fails, "POST", "/retrieve", `{"queries":["a"]}`); status != 500 || strings.Contains(body, "secret") || !strings.Contains(told, "a: /secret") {
		t.Errorf("got %d %s, told %q", status, body, told)
	}
	slow := Handler(searcher(func(ctx context.Context, _ string, _ int) ([]corpus.Hit, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}), ServerOptions{Seconds: 0.02})
	if status, body := send(slow, "POST", "/retrieve", `{"queries":["a"]}`); status != 503 || !strings.Contains(body, "no time") {
		t.Errorf("got %d %s", status, body)
	}
}

// A server over loopback and our client: what goes in comes out. When the context ends, the request under way is still answered.
func TestServe(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	s := searcher(func(ctx context.Context, query string, k int) ([]corpus.Hit, error) {
		if query == "wait" {
			close(entered)
			<-release
		}
		return echo(ctx, query, k)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	address := make(chan net.Addr, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, "127.0.0.1:0", s, ServerOptions{Listening: func(a net.Addr) { address <- a }})
	}()
	url := "http://" + (<-address).String() + "/retrieve"
	c := quick(url)
	c.TimeoutSeconds = 5
	client := newClient(t, c)
	want, _ := echo(ctx, "naïve \"q\"\n", 3)
	if got, err := client.Search(t.Context(), "naïve \"q\"\n", 3); err != nil {
		t.Error(err)
	} else {
		for i := range want {
			want[i].Text = strings.TrimSpace(want[i].Text)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	answered := make(chan error, 1)
	go func() {
		_, err := client.Search(context.Background(), "wait", 1)
		answered <- err
	}()
	<-entered
	cancel()
	time.Sleep(20 * time.Millisecond)
	close(release)
	if err := <-answered; err != nil {
		t.Errorf("the request under way: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	if resp, err := http.Post(url, "application/json", bytes.NewReader(nil)); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		t.Error("somebody still answers")
	}
	if err := Serve(t.Context(), "127.0.0.1:99999", s, ServerOptions{}); err == nil {
		t.Error("an address that cannot be: got no error")
	}
	http.DefaultClient.CloseIdleConnections()
}
