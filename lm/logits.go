package lm

import (
	"math"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// headRows is how many rows of logits are held at once: a function of the
// vocabulary alone, since gradients are summed chunk by chunk. A small vocabulary's logits
// stay near the cache; a large one's take at most 128 MiB, in as many rows as repay a
// pass over the output projection.
func (c Config) headRows() int {
	return max(min(1<<18/c.Vocab, 512), min(1<<25/c.Vocab, 384), 16)
}

// headScratch is the memory for one chunk of rows at the output projection.
type headScratch struct {
	h, dh  []float32 // [rows, dim] normalised residual stream, gradient
	scale  []float32 // [rows]
	logits []float32 // [rows, vocab], then their gradient
	logp   []float32 // [rows] log-probability of the target
	part   []float32 // [chunks(rows), dim] gradient of the final norm
}

// head computes the logits of the packing's rows i0 to i1 (indices into pk.rows) and
// the log-probabilities of their targets. Given g it turns the logits into the
// gradient of weight times minus log-probability, or of the policy loss.
func (m *Model) head(p *kernel.Pool, pk *packing, i0, i1 int, final []float32, s *headScratch, grad bool) {
	d, vocab, n := m.cfg.Dim, m.cfg.Vocab, i1-i0
	grow(&s.h, n*d)
	grow(&s.scale, n)
	grow(&s.logp, n)
	grow(&s.logits, n*vocab)
	forRows(p, n, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			s.scale[i] = rmsNorm(s.h[i*d:(i+1)*d], final[int(pk.rows[i0+i])*d:][:d], m.w.norm, m.cfg.NormEps)
		}
	})
	kernel.MatMul(p, kernel.NT, false, s.logits, s.h, m.w.head, n, vocab, d)
	forRows(p, n, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row, target := s.logits[i*vocab:(i+1)*vocab], pk.targets[i0+i]
			at := row[target]
			top, sum := kernel.ExpSum(row, row)
			s.logp[i] = float32(float64(at-top) - math.Log(sum))
			if !grad {
				continue
			}
			w := pk.weights[i0+i]
			if pk.policy != nil {
				w = pk.policy.weight(i0+i, w, s.logp[i])
			}
			kernel.Scale(float32(float64(w)/sum), row)
			row[target] -= w
		}
	})
}
