package local

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// scorer scores under a model that nothing changes. It is a [whale.Scorer].
type scorer struct {
	model *lm.Model
	pool  *kernel.Pool
	ref   whale.WeightsRef
}

// Scorer scores under a snapshot's weights, or, where dir is empty, under the bundle's that training began with. The model is read and held
// for as long as the scorer is.
func (t *Trainer) Scorer(_ context.Context, dir string) (whale.Scorer, error) {
	if dir == "" {
		return &scorer{t.first.Model, t.opt.Pool, t.first.Weights()}, nil
	}
	model, adapter, err := t.readWeights(dir)
	if err != nil {
		return nil, err
	}
	if adapter == nil {
		return &scorer{model, t.opt.Pool, weightsRef(model)}, nil
	}
	merged := t.first.Model.Clone() // readWeights saw that the adapter is for these weights
	if err := merged.Merge(t.opt.Pool, adapter); err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", dir, err)
	}
	return &scorer{merged, t.opt.Pool, adapterRef(t.base, adapter)}, nil
}

// Score scores sequences, for which they are laid end to end.
func (s *scorer) Score(ctx context.Context, batch []whale.Sequence) ([][]float32, error) {
	seqs := make([]lm.Sequence, len(batch))
	for i, q := range batch {
		seqs[i] = lm.Sequence{Tokens: q.Tokens, Weights: q.Weights}
	}
	return s.model.ScoreSequences(ctx, s.pool, seqs)
}

// Weights is the identity of the weights.
func (s *scorer) Weights() whale.WeightsRef { return s.ref }
