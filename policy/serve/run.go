package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/seed-095d5d2b/whale"
)

// choice is one completion under way. Its sampling goroutine writes to it, the handler reads it.
type choice struct {
	index   int // in the reply
	request whale.SampleRequest

	mu     sync.Mutex
	tokens []int32 // so far, where the policy streams
	done   bool
	result whale.Completion
	err    error
}

// progress gives the tokens so far, and whether these are all. The slice is the caller's to read.
func (c *choice) progress() (tokens []int32, done bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return c.result.Tokens, true
	}
	return c.tokens[:len(c.tokens):len(c.tokens)], false
}

// choices makes a choice for each prompt and each of n. seed stands in where the request has none.
func (s *Server) choices(r *request, seed uint32, prompts [][]int32, where string) ([]*choice, *failure) {
	stopIDs := r.stopIDs
	if !r.ignoreEOS {
		stopIDs = append(append([]int32{}, s.model.Policy.StopIDs()...), r.stopIDs...)
	}
	for _, id := range r.stopIDs {
		if id < 0 || int(id) >= s.model.Vocab {
			return nil, refuse("stop_token_ids", "got %d, want 0 to %d", id, s.model.Vocab-1)
		}
	}
	if r.seed != nil {
		seed = *r.seed
	}
	var list []*choice
	for i, p := range prompts {
		most, err := s.room(r, p, where)
		if err != nil {
			return nil, err
		}
		for j := range r.n {
			list = append(list, &choice{index: i*r.n + j, request: whale.SampleRequest{
				Prompt: p, MaxTokens: most, StopIDs: stopIDs, StopText: r.stop, Sampling: r.sampling,
				Seed: seedOf(seed, fmt.Sprint(j), j == 0),
			}})
		}
	}
	return list, nil
}

// room is how many tokens a prompt's completions may have.
func (s *Server) room(r *request, prompt []int32, where string) (int, *failure) {
	most := s.model.Policy.Capabilities().MaxContext
	for _, id := range prompt {
		if id < 0 || int(id) >= s.model.Vocab {
			return 0, refuse(where, "got token id %d, want 0 to %d", id, s.model.Vocab-1)
		}
	}
	left := most - len(prompt)
	switch {
	case len(prompt) == 0:
		return 0, refuse(where, "got a prompt of no tokens, want at least one")
	case left < 1 || r.maxTokens > left:
		f := refuse(where, "got %d tokens and at most %d to sample, want no more than the model's context of %d in all", len(prompt), max(r.maxTokens, 1), most)
		f.code = "context_length_exceeded"
		return 0, f
	case r.maxTokens > 0:
		return r.maxTokens, nil
	}
	return left, nil
}

// sample starts all choices and calls moved whenever one has grown or ended; moved must be quick. wait waits for all of them and gives the first
// error: one failing choice ends the others.
func (s *Server) sample(ctx context.Context, list []*choice, moved func()) (wait func() error) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for _, c := range list {
		all.Go(func() {
			s.sampleOne(ctx, c, moved)
			if c.err != nil {
				cancel()
			}
			moved()
		})
	}
	return func() error {
		all.Wait()
		cancel()
		var first error
		for _, c := range list {
			if c.err != nil && (first == nil || errors.Is(first, context.Canceled)) {
				first = c.err
			}
		}
		return first
	}
}

func (s *Server) sampleOne(ctx context.Context, c *choice, moved func()) {
	var result whale.Completion
	var err error
	if p, ok := s.model.Policy.(Streamer); ok {
		result, err = p.SampleStream(ctx, c.request, func(tokens []int32) {
			c.mu.Lock()
			c.tokens = append(c.tokens, tokens[len(c.tokens):]...)
			c.mu.Unlock()
			moved()
		})
	} else {
		result, err = s.model.Policy.Sample(ctx, c.request)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done, c.result, c.err = true, result, err
}

// failed turns an error of sampling into what the client is told; nil if there is nobody to tell.
func (s *Server) failed(ctx context.Context, err error) *failure {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTimeout):
		return &failure{status: http.StatusGatewayTimeout, kind: "timeout_error", message: fmt.Sprintf("request: not done after %v", s.opt.Timeout)}
	case errors.Is(cause, errStopping):
		return stopping()
	case ctx.Err() != nil:
		return nil // the client has left
	}
	s.opt.Log("sampling failed: " + err.Error())
	return &failure{status: http.StatusInternalServerError, kind: "server_error", message: "sampling failed: " + clip(err.Error())}
}
