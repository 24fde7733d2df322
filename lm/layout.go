package lm

import (
	"fmt"
	"strings"
)

// Tensor is a named parameter; Data is the model's own memory, row-major.
type Tensor struct {
	Name  string // Hugging Face's name, such as model.layers.0.self_attn.q_proj.weight
	Shape []int  // [out, in] for projections, [dim] for norms
	Data  []float32
}

// Parameters, gradients and optimiser moments are each one flat slice in the
// order of layout; weights is a view of such a slice. Query, key and value
// projections lie side by side, as do gate and up, so that each group is one
// matrix product.
type weights struct {
	flat   []float32
	embed  []float32 // [vocab, dim]
	layers []layerWeights
	norm   []float32 // [dim]
	head   []float32 // [vocab, dim]; the same memory as embed when tied
}

type layerWeights struct {
	norm1        []float32 // [dim]
	qkv          []float32 // [qkvDim, dim]: q, k, v projections
	qkvBias      []float32 // [qkvDim]: of q, k, v; nil without QKVBias
	qNorm, kNorm []float32 // [headDim], nil without QKNorm
	out          []float32 // [dim, qDim]
	norm2        []float32 // [dim]
	gateUp       []float32 // [2*ffn, dim]: gate, up projections
	down         []float32 // [dim, ffn]
}

type tensorSpec struct {
	name  string
	shape []int
	off   int
	n     int
}

// isNorm says whether the tensor is a vector, a norm's weight or a bias: what weight
// decay leaves alone.
func (s tensorSpec) isNorm() bool { return len(s.shape) == 1 }

func (s tensorSpec) isBias() bool { return strings.HasSuffix(s.name, ".bias") }

// layout lists the tensors in the order in which they lie in the flat slice.
func (c Config) layout() []tensorSpec {
	var specs []tensorSpec
	off := 0
	add := func(name string, shape ...int) {
		n := 1
		for _, s := range shape {
			n *= s
		}
		specs = append(specs, tensorSpec{name, shape, off, n})
		off += n
	}
	add("model.embed_tokens.weight", c.Vocab, c.Dim)
	for l := range c.Layers {
		p := fmt.Sprintf("model.layers.%d.", l)
		add(p+"input_layernorm.weight", c.Dim)
		add(p+"self_attn.q_proj.weight", c.qDim(), c.Dim)
		add(p+"self_attn.k_proj.weight", c.kvDim(), c.Dim)
		add(p+"self_attn.v_proj.weight", c.kvDim(), c.Dim)
		if c.QKVBias {
			add(p+"self_attn.q_proj.bias", c.qDim())
			add(p+"self_attn.k_proj.bias", c.kvDim())
			add(p+"self_attn.v_proj.bias", c.kvDim())
		}
		if c.QKNorm {
			add(p+"self_attn.q_norm.weight", c.HeadDim)
			add(p+"self_attn.k_norm.weight", c.HeadDim)
		}
		add(p+"self_attn.o_proj.weight", c.Dim, c.qDim())
		add(p+"post_attention_layernorm.weight", c.Dim)
		add(p+"mlp.gate_proj.weight", c.FFN, c.Dim)
		add(p+"mlp.up_proj.weight", c.FFN, c.Dim)
		add(p+"mlp.down_proj.weight", c.Dim, c.FFN)
	}
	add("model.norm.weight", c.Dim)
	if !c.TieEmbeddings {
		add("lm_head.weight", c.Vocab, c.Dim)
	}
	return specs
}

// view cuts a flat slice of numParams values in layout's order.
func (c Config) view(flat []float32) weights {
	w := weights{flat: flat, layers: make([]layerWeights, c.Layers)}
	rest := flat
	take := func(n int) []float32 {
		t := rest[:n:n]
		rest = rest[n:]
		return t
	}
	w.embed = take(c.Vocab * c.Dim)
	for l := range w.layers {
		lw := &w.layers[l]
		lw.norm1 = take(c.Dim)
		lw.qkv = take(c.qkvDim() * c.Dim)
		if c.QKVBias {
			lw.qkvBias = take(c.qkvDim())
		}
		if c.QKNorm {
			lw.qNorm, lw.kNorm = take(c.HeadDim), take(c.HeadDim)
		}
		lw.out = take(c.Dim * c.qDim())
		lw.norm2 = take(c.Dim)
		lw.gateUp = take(2 * c.FFN * c.Dim)
		lw.down = take(c.Dim * c.FFN)
	}
	w.norm = take(c.Dim)
	w.head = w.embed
	if !c.TieEmbeddings {
		w.head = take(c.Vocab * c.Dim)
	}
	return w
}
