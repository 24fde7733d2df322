package organism

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/kernel"
	"github.com/seed-095d5d2b/whale/lm/token"
	"github.com/seed-095d5d2b/whale/policy/local"
)

// Progress is told after every training step.
type Progress struct {
	Step, Steps  int
	Loss         float64 // weighted mean negative log-likelihood, nats a token
	LearningRate float64
	Tokens       int  // trained on so far, context included
	Skills       bool // still in the part without weaknesses
}

// Pretrain makes the model of a recipe. It is deterministic: equal recipes give equal weights on equal kernels, for any pool size.
func Pretrain(ctx context.Context, r Recipe, pool *kernel.Pool, observe func(Progress)) (*local.Bundle, error) {
	corpus, err := r.stream(ctx)
	if err != nil {
		return nil, err
	}
	tok, err := trainTokenizer(r, corpus)
	if err != nil {
		return nil, err
	}
	model, err := lm.New(r.config(tok.Vocab()), r.Seed)
	if err != nil {
		return nil, err
	}
	t := r.Training
	trainer := lm.NewTrainer(model, pool, lm.AdamW{Beta1: 0.9, Beta2: 0.98, Eps: 1e-8, WeightDecay: float32(t.WeightDecay), ClipNorm: float32(t.ClipNorm)})
	next, tokens := r.Tokenizer.Transcripts, 0
	for step := range t.Steps {
		skills := float64(step) < t.SkillShare*float64(t.Steps)
		part := weak
		if skills {
			part = skilled
		}
		var batch []lm.Sequence
		for n := 0; n < t.BatchTokens; next++ {
			s := encode(corpus.transcript(next, part), tok, float32(t.ContextWeight), model.Config().MaxSeq)
			batch = append(batch, s)
			n += len(s.Tokens)
			tokens += len(s.Tokens)
		}
		loss, err := trainer.Accumulate(ctx, batch)
		if err != nil {
			return nil, fmt.Errorf("pretrain: step %d: %w", step, err)
		}
		rate := t.rate(step)
		if _, err := trainer.Step(float32(rate)); err != nil {
			return nil, fmt.Errorf("pretrain: step %d: %w", step, err)
		}
		if observe != nil {
			observe(Progress{Step: step + 1, Steps: t.Steps, Loss: loss.NLL / loss.Weight, LearningRate: rate, Tokens: tokens, Skills: skills})
		}
	}
	return local.NewBundle(model, tok, "recipe "+r.Name)
}

// rate is a linear warm-up and a cosine down to FinalRate of the peak.
func (t Training) rate(step int) float64 {
	if step < t.Warmup {
		return t.LearningRate * float64(step+1) / float64(t.Warmup)
	}
	x := float64(step-t.Warmup) / float64(max(1, t.Steps-t.Warmup))
	return t.LearningRate * (t.FinalRate + (1-t.FinalRate)*0.5*(1+math.Cos(math.Pi*x)))
}

// trainTokenizer learns merges from the first transcripts, strong and weak ones alike.
func trainTokenizer(r Recipe, c stream) (*token.Tokenizer, error) {
	var texts []string
	for i := range r.Tokenizer.Transcripts {
		part := weak
		if i%2 == 0 {
			part = strong
		}
		for _, turn := range c.transcript(i, part) {
			texts = append(texts, turn.Text)
		}
	}
	return token.Train(slices.Values(texts), token.TrainOptions{Vocab: r.Tokenizer.Vocab, Special: local.Specials(), Split: token.Digits})
}
