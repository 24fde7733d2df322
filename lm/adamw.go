package lm

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// AdamW holds the optimiser's constants (Loshchilov and Hutter, 2019): decay is
// decoupled, and norms are not decayed.
type AdamW struct {
	Beta1, Beta2 float32 // decay of the moments, in [0, 1)
	Eps          float32 // added to the root of the second moment, positive
	WeightDecay  float32 // per unit of learning rate, at least 0
	ClipNorm     float32 // largest global gradient norm; 0 means no clipping
}

// DefaultAdamW returns the usual constants for language models: 0.9, 0.95, 1e-8, no
// decay, clipping at 1.
func DefaultAdamW() AdamW { return AdamW{Beta1: 0.9, Beta2: 0.95, Eps: 1e-8, ClipNorm: 1} }

// Validate reports the first constant that is out of range.
func (o AdamW) Validate() error {
	for _, f := range []struct {
		name string
		got  float32
		ok   bool
		want string
	}{
		{"beta1", o.Beta1, o.Beta1 >= 0 && o.Beta1 < 1, "a number in [0, 1)"},
		{"beta2", o.Beta2, o.Beta2 >= 0 && o.Beta2 < 1, "a number in [0, 1)"},
		{"eps", o.Eps, o.Eps > 0 && finite(float64(o.Eps)), "a positive number"},
		{"weight decay", o.WeightDecay, o.WeightDecay >= 0 && finite(float64(o.WeightDecay)), "a finite number, at least 0"},
		{"clip norm", o.ClipNorm, o.ClipNorm >= 0 && finite(float64(o.ClipNorm)), "a finite number, at least 0"},
	} {
		if !f.ok {
			return fmt.Errorf("adamw: %s: got %g, want %s", f.name, f.got, f.want)
		}
	}
	return nil
}

// StepStats describes one optimiser step.
type StepStats struct {
	GradNorm float64 // global norm of the mean gradient, before clipping
	Clipped  bool
	Weight   float64 // what the sum of gradients was divided by
}

// errNothing is what Step answers with no gradients.
var errNothing = errors.New("step: got no accumulated weight, want at least one trained token")

// optChunk is how many parameters one parallel piece of the optimiser takes.
const optChunk = 1 << 14

// Step divides the accumulated gradients by the accumulated weight (the token mean
// over the minibatch), clips their global norm, applies AdamW with learning rate lr,
// and zeroes the gradients. It is an error to step with nothing accumulated. On
// an error the weights and the optimiser's state are unchanged; if the gradients
// are not finite they are dropped.
func (t *Trainer) Step(lr float32) (StepStats, error) {
	if err := t.opt.Validate(); err != nil {
		return StepStats{}, fmt.Errorf("step: %w", err)
	}
	if !(lr >= 0) || !finite(float64(lr)) {
		return StepStats{}, fmt.Errorf("step: learning rate: got %g, want a finite number, at least 0", lr)
	}
	if t.weight == 0 {
		return StepStats{}, errNothing
	}
	defer t.p.Work().End()
	norm := t.gradNorm() / t.weight
	if !finite(norm) {
		t.discard()
		return StepStats{}, fmt.Errorf("step: gradient norm: got %g, want a finite number", norm)
	}
	stats := StepStats{GradNorm: norm, Weight: t.weight}
	scale := 1 / t.weight
	if c := float64(t.opt.ClipNorm); c > 0 && norm > c {
		scale *= c / norm
		stats.Clipped = true
	}
	t.steps++
	t.update(lr, float32(scale))
	t.weight = 0
	if t.adapter != nil {
		t.mergeAdapter()
	}
	return stats, nil
}

// gradNorm is the norm of the summed gradients, added up in a fixed order.
func (t *Trainer) gradNorm() float64 {
	const piece = 1 << 10 // summed in float32, pieces in float64
	g := t.grads.flat
	sums := make([]float64, (len(g)+optChunk-1)/optChunk)
	t.p.For(len(sums), func(i int) {
		part := g[i*optChunk : min((i+1)*optChunk, len(g))]
		for len(part) > 0 {
			n := min(piece, len(part))
			sums[i] += float64(kernel.Dot(part[:n], part[:n]))
			part = part[n:]
		}
	})
	var sum float64
	for _, s := range sums {
		sum += s
	}
	return math.Sqrt(sum)
}

// update applies one AdamW step to all parameters and zeroes the gradients; scale takes
// the summed gradients to the clipped mean.
func (t *Trainer) update(lr, scale float32) {
	o := t.opt
	step := kernel.AdamWStep{
		Scale: scale,
		Beta1: o.Beta1, Rest1: 1 - o.Beta1,
		Beta2: o.Beta2, Rest2: 1 - o.Beta2,
		Fix2: float32(1 / (1 - math.Pow(float64(o.Beta2), float64(t.steps)))),
		Eps:  o.Eps,
		Rate: float32(float64(lr) / (1 - math.Pow(float64(o.Beta1), float64(t.steps)))),
		Keep: 1,
	}
	t.p.For((len(t.params)+optChunk-1)/optChunk, func(i int) {
		lo, end := i*optChunk, min((i+1)*optChunk, len(t.params))
		at := sort.Search(len(t.pieces), func(j int) bool { return t.pieces[j].off > lo }) - 1
		for ; lo < end; at++ { // the tensors of which the chunk holds a part
			s, piece := step, t.pieces[at]
			if piece.decay {
				s.Keep = 1 - lr*o.WeightDecay
			}
			hi := min(end, piece.off+piece.n)
			kernel.AdamW(t.params[lo:hi], t.grads.flat[lo:hi], t.moment.first[lo:hi], t.moment.second[lo:hi], s)
			lo = hi
		}
	})
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
