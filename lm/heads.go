package lm

import (
	"math"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// queryScale is attention's 1/sqrt(headDim), folded into the rotated queries.
func (c Config) queryScale() float32 { return float32(1 / math.Sqrt(float64(c.HeadDim))) }

// splitHeads adds the bias to the rows of a.qkv, if there is one, and takes them apart
// into heads, each [n, headDim] in one piece: optional norm, rotation, and for queries
// the attention scale.
func (m *Model) splitHeads(p *kernel.Pool, a *layerTape, w *layerWeights, pos []int32) {
	c, n := m.cfg, len(pos)
	hd, scale := c.HeadDim, c.queryScale()
	forRows(p, n, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := a.qkv[i*c.qkvDim() : (i+1)*c.qkvDim()]
			if w.qkvBias != nil {
				kernel.Axpy(1, w.qkvBias, row)
			}
			for h := range c.Heads {
				m.shapeHead(a.q[(h*n+i)*hd:][:hd], row[h*hd:][:hd], w.qNorm, int(pos[i]), scale)
			}
			row = row[c.qDim():]
			for h := range c.KVHeads {
				m.shapeHead(a.k[(h*n+i)*hd:][:hd], row[h*hd:][:hd], w.kNorm, int(pos[i]), 1)
			}
			row = row[c.kvDim():]
			for h := range c.KVHeads {
				copy(a.v[(h*n+i)*hd:][:hd], row[h*hd:])
			}
		}
	})
}

// shapeHead writes the normalised (if norm is not nil) and rotated src to dst.
func (m *Model) shapeHead(dst, src, norm []float32, pos int, scale float32) {
	if norm != nil {
		rmsNorm(dst, src, norm, m.cfg.NormEps)
		src = dst
	}
	m.rope.rotate(dst, src, pos, scale)
}

// mergeHeads is splitHeads backward: gradients of the heads (dq, dk, dv in the
// layout of a.q, a.k, a.v; overwritten) to dqkv [n, qkvDim]. Gradients of the head
// norms and of the bias are added to g.
func (m *Model) mergeHeads(p *kernel.Pool, dqkv, dq, dk, dv []float32, a *layerTape, w, g *layerWeights, pos []int32, part *[]float32) {
	c, n := m.cfg, len(pos)
	hd, scale := c.HeadDim, c.queryScale()
	// What each chunk of rows adds: [chunks, width], dqNorm and dkNorm (which the norm's
	// backward pass sums in any case), then dqkvBias.
	norms, width := 0, 0
	if c.QKNorm {
		norms = 2 * hd
	}
	width = norms
	if g.qkvBias != nil {
		width += c.qkvDim()
	}
	sums := grow(part, chunks(n)*width)
	clear(sums)
	unshape := func(dst, dy, src, norm, dnorm []float32, pos int, scale float32) {
		if norm == nil {
			m.rope.rotateBack(dst, dy, pos, scale)
			return
		}
		m.rope.rotateBack(dy, dy, pos, scale)
		clear(dst)
		kernel.RMSNormBackward(dst, dnorm, dy, src, norm, rmsScale(src, c.NormEps))
	}
	forRows(p, n, func(chunk, lo, hi int) {
		var dqNorm, dkNorm []float32
		sum := sums[chunk*width : (chunk+1)*width]
		if c.QKNorm {
			dqNorm, dkNorm = sum[:hd], sum[hd:norms]
		}
		for i := lo; i < hi; i++ {
			row, drow := a.qkv[i*c.qkvDim():(i+1)*c.qkvDim()], dqkv[i*c.qkvDim():(i+1)*c.qkvDim()]
			for h := range c.Heads {
				unshape(drow[h*hd:][:hd], dq[(h*n+i)*hd:][:hd], row[h*hd:][:hd], w.qNorm, dqNorm, int(pos[i]), scale)
			}
			row, drow = row[c.qDim():], drow[c.qDim():]
			for h := range c.KVHeads {
				unshape(drow[h*hd:][:hd], dk[(h*n+i)*hd:][:hd], row[h*hd:][:hd], w.kNorm, dkNorm, int(pos[i]), 1)
			}
			drow = drow[c.kvDim():]
			for h := range c.KVHeads {
				copy(drow[h*hd:][:hd], dv[(h*n+i)*hd:])
			}
			if g.qkvBias != nil {
				kernel.Axpy(1, dqkv[i*c.qkvDim():(i+1)*c.qkvDim()], sum[norms:])
			}
		}
	})
	for ; len(sums) > 0; sums = sums[width:] {
		if g.qkvBias != nil {
			kernel.Axpy(1, sums[norms:width], g.qkvBias)
		}
		if g.qNorm != nil {
			kernel.Axpy(1, sums[:hd], g.qNorm)
			kernel.Axpy(1, sums[hd:norms], g.kNorm)
		}
	}
}
