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
// pass t holds. It adds the gradients of Σ weight * -log p to g and returns that
// sum. Weight gradients sum over rows in order, and norm gradients over chunks of
// rowChunk rows, so the result depends on the packing but not on the pool.
func (m *Model) backward(p *kernel.Pool, pk *packing, t *tape, g *weights) Loss {
	c, n := m.cfg, len(pk.tokens)
	d, f := c.Dim, c.FFN
	s := &t.grad
	s.resize(c, n)
	loss := m.headBackward(p, pk, t, g)
	for l := c.Layers - 1; l >= 0; l-- {
		a, w, gw := t.layer(l), &m.w.layers[l], &g.layers[l]

		// FFN: x = mid + down·act(gateUp·norm(mid)).
		kernel.MatMul(p, kernel.NN, false, s.dact, s.dx, w.down, n, f, d)
		forRows(p, n, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				swigluBackward(t.act[i*f:(i+1)*f], s.dgateUp[i*2*f:(i+1)*2*f], s.dact[i*f:(i+1)*f], a.gateUp[i*2*f:(i+1)*2*f])
			}
		})
		kernel.MatMul(p, kernel.TN, true, gw.down, s.dx, t.act, d, f, n)
		m.renormRows(p, t.h, a.mid, w.norm2, a.scale2)
		kernel.MatMul(p, kernel.TN, true, gw.gateUp, s.dgateUp, t.h, 2*f, d, n)
		kernel.MatMul(p, kernel.NN, false, s.dh, s.dgateUp, w.gateUp, n, d, 2*f)
		m.normRowsBackward(p, s, gw.norm2, a.mid, w.norm2, a.scale2)

		// Attention: mid = x + out·attend(qkv·norm(x)).
		kernel.MatMul(p, kernel.NN, false, s.datt, s.dx, w.out, n, c.qDim(), d)
		kernel.MatMul(p, kernel.TN, true, gw.out, s.dx, a.att, d, c.qDim(), n)
		attendBackward(p, c, s.dq, s.dk, s.dv, s.datt, a, pk.spans, &t.attn)
		m.mergeHeads(p, s.dqkv, s.dq, s.dk, s.dv, a, w, gw, pk.pos, &s.part)
		m.renormRows(p, t.h, a.x, w.norm1, a.scale1)
		kernel.MatMul(p, kernel.TN, true, gw.qkv, s.dqkv, t.h, c.qkvDim(), d, n)
		kernel.MatMul(p, kernel.NN, false, s.dh, s.dqkv, w.qkv, n, d, c.qkvDim())
		m.normRowsBackward(p, s, gw.norm1, a.x, w.norm1, a.scale1)
	}
	for i, tok := range pk.tokens { // in order: several rows share a token
		kernel.Axpy(1, s.dx[i*d:(i+1)*d], g.embed[int(tok)*d:][:d])
	}
	return loss
}

// headBackward computes the loss and writes s.dx, the gradient of the residual
// stream after the last layer.
func (m *Model) headBackward(p *kernel.Pool, pk *packing, t *tape, g *weights) Loss {
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
		grow(&h.dh, n*d)
		kernel.MatMul(p, kernel.NN, false, h.dh, h.logits, m.w.head, n, d, vocab)
		kernel.MatMul(p, kernel.TN, true, g.head, h.logits, h.h, vocab, d, n)
		clear(grow(&h.part, chunks(n)*d))
		forRows(p, n, func(chunk, lo, hi int) {
			for i := lo; i < hi; i++ {
				at := int(pk.rows[i0+i]) * d
				rmsNormBackward(s.dx[at:at+d], h.part[chunk*d:][:d], h.dh[i*d:(i+1)*d], t.final[at:at+d], m.w.norm, h.scale[i])
			}
		})
		addParts(g.norm, h.part)
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
			scaleMul(dst[i*d:(i+1)*d], x[i*d:(i+1)*d], weight, scales[i])
		}
	})
}

// normRowsBackward takes s.dh through a norm and adds it to s.dx, the path around
// the block being the identity.
func (m *Model) normRowsBackward(p *kernel.Pool, s *gradScratch, dweight, x, weight, scales []float32) {
	d, n := m.cfg.Dim, len(scales)
	clear(grow(&s.part, chunks(n)*d))
	forRows(p, n, func(chunk, lo, hi int) {
		for i := lo; i < hi; i++ {
			rmsNormBackward(s.dx[i*d:(i+1)*d], s.part[chunk*d:][:d], s.dh[i*d:(i+1)*d], x[i*d:(i+1)*d], weight, scales[i])
		}
	})
	addParts(dweight, s.part)
}

// swigluBackward recomputes act = silu(gate)*up and writes the gradients of gate
// and up (side by side, like gateUp) from dact. With s = sigmoid(gate):
//
//	dgate = dact * up * s * (1 + gate*(1-s)),  dup = dact * gate * s
func swigluBackward(act, dgateUp, dact, gateUp []float32) {
	f := len(act)
	gate, up := gateUp[:f], gateUp[f:][:f]
	dgate, dup := dgateUp[:f], dgateUp[f:][:f]
	dact = dact[:f]
	for i, g := range gate {
		dgate[i] = -g
	}
	kernel.Exp(dgate, dgate)
	for i, g := range gate {
		s := 1 / (1 + dgate[i])
		gs := g * s
		act[i] = gs * up[i]
		dup[i] = dact[i] * gs
		dgate[i] = dact[i] * up[i] * (s + gs*(1-s))
	}
}
