package lm

import (
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		edit func(*Config)
		want string
	}{
		{func(c *Config) {}, ""},
		{func(c *Config) { c.Vocab = 0 }, "vocab_size: got 0, want 1 to 1048576"},
		{func(c *Config) { c.Dim = 1 << 20 }, "hidden_size: got 1048576, want 1 to 16384"},
		{func(c *Config) { c.Layers = -1 }, "num_hidden_layers: got -1, want 1 to 256"},
		{func(c *Config) { c.KVHeads = 3 }, "num_key_value_heads: got 3, want a divisor of num_attention_heads 4"},
		{func(c *Config) { c.HeadDim = 5 }, "head_dim: got 5, want an even number"},
		{func(c *Config) { c.MaxSeq, c.HeadDim = 1<<20, 512 }, "max_position_embeddings: got 1048576, want at most 65536 for head_dim 512"},
		{func(c *Config) { c.RopeTheta = 0 }, "rope_theta: got 0, want a positive number"},
		{func(c *Config) { c.NormEps = -1 }, "rms_norm_eps: got -1, want a number in (0, 1]"},
		{func(c *Config) { c.Dim, c.FFN, c.Layers = 1<<14, 1<<17, 256 }, "got 1649"},
	} {
		c := tinyConfig()
		tt.edit(&c)
		err := c.Validate()
		if tt.want == "" && err == nil {
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), "model config: "+tt.want) {
			t.Errorf("got error %v, want %q", err, tt.want)
		}
		if _, err := New(c, 1); err == nil {
			t.Errorf("New accepted a config that is invalid: %s", tt.want)
		}
	}
}

// llama3Scaling is that of Llama 3.2.
func llama3Scaling() RopeScaling {
	return RopeScaling{Kind: RopeLlama3, Factor: 32, LowFreq: 1, HighFreq: 4, OriginalMaxSeq: 8192}
}

const shape = `"vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 32`

