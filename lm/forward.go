package lm

import "github.com/seed-095d5d2b/whale/lm/kernel"

// tapeMode says which layers' activations a tape keeps.
type tapeMode int

const (
	keepNone   tapeMode = iota // two records that take turns: for scoring
	keepAll                    // a record for every layer, as the backward pass needs
	keepInputs                 // every layer's input; the backward pass recomputes the rest
)

// tape holds the activations of one forward pass over a packing of n rows. It is
// reused from pass to pass and grows as needed.
type tape struct {
	cfg    Config
	mode   tapeMode
	layers []layerTape
	final  []float32 // [n, dim] residual stream after the last layer

	// Scratch of one step.
	h   []float32 // [n, dim] normalised input of a projection
	act []float32 // [n, ffn] silu(gate) * up

	attn freeList[attnScratch]
	grad gradScratch
}

// layerTape is what one layer's forward pass leaves for the backward pass.
type layerTape struct {
	x      []float32 // [n, dim] residual stream at the layer's entry
	scale1 []float32 // [n] rmsScale of x
	qkv    []float32 // [n, qkvDim] projections before norm and rotation
	q      []float32 // [heads, n, headDim] normalised, rotated, times 1/sqrt(headDim)
	k      []float32 // [kvHeads, n, headDim] normalised, rotated
	v      []float32 // [kvHeads, n, headDim]
	att    []float32 // [n, qDim] attention's output
	mid    []float32 // [n, dim] residual stream between attention and FFN
	scale2 []float32 // [n] rmsScale of mid
	gateUp []float32 // [n, 2*ffn]
}

func newTape(c Config, mode tapeMode) *tape {
	t := &tape{cfg: c, mode: mode, layers: make([]layerTape, 2)}
	if mode != keepNone {
		t.layers = make([]layerTape, c.Layers)
	}
	return t
}

func (t *tape) layer(l int) *layerTape { return &t.layers[l%len(t.layers)] }

// grow returns s with length n, keeping its memory if that is enough. The
// contents are undefined.
func grow(s *[]float32, n int) []float32 {
	if cap(*s) < n {
		*s = make([]float32, n)
	}
	*s = (*s)[:n]
	return *s
}

func (t *tape) resize(n int) {
	c := t.cfg
	for l := range t.layers {
		a := &t.layers[l]
		grow(&a.x, n*c.Dim)
		if t.mode == keepInputs && l > 0 { // all but the input is the first layer's memory
			x := a.x
			*a = t.layers[0]
			a.x = x
			continue
		}
		grow(&a.scale1, n)
		grow(&a.qkv, n*c.qkvDim())
		grow(&a.q, n*c.qDim())
		grow(&a.k, n*c.kvDim())
		grow(&a.v, n*c.kvDim())
		grow(&a.att, n*c.qDim())
		grow(&a.mid, n*c.Dim)
		grow(&a.scale2, n)
		grow(&a.gateUp, n*2*c.FFN)
	}
	grow(&t.final, n*c.Dim)
	grow(&t.h, n*c.Dim)
	grow(&t.act, n*c.FFN)
}

// forward runs the layers over the packing and leaves the residual stream in
// t.final. Every row is a function of its own sequence's rows alone.
func (m *Model) forward(p *kernel.Pool, pk *packing, t *tape) {
	c, n := m.cfg, len(pk.tokens)
	d := c.Dim
	t.resize(n)
	x := t.layer(0).x
	for i, tok := range pk.tokens {
		copy(x[i*d:(i+1)*d], m.w.embed[int(tok)*d:])
	}
	for l := range c.Layers {
		m.forwardLayer(p, pk, t, l)
		a, out := t.layer(l), t.final
		if l+1 < c.Layers {
			out = t.layer(l + 1).x
		}
		forRows(p, n, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				gu := a.gateUp[i*2*c.FFN : (i+1)*2*c.FFN]
				kernel.SiLUMul(t.act[i*c.FFN:(i+1)*c.FFN], gu[:c.FFN], gu[c.FFN:])
			}
			copy(out[lo*d:hi*d], a.mid[lo*d:hi*d])
		})
		kernel.MatMul(p, kernel.NT, true, out, t.act, m.w.layers[l].down, n, d, c.FFN)
	}
}

// forwardLayer computes all of layer l's record from its input, up to the gate. The
// backward pass calls it again where the record was not kept, to the same bits.
func (m *Model) forwardLayer(p *kernel.Pool, pk *packing, t *tape, l int) {
	c, n := m.cfg, len(pk.tokens)
	d, a, w := c.Dim, t.layer(l), &m.w.layers[l]
	m.normRows(p, t.h, a.x, w.norm1, a.scale1)
	kernel.MatMul(p, kernel.NT, false, a.qkv, t.h, w.qkv, n, c.qkvDim(), d)
	m.splitHeads(p, a, w, pk.pos)
	attend(p, c, a, pk.spans, &t.attn)
	forRows(p, n, func(_, lo, hi int) { copy(a.mid[lo*d:hi*d], a.x[lo*d:hi*d]) })
	kernel.MatMul(p, kernel.NT, true, a.mid, a.att, w.out, n, d, c.qDim())
	m.normRows(p, t.h, a.mid, w.norm2, a.scale2)
	kernel.MatMul(p, kernel.NT, false, a.gateUp, t.h, w.gateUp, n, 2*c.FFN, d)
}

// normRows normalises each row of x into dst and notes the scales.
func (m *Model) normRows(p *kernel.Pool, dst, x, weight, scales []float32) {
	d, eps := m.cfg.Dim, m.cfg.NormEps
	forRows(p, len(scales), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			scales[i] = rmsNorm(dst[i*d:(i+1)*d], x[i*d:(i+1)*d], weight, eps)
		}
	})
}
