package local

import (
	"context"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
)

// sums are what a trainer reports of a step, before they are divided by the weight.
type sums struct {
	loss   lm.Loss       // NLL is the loss, whatever its kind
	policy lm.PolicySums // of policy gradients alone
}

// accumulate adds a minibatch's gradients of a loss.
func (s *sums) accumulate(ctx context.Context, train *lm.Trainer, batch []whale.Sequence, l whale.Loss) error {
	if !l.PolicyGradient() {
		seqs := make([]lm.Sequence, len(batch))
		for i, q := range batch {
			seqs[i] = lm.Sequence{Tokens: q.Tokens, Weights: q.Weights}
		}
		loss, err := train.Accumulate(ctx, seqs)
		s.loss.NLL += loss.NLL
		s.loss.Weight += loss.Weight
		return err
	}
	seqs := make([]lm.PolicySequence, len(batch))
	for i, q := range batch {
		seqs[i] = lm.PolicySequence{
			Sequence: lm.Sequence{Tokens: q.Tokens, Weights: q.Weights}, LogProbs: q.LogProbs, Advantages: q.Advantages, Reference: q.Reference,
		}
	}
	got, err := train.AccumulatePolicy(ctx, seqs, lm.PolicyLoss{Clip: l.Kind == whale.LossPPO, ClipLow: l.ClipLow, ClipHigh: l.ClipHigh, KL: l.KL})
	s.loss.NLL += got.Loss
	s.loss.Weight += got.Weight
	p := &s.policy
	p.Weight, p.Ratio, p.Clipped, p.KL = p.Weight+got.Weight, p.Ratio+got.Ratio, p.Clipped+got.Clipped, p.KL+got.KL
	return err
}

// stats are the means.
func (s *sums) stats() whale.TrainStats {
	out := whale.TrainStats{Loss: s.loss.NLL / s.loss.Weight, Tokens: int(s.loss.Weight)}
	if p := s.policy; p.Weight > 0 {
		out.Policy = whale.PolicyStats{MeanRatio: p.Ratio / p.Weight, Clipped: p.Clipped / p.Weight, KL: p.KL / p.Weight}
	}
	return out
}
