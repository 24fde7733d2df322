package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
)

func stopping() *failure {
	return &failure{status: http.StatusServiceUnavailable, kind: "server_error", code: "stopping", message: "the server is stopping"}
}

// hostRefused keeps pages of other sites out that made their own name point at this machine.
func (s *Server) hostRefused(r *http.Request) *failure {
	if !s.opt.LocalHosts {
		return nil
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if ip := net.ParseIP(host); strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback() {
		return nil
	}
	return &failure{status: http.StatusForbidden, kind: "invalid_request_error", code: "host", message: "host: want localhost or a loopback address"}
}

// keyRefused compares hashes, so that the time says nothing about the key.
func (s *Server) keyRefused(r *http.Request) *failure {
	if s.opt.Key == "" {
		return nil
	}
	scheme, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	a, b := sha256.Sum256([]byte(strings.TrimSpace(got))), sha256.Sum256([]byte(s.opt.Key))
	if strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(a[:], b[:]) == 1 {
		return nil
	}
	return &failure{status: http.StatusUnauthorized, kind: "invalid_request_error", code: "invalid_api_key", message: "authorization: want the server's key as a bearer token"}
}

// open answers a request that samples nothing.
func (s *Server) open(answer http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if f := s.keyRefused(r); f != nil {
			f.write(w)
			return
		}
		answer(w, r)
	}
}

// guarded answers a request that samples: it has a key, a JSON body of bounded size, a place among those that sample, and an end. The context ends
// with the client's connection, the time allowed, or the server.
func (s *Server) guarded(answer func(ctx context.Context, w http.ResponseWriter, body []byte) *failure) http.HandlerFunc {
	return s.open(func(w http.ResponseWriter, r *http.Request) {
		if f := s.admit(w, r, answer); f != nil {
			f.write(w)
		}
	})
}

func (s *Server) admit(w http.ResponseWriter, r *http.Request, answer func(context.Context, http.ResponseWriter, []byte) *failure) *failure {
	if s.stopping.Load() {
		return stopping()
	}
	defer s.inside.Add(-1)
	if s.inside.Add(1) > int64(s.opt.Concurrent+s.opt.Waiting) { // counted before the body is read: bodies are memory
		return &failure{status: http.StatusTooManyRequests, kind: "rate_limit_error", code: "overloaded", message: "too many requests are waiting; come again later"}
	}
	_ = http.NewResponseController(w).SetWriteDeadline(s.opt.Now().Add(s.opt.Timeout + writeTimeout)) // a recorder in a test has none
	body, f := s.readBody(w, r)
	if f != nil {
		return f
	}
	ctx, cancel := context.WithTimeoutCause(r.Context(), s.opt.Timeout, errTimeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stopWatching := context.AfterFunc(s.life, func() { stop(errStopping) })
	defer stopWatching()
	if f := s.enter(ctx); f != nil {
		return f
	}
	defer func() { <-s.places }()
	return answer(ctx, w, body)
}

// readBody reads JSON that says it is: a form of another site's page cannot.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *failure) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, &failure{status: http.StatusUnsupportedMediaType, kind: "invalid_request_error", message: "content-type: want application/json"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.opt.BodyBytes))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		f := refuse("", "body: want at most %d bytes", large.Limit)
		f.status = http.StatusRequestEntityTooLarge
		return nil, f
	case err != nil:
		return nil, refuse("", "body: cannot be read")
	}
	return body, nil
}

// enter waits for a place among those that sample.
func (s *Server) enter(ctx context.Context) *failure {
	select {
	case s.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		if f := s.failed(ctx, ctx.Err()); f != nil {
			return f
		}
		return stopping() // to nobody
	}
}
