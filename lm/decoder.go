package lm

import (
	"slices"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// decoder is a model laid out for sampling: packed projections, and copies of the
// rest, so that training the model on does not touch it. It is immutable.
type decoder struct {
	m      *Model // shape and rotary table only; its weights are not read
	embed  []float32
	norm   []float32
	head   *kernel.Packed
	layers []decoderLayer
}

type decoderLayer struct {
	norm1, qNorm, kNorm, norm2 []float32
	qkv, out, gateUp, down     *kernel.Packed
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
			norm1: slices.Clone(w.norm1), qNorm: slices.Clone(w.qNorm), kNorm: slices.Clone(w.kNorm), norm2: slices.Clone(w.norm2),
			qkv:    kernel.PackNT(w.qkv, c.qkvDim(), c.Dim),
			out:    kernel.PackNT(w.out, c.Dim, c.qDim()),
			gateUp: kernel.PackNT(w.gateUp, 2*c.FFN, c.Dim),
			down:   kernel.PackNT(w.down, c.Dim, c.FFN),
		})
	}
	return d
}

// feed is some consecutive tokens of one sequence that enter the model in a step.
type feed struct {
	kv     *kvBuffer
	tokens []int32
	pos    int  // position of tokens[0]; kv holds all before
	logits bool // whether the last token's logits are wanted
}

// decodeScratch is the memory of one goroutine's share of a step.
type decodeScratch struct {
	x, h, qkv, att, gateUp, act, logits []float32
	q, out                              []float32 // one key head's queries and outputs, [group*rows, headDim]
	probs                               []float32
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
		for i := range n {
			rmsNorm(h[i*dim:(i+1)*dim], x[i*dim:(i+1)*dim], w.norm1, c.NormEps)
		}
		kernel.MatMulPacked(p, false, qkv, h, n, w.qkv)
		i := 0
		for _, f := range feeds {
			rows := len(f.tokens)
			d.attend(f, l, qkv[i*c.qkvDim():][:rows*c.qkvDim()], att[i*c.qDim():][:rows*c.qDim()], s)
			i += rows
		}
		kernel.MatMulPacked(p, true, x, att, n, w.out)
		for i := range n {
			rmsNorm(h[i*dim:(i+1)*dim], x[i*dim:(i+1)*dim], w.norm2, c.NormEps)
		}
		kernel.MatMulPacked(p, false, gateUp, h, n, w.gateUp)
		for i := range n {
			gu := gateUp[i*2*c.FFN : (i+1)*2*c.FFN]
			kernel.SiLUMul(act[i*c.FFN:(i+1)*c.FFN], gu[:c.FFN], gu[c.FFN:])
		}
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

// attend stores the feed's keys and values for layer l and writes its attention
// output. The query heads that share a key head are one product, [group*rows, keys].
func (d *decoder) attend(f feed, l int, qkv, att []float32, s *decodeScratch) {
	c, w := d.m.cfg, &d.layers[l]
	hd, group, rows := c.HeadDim, c.group(), len(f.tokens)
	width, scale, keys := c.qkvDim(), c.queryScale(), f.pos+len(f.tokens)
	q, out := grow(&s.q, group*rows*hd), grow(&s.out, group*rows*hd)
	probs := grow(&s.probs, group*rows*keys)
	for kv := range c.KVHeads {
		k, v := f.kv.head(c, l, kv)
		for i := range rows {
			row, pos := qkv[i*width:(i+1)*width], f.pos+i
			for g := range group {
				d.m.shapeHead(q[(g*rows+i)*hd:][:hd], row[(kv*group+g)*hd:][:hd], w.qNorm, pos, scale)
			}
			d.m.shapeHead(k[pos*hd:][:hd], row[c.qDim()+kv*hd:][:hd], w.kNorm, pos, 1)
			copy(v[pos*hd:][:hd], row[c.qDim()+c.kvDim()+kv*hd:])
		}
		kernel.MatMul(nil, kernel.NT, false, probs, q, k, group*rows, keys, hd)
		for r := range group * rows {
			row, n := probs[r*keys:(r+1)*keys], f.pos+r%rows+1
			kernel.Softmax(row[:n])
			clear(row[n:])
		}
		kernel.MatMul(nil, kernel.NN, false, out, probs, v, group*rows, hd, keys)
		for r := range group * rows {
			copy(att[(r%rows)*c.qDim()+(kv*group+r/rows)*hd:][:hd], out[r*hd:])
		}
	}
}
