package retriever

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
)

// Searcher is what a server answers from.
type Searcher interface {
	Search(ctx context.Context, query string, k int) ([]corpus.Hit, error)
}

// ServerOptions are the settings of a server. Zeros mean the defaults.
type ServerOptions struct {
	TopK        int                           // passages where a request names no number; 0 = 3
	Concurrency int                           // searches at a time; further ones wait; 0 = 8
	BodyBytes   int64                         // of a request; 0 = 1 MiB
	Seconds     float64                       // for a request, its waiting included; 0 = 60
	Failed      func(query string, err error) // told of searches that failed, if set
	Listening   func(addr net.Addr)           // told once the server listens, if set
}

// shutdownWait is how long a server that ends waits for the requests that it has begun.
const shutdownWait = 10 * time.Second

func (o ServerOptions) withDefaults() ServerOptions {
	if o.TopK == 0 {
		o.TopK = 3
	}
	if o.Concurrency == 0 {
		o.Concurrency = 8
	}
	if o.BodyBytes == 0 {
		o.BodyBytes = 1 << 20
	}
	if o.Seconds == 0 {
		o.Seconds = 60
	}
	return o
}

// Serve answers requests at an address until the context ends, and then those that it has begun. The error is nil where it ended for that reason.
func Serve(ctx context.Context, address string, s Searcher, o ServerOptions) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("retriever: %w", err)
	}
	if o.Listening != nil {
		o.Listening(listener.Addr())
	}
	o = o.withDefaults()
	server := &http.Server{
		Handler:           Handler(s, o),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      seconds(o.Seconds) + 30*time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("retriever: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWait)
	defer cancel()
	err = server.Shutdown(last)
	if err != nil {
		err = errors.Join(err, server.Close())
	}
	<-ended
	return err
}

// Handler answers the protocol's requests at /retrieve, and says at /health that it is there.
func Handler(s Searcher, o ServerOptions) http.Handler {
	h := &handler{searcher: s, options: o.withDefaults()}
	h.slots = make(chan struct{}, h.options.Concurrency)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /retrieve", h.retrieve)
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	return mux
}

type handler struct {
	searcher Searcher
	options  ServerOptions
	slots    chan struct{}
}

func (h *handler) retrieve(w http.ResponseWriter, r *http.Request) {
	body, err := readBounded(http.MaxBytesReader(w, r.Body, h.options.BodyBytes), h.options.BodyBytes)
	if err != nil {
		status := http.StatusBadRequest
		var long *http.MaxBytesError
		if errors.As(err, &long) {
			status = http.StatusRequestEntityTooLarge
		}
		refuse(w, status, err.Error())
		return
	}
	q, fault := h.parse(body)
	if fault != "" {
		refuse(w, http.StatusUnprocessableEntity, fault)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), seconds(h.options.Seconds))
	defer cancel()
	result := make([][]any, len(q.Queries))
	for i, query := range q.Queries {
		hits, err := h.search(ctx, query, *q.TopK)
		switch {
		case ctx.Err() != nil:
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("got no time for %d queries within %v s", len(q.Queries), h.options.Seconds))
			return
		case err != nil:
			if h.options.Failed != nil {
				h.options.Failed(query, err)
			}
			refuse(w, http.StatusInternalServerError, "the search failed")
			return
		}
		result[i] = make([]any, len(hits))
		for n, hit := range hits {
			result[i][n] = answerOf(hit, q.ReturnScores != nil && *q.ReturnScores)
		}
	}
	reply(w, http.StatusOK, map[string]any{"result": result})
}

// parse reads a request. fault is the client's mistake, in one line.
func (h *handler) parse(body []byte) (q request, fault string) {
	if err := json.Unmarshal(body, &q); err != nil {
		return q, "got a body that is no request of the protocol: " + err.Error()
	}
	if len(q.Queries) < 1 || len(q.Queries) > MaxQueries {
		return q, fmt.Sprintf("queries: got %d, want 1 to %d", len(q.Queries), MaxQueries)
	}
	for i, query := range q.Queries {
		if len(query) > MaxQuery {
			return q, fmt.Sprintf("queries[%d]: got %d bytes, want at most %d", i, len(query), MaxQuery)
		}
	}
	if q.TopK == nil {
		q.TopK = &h.options.TopK
	}
	if *q.TopK < 1 || *q.TopK > MaxTopK {
		return q, fmt.Sprintf("topk: got %d, want 1 to %d", *q.TopK, MaxTopK)
	}
	return q, ""
}

// search waits for its turn.
func (h *handler) search(ctx context.Context, query string, k int) ([]corpus.Hit, error) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return h.searcher.Search(ctx, query, k)
}

// answerOf writes a hit as the protocol does: with its score, or the document alone.
func answerOf(h corpus.Hit, score bool) any {
	contents := h.Contents()
	id, err := json.Marshal(h.ID)
	if err != nil {
		panic("retriever: a string that JSON cannot express: " + err.Error()) // Marshal has no such strings
	}
	d := document{ID: id, Contents: &contents}
	if !score {
		return d
	}
	return hit{Document: d, Score: h.Score}
}

func refuse(w http.ResponseWriter, status int, detail string) {
	reply(w, status, map[string]string{"detail": detail})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// An error here means that the client has gone.
	_ = json.NewEncoder(w).Encode(v)
}
