package local

import (
	"bytes"
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// Options are the resources of embedded policies and trainers.
type Options struct {
	Pool        *kernel.Pool // owned by the caller
	MaxBatch    int          // most sequences in one decoding step
	CacheTokens int          // most tokens of keys and values kept for prompts seen before
	MemoryBytes int64        // most memory for keys and values of all sequences; 0 means 1 GiB
}

func (o Options) generator() lm.GeneratorOptions {
	return lm.GeneratorOptions{Pool: o.Pool, MaxBatch: o.MaxBatch, CacheTokens: o.CacheTokens, MemoryBytes: o.MemoryBytes}
}

// Policy samples from frozen weights. Safe for many goroutines.
type Policy struct {
	*Renderer
	gen     *lm.Generator
	weights whale.WeightsRef
	context int
}

// NewPolicy starts a sampler over the model, which must not change while the policy lives.
func NewPolicy(r *Renderer, m *lm.Model, opt Options) *Policy {
	return newPolicy(r, m, weightsRef(m), opt)
}

func newPolicy(r *Renderer, m *lm.Model, weights whale.WeightsRef, opt Options) *Policy {
	return &Policy{
		Renderer: r,
		gen:      lm.NewGenerator(m, opt.generator()),
		weights:  weights,
		context:  m.Config().MaxSeq,
	}
}

// Weights says which weights sample.
func (p *Policy) Weights() whale.WeightsRef { return p.weights }

// Capabilities of the embedded policy: token-exact, seeded, with log-probabilities.
func (p *Policy) Capabilities() whale.Capabilities {
	return whale.Capabilities{Access: whale.TokenExact, Seeds: true, LogProbs: true, MaxContext: p.context}
}

// Sample continues a prompt.
func (p *Policy) Sample(ctx context.Context, r whale.SampleRequest) (whale.Completion, error) {
	req := lm.Request{
		Prompt: r.Prompt, MaxTokens: r.MaxTokens, Stop: r.StopIDs, Seed: uint64(r.Seed),
		Temperature: float32(r.Sampling.Temperature), TopP: float32(r.Sampling.TopP), TopK: r.Sampling.TopK,
	}
	if len(r.StopText) > 0 {
		req.StopFunc = p.stopText(r.StopText)
	}
	res, err := p.gen.Generate(ctx, req)
	if err != nil {
		return whale.Completion{}, fmt.Errorf("embedded policy: %w", err)
	}
	return whale.Completion{
		Prompt: r.Prompt, Tokens: res.Tokens, LogProbs: res.LogProbs, SampleLogProbs: res.SampleLogProbs,
		Finish: res.Finish, Weights: p.weights,
	}, nil
}

// stopText watches the growing text for any of the stop texts. Control tokens have no text, so it counts bytes and not tokens.
func (p *Policy) stopText(stops []string) func([]int32) bool {
	longest := 0
	for _, s := range stops {
		longest = max(longest, len(s))
	}
	var text []byte
	seen := 0 // tokens
	return func(ids []int32) bool {
		from := max(0, len(text)-longest) // a match ends in what is new
		for _, id := range ids[seen:] {
			text = append(text, p.tok.Bytes(id)...)
		}
		seen = len(ids)
		for _, s := range stops {
			if s != "" && bytes.Contains(text[from:], []byte(s)) {
				return true
			}
		}
		return false
	}
}

// Close ends the sampler's goroutines.
func (p *Policy) Close() error {
	p.gen.Close()
	return nil
}
