"""Writes a tiny random GGUF of each family with the gguf package, in the manner of llama.cpp's
converter, and transformers' log-probabilities of the same weights, for
TestFamiliesAreTransformers. To run the check:

    pip install gguf torch transformers
    python families.py /tmp/families
    WHALE_GGUF_FAMILIES=/tmp/families go test -run FamiliesAreTransformers -v ./lm/gguf
"""
import json, math, os, sys
import gguf, numpy as np, torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM

out = sys.argv[1]
os.makedirs(out, exist_ok=True)
shape = dict(vocab_size=96, hidden_size=64, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
             intermediate_size=96, max_position_embeddings=128, rms_norm_eps=1e-5, rope_theta=10000.0)
scaling = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
           "original_max_position_embeddings": 8192}
CASES = {
    "llama": (gguf.MODEL_ARCH.LLAMA, LlamaForCausalLM, LlamaConfig(**shape, head_dim=16, tie_word_embeddings=True)),
    "llama31": (gguf.MODEL_ARCH.LLAMA, LlamaForCausalLM, LlamaConfig(**dict(shape, rope_theta=500000.0), head_dim=16, tie_word_embeddings=False, rope_parameters=scaling)),
    "qwen2": (gguf.MODEL_ARCH.QWEN2, Qwen2ForCausalLM, Qwen2Config(**shape, tie_word_embeddings=True)),
    "qwen3": (gguf.MODEL_ARCH.QWEN3, Qwen3ForCausalLM, Qwen3Config(**shape, head_dim=32, tie_word_embeddings=False)),
}
ref = {}
for name, (arch, cls, cfg) in CASES.items():
    torch.manual_seed(5)
    model = cls(cfg).float().eval()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn_like(p) * 0.05)
    w = gguf.GGUFWriter(os.path.join(out, name + ".gguf"), gguf.MODEL_ARCH_NAMES[arch])
    w.add_context_length(cfg.max_position_embeddings)
    w.add_embedding_length(cfg.hidden_size)
    w.add_block_count(cfg.num_hidden_layers)
    w.add_feed_forward_length(cfg.intermediate_size)
    w.add_head_count(cfg.num_attention_heads)
    w.add_head_count_kv(cfg.num_key_value_heads)
    w.add_layer_norm_rms_eps(cfg.rms_norm_eps)
    w.add_rope_freq_base(cfg.rope_parameters["rope_theta"])
    head = getattr(cfg, "head_dim", None) or cfg.hidden_size // cfg.num_attention_heads
    if arch == gguf.MODEL_ARCH.QWEN3:
        w.add_key_length(head)
        w.add_value_length(head)
    if arch == gguf.MODEL_ARCH.LLAMA:
        w.add_vocab_size(cfg.vocab_size)
        w.add_rope_dimension_count(head)
    w.add_file_type(0)
    names = gguf.get_tensor_name_map(arch, cfg.num_hidden_layers)
    if name == "llama31":  # convert_hf_to_gguf.py, LlamaModel.generate_extra_tensors
        freqs = 1.0 / (500000.0 ** (torch.arange(0, head, 2, dtype=torch.float32) / head))
        factors = []
        for f in freqs:
            wave = 2 * math.pi / f
            if wave < 8192 / 4:
                factors.append(1)
            elif wave > 8192:
                factors.append(8)
            else:
                smooth = (8192 / wave - 1) / 3
                factors.append(1 / ((1 - smooth) / 8 + smooth))
        w.add_tensor("rope_freqs.weight", np.array(factors, dtype=np.float32))
    for key, t in model.state_dict().items():
        if key == "lm_head.weight" and cfg.tie_word_embeddings:
            continue
        x = t.numpy()
        if arch == gguf.MODEL_ARCH.LLAMA and key.endswith(("q_proj.weight", "k_proj.weight")):
            heads = cfg.num_attention_heads if "q_proj" in key else cfg.num_key_value_heads
            x = x.reshape(heads, 2, x.shape[0] // heads // 2, *x.shape[1:]).swapaxes(1, 2).reshape(x.shape)
        w.add_tensor(names.get_name(key, try_suffixes=(".weight", ".bias")), np.ascontiguousarray(x))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    ids = torch.tensor([[(7 * i * i + 3 * i + 1) % cfg.vocab_size for i in range(100)]])
    with torch.no_grad():
        logprobs = torch.log_softmax(model(ids).logits[0].double(), -1)
    ref[name] = {"ids": ids[0].tolist(), "logprobs": logprobs[:-1].gather(1, ids[0, 1:, None])[:, 0].tolist()}
with open(os.path.join(out, "reference.json"), "w") as f:
    json.dump(ref, f)
