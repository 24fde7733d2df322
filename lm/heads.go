package lm

import (
	"math"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// queryScale is attention's 1/sqrt(headDim), folded into the rotated queries.
func (c Config) queryScale() float32 { return float32(1 / math.Sqrt(float64(c.HeadDim))) }

// splitHeads takes the rows of a.qkv apart into heads, each [n, headDim] in one
// piece: optional norm, rotation, and for queries the attention scale.
func (m *Model) splitHeads(p *kernel.Pool, a *layerTape, w *layerWeights, pos []int32) {
	c, n := m.cfg, len(pos)
	hd, scale := c.HeadDim, c.queryScale()
	forRows(p, n, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := a.qkv[i*c.qkvDim() : (i+1)*c.qkvDim()]
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
// norms are added to g.
func (m *Model) mergeHeads(p *kernel.Pool, dqkv, dq, dk, dv []float32, a *layerTape, w, g *layerWeights, pos []int32, part *[]float32) {
	c, n := m.cfg, len(pos)
	hd, scale := c.HeadDim, c.queryScale()
	var partial []float32 // [chunks, 2, headDim]: dqNorm, dkNorm of each chunk of rows
	if c.QKNorm {
		partial = grow(part, chunks(n)*2*hd)
		clear(partial)
	}
	unshape := func(dst, dy, src, norm, dnorm []float32, pos int, scale float32) {
		if norm == nil {
			m.rope.rotateBack(dst, dy, pos, scale)
			return
		}
		m.rope.rotateBack(dy, dy, pos, scale)
		clear(dst)
		rmsNormBackward(dst, dnorm, dy, src, norm, rmsScale(src, c.NormEps))
	}
	forRows(p, n, func(chunk, lo, hi int) {
		var dqNorm, dkNorm []float32
		if partial != nil {
			dqNorm, dkNorm = partial[chunk*2*hd:][:hd], partial[(chunk*2+1)*hd:][:hd]
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
		}
	})
	for chunk := 0; partial != nil && chunk < chunks(n); chunk++ {
		kernel.Axpy(1, partial[chunk*2*hd:][:hd], g.qNorm)
		kernel.Axpy(1, partial[(chunk*2+1)*hd:][:hd], g.kNorm)
	}
}
