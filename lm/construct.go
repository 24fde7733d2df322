package lm

import "fmt"

// NewModel makes a model of weights from elsewhere, such as another file format. It calls
// tensors once for each parameter, in storage order, with Hugging Face's name, and
// copies what it returns, so that the caller may reuse the memory: peak memory is the
// model and one tensor. A projection is [out, in] row-major, y = W·x; with h = hidden_size,
// q = heads*head_dim and kv = key heads*head_dim the names and shapes are
//
//	model.embed_tokens.weight                          [vocab, h]
//	model.layers.N.input_layernorm.weight              [h]
//	model.layers.N.self_attn.q_proj.weight             [q, h]
//	model.layers.N.self_attn.{k,v}_proj.weight         [kv, h]
//	model.layers.N.self_attn.q_proj.bias               [q]   with QKVBias (Qwen2)
//	model.layers.N.self_attn.{k,v}_proj.bias           [kv]  with QKVBias (Qwen2)
//	model.layers.N.self_attn.{q,k}_norm.weight         [head_dim]  with QKNorm (Qwen3)
//	model.layers.N.self_attn.o_proj.weight             [h, q]
//	model.layers.N.post_attention_layernorm.weight     [h]
//	model.layers.N.mlp.{gate,up}_proj.weight           [intermediate_size, h]
//	model.layers.N.mlp.down_proj.weight                [h, intermediate_size]
//	model.norm.weight                                  [h]
//	lm_head.weight                                     [vocab, h]  without TieEmbeddings
//
// Rows of q and k are in Hugging Face's order, in which rotation pairs element i of a
// head with element i + head_dim/2 (llama.cpp's GGUF files of Llama pair neighbours and
// must be unpermuted). The model's memory is made before the first call, so that sizes
// which nobody vouches for are to be compared with their file before. Another length than the shape's, or a value that is not finite,
// is an error.
func NewModel(cfg Config, tensors func(name string) ([]float32, error)) (*Model, error) {
	m, err := empty(cfg)
	if err != nil {
		return nil, err
	}
	for _, s := range cfg.layout() {
		data, err := tensors(s.name)
		if err != nil {
			return nil, fmt.Errorf("tensor %s: %w", s.name, err)
		}
		if len(data) != s.n {
			return nil, fmt.Errorf("tensor %s: got %d values, want %d for shape %v", s.name, len(data), s.n, s.shape)
		}
		if err := checkFinite(data); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", s.name, err)
		}
		copy(m.w.flat[s.off:s.off+s.n], data)
	}
	return m, nil
}
