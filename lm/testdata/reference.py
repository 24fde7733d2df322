#!/usr/bin/env python3
"""Records what Hugging Face transformers and PyTorch compute for tiny models.

    python3 reference.py > reference.json        (torch 2.15, transformers 5.24)
    python3 reference.py --check DIR NAME        (compares a model folder with a case)

A case is a model of a supported family whose weights come from a formula that the Go
test implements too (see tensor), so that no weights need to be kept. The file holds the
config.json that transformers writes, logits and log-probabilities of token sequences,
and two steps of training. Float32 throughout, eager attention, on the CPU.
"""

import json
import sys

import numpy as np
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config, Qwen3Config

VOCAB = 96
SHAPE = dict(vocab_size=VOCAB, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             intermediate_size=80, max_position_embeddings=256, rms_norm_eps=1e-5, attention_dropout=0.0)
LLAMA3 = dict(rope_type="llama3", rope_theta=1000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=40)
CASES = {
    "llama-tied": LlamaConfig(**SHAPE, tie_word_embeddings=True, rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
    "llama3-untied": LlamaConfig(**SHAPE, tie_word_embeddings=False, rope_parameters=LLAMA3),
    "llama-linear": LlamaConfig(**SHAPE, tie_word_embeddings=True, rope_parameters=dict(rope_type="linear", factor=4.0, rope_theta=500.0)),
    "qwen2-tied": Qwen2Config(**SHAPE, tie_word_embeddings=True, rope_parameters=dict(rope_type="default", rope_theta=1000000.0)),
    "qwen2-untied": Qwen2Config(**SHAPE, tie_word_embeddings=False, rope_parameters=dict(rope_type="default", rope_theta=100.0)),
    "qwen3-tied": Qwen3Config(**SHAPE, head_dim=24, tie_word_embeddings=True, rope_parameters=dict(rope_type="default", rope_theta=1000000.0)),
    "qwen3-untied": Qwen3Config(**SHAPE, head_dim=24, tie_word_embeddings=False, rope_parameters=dict(rope_type="default", rope_theta=100.0)),
}
LENGTHS = [1, 23, 90]
TRAIN = dict(lr=0.01, beta1=0.9, beta2=0.95, eps=1e-3, weight_decay=0.1, clip=1.0, context=5, steps=2)


def mix(x):
    """SplitMix64's finaliser on uint64 arrays."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def fnv(text):
    h = 0xCBF29CE484222325
    for b in text.encode():
        h = (h ^ b) * 0x100000001B3 % 2**64
    return h


def counter(name, n):
    """n uniform numbers from [-1, 1) with 24 bits, a function of name and index."""
    with np.errstate(over="ignore"):
        at = np.uint64(fnv(name)) + np.arange(n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        return (mix(at) >> np.uint64(40)).astype(np.float32) * np.float32(2**-23) - np.float32(1)


def tensor(name, shape):
    """Exact in float32: norms near 1, biases and projections around 0."""
    v = counter(name, int(np.prod(shape)))
    v = 1 + v * np.float32(0.25) if name.endswith("norm.weight") else v * np.float32(0.25)
    return torch.from_numpy(v.reshape(shape).copy())


def tokens(n, salt):
    return ((counter("tokens", 1000)[salt : salt + n] + 1) * (VOCAB / 2)).astype(np.int64).tolist()


def build(config):
    config._attn_implementation = "eager"
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(tensor(name, tuple(p.shape)))
    return model


def floats(t):
    return [float(f"{x:.8g}") for x in t.detach().flatten().tolist()]


def score(model):
    out = []
    for i, n in enumerate(LENGTHS):
        ids = tokens(n, 100 * i)
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0]
        logp = torch.log_softmax(logits.double(), -1)
        out.append(dict(tokens=ids, logits=floats(logits[-1]), logprobs=floats(torch.stack([logp[t - 1, ids[t]] for t in range(1, n)])) if n > 1 else []))
    return out


def train(model):
    """Token mean over two sequences whose first tokens are context; AdamW without decay of
    vectors; global norm clipped."""
    vectors = [p for p in model.parameters() if p.dim() == 1]
    matrices = [p for p in model.parameters() if p.dim() > 1]
    opt = torch.optim.AdamW([dict(params=matrices), dict(params=vectors, weight_decay=0.0)], lr=TRAIN["lr"],
                            betas=(TRAIN["beta1"], TRAIN["beta2"]), eps=TRAIN["eps"], weight_decay=TRAIN["weight_decay"])
    steps = []
    for _ in range(TRAIN["steps"]):
        opt.zero_grad()
        nll, count = 0.0, 0
        for i, n in enumerate(LENGTHS[1:]):
            ids = torch.tensor([tokens(n, 100 * (i + 1))])
            logp = torch.log_softmax(model(ids).logits[0, :-1], -1)
            picked = logp.gather(1, ids[0, 1:, None])[TRAIN["context"] - 1 :]
            nll, count = nll - picked.sum(), count + len(picked)
        loss = nll / count
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), TRAIN["clip"])
        opt.step()
        steps.append(dict(loss=loss.item(), norm=norm.item()))
    after = {}
    for name, p in model.named_parameters():
        flat = p.detach().flatten()
        after[name] = floats(flat[[0, len(flat) // 2, len(flat) - 1]])
    return dict(settings=TRAIN, steps=steps, after=after)


def record():
    cases = []
    for name, config in CASES.items():
        model = build(config).eval()
        saved = json.loads(config.to_json_string(use_diff=True)) | dict(architectures=[type(model).__name__])
        cases.append(dict(name=name, config=saved, scores=score(model), train=train(model)))
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    print("[\n" + lines + "\n]")


def check(folder, name):
    got = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    want = build(CASES[name]).eval()
    ids = torch.tensor([tokens(90, 0)])
    with torch.no_grad():
        gap = (got(ids).logits - want(ids).logits).abs().max().item()
    print(f"{folder}: {type(got).__name__}, largest difference of a logit {gap:.2g}")
    return 0 if gap == 0 else 1


if __name__ == "__main__":
    torch.manual_seed(0)
    sys.exit(check(*sys.argv[2:4]) if sys.argv[1:2] == ["--check"] else record())
