// Package web is the HTTP client of a task's tools: headers whose secrets come from the environment, answers of bounded size, retries with a
// deadline, no redirects.
package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
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

// Down is that a server was not reached, or was too busy, retries included: nothing that was sent to it can be to blame.
type Down struct {
	Detail string
	Err    error // nil where the server answered
}

func (d *Down) Error() string { return d.Detail }
func (d *Down) Unwrap() error { return d.Err }

// RoundTrip sends a request, again where the server was busy, broken or away.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	pause := t.o.Pause
	for attempt := 0; ; attempt++ {
		resp, err := t.try(r, attempt)
		if err == nil && !Transient(resp.StatusCode) {
			return resp, nil
		}
		if attempt >= t.o.Retries || r.Body != nil && r.GetBody == nil || r.Context().Err() != nil {
			return final(resp, err)
		}
		wait := pause
		if err == nil {
			wait = max(wait, retryAfter(resp.Header))
		}
		timer := time.NewTimer(min(wait, maxPause))
		select {
		case <-timer.C:
		case <-r.Context().Done():
			timer.Stop()
			return final(resp, err)
		}
		if err == nil {
			_, _ = io.CopyN(io.Discard, resp.Body, headerBytes)
			resp.Body.Close()
		}
		pause *= 2
	}
}

// try sends a request once.
func (t *transport) try(r *http.Request, attempt int) (*http.Response, error) {
	var took atomic.Bool
	each := r.Clone(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		WroteRequest: func(i httptrace.WroteRequestInfo) {
			if i.Err == nil {
				took.Store(true)
			}
		},
	}))
	for name, values := range t.o.Headers {
		each.Header[name] = values
	}
	if attempt > 0 && r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		each.Body = body
	}
	resp, err := t.base.RoundTrip(each)
	switch {
	case err == nil:
		resp.Body = &body{resp.Body, t.o.Answer, t.o.Answer}
	case !took.Load():
		err = &Down{"not reached: " + err.Error(), err}
	}
	return resp, err
}

// final is what comes of a request that is not tried again: a server that says it is busy is down, and one that says it is broken has answered.
func final(resp *http.Response, err error) (*http.Response, error) {
	if err != nil || resp.StatusCode == http.StatusInternalServerError {
		return resp, err
	}
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
	resp.Body.Close()
	return nil, &Down{Detail: fmt.Sprintf("status %d: %s", resp.StatusCode, strings.Join(strings.Fields(strings.ToValidUTF8(string(said), "\uFFFD")), " "))}
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
