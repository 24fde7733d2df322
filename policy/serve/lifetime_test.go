package serve

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale"
)

const hello = `{"messages":[{"role":"user","content":"hi"}],"max_tokens":50}`

// stuck is a fake that waits before its third token until its context ends or go is closed, and says on entered that it does.
func stuck() (p fake, entered chan struct{}, release chan struct{}, ended chan error) {
	entered, release, ended = make(chan struct{}, 100), make(chan struct{}), make(chan error, 100)
	p = says("abcdef")
	p.pause = func(ctx context.Context, token int) error {
		if token != 2 {
			return nil
		}
		entered <- struct{}{}
		select {
		case <-ctx.Done():
			ended <- ctx.Err()
			return ctx.Err()
		case <-release:
			return nil
		}
	}
	return p, entered, release, ended
}

// listen starts a server on a port of its own. stop ends it and gives what Serve returned and how long that took.
func listen(t *testing.T, s *Server) (url string, stop func() (time.Duration, error)) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	once := sync.OnceValues(func() (time.Duration, error) {
		start := time.Now()
		cancel()
		err := <-done
		return time.Since(start), err
	})
	t.Cleanup(func() { once(); http.DefaultClient.CloseIdleConnections() })
	return "http://" + l.Addr().String(), once
}

func send(ctx context.Context, url, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	return http.DefaultClient.Do(r)
}

func TestDisconnectCancelsSampling(t *testing.T) {
	for _, body := range []string{hello, hello[:len(hello)-1] + `,"stream":true}`} {
		p, entered, _, ended := stuck()
		url, _ := listen(t, newServer(t, p, nil))
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			if resp, err := send(ctx, url+chatPath, body); err == nil {
				buf := make([]byte, 4096)
				for err == nil {
					_, err = resp.Body.Read(buf)
				}
				resp.Body.Close()
			}
		}()
		<-entered
		cancel()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("sampling ended by %v", err)
			}
		case <-time.After(5 * time.Second):
			t.Error("sampling goes on for a client that has left")
		}
		<-done
	}
}

func TestStopGivesTimeThenCancels(t *testing.T) {
	p, entered, release, _ := stuck()
	s := newServer(t, p, nil)
	url, stop := listen(t, s)
	codes := make(chan int, 2)
	ask := func() {
		resp, err := send(context.Background(), url+chatPath, hello)
		if err != nil {
			codes <- 0
			return
		}
		resp.Body.Close()
		codes <- resp.StatusCode
	}
	go ask()
	<-entered
	time.AfterFunc(50*time.Millisecond, func() { close(release) })
	if took, err := stop(); err != nil || took > time.Second {
		t.Errorf("stopped after %v by %v", took, err)
	}
	if code := <-codes; code != http.StatusOK {
		t.Errorf("a request under way that ends in time: got %d", code)
	}
	if w := post(t, s, chatPath, hello); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("a request after the end: got %d", w.Code)
	}

	p, entered, _, ended := stuck()
	url, stop = listen(t, newServer(t, p, nil))
	go ask()
	<-entered
	if took, err := stop(); err != nil || took > 2*time.Second || took < time.Second {
		t.Errorf("stopped after %v by %v, want 1 to 2 s", took, err)
	}
	if code := <-codes; code != http.StatusServiceUnavailable {
		t.Errorf("a request under way that does not end: got %d", code)
	}
	<-ended
}

// TestLongReplies has a reply take longer than a client may take to send its request.
func TestLongReplies(t *testing.T) {
	p, entered, release, _ := stuck()
	url, _ := listen(t, newServer(t, p, func(o *Options) { o.BodyTime = 50 * time.Millisecond }))
	go func() {
		<-entered
		time.Sleep(200 * time.Millisecond)
		close(release)
	}()
	resp, err := send(context.Background(), url+chatPath, hello)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.ContentLength == 0 {
		t.Errorf("got %d with %d bytes", resp.StatusCode, resp.ContentLength)
	}
}

// TestSlowRequests has a client that does not send what it promised.
func TestSlowRequests(t *testing.T) {
	url, _ := listen(t, newServer(t, says("x"), func(o *Options) { o.BodyTime = 50 * time.Millisecond }))
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST "+chatPath+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.Contains(string(answer), " 400 ") {
		t.Errorf("got %q, %v", answer, err)
	}
}

