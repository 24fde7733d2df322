package serve

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-095d5d2b/whale"
)

// Options bound a server. Zero values mean the defaults.
type Options struct {
	Key        string            // clients must send it as a bearer token; empty: none is asked for
	Seed       uint64            // where the seeds of requests without one come from, by the order of their arrival
	Sampling   whale.Sampling    // what a request leaves out; the zero value: temperature 1, top_p 1, as at OpenAI
	Concurrent int               // requests that sample at once; 0: 64
	Waiting    int               // requests that wait for a place; 0: 256; more are turned away
	BodyBytes  int64             // longest request body; 0: 2 MiB
	BodyTime   time.Duration     // longest time that a client may take to send a request; 0: 1 minute
	Timeout    time.Duration     // longest time of a request, waiting included; 0: 10 minutes
	Grace      time.Duration     // time that requests under way have when the server stops; 0: 1.5 s
	LocalHosts bool              // answer only requests addressed to this machine's loopback names, against pages that rebind theirs
	Now        func() time.Time  // the clock of "created"
	Log        func(line string) // a line a request, and what fails; called from many goroutines
}

func (o Options) withDefaults() Options {
	setDefault(&o.Sampling, whale.Sampling{Temperature: 1, TopP: 1})
	setDefault(&o.Concurrent, 64)
	setDefault(&o.Waiting, 256)
	setDefault(&o.BodyBytes, 2<<20)
	setDefault(&o.BodyTime, time.Minute)
	setDefault(&o.Timeout, 10*time.Minute)
	setDefault(&o.Grace, 1500*time.Millisecond)
	if o.Log == nil {
		o.Log = func(string) {}
	}
	return o
}

func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// Server answers requests for one model. The model's policy stays the caller's, who closes it after the server.
type Server struct {
	model   Model
	talk    Talker
	opt     Options
	handler http.Handler
	started time.Time
	mark    string // of the weights and the renderer: equal marks, equal seeds and equal requests give equal text

	inside atomic.Int64  // requests that sample or wait
	places chan struct{} // one element a request that samples
	count  atomic.Uint64 // of requests, for ids and seeds

	stopping atomic.Bool     // no new requests are taken
	life     context.Context // ends when requests under way are given up
	end      context.CancelFunc
}

var (
	errTimeout  = errors.New("timeout")
	errStopping = errors.New("stopping")
)

// New makes a server; Now is needed.
func New(m Model, opt Options) (*Server, error) {
	if m.Name == "" || m.Policy == nil || m.Text == nil || m.Vocab < 1 || opt.Now == nil {
		return nil, errors.New("serve: got a model without a name, policy, text or vocabulary, or no clock, want all of them")
	}
	s := &Server{model: m, opt: opt.withDefaults(), started: opt.Now()}
	s.life, s.end = context.WithCancel(context.Background())
	var ok bool
	if s.talk, ok = m.Policy.(Talker); !ok {
		s.talk = plain{m.Policy}
	}
	s.mark = "fp_" + whale.HashOf("serve", []whale.ID{m.Policy.Weights().ID, m.Policy.ID()}).Short()
	s.places = make(chan struct{}, s.opt.Concurrent)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.guarded(s.chat))
	mux.HandleFunc("POST /v1/completions", s.guarded(s.completions))
	mux.HandleFunc("GET /v1/models", s.open(s.models))
	mux.HandleFunc("GET /v1/models/{model...}", s.open(s.oneModel))
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("/", s.elsewhere)
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if f := s.hostRefused(r); f != nil {
			f.write(w)
			return
		}
		mux.ServeHTTP(w, r)
	})
	return s, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Serve answers requests on a listener until ctx ends. Then it takes no more, gives those under way the time of Options.Grace, cancels the rest,
// and returns nil. What is in the middle of a step of the model by then ends with that step, or with the policy.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       s.opt.BodyTime,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(lines(s.opt.Log), "", 0),
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.stopping.Store(true)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opt.Grace)
	defer cancel()
	if h.Shutdown(grace) != nil {
		s.end()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 300*time.Millisecond)
		defer cancel()
		if h.Shutdown(last) != nil {
			h.Close()
		}
	}
	<-ended
	return nil
}

// next gives a request its reply's id, and the seed that it has if it names none.
func (s *Server) next(prefix string) (id string, seed uint32) {
	n := s.count.Add(1)
	id = prefix + string(whale.HashOf("serve/reply", []any{s.mark, s.started.UnixNano(), n}))
	return id, whale.DeriveSeed(s.opt.Seed, "serve", "request", strconv.FormatUint(n, 10))
}

// lines is a writer of whole lines.
type lines func(string)

func (f lines) Write(p []byte) (int, error) {
	f(strings.TrimRight(string(p), "\n"))
	return len(p), nil
}
