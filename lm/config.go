package lm

import (
	"encoding/json"
	"fmt"
	"math"
)

// Config is the shape of a decoder-only transformer of the Llama/Qwen family.
// The JSON names are those of Hugging Face's config.json; qk_norm is ours
// (there, the model type "qwen3" implies it).
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
	maxParams  = 1 << 31
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
	n := int64(c.Vocab)*d + int64(c.Layers)*layer + d
	if !c.TieEmbeddings {
		n += int64(c.Vocab) * d
	}
	return n
}

// hfConfig is config.json as Hugging Face writes it for these families: the
// shape, and the switches that would change the arithmetic.
type hfConfig struct {
	Architectures []string `json:"architectures,omitempty"`
	ModelType     string   `json:"model_type"`
	DType         string   `json:"torch_dtype,omitempty"`
	HiddenAct     string   `json:"hidden_act"`
	AttentionBias bool     `json:"attention_bias"`
	MLPBias       bool     `json:"mlp_bias"`
	Dropout       float64  `json:"attention_dropout"`

	Vocab         int     `json:"vocab_size"`
	Dim           int     `json:"hidden_size"`
	Layers        int     `json:"num_hidden_layers"`
	Heads         int     `json:"num_attention_heads"`
	KVHeads       int     `json:"num_key_value_heads"`
	HeadDim       int     `json:"head_dim"`
	FFN           int     `json:"intermediate_size"`
	MaxSeq        int     `json:"max_position_embeddings"`
	RopeTheta     float32 `json:"rope_theta"`
	NormEps       float32 `json:"rms_norm_eps"`
	TieEmbeddings bool    `json:"tie_word_embeddings"`
	QKNorm        *bool   `json:"qk_norm,omitempty"`

	RopeScaling      map[string]any `json:"rope_scaling"`
	RopeParameters   map[string]any `json:"rope_parameters,omitempty"`
	LayerTypes       []string       `json:"layer_types,omitempty"`
	UseSlidingWindow bool           `json:"use_sliding_window"`
	SlidingWindow    *int           `json:"sliding_window,omitempty"`
}

// ParseConfig reads a Hugging Face config.json of model type "llama" or
// "qwen3". Settings that this package does not compute (attention bias, rope
// scaling, another activation, sliding windows) are errors, never ignored;
// keys that do not touch the arithmetic are skipped.
func ParseConfig(data []byte) (Config, error) {
	h := hfConfig{HiddenAct: "silu", RopeTheta: 10000, NormEps: 1e-6, Dropout: 0}
	if err := json.Unmarshal(data, &h); err != nil {
		return Config{}, fmt.Errorf("config.json: %s", oneLine(err.Error()))
	}
	refuse := func(key string, got any, want string) (Config, error) {
		return Config{}, fmt.Errorf("config.json: %s: got %s, want %s", key, oneLine(fmt.Sprint(got)), want)
	}
	qkNorm := h.ModelType == "qwen3"
	switch {
	case h.ModelType != "llama" && h.ModelType != "qwen3":
		return refuse("model_type", fmt.Sprintf("%q", h.ModelType), `"llama" or "qwen3"`)
	case h.QKNorm != nil && *h.QKNorm != qkNorm:
		return refuse("qk_norm", *h.QKNorm, fmt.Sprintf("%v, as model_type %q implies", qkNorm, h.ModelType))
	case h.HiddenAct != "silu":
		return refuse("hidden_act", fmt.Sprintf("%q", h.HiddenAct), `"silu"`)
	case h.AttentionBias:
		return refuse("attention_bias", true, "false")
	case h.MLPBias:
		return refuse("mlp_bias", true, "false")
	case h.Dropout != 0:
		return refuse("attention_dropout", h.Dropout, "0")
	case h.RopeScaling != nil:
		return refuse("rope_scaling", "a scaling", "null")
	case h.UseSlidingWindow:
		return refuse("use_sliding_window", true, "false")
	case h.ModelType == "llama" && h.SlidingWindow != nil:
		return refuse("sliding_window", *h.SlidingWindow, "null")
	}
	for _, kind := range h.LayerTypes {
		if kind != "full_attention" {
			return refuse("layer_types", fmt.Sprintf("%q", kind), `"full_attention" throughout`)
		}
	}
	for key, v := range h.RopeParameters { // newer transformers keep the rotary settings here
		switch n, isNum := v.(float64); {
		case key == "rope_type" && v == "default":
		case key == "rope_theta" && isNum:
			h.RopeTheta = float32(n)
		default:
			return refuse("rope_parameters."+oneLine(key), v, `only rope_type "default" and rope_theta`)
		}
	}
	if h.KVHeads == 0 {
		h.KVHeads = h.Heads
	}
	if h.HeadDim == 0 && h.Heads > 0 {
		h.HeadDim = h.Dim / h.Heads
	}
	c := Config{
		Vocab: h.Vocab, Dim: h.Dim, Layers: h.Layers, Heads: h.Heads, KVHeads: h.KVHeads, HeadDim: h.HeadDim, FFN: h.FFN,
		MaxSeq: h.MaxSeq, RopeTheta: h.RopeTheta, NormEps: h.NormEps, TieEmbeddings: h.TieEmbeddings, QKNorm: qkNorm,
	}
	return c, c.Validate()
}

// encode writes the config.json that ParseConfig and Hugging Face's
// transformers read.
func (c Config) encode(dtype DType) ([]byte, error) {
	h := hfConfig{
		ModelType: "llama", Architectures: []string{"LlamaForCausalLM"}, HiddenAct: "silu", DType: dtype.torch(),
		Vocab: c.Vocab, Dim: c.Dim, Layers: c.Layers, Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim, FFN: c.FFN,
		MaxSeq: c.MaxSeq, RopeTheta: c.RopeTheta, NormEps: c.NormEps, TieEmbeddings: c.TieEmbeddings, QKNorm: &c.QKNorm,
	}
	if c.QKNorm {
		h.ModelType, h.Architectures = "qwen3", []string{"Qwen3ForCausalLM"}
	}
	data, err := json.MarshalIndent(h, "", "  ")
	return append(data, '\n'), err
}
