package gguf

import (
	"fmt"

	"github.com/seed-095d5d2b/whale/lm"
)

// Names in the file of the tensors outside of the layers.
const (
	tokenEmbed = "token_embd.weight"
	outputNorm = "output_norm.weight"
	output     = "output.weight"
	ropeFreqs  = "rope_freqs.weight"
)

// named is a tensor that the model needs.
type named struct {
	hf, file string // names
	shape    []int
	heads    int // rows are Llama's query or key rows of that many heads; else 0
}

// tensorNames lists the tensors of a model.
func tensorNames(c lm.Config) []named {
	q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	list := []named{{hf: "model.embed_tokens.weight", file: tokenEmbed, shape: []int{c.Vocab, c.Dim}}}
	for l := range c.Layers {
		add := func(hf, file string, heads int, shape ...int) {
			list = append(list, named{fmt.Sprintf("model.layers.%d.%s", l, hf), fmt.Sprintf("blk.%d.%s", l, file), shape, heads})
		}
		qHeads, kHeads := 0, 0
		if c.Family() == lm.Llama {
			qHeads, kHeads = c.Heads, c.KVHeads
		}
		add("input_layernorm.weight", "attn_norm.weight", 0, c.Dim)
		add("self_attn.q_proj.weight", "attn_q.weight", qHeads, q, c.Dim)
		add("self_attn.k_proj.weight", "attn_k.weight", kHeads, kv, c.Dim)
		add("self_attn.v_proj.weight", "attn_v.weight", 0, kv, c.Dim)
		if c.QKVBias {
			add("self_attn.q_proj.bias", "attn_q.bias", 0, q)
			add("self_attn.k_proj.bias", "attn_k.bias", 0, kv)
			add("self_attn.v_proj.bias", "attn_v.bias", 0, kv)
		}
		if c.QKNorm {
			add("self_attn.q_norm.weight", "attn_q_norm.weight", 0, c.HeadDim)
			add("self_attn.k_norm.weight", "attn_k_norm.weight", 0, c.HeadDim)
		}
		add("self_attn.o_proj.weight", "attn_output.weight", 0, c.Dim, q)
		add("post_attention_layernorm.weight", "ffn_norm.weight", 0, c.Dim)
		add("mlp.gate_proj.weight", "ffn_gate.weight", 0, c.FFN, c.Dim)
		add("mlp.up_proj.weight", "ffn_up.weight", 0, c.FFN, c.Dim)
		add("mlp.down_proj.weight", "ffn_down.weight", 0, c.Dim, c.FFN)
	}
	list = append(list, named{hf: "model.norm.weight", file: outputNorm, shape: []int{c.Dim}})
	if !c.TieEmbeddings {
		list = append(list, named{hf: "lm_head.weight", file: output, shape: []int{c.Vocab, c.Dim}})
	}
	return list
}
