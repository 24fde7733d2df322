package lm

import (
	"slices"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// decoder is a model laid out for sampling: packed projections, and copies of the
// rest, so that training the model on does not touch it. It does not change until the
// generator lets go of it.
type decoder struct {
	m      *Model // shape and rotary table only; its weights are not read
	embed  []float32
	norm   []float32
	head   *kernel.Packed
	layers []decoderLayer
}

type decoderLayer struct {
	norm1, qkvBias, qNorm, kNorm, norm2 []float32
	qkv, out, gateUp, down              *kernel.Packed
}

func newDecoder(m *Model) *decoder {
	c := m.cfg
	d := &decoder{
		m:     &Model{cfg: c, rope: m.rope},
		embed: slices.Clone(m.w.embed), norm: slices.Clone(m.w.norm),
		head: kernel.PackNT(m.w.head, c.Vocab, c.Dim),
	}
	for _, w := range m.w.layers {
		d.layers = append(d.layers, decoderLayer{
			norm1: slices.Clone(w.norm1), qkvBias: slices.Clone(w.qkvBias), qNorm: slices.Clone(w.qNorm), kNorm: slices.Clone(w.kNorm), norm2: slices.Clone(w.norm2),
			qkv:    kernel.PackNT(w.qkv, c.qkvDim(), c.Dim),
			out:    kernel.PackNT(w.out, c.Dim, c.qDim()),
			gateUp: kernel.PackNT(w.gateUp, 2*c.FFN, c.Dim),
			down:   kernel.PackNT(w.down, c.Dim, c.FFN),
		})
	}
	return d
}

// bytes is the memory of the packed weights that every step reads.
func (d *decoder) bytes() int64 { return 4 * d.m.cfg.numParams() }

// feed is some consecutive tokens of one sequence that enter the model in a step.
type feed struct {
	path   []*block // of the sequence; every block that tokens lie in is the feed's own
	tokens []int32
	pos    int  // position of tokens[0]; path holds all before
	logits bool // whether the last token's logits are wanted
}

// decodeScratch is the memory of one share of a step.
type decodeScratch struct {
	x, h, qkv, att, gateUp, act, logits []float32
	pieces                              []piece
	blocks                              [][]float32 // of the feeds' paths, one after another
	attn                                freeList[pagedScratch]
}

// forget lets go of the blocks of the last step.
func (s *decodeScratch) forget() {
	clear(s.blocks)
	s.blocks = s.blocks[:0]
}

// piece is one feed's attention in one key head: its rows begin at row, its path is
// blocks[lo:hi].
type piece struct{ feed, row, kv, lo, hi int }

// cut lists the attention of a step's feeds and the blocks that it reads. It goes head by
// head: sequences that begin alike then find what they share in a near cache.
func (s *decodeScratch) cut(feeds []feed, kvHeads int) {
	s.pieces = s.pieces[:0]
	s.forget()
	for kv := range kvHeads {
		row, lo := 0, 0
		for i, f := range feeds {
			hi := lo + blocksOf(f.pos+len(f.tokens))
			if kv == 0 {
				for _, b := range f.path[:hi-lo] {
					s.blocks = append(s.blocks, b.kv)
				}
			}
			s.pieces = append(s.pieces, piece{i, row, kv, lo, hi})
			row, lo = row+len(f.tokens), hi
		}
	}
}

// run feeds tokens through the model, extends the feeds' keys and values, and
// returns the logits wanted, [feeds with logits, vocab]. Rows of different feeds do not
// meet, and every row is computed as training computes it, so that its bits are the
// same in any batch.
func (d *decoder) run(p *kernel.Pool, feeds []feed, s *decodeScratch) []float32 {
	c := d.m.cfg
	dim, n, wanted := c.Dim, 0, 0
	for _, f := range feeds {
		n += len(f.tokens)
		if f.logits {
			wanted++
		}
	}
	s.cut(feeds, c.KVHeads)
	x, h := grow(&s.x, n*dim), grow(&s.h, max(n, wanted)*dim)
	qkv, att := grow(&s.qkv, n*c.qkvDim()), grow(&s.att, n*c.qDim())
	gateUp, act := grow(&s.gateUp, n*2*c.FFN), grow(&s.act, n*c.FFN)
	i := 0
	for _, f := range feeds {
		for _, tok := range f.tokens {
			copy(x[i*dim:(i+1)*dim], d.embed[int(tok)*dim:])
			i++
		}
	}
	for l := range d.layers {
		w := &d.layers[l]
		normAll(p, h, x, w.norm1, n, c)
		kernel.MatMulPacked(p, false, qkv, h, n, w.qkv)
		if w.qkvBias != nil {
			for i := range n {
				kernel.Axpy(1, w.qkvBias, qkv[i*c.qkvDim():(i+1)*c.qkvDim()])
			}
		}
		p.For(len(s.pieces), func(i int) {
			pc := s.pieces[i]
			f := &feeds[pc.feed]
			rows := len(f.tokens)
			ps := s.attn.take()
			d.attend(f, s.blocks[pc.lo:pc.hi], l, pc.kv, qkv[pc.row*c.qkvDim():][:rows*c.qkvDim()], att[pc.row*c.qDim():][:rows*c.qDim()], ps)
			s.attn.put(ps)
		})
		kernel.MatMulPacked(p, true, x, att, n, w.out)
		normAll(p, h, x, w.norm2, n, c)
		kernel.MatMulPacked(p, false, gateUp, h, n, w.gateUp)
		forRows(p, n, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				gu := gateUp[i*2*c.FFN : (i+1)*2*c.FFN]
				kernel.SiLUMul(act[i*c.FFN:(i+1)*c.FFN], gu[:c.FFN], gu[c.FFN:])
			}
		})
		kernel.MatMulPacked(p, true, x, act, n, w.down)
	}
	row, out := 0, 0
	for _, f := range feeds {
		row += len(f.tokens)
		if f.logits {
			rmsNorm(h[out*dim:(out+1)*dim], x[(row-1)*dim:row*dim], d.norm, c.NormEps)
			out++
		}
	}
	logits := grow(&s.logits, wanted*c.Vocab)
	kernel.MatMulPacked(p, false, logits, h, wanted, d.head)
	return logits
}

// normAll normalises n rows of x into h.
func normAll(p *kernel.Pool, h, x, weight []float32, n int, c Config) {
	d := c.Dim
	forRows(p, n, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			rmsNorm(h[i*d:(i+1)*d], x[i*d:(i+1)*d], weight, c.NormEps)
		}
	})
}
