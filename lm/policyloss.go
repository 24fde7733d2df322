package lm

import (
	"context"
	"fmt"
	"math"
)

// PolicyLoss is a policy-gradient loss. With r = p(token)/exp(LogProbs), the ratio of the
// token's probability now to that when it was sampled, and its advantage A, a token of
// weight w adds
//
//	w · ( -min(r·A, clip(r, 1-ClipLow, 1+ClipHigh)·A) + KL·(exp(d) - d - 1) )
//
// with d = Reference - log p(token) (Schulman et al. 2017, equation 7; Schulman 2020, the
// estimator k3). Clip says whether ratios are clipped at all.
type PolicyLoss struct {
	Clip              bool
	ClipLow, ClipHigh float64
	KL                float64
}

// PolicySequence is a training sequence with what a PolicyLoss needs. Its slices are as
// long as Tokens, and are looked at where Weights is not 0.
type PolicySequence struct {
	Sequence
	LogProbs   []float32 // under the weights that sampled the tokens, in nats
	Advantages []float32
	Reference  []float32 // under the weights to stay near, in nats; nil where KL is 0
}

// PolicySums are weighted sums over tokens.
type PolicySums struct {
	Loss    float64
	Weight  float64
	Ratio   float64
	Clipped float64 // weight of the tokens whose advantage had no gradient
	KL      float64 // of the estimator, in nats; 0 without references
}

// policyTerm is one token's part of the loss and its slope in log p(token), the token's
// weight apart.
type policyTerm struct {
	loss, slope, ratio, kl float64
	clipped                bool
}

// at computes the term of a token whose log-probability is logp now.
func (l PolicyLoss) at(logp, old, advantage float64) policyTerm {
	r := math.Exp(logp - old)
	t := policyTerm{loss: -r * advantage, slope: -r * advantage, ratio: r}
	if !l.Clip {
		return t
	}
	// The minimum is the clipped side only where moving on would be rewarded.
	if held := min(max(r, 1-l.ClipLow), 1+l.ClipHigh); held*advantage < r*advantage {
		t.loss, t.slope, t.clipped = -held*advantage, 0, true
	}
	return t
}

// away adds the divergence from a reference.
func (t *policyTerm) away(weight, logp, reference float64) {
	d := reference - logp
	e := math.Exp(d)
	t.kl = e - d - 1
	t.loss += weight * t.kl
	t.slope += weight * (1 - e)
}

// policyRows is what a packing holds beside, of a policy loss: an entry for each of its
// rows.
type policyRows struct {
	loss                      PolicyLoss
	seqs                      []PolicySequence
	old, advantage, reference []float32 // reference is empty if there is none
	sums                      PolicySums
	wild                      bool // a slope was not finite
}

func (r *policyRows) reset() {
	r.old, r.advantage, r.reference = r.old[:0], r.advantage[:0], r.reference[:0]
}

// add appends what belongs to the rows that packing.add made of sequence i.
func (r *policyRows) add(i int) {
	s := &r.seqs[i]
	for t := 1; t < len(s.Weights); t++ {
		if s.Weights[t] == 0 {
			continue
		}
		r.old = append(r.old, s.LogProbs[t])
		r.advantage = append(r.advantage, s.Advantages[t])
		if s.Reference != nil {
			r.reference = append(r.reference, s.Reference[t])
		}
	}
}

// term gives the part of the packing's row i.
func (r *policyRows) term(i int, logp float32) policyTerm {
	t := r.loss.at(float64(logp), float64(r.old[i]), float64(r.advantage[i]))
	if len(r.reference) > 0 {
		t.away(r.loss.KL, float64(logp), float64(r.reference[i]))
	}
	return t
}

// weight is what the gradient of minus the log-probability of row i counts, in place of
// the token's weight.
func (r *policyRows) weight(i int, weight, logp float32) float32 {
	return float32(float64(weight) * -r.term(i, logp).slope)
}

// count adds the rows from i0 on to the sums.
func (r *policyRows) count(i0 int, weights, logp []float32) {
	for i, lp := range logp {
		w, t := float64(weights[i]), r.term(i0+i, lp)
		r.sums.Loss += w * t.loss
		r.sums.Weight += w
		r.sums.Ratio += w * t.ratio
		r.sums.KL += w * t.kl
		if t.clipped {
			r.sums.Clipped += w
		}
		if !finite(float64(float32(w * t.slope))) {
			r.wild = true
		}
	}
}

// AccumulatePolicy adds the gradients of a policy loss over seqs and returns its sums; it
// is Accumulate in all else, and with ratios and advantages of 1 its gradients are those
// of Accumulate to the bit. Ratios that leave the range of a float32 are an error that
// drops what was accumulated.
func (t *Trainer) AccumulatePolicy(ctx context.Context, seqs []PolicySequence, loss PolicyLoss) (PolicySums, error) {
	plain := make([]Sequence, len(seqs))
	for i, s := range seqs {
		plain[i] = s.Sequence
		if err := checkPolicy(s, seqs[0].Reference != nil, loss); err != nil {
			return PolicySums{}, fmt.Errorf("accumulate: sequence %d: %w", i, err)
		}
	}
	rows := &policyRows{loss: loss, seqs: seqs}
	t.pack.policy = rows
	defer func() { t.pack.policy = nil }()
	if _, err := t.Accumulate(ctx, plain); err != nil {
		return PolicySums{}, err
	}
	if rows.wild || !finite(rows.sums.Loss) {
		t.discard()
		return PolicySums{}, fmt.Errorf("accumulate: policy loss: got %g over ratios of mean %g, want finite numbers", rows.sums.Loss, rows.sums.Ratio/rows.sums.Weight)
	}
	return rows.sums, nil
}

func checkPolicy(s PolicySequence, referenced bool, loss PolicyLoss) error {
	if (s.Reference != nil) != referenced || loss.KL != 0 && !referenced {
		return fmt.Errorf("reference: got one: %v, want one for every sequence, or for none and a KL weight of 0", s.Reference != nil)
	}
	for _, x := range []struct {
		name string
		of   []float32
		want bool
	}{{"log-probabilities", s.LogProbs, true}, {"advantages", s.Advantages, true}, {"reference", s.Reference, referenced}} {
		if x.want && len(x.of) != len(s.Tokens) {
			return fmt.Errorf("%s: got %d, want one for each of %d tokens", x.name, len(x.of), len(s.Tokens))
		}
		for t, v := range x.of {
			if t < len(s.Weights) && s.Weights[t] != 0 && !finite(float64(v)) {
				return fmt.Errorf("%s: token %d: got %g, want a finite number", x.name, t, v)
			}
		}
	}
	return nil
}
