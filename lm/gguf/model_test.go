package gguf

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/lm"
)

// A model of each family goes through a file unchanged, to the last bit.
func TestModelRoundTrip(t *testing.T) {
	for _, family := range lm.Families() {
		for _, tied := range []bool{true, false} {
			cfg := tiny(family)
			cfg.TieEmbeddings = tied
			w, want := fileOf(t, cfg)
			f := mustParse(t, w.bytes())
			got, err := f.Config()
			if err != nil {
				t.Fatalf("%s: %v", family, err)
			}
			if got != cfg {
				t.Errorf("%s: config %+v, want %+v", family, got, cfg)
			}
			m, err := f.Model()
			if err != nil {
				t.Fatalf("%s: %v", family, err)
			}
			if m.Hash() != want.Hash() {
				t.Errorf("%s: the weights changed", family)
			}
		}
	}
}

func TestConfigDefaults(t *testing.T) {
	cfg := tiny(lm.Llama)
	cfg.Heads, cfg.KVHeads, cfg.HeadDim = 3, 3, 8
	w, _ := fileOf(t, cfg)
	for _, key := range []string{"attention.head_count_kv", "attention.key_length", "attention.value_length", "rope.dimension_count", "rope.freq_base", "vocab_size"} {
		w.remove("llama." + key)
	}
	got, err := mustParse(t, w.bytes()).Config()
	if err != nil || got != cfg {
		t.Errorf("config %+v, %v, want %+v", got, err, cfg)
	}
}

func TestRopeScaling(t *testing.T) {
	cfg := tiny(lm.Llama)
	w, _ := fileOf(t, cfg)
	w.set("llama.rope.scaling.type", "linear")
	w.set("llama.rope.scaling.factor", float32(4))
	got, err := mustParse(t, w.bytes()).Config()
	if want := (lm.RopeScaling{Kind: lm.RopeLinear, Factor: 4}); err != nil || got.RopeScaling != want {
		t.Errorf("linear scaling %+v, %v, want %+v", got.RopeScaling, err, want)
	}

	// The divisors of Llama 3.2 1B (theta 500000, factor 32) for a head of 64, by the
	// converter's formula.
	const n, theta, factor = 32, 500000.0, 32.0
	divisors := make([]float32, n)
	for i := range divisors {
		wave := 2 * math.Pi * math.Pow(theta, float64(i)/n)
		switch {
		case wave < 8192/4.0:
			divisors[i] = 1
		case wave > 8192/1.0:
			divisors[i] = factor
		default:
			smooth := (8192/wave - 1) / (4 - 1)
			divisors[i] = float32(1 / ((1-smooth)/factor + smooth))
		}
	}
	s, err := llama3Scaling(divisors, theta)
	want := lm.RopeScaling{Kind: lm.RopeLlama3, Factor: factor, LowFreq: 1, HighFreq: 4, OriginalMaxSeq: 8192}
	if err != nil || s != want {
		t.Errorf("scaling %+v, %v, want %+v", s, err, want)
	}
	ramp := slices.IndexFunc(divisors, func(x float32) bool { return x > 1 && x < factor })
	divisors[ramp] *= 1.01
	if _, err := llama3Scaling(divisors, theta); ramp < 0 || err == nil || !strings.Contains(err.Error(), fmt.Sprintf("factor %d: got", ramp)) {
		t.Errorf("a foreign factor: got error %v", err)
	}
}

func TestConfigRefuses(t *testing.T) {
	cases := []struct {
		key   string
		value any
		want  string
	}{
		{"general.architecture", "gemma3", `general.architecture: got "gemma3", want "llama", "qwen2" or "qwen3"`},
		{"general.architecture", uint32(4), `general.architecture: got "", want`},
		{"llama.expert_count", uint32(8), "llama.expert_count: got 8, want 0"},
		{"llama.attention.value_length", uint32(6), "llama.attention.value_length: got 6, want 8"},
		{"llama.rope.dimension_count", uint32(4), "llama.rope.dimension_count: got 4, want 8"},
		{"llama.rope.scaling.type", "yarn", `llama.rope.scaling.type: got "yarn", want "none" or "linear"`},
		{"llama.rope.scaling.factor", float32(2), `llama.rope.scaling.type: got nothing, want`},
		{"llama.rope.scale_linear", float32(2), `llama.rope.scale_linear: got 2, want`},
		{"llama.attention.sliding_window", uint32(16), "llama.attention.sliding_window: got 16, want 0"},
		{"llama.attention.causal", false, "llama.attention.causal: got false, want true"},
		{"llama.logit_scale", float32(0.5), "llama.logit_scale: got 0.5, want no such key"},
		{"llama.feed_forward_length", []int32{40, 40}, "llama.feed_forward_length: got an array, want a whole number"},
		{"llama.embedding_length", int32(-1), "llama.embedding_length: got -1, want a whole number"},
		{"llama.embedding_length", uint64(1 << 40), "want a whole number"},
		{"llama.attention.layer_norm_rms_epsilon", "x", `layer_norm_rms_epsilon: got "x", want a number`},
		{"llama.attention.head_count_kv", uint32(3), "num_key_value_heads: got 3"},
		{"llama.attention.head_count", uint32(0), "num_attention_heads: got 0"},
	}
	for _, c := range cases {
		w, _ := fileOf(t, tiny(lm.Llama))
		w.set(c.key, c.value)
		_, err := mustParse(t, w.bytes()).Config()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %v: got error %v, want %s", c.key, c.value, err, c.want)
		}
	}
}

