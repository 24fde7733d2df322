package lm

import (
	"fmt"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// An adapter is trained merged: the model's targets hold base plus scale·B·A, so that
// the forward pass, scoring and sampling are those of a plain model and agree to the bit.
// Only the weight gradients differ. For y = x·(W + s·B·A)ᵀ they are
//
//	dB = s · dyᵀ·(x·Aᵀ),  dA = s · (dy·B)ᵀ·x
//
// and the gradient of x needs the merged weights alone.

// Merge adds scale·B·A to m's targeted projections, in place. The adapter must be of m's
// config.
func (m *Model) Merge(p *kernel.Pool, a *Adapter) error {
	if a.cfg != m.cfg {
		return fmt.Errorf("merge adapter: got an adapter of another config, want that of the model")
	}
	var s loraScratch
	for l := range a.layers {
		for g := range projectionGroups {
			if group := &a.layers[l][g]; len(group.targets) > 0 {
				s.merge(p, m.cfg, a.lora, m.w.layers[l].group(g), group, g)
			}
		}
	}
	return nil
}

// loraScratch is memory for one product's factors.
type loraScratch struct {
	b      []float32 // [out, targets*rank] the B of all targets, each in its own rows and columns
	u, du  []float32 // [n, targets*rank] x·Aᵀ, and its gradient
	db, da []float32 // gradients of b and a, before the scale
}

// merge adds scale·B·A to w.
func (s *loraScratch) merge(p *kernel.Pool, c Config, lora LoRA, w []float32, group *loraGroup, g projectionGroup) {
	out, in := c.groupShape(g)
	b := s.spreadB(c, lora, group, g)
	kernel.Scale(lora.scale(), b)
	kernel.MatMul(p, kernel.NN, true, w, b, group.a, out, in, len(group.targets)*lora.Rank)
}

// spreadB lays the B of all targets into one matrix.
func (s *loraScratch) spreadB(c Config, lora LoRA, group *loraGroup, g projectionGroup) []float32 {
	out, _ := c.groupShape(g)
	width := len(group.targets) * lora.Rank
	b := grow(&s.b, out*width)
	clear(b)
	for k, t := range group.targets {
		for i := range t.hi - t.lo {
			copy(b[(t.lo+i)*width+k*lora.Rank:], t.b[i*lora.Rank:(i+1)*lora.Rank])
		}
	}
	return b
}

// loraGradients are the gradients of an adapter's factors.
type loraGradients struct {
	adapter *Adapter
	layers  [][projectionGroups]loraGroup // views of the flat gradients
	scratch loraScratch
}

// projection adds the gradients of a group's factors over n rows.
func (g *loraGradients) projection(p *kernel.Pool, l int, which projectionGroup, dy, x []float32, n int) {
	group, grad := &g.adapter.layers[l][which], &g.layers[l][which]
	if len(group.targets) == 0 {
		return
	}
	c, lora, s := g.adapter.cfg, g.adapter.lora, &g.scratch
	out, in := c.groupShape(which)
	width := len(group.targets) * lora.Rank
	b := s.spreadB(c, lora, group, which)
	u, du := grow(&s.u, n*width), grow(&s.du, n*width)
	kernel.MatMul(p, kernel.NT, false, u, x, group.a, n, width, in)
	kernel.MatMul(p, kernel.NN, false, du, dy, b, n, width, out)
	db, da := grow(&s.db, out*width), grow(&s.da, width*in)
	kernel.MatMul(p, kernel.TN, false, db, dy, u, out, width, n)
	kernel.MatMul(p, kernel.TN, false, da, du, x, width, in, n)
	kernel.Axpy(lora.scale(), da, grad.a)
	for k, t := range grad.targets {
		for i := range t.hi - t.lo {
			kernel.Axpy(lora.scale(), db[(t.lo+i)*width+k*lora.Rank:][:lora.Rank], t.b[i*lora.Rank:(i+1)*lora.Rank])
		}
	}
}

// trainAdapter freezes the model and makes the adapter's factors the parameters.
func (t *Trainer) trainAdapter(a *Adapter) {
	c := t.m.cfg
	t.adapter, t.params = a, a.flat
	for _, s := range c.adapterLayout(a.lora) {
		t.pieces = append(t.pieces, paramSpan{s.off, s.n, true})
	}
	t.allocate()
	t.grads.lora = &loraGradients{adapter: a, layers: viewAdapter(c, a.lora, t.grads.flat)}
	for l := range a.layers {
		for g := range projectionGroups {
			var frozen []float32
			if len(a.layers[l][g].targets) > 0 {
				frozen = append(frozen, t.m.w.layers[l].group(g)...)
			}
			t.base = append(t.base, frozen)
		}
	}
}

// mergeAdapter makes the model's targets base plus adapter.
func (t *Trainer) mergeAdapter() {
	s := &t.grads.lora.scratch
	for l := range t.adapter.layers {
		for g := range projectionGroups {
			base := t.base[l*int(projectionGroups)+int(g)]
			if base == nil {
				continue
			}
			w := t.m.w.layers[l].group(g)
			copy(w, base)
			s.merge(t.p, t.m.cfg, t.adapter.lora, w, &t.adapter.layers[l][g], g)
		}
	}
}

// Adapter returns the adapter being trained, nil if all weights are. It changes with each
// step; Clone it to keep it.
func (t *Trainer) Adapter() *Adapter { return t.adapter }

// SetAdapter replaces the adapter's factors by a's, which must be of the same
// description, merges them, and drops accumulated gradients. Moments stay; ReadState
// restores those.
func (t *Trainer) SetAdapter(a *Adapter) error {
	if t.adapter == nil {
		return fmt.Errorf("set adapter: got a trainer of all weights, want one of an adapter")
	}
	if err := sameAdapter(a, t.adapter); err != nil {
		return fmt.Errorf("set adapter: %w", err)
	}
	copy(t.adapter.flat, a.flat)
	t.mergeAdapter()
	t.discard()
	return nil
}

func sameAdapter(got, want *Adapter) error {
	if got.cfg != want.cfg {
		return fmt.Errorf("got an adapter of another model config")
	}
	g, w := got.lora, want.lora
	if g.Rank != w.Rank || g.Alpha != w.Alpha || fmt.Sprint(g.Targets) != fmt.Sprint(w.Targets) {
		return fmt.Errorf("got rank %d, alpha %g, targets %v, want rank %d, alpha %g, targets %v", g.Rank, g.Alpha, g.Targets, w.Rank, w.Alpha, w.Targets)
	}
	return nil
}

// RestoreBase gives the model its frozen weights back and leaves the adapter as it is. The
// next step or SetAdapter merges again. It does nothing where all weights are trained.
func (t *Trainer) RestoreBase() {
	for i, base := range t.base {
		if base != nil {
			copy(t.m.w.layers[i/int(projectionGroups)].group(projectionGroup(i%int(projectionGroups))), base)
		}
	}
}
