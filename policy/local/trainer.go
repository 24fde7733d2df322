package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
)

// The files of a snapshot besides those of a model folder.
const (
	fileOptimizer = "optimizer.bin"
	fileTrainer   = "trainer.json"
)

// opsKept bounds how many finished operation ids a trainer remembers: a repeated operation follows its first by a step at most.
const opsKept = 256

// Trainer trains a private copy of a model with AdamW. Loss is the mean over all trained tokens of what was accumulated.
type Trainer struct {
	bundle *Bundle // Model is the private copy
	adam   lm.AdamW
	opt    Options
	train  *lm.Trainer
	state  trainerState
	loss   lm.Loss
}

// trainerState is what makes repeated operations recognisable; it travels in snapshots.
type trainerState struct {
	Done    []doneOp        `json:"done"`
	Pending map[string]bool `json:"pending,omitempty"` // accumulated, not yet stepped
}

type doneOp struct {
	Op    string           `json:"op"`
	Stats whale.TrainStats `json:"stats"`
}

// NewTrainer starts from the bundle's weights, which it copies.
func NewTrainer(b *Bundle, adam lm.AdamW, opt Options) *Trainer {
	own := *b
	own.Model = b.Model.Clone()
	t := &Trainer{bundle: &own, adam: adam, opt: opt}
	t.ResetOptimizer()
	return t
}

// Reduction is the mean over trained tokens.
func (t *Trainer) Reduction() string { return whale.ReductionTokens }

// Weights is the identity of the present weights.
func (t *Trainer) Weights() whale.WeightsRef { return weightsRef(t.bundle.Model) }

// ResetOptimizer forgets moments, step count and what was accumulated.
func (t *Trainer) ResetOptimizer() {
	t.train = lm.NewTrainer(t.bundle.Model, t.opt.Pool, t.adam)
	t.loss = lm.Loss{}
	t.state.Pending = map[string]bool{}
}

// Accumulate adds a minibatch's gradients, once an operation id.
func (t *Trainer) Accumulate(ctx context.Context, op string, batch []whale.Sequence) error {
	if t.state.Pending[op] {
		return nil
	}
	seqs := make([]lm.Sequence, len(batch))
	for i, s := range batch {
		seqs[i] = lm.Sequence{Tokens: s.Tokens, Weights: s.Weights}
	}
	loss, err := t.train.Accumulate(ctx, seqs)
	if err != nil {
		return fmt.Errorf("trainer: %s: %w", op, err)
	}
	t.loss.NLL += loss.NLL
	t.loss.Weight += loss.Weight
	t.state.Pending[op] = true
	return nil
}

// Step applies what was accumulated, once an operation id.
func (t *Trainer) Step(ctx context.Context, op string, learningRate float64) (whale.TrainStats, error) {
	for _, d := range t.state.Done {
		if d.Op == op {
			return d.Stats, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return whale.TrainStats{}, err
	}
	s, err := t.train.Step(float32(learningRate))
	if err != nil {
		return whale.TrainStats{}, fmt.Errorf("trainer: %s: %w", op, err)
	}
	stats := whale.TrainStats{Loss: t.loss.NLL / t.loss.Weight, Tokens: int(t.loss.Weight), GradNorm: float64(s.GradNorm)}
	t.loss = lm.Loss{}
	t.state.Pending = map[string]bool{}
	t.state.Done = append(t.state.Done, doneOp{op, stats})
	if n := len(t.state.Done); n > opsKept {
		t.state.Done = append([]doneOp(nil), t.state.Done[n-opsKept:]...)
	}
	return stats, nil
}

// Publish starts a policy over a frozen copy of the present weights.
func (t *Trainer) Publish(context.Context) (whale.Policy, error) {
	return NewPolicy(t.bundle.Renderer, t.bundle.Model.Clone(), t.opt), nil
}

// Snapshot writes a model folder (float32) plus the optimiser's state. It must come between steps: nothing accumulated is kept.
func (t *Trainer) Snapshot(_ context.Context, dir string) error {
	if len(t.state.Pending) > 0 {
		return errors.New("trainer: snapshot: gradients are accumulated and not applied; step first")
	}
	if err := t.bundle.Save(dir, lm.F32); err != nil {
		return err
	}
	if err := writeAtomic(filepath.Join(dir, fileOptimizer), t.train.WriteState); err != nil {
		return err
	}
	return writeAtomic(filepath.Join(dir, fileTrainer), func(w io.Writer) error { return json.NewEncoder(w).Encode(t.state) })
}

// Restore reads a snapshot back: weights, moments, step count and finished operations.
func (t *Trainer) Restore(_ context.Context, dir string) error {
	b, err := open(os.DirFS(dir), dir)
	if err != nil {
		return err
	}
	if b.Renderer.ID() != t.bundle.Renderer.ID() {
		return fmt.Errorf("snapshot %s: its tokenizer is %s, want %s", dir, b.Renderer.ID().Short(), t.bundle.Renderer.ID().Short())
	}
	var state trainerState
	data, err := os.ReadFile(filepath.Join(dir, fileTrainer))
	if err != nil {
		return fmt.Errorf("snapshot %s: %w", dir, err)
	}
	if err := json.Unmarshal(data, &state); err != nil {
		return fmt.Errorf("snapshot %s: %s: %w", dir, fileTrainer, err)
	}
	f, err := os.Open(filepath.Join(dir, fileOptimizer))
	if err != nil {
		return fmt.Errorf("snapshot %s: %w", dir, err)
	}
	defer f.Close()
	old := t.bundle
	t.bundle = &Bundle{Model: b.Model, Tokenizer: old.Tokenizer, Renderer: old.Renderer, Source: dir}
	t.state = state
	t.ResetOptimizer()
	if err := t.train.ReadState(f); err != nil {
		t.bundle = old
		t.ResetOptimizer()
		return fmt.Errorf("snapshot %s: %s: %w", dir, fileOptimizer, err)
	}
	return nil
}

// Bundle gives the present weights as a bundle, for saving; the model must not be changed.
func (t *Trainer) Bundle() *Bundle { return t.bundle }