func TestModelRefuses(t *testing.T) {
	cases := []struct {
		name string
		edit func(w *writer)
		want string
	}{
		{"a layer too many", func(w *writer) { w.set("llama.block_count", uint32(3)) }, "tensor blk.2.attn_norm.weight: missing"},
		{"a layer too few", func(w *writer) { w.set("llama.block_count", uint32(1)) }, `tensor "blk.1.attn_k.weight": not part of this model`},
		{"huge promises", func(w *writer) {
			w.set("llama.block_count", uint32(200))
			w.set("llama.feed_forward_length", uint32(1<<16))
		}, "got 20 tensors, want those of 200 layers"},
		{"another shape", func(w *writer) { w.set("llama.feed_forward_length", uint32(48)) }, "tensor blk.0.ffn_gate.weight: got shape [40 24], want [48 24]"},
		{"a bias", func(w *writer) { w.addFloats("blk.0.attn_q.bias", []int{32}, make([]float32, 32)) }, `tensor "blk.0.attn_q.bias": not part`},
		{"not finite", func(w *writer) {
			for i := range 4 {
				w.tensors[1].data[i] = 0xff
			}
		}, "model.layers.0.input_layernorm.weight"},
		{"no embedding", func(w *writer) { w.tensors[0].name = "token_embd" }, "tensor token_embd.weight: got none"},
		{"frequencies of another size", func(w *writer) { w.addFloats(ropeFreqs, []int{3}, make([]float32, 3)) }, "rope_freqs.weight: got 3 values, want 4"},
		{"foreign frequencies", func(w *writer) { w.addFloats(ropeFreqs, []int{4}, []float32{1, 2, 3, 4}) }, "rope_freqs.weight: factor 1: got 2"},
	}
	for _, c := range cases {
		w, _ := fileOf(t, tiny(lm.Llama))
		c.edit(w)
		_, err := mustParse(t, w.bytes()).Model()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %s", c.name, err, c.want)
		}
	}
}

// Quantised weights reach the model as their blocks say.
func TestModelIsDequantized(t *testing.T) {
	cfg := tiny(lm.Qwen3)
	cfg.Dim, cfg.FFN = 256, 256
	w, _ := fileOf(t, cfg)
	for i, kind := range []Type{Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K, F16, BF16} {
		at := slices.IndexFunc(w.tensors, func(o outTensor) bool { return o.name == "blk.1.ffn_up.weight" })
		per, bytes := kind.block()
		out := outTensor{name: "blk.1.ffn_up.weight", kind: kind, dims: []uint64{256, 256}, offset: -1, data: make([]byte, 256*256/per*bytes)}
		for j := range out.data { // scales of about 1: the high byte of a half is 0x3c
			out.data[j] = []byte{byte(j * 7), 0x3c}[j%2]
		}
		w.tensors[at] = out
		f := mustParse(t, w.bytes())
		want := make([]float32, 256*256)
		dequantize(kind, want, out.data)
		got, err := f.Tensor(out.name)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d %s: Tensor differs: %v", i, kind, err)
		}
		m, err := f.Model()
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		for _, tensor := range m.Tensors() {
			if tensor.Name == "model.layers.1.mlp.up_proj.weight" && !slices.Equal(tensor.Data, want) {
				t.Errorf("%s: the model's weights differ from the blocks", kind)
			}
		}
	}
	if _, err := mustParse(t, w.bytes()).Tensor("nothing"); err == nil {
		t.Error("a tensor that is not there was read")
	}
}
