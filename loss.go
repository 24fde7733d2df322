package whale

import (
	"context"
	"fmt"
)

// The kinds of losses, by the names that training services give them.
const (
	LossCrossEntropy = "cross_entropy"
	LossImportance   = "importance_sampling"
	LossPPO          = "ppo"
)

// Loss says what a trainer descends. A trained token t of weight w_t adds w_t·ℓ_t, and the sum is reduced as the trainer says. With
// r = p(token)/exp(LogProbs), the ratio of its probability under the present weights to that under those that sampled it, and A its advantage,
//
//	cross_entropy        ℓ = -log p(token)
//	importance_sampling  ℓ = -r·A
//	ppo                  ℓ = -min(r·A, clip(r, 1-ClipLow, 1+ClipHigh)·A)    (Schulman et al. 2017, equation 7)
//
// to which policy gradients add KL·(exp(d)-d-1) with d = Reference - log p(token), an unbiased estimate of the divergence of the present
// weights from the reference that is never negative (Schulman 2020, the estimator k3). The zero value is cross-entropy.
type Loss struct {
	Kind     string  `json:"kind,omitempty"` // one of the Loss constants; empty is cross-entropy
	ClipLow  float64 `json:"clip_low,omitempty"`
	ClipHigh float64 `json:"clip_high,omitempty"`
	KL       float64 `json:"kl,omitempty"` // weight of the divergence; 0 needs no Reference
}

// PolicyGradient says whether the loss is one of policy gradients, for which sequences need LogProbs and Advantages.
func (l Loss) PolicyGradient() bool { return l.Kind == LossImportance || l.Kind == LossPPO }

// Validate names the first part of a loss that makes no sense, or that its kind would ignore.
func (l Loss) Validate() error {
	switch l.Kind {
	case "", LossCrossEntropy, LossImportance, LossPPO:
	default:
		return fmt.Errorf("loss: got %q, want %s, %s or %s", l.Kind, LossCrossEntropy, LossImportance, LossPPO)
	}
	switch {
	case l.Kind != LossPPO && (l.ClipLow != 0 || l.ClipHigh != 0):
		return fmt.Errorf("loss %s: got clip_low %g and clip_high %g, want none: only %s clips", l.Kind, l.ClipLow, l.ClipHigh, LossPPO)
	case l.Kind == LossPPO && !(l.ClipLow > 0 && l.ClipLow <= 1):
		return fmt.Errorf("loss %s: clip_low: got %g, want more than 0 and at most 1", l.Kind, l.ClipLow)
	case l.Kind == LossPPO && !(l.ClipHigh > 0 && l.ClipHigh <= 1e6):
		return fmt.Errorf("loss %s: clip_high: got %g, want more than 0 and at most 1e6", l.Kind, l.ClipHigh)
	case !l.PolicyGradient() && l.KL != 0:
		return fmt.Errorf("loss %s: got kl %g, want none: only policy gradients have it", l.Kind, l.KL)
	case !(l.KL >= 0 && l.KL <= 1e6):
		return fmt.Errorf("loss %s: kl: got %g, want 0 to 1e6", l.Kind, l.KL)
	}
	return nil
}

// PolicyStats is what a trainer knows of a policy-gradient step, over its trained tokens.
type PolicyStats struct {
	MeanRatio float64 `json:"mean_ratio"` // of probabilities under the present and the sampling weights
	Clipped   float64 `json:"clipped"`    // share of tokens at which the clip was active, so that their advantage had no gradient
	KL        float64 `json:"kl"`         // mean of the estimator, in nats; 0 where no sequence has a reference
}

// Scorer gives log-probabilities of given tokens under weights that do not change. Many goroutines may use it.
type Scorer interface {
	// Score gives log p(Tokens[t] | Tokens[:t]) in nats, of the full distribution at temperature 1, for every token of every sequence whose
	// weight is not 0, and 0 for the others.
	Score(ctx context.Context, batch []Sequence) ([][]float32, error)
	Weights() WeightsRef
}
