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

// Trainer trains a private copy of a model with AdamW: all weights, or a low-rank adapter. Loss is the mean over all trained tokens of what
// was accumulated.
type Trainer struct {
	first  *Bundle // what training began with
	bundle *Bundle // Model is the private copy; with an adapter, merged
	adam   lm.AdamW
	opt    Options
	how    lm.TrainerOptions
	base   whale.ID // with an adapter: the weights under it
	train  *lm.Trainer
	state  trainerState
	sums   sums // of what is accumulated
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

// NewTrainer trains all weights, from the bundle's, which it copies.
func NewTrainer(b *Bundle, adam lm.AdamW, opt Options) *Trainer {
	t, err := NewTrainerWith(b, adam, lm.TrainerOptions{}, opt)
	if err != nil { // only an option can be wrong
		panic(fmt.Sprintf("local: trainer without options: %v", err))
	}
	return t
}

// NewTrainerWith is NewTrainer with a choice of what is trained.
func NewTrainerWith(b *Bundle, adam lm.AdamW, how lm.TrainerOptions, opt Options) (*Trainer, error) {
	own := *b
	own.Model = b.Model.Clone()
	t := &Trainer{first: b, bundle: &own, adam: adam, opt: opt, how: how, state: trainerState{Pending: map[string]bool{}}}
	if how.LoRA != nil {
		t.base = b.Weights().ID
	} else {
		own.ref = whale.WeightsRef{} // training makes weights that no adapter describes
	}
	var err error
	if t.train, err = lm.NewTrainerWith(own.Model, opt.Pool, adam, how); err != nil {
		return nil, err
	}
	return t, nil
}

// Reduction is the mean over trained tokens.
func (t *Trainer) Reduction() string { return whale.ReductionTokens }

// Weights is the identity of the present weights.
func (t *Trainer) Weights() whale.WeightsRef {
	if a := t.train.Adapter(); a != nil {
		return adapterRef(t.base, a)
	}
	return weightsRef(t.bundle.Model)
}

// ResetOptimizer forgets moments, step count and what was accumulated. An adapter stays as it is.
func (t *Trainer) ResetOptimizer() {
	t.renew(t.bundle.Model, t.train.Adapter())
}

// renew makes a trainer with fresh optimiser state over a model, whose present weights are the base of the adapter that is trained.
func (t *Trainer) renew(m *lm.Model, a *lm.Adapter) {
	if err := t.begin(m, a); err != nil {
		panic(fmt.Sprintf("local: trainer with the options and the adapter it had: %v", err))
	}
}

func (t *Trainer) begin(m *lm.Model, a *lm.Adapter) error {
	if t.train != nil && t.train.Model() == m {
		t.train.RestoreBase()
	}
	train, err := lm.NewTrainerWith(m, t.opt.Pool, t.adam, t.how)
	if err == nil && a != nil {
		err = train.SetAdapter(a)
	}
	if err != nil {
		return err
	}
	t.train, t.sums = train, sums{}
	t.state.Pending = map[string]bool{}
	return nil
}

// CheckLoss takes every loss that makes sense.
func (t *Trainer) CheckLoss(loss whale.Loss) error { return loss.Validate() }

// Accumulate adds a minibatch's gradients, once an operation id.
func (t *Trainer) Accumulate(ctx context.Context, op string, batch []whale.Sequence, l whale.Loss) error {
	if err := t.CheckLoss(l); err != nil {
		return err
	}
	if t.state.Pending[op] || t.done(op) != nil {
		return nil
	}
	if err := t.sums.accumulate(ctx, t.train, batch, l); err != nil {
		return fmt.Errorf("trainer: %s: %w", op, err)
	}
	t.state.Pending[op] = true
	return nil
}

// done gives the record of a finished operation, if it is remembered.
func (t *Trainer) done(op string) *doneOp {
	for i := range t.state.Done {
		if t.state.Done[i].Op == op {
			return &t.state.Done[i]
		}
	}
	return nil
}

// Step applies what was accumulated, once an operation id.
func (t *Trainer) Step(ctx context.Context, op string, learningRate float64) (whale.TrainStats, error) {
	if d := t.done(op); d != nil {
		return d.Stats, nil
	}
	if err := ctx.Err(); err != nil {
		return whale.TrainStats{}, err
	}
	s, err := t.train.Step(float32(learningRate))
	if err != nil {
		return whale.TrainStats{}, fmt.Errorf("trainer: %s: %w", op, err)
	}
	stats := t.sums.stats()
	stats.GradNorm = s.GradNorm
	t.sums = sums{}
	t.state.Pending = map[string]bool{}
	t.state.Done = append(t.state.Done, doneOp{op, stats})
	if n := len(t.state.Done); n > opsKept {
		t.state.Done = append([]doneOp(nil), t.state.Done[n-opsKept:]...)
	}
	return stats, nil
}

// Publish starts a policy over a frozen copy of the present weights, an adapter merged.
func (t *Trainer) Publish(context.Context) (whale.Policy, error) {
	return newPolicy(t.bundle.Renderer, t.bundle.Model.Clone(), t.Weights(), t.opt), nil
}

// Snapshot writes a model folder (float32), or an adapter folder, plus the optimiser's state. It must come between steps: nothing
// accumulated is kept.
func (t *Trainer) Snapshot(_ context.Context, dir string) error {
	if len(t.state.Pending) > 0 {
		return errors.New("trainer: snapshot: gradients are accumulated and not applied; step first")
	}
	var err error
	if a := t.train.Adapter(); a != nil {
		err = saveAdapter(dir, t.bundle, t.base, a)
	} else {
		err = t.bundle.Save(dir, lm.F32)
	}
	if err != nil {
		return err
	}
	if err := lm.ReplaceFile(filepath.Join(dir, fileOptimizer), t.train.WriteState); err != nil {
		return err
	}
	return lm.ReplaceFile(filepath.Join(dir, fileTrainer), func(w io.Writer) error { return json.NewEncoder(w).Encode(t.state) })
}

// Restore reads a snapshot back: weights, moments, step count and finished operations. Where it fails the trainer is as it was, without
// what was accumulated and without moments.
func (t *Trainer) Restore(_ context.Context, dir string) error {
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
	model, adapter, err := t.readWeights(dir)
	if err != nil {
		return err
	}
	old, oldAdapter := t.bundle.Model, t.train.Adapter()
	if err := t.begin(model, adapter); err != nil {
		t.renew(old, oldAdapter)
		return fmt.Errorf("snapshot %s: %w", dir, err)
	}
	if err := t.train.ReadState(f); err != nil {
		if t.train.Model() == old {
			t.train.RestoreBase()
		}
		t.renew(old, oldAdapter)
		return fmt.Errorf("snapshot %s: %s: %w", dir, fileOptimizer, err)
	}
	t.bundle.Model = model
	t.state = state
	t.state.Pending = map[string]bool{}
	return nil
}

// readWeights reads what a snapshot trained: a model of its own, or an adapter for the present model.
func (t *Trainer) readWeights(dir string) (*lm.Model, *lm.Adapter, error) {
	if isAdapter(os.DirFS(dir)) != (t.how.LoRA != nil) {
		return nil, nil, fmt.Errorf("snapshot %s: got one of %s, want one of %s", dir, trained(t.how.LoRA == nil), trained(t.how.LoRA != nil))
	}
	if t.how.LoRA == nil {
		b, err := openFolder(os.DirFS(dir), dir, t.bundle.open)
		if err != nil {
			return nil, nil, err
		}
		if b.Renderer.ID() != t.bundle.Renderer.ID() {
			return nil, nil, fmt.Errorf("snapshot %s: its tokenizer and template are %s, want %s", dir, b.Renderer.ID().Short(), t.bundle.Renderer.ID().Short())
		}
		return b.Model, nil, nil
	}
	f := newFolder(dir)
	if _, err := f.need(fileWhale, maxText); err != nil {
		return nil, nil, fmt.Errorf("snapshot %s: %w", dir, err)
	}
	w, err := f.named()
	if err != nil {
		return nil, nil, fmt.Errorf("snapshot %s: %w", dir, err)
	}
	if w.BaseWeights != t.base {
		return nil, nil, fmt.Errorf("snapshot %s: its adapter is for the weights %s, want %s", dir, w.BaseWeights.Short(), t.base.Short())
	}
	a, err := lm.LoadAdapter(dir, t.bundle.Model.Config())
	if err != nil {
		return nil, nil, fmt.Errorf("snapshot %s: %w", dir, err)
	}
	return t.bundle.Model, a, nil
}

func trained(adapter bool) string {
	if adapter {
		return "an adapter"
	}
	return "all weights"
}

// Bundle gives the present weights as a bundle, for saving; the model must not be changed.
func (t *Trainer) Bundle() *Bundle {
	b := *t.bundle
	if t.how.LoRA != nil {
		b.ref = t.Weights()
	}
	return &b
}
