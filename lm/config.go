package lm

import (
	"fmt"
	"math"
)

// Config is the shape of a decoder-only transformer of the Llama/Qwen family.
// The JSON names are those of Hugging Face's config.json; qk_norm and qkv_bias are ours
// (there, the model types "qwen3" and "qwen2" imply them). Configs are comparable.
type Config struct {
	Vocab         int     `json:"vocab_size"`
	Dim           int     `json:"hidden_size"`
	Layers        int     `json:"num_hidden_layers"`
	Heads         int     `json:"num_attention_heads"`
	KVHeads       int     `json:"num_key_value_heads"` // divides Heads (grouped-query attention)
	HeadDim       int     `json:"head_dim"`            // even (rotary pairs)
	FFN           int     `json:"intermediate_size"`
	MaxSeq        int     `json:"max_position_embeddings"` // longest sequence, prompt and completion together
	RopeTheta     float32 `json:"rope_theta"`
	NormEps       float32 `json:"rms_norm_eps"`
	TieEmbeddings bool    `json:"tie_word_embeddings"` // the output projection is the embedding table
	QKNorm        bool    `json:"qk_norm"`             // RMSNorm on each query and key head (Qwen3)

	// What later families brought; absent from the JSON where it is off, so that the
	// identities of models without it stay as they are.
	QKVBias     bool        `json:"qkv_bias,omitempty"`    // a bias on the query, key and value projections (Qwen2)
	RopeScaling RopeScaling `json:"rope_scaling,omitzero"` // stretches the rotary angles (Llama 3.1 and later)
}

// Upper bounds that keep a hostile config.json from asking for absurd memory.
const (
	maxVocab   = 1 << 20
	maxDim     = 1 << 14
	maxLayers  = 1 << 8
	maxHeads   = 1 << 8
	maxHeadDim = 1 << 9
	maxFFN     = 1 << 17
	maxMaxSeq  = 1 << 20
	maxParams  = 1 << 35
	maxRotary  = 1 << 25 // max_position_embeddings times head_dim: the table of angles
)

// Validate reports the first field that no model can have.
func (c Config) Validate() error {
	for _, f := range []struct {
		name     string
		got, max int
	}{
		{"vocab_size", c.Vocab, maxVocab},
		{"hidden_size", c.Dim, maxDim},
		{"num_hidden_layers", c.Layers, maxLayers},
		{"num_attention_heads", c.Heads, maxHeads},
		{"num_key_value_heads", c.KVHeads, maxHeads},
		{"head_dim", c.HeadDim, maxHeadDim},
		{"intermediate_size", c.FFN, maxFFN},
		{"max_position_embeddings", c.MaxSeq, maxMaxSeq},
	} {
		if f.got < 1 || f.got > f.max {
			return fmt.Errorf("model config: %s: got %d, want 1 to %d", f.name, f.got, f.max)
		}
	}
	if c.Heads%c.KVHeads != 0 {
		return fmt.Errorf("model config: num_key_value_heads: got %d, want a divisor of num_attention_heads %d", c.KVHeads, c.Heads)
	}
	if c.HeadDim%2 != 0 {
		return fmt.Errorf("model config: head_dim: got %d, want an even number", c.HeadDim)
	}
	if c.MaxSeq*c.HeadDim > maxRotary {
		return fmt.Errorf("model config: max_position_embeddings: got %d, want at most %d for head_dim %d", c.MaxSeq, maxRotary/c.HeadDim, c.HeadDim)
	}
	if !(c.RopeTheta > 0) || math.IsInf(float64(c.RopeTheta), 0) {
		return fmt.Errorf("model config: rope_theta: got %g, want a positive number", c.RopeTheta)
	}
	if err := c.RopeScaling.validate(); err != nil {
		return fmt.Errorf("model config: rope_scaling.%w", err)
	}
	if c.QKNorm && c.QKVBias {
		return fmt.Errorf("model config: qkv_bias: got true beside qk_norm, want at most one: no supported family has both")
	}
	if !(c.NormEps > 0) || c.NormEps > 1 {
		return fmt.Errorf("model config: rms_norm_eps: got %g, want a number in (0, 1]", c.NormEps)
	}
	if n := c.numParams(); n > maxParams {
		return fmt.Errorf("model config: got %d parameters, want at most %d", n, int64(maxParams))
	}
	return nil
}

func (c Config) qDim() int   { return c.Heads * c.HeadDim }
func (c Config) kvDim() int  { return c.KVHeads * c.HeadDim }
func (c Config) qkvDim() int { return c.qDim() + 2*c.kvDim() }
func (c Config) group() int  { return c.Heads / c.KVHeads }

// numParams cannot overflow within the bounds of Validate.
func (c Config) numParams() int64 {
	d := int64(c.Dim)
	layer := 2*d + int64(c.qkvDim())*d + d*int64(c.qDim()) + 3*d*int64(c.FFN)
	if c.QKNorm {
		layer += 2 * int64(c.HeadDim)
	}
	if c.QKVBias {
		layer += int64(c.qkvDim())
	}
	n := int64(c.Vocab)*d + int64(c.Layers)*layer + d
	if !c.TieEmbeddings {
		n += int64(c.Vocab) * d
	}
	return n
}
