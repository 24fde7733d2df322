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

// microBatch bounds the input tokens whose activations are held at once, unless options
// say otherwise; a single
// sequence may exceed it.
const microBatch = 2048

// TrainerOptions says what is trained and what memory it may take. The zero value trains
// all weights and keeps all activations.
type TrainerOptions struct {
	// Recompute keeps only the input of each layer in the forward pass and computes the
	// rest again in the backward pass: the same results to the bit, about a quarter more
	// work, and for a deep model a small part of the memory.
	Recompute bool
	// MicroBatch bounds the input tokens whose activations are held at once; 0 means
	// 2048. Gradients are summed micro-batch by micro-batch, so it decides last bits.
	MicroBatch int
	// LoRA, if set, freezes the model and trains a low-rank adapter.
	LoRA *LoRA
}

// Trainer updates a model in place with AdamW. It is for one goroutine, and while
// it steps nothing else may use the model.
//
// Training is deterministic to the bit: the result of a minibatch depends on the
// weights, on the sequences and their order, on how they were divided among calls of
// Accumulate, on MicroBatch, and on the kernel variant; never on the pool or its size, nor
// on Recompute.
type Trainer struct {
	m       *Model
	p       *kernel.Pool
	opt     AdamW
	options TrainerOptions
	tape    *tape
	pack    packing
	adapter *Adapter    // nil if the model itself is trained
	base    [][]float32 // with an adapter, the frozen weights under it (adapter.go)

	params []float32   // what is trained: the model's flat weights, or the adapter's
	pieces []paramSpan // of params
	grads  gradients
	moment struct{ first, second []float32 } // as long as params
	steps  uint64                            // steps taken
	weight float64                           // accumulated since the last step
}

// paramSpan is a tensor among the flat parameters.
type paramSpan struct {
	off, n int
	decay  bool // norms and biases are not decayed
}

// NewTrainer makes a trainer of all weights with fresh optimiser state. p may be nil; the
// caller keeps it and closes it.
func NewTrainer(m *Model, p *kernel.Pool, opt AdamW) *Trainer {
	t := newTrainer(m, p, opt, TrainerOptions{MicroBatch: microBatch})
	t.trainAll()
	return t
}

// NewLoRATrainer makes a trainer of a fresh adapter over m, whose own weights it freezes:
// m's targets become base plus adapter with each step.
func NewLoRATrainer(m *Model, l LoRA, p *kernel.Pool, opt AdamW) (*Trainer, error) {
	return NewTrainerWith(m, p, opt, TrainerOptions{LoRA: &l})
}

// NewTrainerWith is NewTrainer with options.
func NewTrainerWith(m *Model, p *kernel.Pool, opt AdamW, o TrainerOptions) (*Trainer, error) {
	if o.MicroBatch < 0 || o.MicroBatch > maxMicroBatch {
		return nil, fmt.Errorf("trainer: micro-batch: got %d tokens, want 1 to %d, or 0 for %d", o.MicroBatch, maxMicroBatch, microBatch)
	}
	if o.MicroBatch == 0 {
		o.MicroBatch = microBatch
	}
	t := newTrainer(m, p, opt, o)
	if o.LoRA == nil {
		t.trainAll()
		return t, nil
	}
	a, err := NewAdapter(m.cfg, *o.LoRA)
	if err != nil {
		return nil, fmt.Errorf("trainer: %w", err)
	}
	t.trainAdapter(a)
	return t, nil
}

const maxMicroBatch = 1 << 24

func newTrainer(m *Model, p *kernel.Pool, opt AdamW, o TrainerOptions) *Trainer {
	mode := keepAll
	if o.Recompute {
		mode = keepInputs
	}
	return &Trainer{m: m, p: p, opt: opt, options: o, tape: newTape(m.cfg, mode)}
}

// trainAll makes the model's own weights the parameters.
func (t *Trainer) trainAll() {
	t.params = t.m.w.flat
	for _, s := range t.m.cfg.layout() {
		t.pieces = append(t.pieces, paramSpan{s.off, s.n, !s.isNorm()})
	}
	t.allocate()
	full := t.m.cfg.view(t.grads.flat)
	t.grads.full = &full
}

// allocate makes gradients and moments for params.
func (t *Trainer) allocate() {
	n := len(t.params)
	t.grads.flat = make([]float32, n)
	t.moment.first, t.moment.second = make([]float32, n), make([]float32, n)
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
	defer t.p.Work().End()
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
		if len(t.pack.tokens) > 0 && len(t.pack.tokens)+n > t.options.MicroBatch {
			break
		}
		t.pack.add(seqs[next])
		if t.pack.policy != nil {
			t.pack.policy.add(next)
		}
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
