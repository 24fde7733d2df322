package local

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// Options are the resources of embedded policies and trainers.
type Options struct {
	Pool        *kernel.Pool // owned by the caller
	MaxBatch    int          // most sequences in one decoding step
	CacheTokens int          // most tokens of keys and values kept for prompts seen before
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
	return &Policy{
		Renderer: r,
		gen:      lm.NewGenerator(m, lm.GeneratorOptions{Pool: opt.Pool, MaxBatch: opt.MaxBatch, CacheTokens: opt.CacheTokens}),
		weights:  weightsRef(m),
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

// stopText watches the tail of the decoded text for any of the stop texts.
func (p *Policy) stopText(stops []string) func([]int32) bool {
	longest := 0
	for _, s := range stops {
		longest = max(longest, len(s))
	}
	return func(ids []int32) bool {
		// A token has at least one byte (specials have none in text), so the last longest+specials tokens cover every new match.
		tail := ids[max(0, len(ids)-2*longest-1):]
		text := p.tok.Decode(tail)
		for _, s := range stops {
			if s != "" && strings.Contains(text, s) {
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
