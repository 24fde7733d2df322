package updatetest

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
)

// Trainer keeps what it is given. It wants one Accumulate before each Step, under the same operation.
type Trainer struct {
	whale.Trainer
	Batches [][]whale.Sequence // one an optimiser step
	Losses  []whale.Loss
	Ops     []string
	Rates   []float64
	pending string
}

// CheckLoss takes every loss that makes sense.
func (t *Trainer) CheckLoss(l whale.Loss) error { return l.Validate() }

// Accumulate keeps a minibatch.
func (t *Trainer) Accumulate(_ context.Context, op string, batch []whale.Sequence, loss whale.Loss) error {
	if t.pending != "" {
		return fmt.Errorf("accumulate %s: %s is accumulated and not applied", op, t.pending)
	}
	t.Batches, t.Losses = append(t.Batches, batch), append(t.Losses, loss)
	t.pending = op
	return nil
}

// Step reports one trained token for each that has a weight, a loss of 1, and for policy gradients round numbers.
func (t *Trainer) Step(_ context.Context, op string, rate float64) (whale.TrainStats, error) {
	if t.pending != op {
		return whale.TrainStats{}, fmt.Errorf("step %s: got %q accumulated", op, t.pending)
	}
	t.pending = ""
	t.Ops, t.Rates = append(t.Ops, op), append(t.Rates, rate)
	stats := whale.TrainStats{Loss: 1}
	for _, s := range t.Batches[len(t.Batches)-1] {
		for _, w := range s.Weights {
			stats.Tokens += int(w)
		}
	}
	if t.Losses[len(t.Losses)-1].PolicyGradient() {
		stats.Policy = whale.PolicyStats{MeanRatio: 1, Clipped: 0.5, KL: 0.25}
	}
	return stats, nil
}
