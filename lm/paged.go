package lm

import (
	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// Attention of sampling: the queries of some new tokens against keys and values that
// lie in blocks. Its sums are the ones of attention.go, to the bit.

// pagedScratch is the memory of one key head's attention under way.
type pagedScratch struct {
	k      []float32 // [headDim] a new key
	q, out []float32 // [group*rows, headDim]
	probs  []float32 // [group*rows, room]
}

// attend stores the feed's keys and values of one key head of layer l and writes the
// attention output of its query heads; blocks is the memory of the feed's path, up to
// its last token. The query heads that share a key head are one product,
// [group*rows, room]; room is the keys' number, rounded up to whole blocks, and what lies
// behind the last key counts for nothing.
func (d *decoder) attend(f *feed, blocks [][]float32, l, kv int, qkv, att []float32, s *pagedScratch) {
	c, w := d.m.cfg, &d.layers[l]
	hd, group, rows := c.HeadDim, c.group(), len(f.tokens)
	keysAt, valuesAt := c.headAt(l, kv)
	keys, m, room := f.pos+rows, group*rows, len(blocks)*blockTokens
	q, out, probs := grow(&s.q, m*hd), grow(&s.out, m*hd), grow(&s.probs, m*room)
	width, scale, k := c.qkvDim(), c.queryScale(), grow(&s.k, hd)
	for i := range rows {
		row, pos := qkv[i*width:(i+1)*width], f.pos+i
		for g := range group {
			d.m.shapeHead(q[(g*rows+i)*hd:][:hd], row[(kv*group+g)*hd:][:hd], w.qNorm, pos, scale)
		}
		d.m.shapeHead(k, row[c.qDim()+kv*hd:][:hd], w.kNorm, pos, 1)
		b, at := blocks[pos/blockTokens], pos%blockTokens
		kt := b[keysAt:][:hd*blockTokens]
		for i, x := range k {
			kt[i*blockTokens+at] = x
		}
		copy(b[valuesAt+at*hd:][:hd], row[c.qDim()+c.kvDim()+kv*hd:])
	}
	kernel.BlockScores(probs, q, m, hd, blocks, keysAt)
	for r := range m {
		row, n := probs[r*room:(r+1)*room], f.pos+r%rows+1
		kernel.Softmax(row[:n])
		clear(row[n:])
	}
	kernel.BlockSums(out, probs, m, hd, keys, blocks, valuesAt)
	for r := range m {
		copy(att[(r%rows)*c.qDim()+(kv*group+r/rows)*hd:][:hd], out[r*hd:])
	}
}
