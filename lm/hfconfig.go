package lm

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// hfConfig is config.json as Hugging Face writes it for these families: the shape,
// and the switches that would change the arithmetic. What may be absent or null and
// then means something is a pointer.
type hfConfig struct {
	Architectures []string `json:"architectures,omitempty"`
	ModelType     string   `json:"model_type"`
	DType         string   `json:"torch_dtype,omitempty"`
	HiddenAct     string   `json:"hidden_act"`
	AttentionBias *bool    `json:"attention_bias,omitempty"`
	MLPBias       bool     `json:"mlp_bias"`
	Dropout       float64  `json:"attention_dropout"`

	Vocab         int     `json:"vocab_size"`
	Dim           int     `json:"hidden_size"`
	Layers        int     `json:"num_hidden_layers"`
	Heads         int     `json:"num_attention_heads"`
	KVHeads       *int    `json:"num_key_value_heads"`
	HeadDim       *int    `json:"head_dim"`
	FFN           int     `json:"intermediate_size"`
	MaxSeq        int     `json:"max_position_embeddings"`
	RopeTheta     float32 `json:"rope_theta"`
	NormEps       float32 `json:"rms_norm_eps"`
	TieEmbeddings bool    `json:"tie_word_embeddings"`
	QKNorm        *bool   `json:"qk_norm,omitempty"`
	QKVBias       *bool   `json:"qkv_bias,omitempty"`

	RopeScaling      ropeJSON `json:"rope_scaling"`
	RopeParameters   ropeJSON `json:"rope_parameters,omitempty"`
	LayerTypes       []string `json:"layer_types,omitempty"`
	UseSlidingWindow bool     `json:"use_sliding_window"`
	SlidingWindow    *int     `json:"sliding_window,omitempty"`
}

// foreign are keys by which relatives of the supported families change the arithmetic.
// They are refused unless null, empty, false, or the value given here, which
// changes nothing.
var foreign = map[string]string{
	"alibi": "false", "attention_chunk_size": "0", "attention_multiplier": "", "attention_out_bias": "false",
	"attn_logit_softcapping": "0", "attn_temperature_tuning": "0", "clip_qkv": "0", "dual_chunk_attention_config": "",
	"embedding_multiplier": "1", "final_logit_softcapping": "0", "logit_scale": "1", "logits_scaling": "1",
	"no_rope_layer_interval": "0", "no_rope_layers": "", "num_experts": "0", "num_local_experts": "0",
	"partial_rotary_factor": "1", "qk_layernorm": "false", "quantization_config": "", "query_pre_attn_scalar": "",
	"residual_multiplier": "1", "rope_interleaved": "false", "rope_local_base_freq": "", "scale_depth": "",
	"scale_emb": "1", "use_qk_norm": "false",
}

// ParseConfig reads a Hugging Face config.json of a supported family (see Families), in the
// spelling of transformers 4 or 5. Settings that this package does not compute (other
// architectures, activations or rotary scalings, biases elsewhere, sliding windows,
// quantised weights) are errors that name the key, never ignored; keys that do not
// touch the arithmetic are skipped.
func ParseConfig(data []byte) (Config, error) {
	h := hfConfig{HiddenAct: "silu", RopeTheta: 10000, NormEps: 1e-6}
	if err := json.Unmarshal(data, &h); err != nil {
		return Config{}, fmt.Errorf("config.json: %s", oneLine(err.Error()))
	}
	family, err := ParseFamily(h.ModelType)
	if err != nil {
		return Config{}, fmt.Errorf("config.json: model_type: %w", err)
	}
	if err := h.checkArithmetic(family); err != nil {
		return Config{}, fmt.Errorf("config.json: %w", err)
	}
	if err := checkForeign(data); err != nil {
		return Config{}, fmt.Errorf("config.json: %w", err)
	}
	c := Config{
		Vocab: h.Vocab, Dim: h.Dim, Layers: h.Layers, Heads: h.Heads, KVHeads: h.keyHeads(), HeadDim: h.headDim(family), FFN: h.FFN,
		MaxSeq: h.MaxSeq, RopeTheta: h.RopeTheta, NormEps: h.NormEps, TieEmbeddings: h.TieEmbeddings,
		QKNorm: family == Qwen3, QKVBias: family == Qwen2,
	}
	if err := h.rotary(&c); err != nil {
		return Config{}, fmt.Errorf("config.json: %w", err)
	}
	return c, c.Validate()
}

