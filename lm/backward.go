package lm

import "github.com/seed-095d5d2b/whale/lm/kernel"

// gradScratch holds the gradients of activations; one layer's at a time.
type gradScratch struct {
	head    headScratch
	dx      []float32 // [n, dim] of the residual stream
	dh      []float32 // [n, dim] of a projection's normalised input
	dact    []float32 // [n, ffn]
	dgateUp []float32 // [n, 2*ffn]
	datt    []float32 // [n, qDim]
	dq      []float32 // [heads, n, headDim]
	dk, dv  []float32 // [kvHeads, n, headDim]
	dqkv    []float32 // [n, qkvDim]
	part    []float32 // partial sums of norm gradients, a chunk of rows each
}

func (s *gradScratch) resize(c Config, n int) {
	grow(&s.dx, n*c.Dim)
	grow(&s.dh, n*c.Dim)
	grow(&s.dact, n*c.FFN)
	grow(&s.dgateUp, n*2*c.FFN)
	grow(&s.datt, n*c.qDim())
	grow(&s.dq, n*c.qDim())
	grow(&s.dk, n*c.kvDim())
	grow(&s.dv, n*c.kvDim())
	grow(&s.dqkv, n*c.qkvDim())
}

// backward runs the loss and the whole backward pass for a packing whose forward
// pass t holds. It adds the gradients of Σ weight * -log p, or of the packing's policy
// loss, to g and returns Σ weight * -log p. Weight gradients sum over rows in order, and
// norm gradients over chunks of rowChunk rows, so the result depends on the packing but
// not on the pool.
func (m *Model) backward(p *kernel.Pool, pk *packing, t *tape, g *gradients) Loss {
	c, n := m.cfg, len(pk.tokens)
	d, f := c.Dim, c.FFN
	s := &t.grad
	s.resize(c, n)
	loss := m.headBackward(p, pk, t, g)
	for l := c.Layers - 1; l >= 0; l-- {
		if t.mode == keepInputs && l+1 < c.Layers { // the last layer's record is still there
			m.forwardLayer(p, pk, t, l)
		}
		a, w := t.layer(l), &m.w.layers[l]

		// FFN: x = mid + down·act(gateUp·norm(mid)).
		kernel.MatMul(p, kernel.NN, false, s.dact, s.dx, w.down, n, f, d)
		forRows(p, n, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				gu, dgu := a.gateUp[i*2*f:(i+1)*2*f], s.dgateUp[i*2*f:(i+1)*2*f]
				kernel.SwiGLUBackward(t.act[i*f:(i+1)*f], dgu[:f], dgu[f:], s.dact[i*f:(i+1)*f], gu[:f], gu[f:])
			}
		})
		g.projection(p, l, downProj, s.dx, t.act, n)
		m.renormRows(p, t.h, a.mid, w.norm2, a.scale2)
		g.projection(p, l, gateUpProj, s.dgateUp, t.h, n)
		kernel.MatMul(p, kernel.NN, false, s.dh, s.dgateUp, w.gateUp, n, d, 2*f)
		m.normRowsBackward(p, s, g.norm2(l), a.mid, w.norm2, a.scale2)

		// Attention: mid = x + out·attend(qkv·norm(x)).
		kernel.MatMul(p, kernel.NN, false, s.datt, s.dx, w.out, n, c.qDim(), d)
		g.projection(p, l, outProj, s.dx, a.att, n)
		attendBackward(p, c, s.dq, s.dk, s.dv, s.datt, a, pk.spans, &t.attn)
		m.mergeHeads(p, s.dqkv, s.dq, s.dk, s.dv, a, w, g.layer(l), pk.pos, &s.part)
		m.renormRows(p, t.h, a.x, w.norm1, a.scale1)
		g.projection(p, l, qkvProj, s.dqkv, t.h, n)
		if l == 0 && g.full == nil {
			return loss // nothing below is trained
		}
		kernel.MatMul(p, kernel.NN, false, s.dh, s.dqkv, w.qkv, n, d, c.qkvDim())
		m.normRowsBackward(p, s, g.norm1(l), a.x, w.norm1, a.scale1)
	}
	for i, tok := range pk.tokens { // in order: several rows share a token
		kernel.Axpy(1, s.dx[i*d:(i+1)*d], g.full.embed[int(tok)*d:][:d])
	}
	return loss
}

// headBackward computes the loss and writes s.dx, the gradient of the residual
// stream after the last layer.
func (m *Model) headBackward(p *kernel.Pool, pk *packing, t *tape, g *gradients) Loss {
	d, vocab := m.cfg.Dim, m.cfg.Vocab
	s := &t.grad
	h := &s.head
	clear(s.dx)
	var loss Loss
	for i0 := 0; i0 < len(pk.rows); i0 += m.cfg.headRows() {
		i1 := min(i0+m.cfg.headRows(), len(pk.rows))
		n := i1 - i0
		m.head(p, pk, i0, i1, t.final, h, true)
		for i, lp := range h.logp {
			w := float64(pk.weights[i0+i])
			loss.NLL -= w * float64(lp)
			loss.Weight += w
		}
		if pk.policy != nil {
			pk.policy.count(i0, pk.weights[i0:i1], h.logp)
		}
		grow(&h.dh, n*d)
		kernel.MatMul(p, kernel.NN, false, h.dh, h.logits, m.w.head, n, d, vocab)
		if g.full != nil {
			kernel.MatMul(p, kernel.TN, true, g.full.head, h.logits, h.h, vocab, d, n)
		}
		clear(grow(&h.part, chunks(n)*d))
		forRows(p, n, func(chunk, lo, hi int) {
			for i := lo; i < hi; i++ {
				at := int(pk.rows[i0+i]) * d
				kernel.RMSNormBackward(s.dx[at:at+d], h.part[chunk*d:][:d], h.dh[i*d:(i+1)*d], t.final[at:at+d], m.w.norm, h.scale[i])
			}
		})
		if g.full != nil {
			addParts(g.full.norm, h.part)
		}
	}
	return loss
}

// addParts adds consecutive partial sums to g, in order.
func addParts(g, parts []float32) {
	for ; len(parts) > 0; parts = parts[len(g):] {
		kernel.Axpy(1, parts[:len(g)], g)
	}
}

// renormRows recomputes what normRows wrote, from the scales that it noted.
func (m *Model) renormRows(p *kernel.Pool, dst, x, weight, scales []float32) {
	d := m.cfg.Dim
	forRows(p, len(scales), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			kernel.ScaleMul(dst[i*d:(i+1)*d], x[i*d:(i+1)*d], weight, scales[i])
		}
	})
}

// normRowsBackward takes s.dh through a norm and adds it to s.dx, the path around
// the block being the identity. A dweight of nil is not wanted.
func (m *Model) normRowsBackward(p *kernel.Pool, s *gradScratch, dweight, x, weight, scales []float32) {
	d, n := m.cfg.Dim, len(scales)
	clear(grow(&s.part, chunks(n)*d))
	forRows(p, n, func(chunk, lo, hi int) {
		for i := lo; i < hi; i++ {
			kernel.RMSNormBackward(s.dx[i*d:(i+1)*d], s.part[chunk*d:][:d], s.dh[i*d:(i+1)*d], x[i*d:(i+1)*d], weight, scales[i])
		}
	})
	if dweight != nil {
		addParts(dweight, s.part)
	}
}