func TestTooManyWait(t *testing.T) {
	p, entered, release, _ := stuck()
	s := newServer(t, p, func(o *Options) { o.Concurrent, o.Waiting = 1, 1 })
	codes := make(chan int, 2)
	ask := func() { codes <- post(t, s, chatPath, hello).Code }
	go ask()
	<-entered
	go ask() // waits for its place
	for s.inside.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	w := post(t, s, chatPath, hello)
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "rate_limit_error") {
		t.Errorf("a third request: got %d %s", w.Code, w.Body)
	}
	close(release)
	for range 2 {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("got %d", code)
		}
	}
	if w := post(t, s, chatPath, hello); w.Code != http.StatusOK {
		t.Errorf("after all: got %d", w.Code)
	}
}

func TestTimeout(t *testing.T) {
	p, _, _, _ := stuck()
	s := newServer(t, p, func(o *Options) { o.Timeout = 30 * time.Millisecond })
	if w := post(t, s, chatPath, hello); w.Code != http.StatusGatewayTimeout || w.Header().Get("X-Should-Retry") != "false" {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	w := post(t, s, chatPath, hello[:len(hello)-1]+`,"stream":true}`)
	if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, "timeout_error") || strings.Contains(body, "[DONE]") {
		t.Errorf("streamed: got %d %s", w.Code, w.Body)
	}
}

func TestFailuresOfSampling(t *testing.T) {
	p := says("abcdef")
	p.pause = func(context.Context, int) error { return errors.New("boom") }
	if w := post(t, newServer(t, p, nil), chatPath, hello); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "boom") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	// One choice of several fails: the others end, and the answer is its error, not theirs.
	q := fake{say: func(r whale.SampleRequest) string { return "abcdef" }}
	var mu sync.Mutex
	n := 0
	q.pause = func(ctx context.Context, token int) error {
		mu.Lock()
		n++
		first := n == 1
		mu.Unlock()
		if first {
			return errors.New("boom")
		}
		<-ctx.Done()
		return ctx.Err()
	}
	if w := post(t, newServer(t, q, nil), chatPath, `{"messages":[{"role":"user","content":"hi"}],"n":3}`); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "boom") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

func TestGuards(t *testing.T) {
	s := newServer(t, says("x"), func(o *Options) { o.Key, o.LocalHosts, o.BodyBytes = "secret", true, 200 })
	for _, c := range []struct {
		method, path, host, key, kind, body string
		want                                int
	}{
		{"POST", chatPath, "localhost:80", "Bearer secret", "application/json", hello, 200},
		{"POST", chatPath, "[::1]:80", "bearer secret", "application/json; charset=utf-8", hello, 200},
		{"POST", chatPath, "127.0.0.1", "Bearer secre", "application/json", hello, 401},
		{"POST", chatPath, "127.0.0.1", "", "application/json", hello, 401},
		{"GET", "/v1/models", "127.0.0.1", "", "", "", 401},
		{"GET", "/v1/models", "127.0.0.1", "Bearer secret", "", "", 200},
		{"GET", "/v1/models/m", "127.0.0.1", "Bearer secret", "", "", 200},
		{"GET", "/v1/models/x/y", "127.0.0.1", "Bearer secret", "", "", 404},
		{"GET", "/healthz", "127.0.0.1", "", "", "", 200},
		{"GET", "/healthz", "evil.example", "", "", "", 403},
		{"POST", chatPath, "evil.example:8080", "Bearer secret", "application/json", hello, 403},
		{"POST", chatPath, "localhost", "Bearer secret", "text/plain", hello, 415},
		{"POST", chatPath, "localhost", "Bearer secret", "", hello, 415},
		{"POST", chatPath, "localhost", "Bearer secret", "application/json", `{"messages":"` + strings.Repeat("x", 200) + `"}`, 413},
		{"POST", chatPath, "localhost", "Bearer secret", "application/json", `{"model":"other",` + hello[1:], 404},
		{"GET", chatPath, "localhost", "Bearer secret", "", "", 405},
		{"OPTIONS", chatPath, "localhost", "", "", "", 405},
		{"POST", "/v1/embeddings", "localhost", "Bearer secret", "application/json", hello, 404},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Host = c.host
		if c.key != "" {
			r.Header.Set("Authorization", c.key)
		}
		if c.kind != "" {
			r.Header.Set("Content-Type", c.kind)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.want || w.Header().Get("Access-Control-Allow-Origin") != "" || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s %s of %s with %q as %s: got %d %s, want %d", c.method, c.path, c.host, c.key, c.kind, w.Code, w.Body, c.want)
		}
	}
}