// checkArithmetic refuses the first switch that is set to what is not computed here.
func (h *hfConfig) checkArithmetic(family Family) error {
	refuse := func(key string, got any, want string) error {
		return fmt.Errorf("%s: got %s, want %s", key, oneLine(fmt.Sprint(got)), want)
	}
	quoted := func(s string) string { return fmt.Sprintf("%q", oneLine(s)) }
	switch {
	case len(h.Architectures) > 0 && !slices.Contains(h.Architectures, family.architecture()):
		return refuse("architectures", quoted(h.Architectures[0]), quoted(family.architecture()))
	case h.QKNorm != nil && *h.QKNorm != (family == Qwen3):
		return refuse("qk_norm", *h.QKNorm, fmt.Sprintf("%v, as model_type %q implies", family == Qwen3, string(family)))
	case h.QKVBias != nil && *h.QKVBias != (family == Qwen2):
		return refuse("qkv_bias", *h.QKVBias, fmt.Sprintf("%v, as model_type %q implies", family == Qwen2, string(family)))
	case h.HiddenAct != "silu":
		return refuse("hidden_act", quoted(h.HiddenAct), `"silu"`)
	case h.AttentionBias != nil && *h.AttentionBias && family != Qwen2: // Qwen2's is fixed: on q, k, v
		return refuse("attention_bias", true, "false")
	case h.MLPBias:
		return refuse("mlp_bias", true, "false")
	case h.Dropout != 0:
		return refuse("attention_dropout", h.Dropout, "0")
	case h.UseSlidingWindow:
		return refuse("use_sliding_window", true, "false")
	case family == Llama && h.SlidingWindow != nil: // the Qwens have a switch beside it
		return refuse("sliding_window", *h.SlidingWindow, "null")
	}
	for _, kind := range h.LayerTypes {
		if kind != "full_attention" {
			return refuse("layer_types", quoted(kind), `"full_attention" throughout`)
		}
	}
	return nil
}

// checkForeign refuses keys of other arithmetics.
func checkForeign(data []byte) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return fmt.Errorf("%s", oneLine(err.Error()))
	}
	for _, key := range slices.Sorted(maps.Keys(foreign)) {
		raw, ok := keys[key]
		if !ok {
			continue
		}
		got, neutral := strings.TrimSuffix(string(raw), ".0"), foreign[key]
		if slices.Contains([]string{"null", "false", "[]", "{}", `""`, neutral}, got) {
			continue
		}
		if neutral == "" {
			neutral = "none"
		}
		return fmt.Errorf("%s: got %s, want %s: this package does not compute it", key, oneLine(got), neutral)
	}
	return nil
}

// keyHeads follows transformers for Llama, where null and absence mean as many as query
// heads; the files of the Qwens always say.
func (h *hfConfig) keyHeads() int {
	if h.KVHeads == nil || *h.KVHeads == 0 {
		return h.Heads
	}
	return *h.KVHeads
}

func (h *hfConfig) headDim(family Family) int {
	switch {
	case h.HeadDim != nil && *h.HeadDim != 0:
		return *h.HeadDim
	case family == Qwen3:
		return 128
	case h.Heads > 0:
		return h.Dim / h.Heads
	}
	return 0
}

// encode writes the config.json that ParseConfig and Hugging Face's transformers
// read.
func (c Config) encode(dtype DType) ([]byte, error) {
	f, no := c.Family(), false
	h := hfConfig{
		ModelType: string(f), Architectures: []string{f.architecture()}, HiddenAct: "silu", DType: dtype.torch(),
		Vocab: c.Vocab, Dim: c.Dim, Layers: c.Layers, Heads: c.Heads, KVHeads: &c.KVHeads, HeadDim: &c.HeadDim, FFN: c.FFN,
		MaxSeq: c.MaxSeq, RopeTheta: c.RopeTheta, NormEps: c.NormEps, TieEmbeddings: c.TieEmbeddings, QKNorm: &c.QKNorm,
		RopeScaling: c.RopeScaling.encode(),
	}
	if f == Qwen2 {
		h.QKVBias = &c.QKVBias
	} else {
		h.AttentionBias = &no
	}
	data, err := json.MarshalIndent(h, "", "  ")
	return append(data, '\n'), err
}
