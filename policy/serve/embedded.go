package serve

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/policy/local"
)

// Embedded is a policy over a model in this process that streams. Close it.
type Embedded struct {
	*local.Renderer
	gen     *lm.Generator
	text    Text
	weights whale.WeightsRef
	context int
}

// NewEmbedded starts a sampler over a bundle's weights, which must not change while the policy lives.
func NewEmbedded(b *local.Bundle, opt lm.GeneratorOptions) *Embedded {
	return &Embedded{
		Renderer: b.Renderer,
		gen:      lm.NewGenerator(b.Model, opt),
		text:     b.Tokenizer,
		weights:  b.Weights(),
		context:  contextOf(b.Model.Config(), opt.MemoryBytes),
	}
}

// contextOf is how many tokens a sequence may have: as many as the model takes, and as have room for their keys and values.
func contextOf(c lm.Config, memory int64) int {
	if memory <= 0 {
		return c.MaxSeq
	}
	const block = 16 // tokens whose memory the generator takes at a time
	room := memory / (4 * 2 * int64(c.Layers) * int64(c.KVHeads) * int64(c.HeadDim))
	return int(max(1, min(int64(c.MaxSeq), room/block*block)))
}

// Weights says which weights sample.
func (p *Embedded) Weights() whale.WeightsRef { return p.weights }

// Capabilities are those of the embedded policy: token-exact, seeded, with log-probabilities.
func (p *Embedded) Capabilities() whale.Capabilities {
	return whale.Capabilities{Access: whale.TokenExact, Seeds: true, LogProbs: true, MaxContext: p.context}
}

// Sample continues a prompt.
func (p *Embedded) Sample(ctx context.Context, r whale.SampleRequest) (whale.Completion, error) {
	return p.SampleStream(ctx, r, nil)
}

// SampleStream continues a prompt and shows the tokens as they come.
func (p *Embedded) SampleStream(ctx context.Context, r whale.SampleRequest, grown func([]int32)) (whale.Completion, error) {
	req := lm.Request{
		Prompt: r.Prompt, MaxTokens: r.MaxTokens, Stop: r.StopIDs, Seed: uint64(r.Seed),
		Temperature: float32(r.Sampling.Temperature), TopP: float32(r.Sampling.TopP), TopK: r.Sampling.TopK,
	}
	stopped := stopWatch(p.text, r.StopText)
	req.StopFunc = func(tokens []int32) bool {
		if grown != nil {
			grown(tokens)
		}
		return stopped(tokens)
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

// Close ends the sampler's goroutine; requests under way fail.
func (p *Embedded) Close() error {
	p.gen.Close()
	return nil
}

// stopWatch reports whether the decoded text of a growing completion contains one of the stop texts. It keeps as much of the text's end as a stop
// text may have begun in.
func stopWatch(text Text, stops []string) func(tokens []int32) bool {
	longest := 0
	for _, s := range stops {
		longest = max(longest, len(s))
	}
	seen, tail := 0, ""
	return func(tokens []int32) bool {
		if longest == 0 {
			return false
		}
		tail += text.Decode(tokens[seen:])
		seen = len(tokens)
		for _, s := range stops {
			if strings.Contains(tail, s) {
				return true
			}
		}
		tail = tail[max(0, len(tail)-longest):]
		return false
	}
}
