"""The PyTorch side of the training benchmark: the same model, tokens and optimiser.

Reads a model folder as Model.Save writes it and a JSON file of token sequences, then
answers each line "step" on stdin with a JSON line: the loss of the step, before the
update, its seconds, and its processor time. A step is forward, backward, clipping and AdamW over all the
sequences. Nothing is padded.

  --impl plain         torch ops: one matrix product for q, k and v and one for gate and
                       up, scaled_dot_product_attention with is_causal
  --impl compile       the same under torch.compile
  --impl transformers  LlamaForCausalLM, one batch [B, T] (needs equal lengths)

Where all sequences have one length they run as a batch [B, T]; otherwise they lie end to
end and attention runs per sequence, which costs PyTorch less than a block-diagonal
mask does. --micro bounds the tokens of one forward and backward pass; gradients accumulate.
"""

import argparse
import json
import sys
import time

import torch
import torch.nn.functional as F
from safetensors.torch import load_file


class Llama(torch.nn.Module):
    def __init__(self, folder):
        super().__init__()
        c = self.c = json.load(open(folder + "/config.json"))
        t = load_file(folder + "/model.safetensors")
        p = {}
        for name in ("model.embed_tokens.weight", "model.norm.weight"):
            p[name] = t[name]
        for l in range(c["num_hidden_layers"]):
            at = f"model.layers.{l}."
            for name in ("input_layernorm", "self_attn.o_proj", "post_attention_layernorm", "mlp.down_proj"):
                p[f"{at}{name}.weight"] = t[f"{at}{name}.weight"]
            p[at + "qkv"] = torch.cat([t[f"{at}self_attn.{x}_proj.weight"] for x in "qkv"])
            p[at + "gate_up"] = torch.cat([t[f"{at}mlp.{x}_proj.weight"] for x in ("gate", "up")])
        if not c["tie_word_embeddings"]:
            p["lm_head.weight"] = t["lm_head.weight"]
        self.names = list(p)
        self.p = torch.nn.ParameterList([torch.nn.Parameter(v.float().contiguous()) for v in p.values()])
        hd = c["head_dim"]
        inv = c["rope_theta"] ** (-torch.arange(0, hd, 2, dtype=torch.float64) / hd)
        angle = torch.outer(torch.arange(c["max_position_embeddings"], dtype=torch.float64), inv)
        self.register_buffer("cos", angle.cos().float())
        self.register_buffer("sin", angle.sin().float())

    def rotate(self, x, cos, sin):  # x [..., T, heads, hd]
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def attend(self, q, k, v, lengths):
        c = self.c
        group = c["num_attention_heads"] // c["num_key_value_heads"]
        if lengths is None:
            q, k, v = (t.transpose(1, 2) for t in (q, k, v))
            k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
            return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
        outs = []
        for q1, k1, v1 in zip(q.split(lengths), k.split(lengths), v.split(lengths)):
            q1, k1, v1 = (t.transpose(0, 1)[None] for t in (q1, k1, v1))
            k1, v1 = k1.repeat_interleave(group, 1), v1.repeat_interleave(group, 1)
            outs.append(F.scaled_dot_product_attention(q1, k1, v1, is_causal=True)[0].transpose(0, 1))
        return torch.cat(outs)

    def forward(self, x, y, pos, lengths):
        """x, y: [B, T] and lengths None, or [N] and the lengths. The summed loss."""
        c, p = self.c, dict(zip(self.names, self.p))
        hd, heads, kv = c["head_dim"], c["num_attention_heads"], c["num_key_value_heads"]
        eps, dim = c["rms_norm_eps"], c["hidden_size"]
        cos, sin = self.cos[pos][..., None, :], self.sin[pos][..., None, :]
        h = F.embedding(x, p["model.embed_tokens.weight"])
        for l in range(c["num_hidden_layers"]):
            at = f"model.layers.{l}."
            n = F.rms_norm(h, (dim,), p[at + "input_layernorm.weight"], eps)
            q, k, v = F.linear(n, p[at + "qkv"]).split([heads * hd, kv * hd, kv * hd], -1)
            q, k, v = q.unflatten(-1, (heads, hd)), k.unflatten(-1, (kv, hd)), v.unflatten(-1, (kv, hd))
            a = self.attend(self.rotate(q, cos, sin), self.rotate(k, cos, sin), v, lengths)
            h = h + F.linear(a.flatten(-2), p[at + "self_attn.o_proj.weight"])
            n = F.rms_norm(h, (dim,), p[at + "post_attention_layernorm.weight"], eps)
            gate, up = F.linear(n, p[at + "gate_up"]).chunk(2, -1)
            h = h + F.linear(F.silu(gate) * up, p[at + "mlp.down_proj.weight"])
        h = F.rms_norm(h, (dim,), p["model.norm.weight"], eps)
        head = p.get("lm_head.weight", p["model.embed_tokens.weight"])
        return F.cross_entropy(F.linear(h, head).flatten(0, -2), y.flatten(), reduction="sum")


def batches(sequences, micro):
    """Micro-batches (x, y, pos, lengths) of at most micro input tokens each."""
    group, size = [], 0
    for s in sequences + [None]:
        n = 0 if s is None else len(s) - 1
        if group and (s is None or size + n > micro):
            equal = len({len(g) for g in group}) == 1
            join = (lambda ts: torch.stack(ts)) if equal else torch.cat
            yield (
                join([torch.tensor(g[:-1]) for g in group]),
                join([torch.tensor(g[1:]) for g in group]),
                torch.arange(len(group[0]) - 1) if equal else torch.cat([torch.arange(len(g) - 1) for g in group]),
                None if equal else [len(g) - 1 for g in group],
            )
            group, size = [], 0
        if s is not None:
            group.append(s)
            size += n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--model", required=True)
    ap.add_argument("--tokens", required=True)
    ap.add_argument("--impl", choices=["plain", "compile", "transformers"], default="plain")
    ap.add_argument("--micro", type=int, default=2048)
    ap.add_argument("--threads", type=int, default=0)
    ap.add_argument("--lr", type=float, default=1e-3)
    a = ap.parse_args()
    if a.threads:
        torch.set_num_threads(a.threads)
    torch.manual_seed(0)
    work = list(batches(json.load(open(a.tokens)), a.micro))
    if a.impl == "transformers":
        from transformers import AutoModelForCausalLM

        model = AutoModelForCausalLM.from_pretrained(a.model, dtype=torch.float32)
        model.train()
        if any(w[3] is not None for w in work):
            sys.exit("--impl transformers: got sequences of different lengths, want equal ones")

        def loss_of(x, y, pos, lengths):
            return F.cross_entropy(model(input_ids=x, use_cache=False).logits.flatten(0, 1), y.flatten(), reduction="sum")
    else:
        model = Llama(a.model)
        loss_of = torch.compile(model) if a.impl == "compile" else model
    opt = torch.optim.AdamW(model.parameters(), lr=a.lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0, fused=True)
    count = sum(w[1].numel() for w in work)
    print(json.dumps({"torch": torch.__version__, "threads": torch.get_num_threads(), "tokens": count}), flush=True)
    for line in sys.stdin:
        if line.strip() != "step":
            sys.exit(f"got {line!r}, want step")
        began, cpu = time.perf_counter(), time.process_time()
        total = 0.0
        for w in work:
            loss = loss_of(*w)
            (loss / count).backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        opt.zero_grad(set_to_none=False)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        print(json.dumps({"loss": total / count, "seconds": seconds, "cpu": cpu}), flush=True)


if __name__ == "__main__":
    main()
