// Package web is the HTTP client of a task's tools: headers whose secrets come from the environment, answers of bounded size, retries with a
// deadline, no redirects.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Options say how a client behaves.
type Options struct {
	Headers http.Header   // of every request; never part of a message
	Answer  int64         // bytes of an answer; a longer one gives a *[TooLong] when it is read
	Retries int           // of a request that met a busy or broken server, or none
	Pause   time.Duration // before the first retry; it doubles; 0 = 200 ms
}

// TooLong is that an answer is longer than it may be.
type TooLong struct{ Most int64 }

func (t *TooLong) Error() string { return fmt.Sprintf("the answer has more than %d bytes", t.Most) }

const (
	defaultPause = 200 * time.Millisecond
	maxPause     = 10 * time.Second
	headerBytes  = 64 << 10
)

// Client gives a client with its own connections. Its requests end with their contexts; Close them with CloseIdleConnections.
func Client(o Options) *http.Client {
	if o.Pause == 0 {
		o.Pause = defaultPause
	}
	base := &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxResponseHeaderBytes: headerBytes, MaxIdleConnsPerHost: 16, IdleConnTimeout: 30 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true,
	}
	return &http.Client{
		Transport: &transport{base: base, o: o},
		// A redirect would carry headers to a place that nobody named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type transport struct {
	base *http.Transport
	o    Options
}

// CloseIdleConnections is what [http.Client.CloseIdleConnections] calls.
func (t *transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

// RoundTrip sends a request, again where the server was busy, broken or away.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	pause := t.o.Pause
	for attempt := 0; ; attempt++ {
		try := r.Clone(r.Context())
		for name, values := range t.o.Headers {
			try.Header[name] = values
		}
		if attempt > 0 && r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			try.Body = body
		}
		resp, err := t.base.RoundTrip(try)
		again := attempt < t.o.Retries && (r.Body == nil || r.GetBody != nil) && r.Context().Err() == nil
		if err == nil && !(again && Transient(resp.StatusCode)) {
			resp.Body = &body{resp.Body, t.o.Answer, t.o.Answer}
			return resp, nil
		}
		if err != nil && !again {
			return nil, err
		}
		wait := pause
		if err == nil {
			wait = max(wait, retryAfter(resp.Header))
			_, _ = io.CopyN(io.Discard, resp.Body, headerBytes)
			resp.Body.Close()
		}
		if err := sleep(r.Context(), min(wait, maxPause)); err != nil {
			return nil, err
		}
		pause *= 2
	}
}

// Transient says whether a status tells of a server that may do better later.
func Transient(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return true
	}
	return false
}

// retryAfter is what a server asks for, in seconds; a date is not taken.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, 3600)) * time.Second
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// body is an answer that ends with an error where it grows too long.
type body struct {
	io.ReadCloser
	left, most int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// A body of exactly the length allowed ends here.
		var one [1]byte
		n, err := io.ReadFull(b.ReadCloser, one[:])
		if n > 0 {
			return 0, &TooLong{b.most}
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF
		}
		return 0, err
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
