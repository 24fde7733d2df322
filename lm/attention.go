package lm

import (
	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// Causal attention for scoring and training. The work is cut into (sequence,
// head) pieces, and a piece into blocks of queryBlock query rows against the keys
// up to the block's end, so that neither the scores of a whole sequence nor the
// masked upper half are ever stored. The backward pass recomputes the scores.

const queryBlock = 64

// attnScratch is the memory of one piece under way.
type attnScratch struct {
	p, dp   []float32 // [queryBlock, keys] probabilities, gradients
	out, do []float32 // [queryBlock, headDim]
}

// attend writes a.att from a.q, a.k and a.v.
func attend(p *kernel.Pool, c Config, a *layerTape, spans []span, list *freeList[attnScratch]) {
	n, hd := len(a.q)/c.qDim(), c.HeadDim
	p.For(len(spans)*c.Heads, func(piece int) {
		sp, h := spans[piece/c.Heads], piece%c.Heads
		kv := h / c.group()
		s := list.take()
		defer list.put(s)
		keys, vals := a.k[(kv*n+sp.lo)*hd:], a.v[(kv*n+sp.lo)*hd:]
		for lo := 0; lo < sp.hi-sp.lo; lo += queryBlock {
			hi := min(lo+queryBlock, sp.hi-sp.lo)
			probs := probabilities(s, a.q[(h*n+sp.lo+lo)*hd:], keys, lo, hi, hd)
			out := grow(&s.out, (hi-lo)*hd)
			kernel.MatMul(nil, kernel.NN, false, out, probs, vals, hi-lo, hd, hi)
			for i := range hi - lo {
				copy(a.att[(sp.lo+lo+i)*c.qDim()+h*hd:][:hd], out[i*hd:])
			}
		}
	})
}

// probabilities returns [hi-lo, hi]: the attention of queries lo to hi of a
// sequence over its keys up to hi, zero where a key comes after the query. q begins
// at query lo, keys at the sequence's first.
func probabilities(s *attnScratch, q, keys []float32, lo, hi, hd int) []float32 {
	probs := grow(&s.p, (hi-lo)*hi)
	kernel.MatMul(nil, kernel.NT, false, probs, q, keys, hi-lo, hi, hd)
	for i := range hi - lo {
		row := probs[i*hi : (i+1)*hi]
		kernel.Softmax(row[:lo+i+1])
		clear(row[lo+i+1:])
	}
	return probs
}

// attendBackward writes dq, dk, dv (in the layout of a.q, a.k, a.v) from datt, the
// gradient of a.att. A piece is a (sequence, key head): it owns that head's dk and dv,
// and adds the query heads of its group in order.
func attendBackward(p *kernel.Pool, c Config, dq, dk, dv, datt []float32, a *layerTape, spans []span, list *freeList[attnScratch]) {
	n, hd := len(a.q)/c.qDim(), c.HeadDim
	p.For(len(spans)*c.KVHeads, func(piece int) {
		sp, kv := spans[piece/c.KVHeads], piece%c.KVHeads
		s := list.take()
		defer list.put(s)
		from, size := (kv*n+sp.lo)*hd, (sp.hi-sp.lo)*hd
		keys, vals, dkeys, dvals := a.k[from:][:size], a.v[from:][:size], dk[from:][:size], dv[from:][:size]
		clear(dkeys)
		clear(dvals)
		for h := kv * c.group(); h < (kv+1)*c.group(); h++ {
			for lo := 0; lo < sp.hi-sp.lo; lo += queryBlock {
				hi := min(lo+queryBlock, sp.hi-sp.lo)
				at := (h*n + sp.lo + lo) * hd
				q := a.q[at:]
				probs := probabilities(s, q, keys, lo, hi, hd)
				do := grow(&s.do, (hi-lo)*hd)
				for i := range hi - lo {
					copy(do[i*hd:(i+1)*hd], datt[(sp.lo+lo+i)*c.qDim()+h*hd:])
				}
				kernel.MatMul(nil, kernel.TN, true, dvals, probs, do, hi, hd, hi-lo)
				dp := grow(&s.dp, (hi-lo)*hi)
				kernel.MatMul(nil, kernel.NT, false, dp, do, vals, hi-lo, hi, hd)
				for i := range hi - lo {
					row, seen := dp[i*hi:(i+1)*hi], lo+i+1
					kernel.SoftmaxBackward(row[:seen], probs[i*hi:][:seen])
					clear(row[seen:])
				}
				kernel.MatMul(nil, kernel.NN, false, dq[at:], dp, keys, hi-lo, hd, hi)
				kernel.MatMul(nil, kernel.TN, true, dkeys, dp, q, hi, hd, hi-lo)
			}
		}
	})
}