func TestParseConfig(t *testing.T) {
	want := Config{Vocab: 10, Dim: 8, Layers: 1, Heads: 2, KVHeads: 2, HeadDim: 4, FFN: 16, MaxSeq: 32, RopeTheta: 10000, NormEps: 1e-6}
	for _, tt := range []struct {
		keys string
		edit func(*Config)
		err  string
	}{
		{`"model_type": "llama"`, func(*Config) {}, ""},
		{`"model_type": "llama", "use_cache": true, "initializer_range": 0.02`, func(*Config) {}, ""},
		{`"model_type": "llama", "layer_types": ["full_attention"], "sliding_window": null, "rope_scaling": null`, func(*Config) {}, ""},
		{`"model_type": "qwen3", "head_dim": 6, "num_key_value_heads": 1`, func(c *Config) { c.QKNorm, c.HeadDim, c.KVHeads = true, 6, 1 }, ""},
		{`"model_type": "llama", "rope_parameters": {"rope_type": "default", "rope_theta": 5e5}`, func(c *Config) { c.RopeTheta = 5e5 }, ""},
		{`"model_type": "llama", "rope_theta": 1e6, "rms_norm_eps": 1e-5, "tie_word_embeddings": true`, func(c *Config) { c.RopeTheta, c.NormEps, c.TieEmbeddings = 1e6, 1e-5, true }, ""},
		{`"model_type": "qwen2", "sliding_window": 32768, "max_window_layers": 28`, func(c *Config) { c.QKVBias = true }, ""},
		{`"model_type": "qwen2", "attention_bias": true, "architectures": ["Qwen2ForCausalLM"]`, func(c *Config) { c.QKVBias = true }, ""},
		{`"model_type": "qwen3", "head_dim": null, "num_key_value_heads": null`, func(c *Config) { c.QKNorm, c.HeadDim = true, 128 }, ""},
		{`"model_type": "llama", "is_llama_config": true, "rope_interleaved": false, "pretraining_tp": 1, "dtype": "bfloat16", "transformers.js_config": {"dtype": "q4"}`, func(*Config) {}, ""},
		{`"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 2.0}`, func(c *Config) { c.RopeScaling = RopeScaling{Kind: RopeLinear, Factor: 2} }, ""},
		{`"model_type": "llama", "rope_scaling": {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}`, func(c *Config) { c.RopeScaling = llama3Scaling() }, ""},
		{`"model_type": "llama", "rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5, "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}`, func(c *Config) { c.RopeScaling, c.RopeTheta = llama3Scaling(), 5e5 }, ""},
		{`"model_type": "gemma3"`, nil, `model_type: got "gemma3", want "llama", "qwen2" or "qwen3"`},
		{`"model_type": "mistral", "sliding_window": 4096`, nil, `model_type: got "mistral", want "llama", "qwen2" or "qwen3"`},
		{`"architectures": ["X"]`, nil, `model_type: got "", want "llama", "qwen2" or "qwen3"`},
		{`"model_type": "llama", "architectures": ["LlamaForSequenceClassification"]`, nil, `architectures: got "LlamaForSequenceClassification", want "LlamaForCausalLM"`},
		{`"model_type": "llama", "qkv_bias": true`, nil, `qkv_bias: got true, want false, as model_type "llama" implies`},
		{`"model_type": "llama", "quantization_config": {"bits": 4}`, nil, `quantization_config: got {"bits": 4}, want none: this package does not compute it`},
		{`"model_type": "llama", "rope_interleaved": true`, nil, `rope_interleaved: got true, want false: this package does not compute it`},
		{`"model_type": "qwen2", "dual_chunk_attention_config": {"chunk_size": 1}`, nil, `dual_chunk_attention_config: got {"chunk_size": 1}, want none`},
		{`"model_type": "llama", "partial_rotary_factor": 0.5`, nil, `partial_rotary_factor: got 0.5, want 1`},
		{`"model_type": "llama", "partial_rotary_factor": 1.0, "logits_scaling": 1.0, "num_experts": 0, "no_rope_layers": []`, func(*Config) {}, ""},
		{`"model_type": "llama", "rope_scaling": {"type": "linear"}`, nil, `rope_scaling.factor: got 0, want a number from 1 to 1048576`},
		{`"model_type": "llama", "rope_scaling": {"type": "linear", "factor": "x"}`, nil, `rope_scaling.factor: got x, want a number`},
		{`"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 2, "mscale": 1}`, nil, `rope_scaling.mscale: got 1, want no such key beside rope_type "linear"`},
		{`"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 2}, "rope_parameters": {"rope_type": "linear", "factor": 3}`, nil, `rope_scaling: got other settings than in rope_parameters`},
		{`"model_type": "llama", "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 1}`, nil, `rope_scaling.high_freq_factor: got 1, want more than low_freq_factor 4`},
		{`"model_type": "llama", "rope_scaling": {"rope_type": "dynamic", "factor": 8}`, nil, `rope_scaling.rope_type: got "dynamic", want "default", "linear" or "llama3"`},
		{`"model_type": "llama", "qk_norm": true`, nil, `qk_norm: got true, want false, as model_type "llama" implies`},
		{`"model_type": "llama", "hidden_act": "gelu"`, nil, `hidden_act: got "gelu", want "silu"`},
		{`"model_type": "llama", "attention_bias": true`, nil, "attention_bias: got true, want false"},
		{`"model_type": "llama", "mlp_bias": true`, nil, "mlp_bias: got true, want false"},
		{`"model_type": "llama", "attention_dropout": 0.1`, nil, "attention_dropout: got 0.1, want 0"},
		{`"model_type": "llama", "rope_scaling": {"type": "yarn"}`, nil, `rope_scaling.type: got "yarn", want "default", "linear" or "llama3"`},
		{`"model_type": "llama", "rope_parameters": {"rope_type": "yarn"}`, nil, `rope_parameters.rope_type: got "yarn", want "default", "linear" or "llama3"`},
		{`"model_type": "qwen3", "use_sliding_window": true`, nil, "use_sliding_window: got true, want false"},
		{`"model_type": "qwen3", "layer_types": ["full_attention", "sliding_attention"]`, nil, `layer_types: got "sliding_attention", want "full_attention" throughout`},
		{`"model_type": "llama", "sliding_window": 4096`, nil, "sliding_window: got 4096, want null"},
		{`"model_type": "llama", "head_dim": "x"`, nil, "json: cannot unmarshal"},
	} {
		got, err := ParseConfig([]byte("{" + shape + ", " + tt.keys + "}"))
		if tt.edit == nil {
			if err == nil || !strings.HasPrefix(err.Error(), "config.json: "+tt.err) {
				t.Errorf("%s: got error %v, want %s", tt.keys, err, tt.err)
			}
			continue
		}
		c := want
		tt.edit(&c)
		if err != nil || got != c {
			t.Errorf("%s: got %+v, %v, want %+v", tt.keys, got, err, c)
		}
	}
}
