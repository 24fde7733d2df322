package lm

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// Sequence is one training sequence. Weights[t] multiplies
// -log p(Tokens[t] | Tokens[:t]); it is finite and not negative, and 0 for context.
// Weights[0] is 0, since nothing predicts the first token.
type Sequence struct {
	Tokens  []int32
	Weights []float32 // as long as Tokens
}

// Loss is the sum of weighted negative log-likelihoods (in nats) and the sum of the
// weights; their quotient is the token mean.
type Loss struct {
	NLL    float64
	Weight float64
}

// Mean is the token mean NLL/Weight, and 0 if nothing was weighted.
func (l Loss) Mean() float64 {
	if l.Weight == 0 {
		return 0
	}
	return l.NLL / l.Weight
}

// microBatch bounds the input tokens whose activations are held at once; a single
// sequence may exceed it. It is a constant because gradients are summed micro-batch
// by micro-batch.
const microBatch = 2048

// Trainer updates a model in place with AdamW. It is for one goroutine, and while
// it steps nothing else may use the model.
//
// Training is deterministic to the bit: the result of a minibatch depends on the
// weights, on the sequences and their order, on how they were divided among calls of
// Accumulate, and on the kernel variant; never on the pool or its size.
type Trainer struct {
	m    *Model
	p    *kernel.Pool
	opt  AdamW
	tape *tape
	pack packing

	grads  weights
	moment struct{ first, second []float32 } // as long as the model's flat weights
	steps  uint64                            // steps taken
	weight float64                           // accumulated since the last step
}

// NewTrainer makes a trainer with fresh optimiser state. p may be nil; the caller
// keeps it and closes it.
func NewTrainer(m *Model, p *kernel.Pool, opt AdamW) *Trainer {
	n := m.NumParams()
	t := &Trainer{m: m, p: p, opt: opt, tape: newTape(m.cfg, true), grads: m.cfg.view(make([]float32, n))}
	t.moment.first, t.moment.second = make([]float32, n), make([]float32, n)
	return t
}

// Model returns the model being trained.
func (t *Trainer) Model() *Model { return t.m }

// Steps returns the number of optimiser steps in the state.
func (t *Trainer) Steps() int { return int(t.steps) }

// Accumulate adds the gradients of the weighted sum of negative log-likelihoods
// over seqs and returns that sum. Sequences are laid end to end in order, without
// padding, and cut into micro-batches that bound the memory. An invalid sequence is an
// error that changes nothing. If ctx ends, or the loss is not finite, all gradients
// accumulated since the last step are dropped.
func (t *Trainer) Accumulate(ctx context.Context, seqs []Sequence) (Loss, error) {
	for i, s := range seqs {
		if err := t.m.checkSequence(s); err != nil {
			return Loss{}, fmt.Errorf("accumulate: sequence %d: %w", i, err)
		}
	}
	var total Loss
	for next := 0; next < len(seqs); {
		if err := ctx.Err(); err != nil {
			t.discard()
			return Loss{}, fmt.Errorf("accumulate: %w", err)
		}
		next = t.fill(seqs, next)
		if len(t.pack.spans) == 0 {
			break // only context was left
		}
		t.m.forward(t.p, &t.pack, t.tape)
		loss := t.m.backward(t.p, &t.pack, t.tape, &t.grads)
		total.NLL += loss.NLL
		total.Weight += loss.Weight
	}
	if !finite(total.NLL) {
		t.discard()
		return Loss{}, fmt.Errorf("accumulate: loss: got %g, want a finite number", total.NLL)
	}
	t.weight += total.Weight
	return total, nil
}

// fill packs sequences from seqs[next] on until the micro-batch is full and returns
// the index of the first that was left out. Sequences that are all context are skipped.
func (t *Trainer) fill(seqs []Sequence, next int) int {
	t.pack.reset()
	for ; next < len(seqs); next++ {
		n := inputs(seqs[next].Weights)
		if n == 0 {
			continue
		}
		if len(t.pack.tokens) > 0 && len(t.pack.tokens)+n > microBatch {
			break
		}
		t.pack.add(seqs[next])
	}
	return next
}

func (m *Model) checkSequence(s Sequence) error {
	if len(s.Tokens) != len(s.Weights) {
		return fmt.Errorf("weights: got %d, want one for each of %d tokens", len(s.Weights), len(s.Tokens))
	}
	if len(s.Tokens) > m.cfg.MaxSeq {
		return fmt.Errorf("tokens: got %d, want at most %d", len(s.Tokens), m.cfg.MaxSeq)
	}
	if len(s.Weights) > 0 && s.Weights[0] != 0 {
		return fmt.Errorf("weight 0: got %g, want 0, since nothing predicts the first token", s.Weights[0])
	}
	for i, w := range s.Weights {
		if !(w >= 0) || !finite(float64(w)) {
			return fmt.Errorf("weight %d: got %g, want a finite number, at least 0", i, w)
		}
	}
	return m.checkTokens("tokens", s.Tokens)
}

// discard drops the accumulated gradients.
func (t *Trainer) discard() {
	clear(t.grads.flat)
	t.weight = 0
}
