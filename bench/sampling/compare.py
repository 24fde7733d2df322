"""Measures whale's sampler beside another engine, in turns on one machine, and prints medians.

    go build -o /tmp/sampling ./bench/sampling
    python bench/sampling/compare.py --whale /tmp/sampling --model FOLDER --rival transformers --sequences 64
    python bench/sampling/compare.py --whale /tmp/sampling --model FILE-F32.gguf --rival llama.cpp --sequences 16
    python bench/sampling/compare.py --whale /tmp/sampling --model FOLDER --fork 8 --prompt 500

Needs transformers and torch, or llama-cpp-python. Sequences have different prompts of one length; a run is the time from the first prompt
token to the last sampled one, and the rate is sampled tokens by that time. Both engines use float32 weights and all cores,
or as many as --cores says. On a machine that has other work, wall times are no measure, the less for engines whose threads spin while they wait for each
other: there, compare CPU times with --cores 1.
"""

import argparse
import ctypes
import json
import os
import resource
import statistics
import subprocess
import time


class Watch:
    """Tokens by the second of wall time, and by the second of this process's CPU time."""

    def __init__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def rates(self, tokens):
        return tokens / (time.perf_counter() - self.wall), tokens / (time.process_time() - self.cpu)


class Whale:
    def __init__(self, binary, model, cores):
        self.process = subprocess.Popen([binary, "-model", model, "-workers", str(cores)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.info = self._line()
        self.name = self.info["engine"]

    def _line(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("whale's sampler ended early")
        return json.loads(line)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self._line()

    def batch(self, prompts, new, temperature):
        r = self.ask(f"batch {len(prompts)} {len(prompts[0])} {new} {temperature}")
        return r["tokens"] / r["seconds"], r["tokens"] / r["cpu_seconds"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Transformers:
    def __init__(self, model, cores):
        import torch
        import transformers

        torch.set_num_threads(cores)
        self.torch = torch
        self.name = f"transformers {transformers.__version__}, torch {torch.__version__}"
        self.model = transformers.AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
        self.model.eval()
        self.model.generation_config.eos_token_id = None

    def batch(self, prompts, new, temperature):
        ids = self.torch.tensor(prompts)
        how = {"do_sample": False} if temperature == 0 else {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
        watch = Watch()
        with self.torch.inference_mode():
            out = self.model.generate(ids, attention_mask=self.torch.ones_like(ids), max_new_tokens=new, min_new_tokens=new, pad_token_id=0, **how)
        rates = watch.rates(len(prompts) * new)
        assert out.shape[1] == len(prompts[0]) + new
        return rates

    def close(self):
        pass


class LlamaCpp:
    """The C interface: one decode a step with a token of every sequence. The likeliest token is picked by numpy, the fastest way there is."""

    def __init__(self, model, cores):
        import llama_cpp
        import numpy

        self.c, self.np = llama_cpp, numpy
        self.cores = cores
        self.name = f"llama.cpp (llama-cpp-python {llama_cpp.__version__})"
        self._quiet = llama_cpp.llama_log_callback(lambda level, text, data: None)
        llama_cpp.llama_log_set(self._quiet, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        params = llama_cpp.llama_model_default_params()
        self.model = llama_cpp.llama_model_load_from_file(model.encode(), params)
        if not self.model:
            raise SystemExit(f"llama.cpp cannot load {model}")
        self.vocab = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))

    def batch(self, prompts, new, temperature):
        if temperature != 0:
            raise SystemExit("llama.cpp is measured with temperature 0")
        c, n, length = self.c, len(prompts), len(prompts[0])
        params = c.llama_context_default_params()
        params.n_ctx = n * (length + new)
        params.n_batch = params.n_ubatch = 512
        params.n_seq_max = n
        params.n_threads = params.n_threads_batch = self.cores
        ctx = c.llama_init_from_model(self.model, params)
        batch = c.llama_batch_init(512, 0, 1)
        last = [0] * n

        def decode(items):  # (token, position, sequence, wants logits)
            for i, (token, position, sequence, logits) in enumerate(items):
                batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, position, 1, logits
                batch.seq_id[i][0] = sequence
            batch.n_tokens = len(items)
            if c.llama_decode(ctx, batch) != 0:
                raise SystemExit("llama_decode failed")
            for i, (_, _, sequence, logits) in enumerate(items):
                if logits:
                    row = self.np.ctypeslib.as_array(c.llama_get_logits_ith(ctx, i), shape=(self.vocab,))
                    last[sequence] = int(row.argmax())

        watch = Watch()
        items = [(t, i, s, i == length - 1) for s, p in enumerate(prompts) for i, t in enumerate(p)]
        for at in range(0, len(items), 512):
            decode(items[at : at + 512])
        for step in range(new - 1):
            decode([(last[s], length + step, s, True) for s in range(n)])
        rates = watch.rates(n * new)
        c.llama_batch_free(batch)
        c.llama_free(ctx)
        return rates

    def close(self):
        self.c.llama_model_free(self.model)


def prompts_of(n, length, vocab):
    """The prompts that main.go makes."""
    return [[(s * 7919 + i * 104729 + i * i * 31) % vocab for i in range(length)] for s in range(n)]


def spread(values):
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--whale", required=True, help="the built bench/sampling")
    p.add_argument("--model", required=True, help="model folder or GGUF file")
    p.add_argument("--rival-model", help="the same weights in the rival's form")
    p.add_argument("--rival", choices=["transformers", "llama.cpp"])
    p.add_argument("--sequences", type=int, default=64)
    p.add_argument("--prompt", type=int, default=64, help="tokens of a prompt")
    p.add_argument("--new", type=int, default=128, help="tokens to sample for each")
    p.add_argument("--temperature", type=float, default=0)
    p.add_argument("--fork", type=int, default=0, help="instead: this many samples of one prompt against one sample")
    p.add_argument("--runs", type=int, default=5)
    p.add_argument("--cores", type=int, default=os.cpu_count())
    o = p.parse_args()
    whale = Whale(o.whale, o.model, o.cores)
    if o.fork:
        ratios, ones = [], []
        whale.ask(f"fork {o.fork} {o.prompt}")
        for _ in range(o.runs):
            r = whale.ask(f"fork {o.fork} {o.prompt}")
            ratios.append(r["ratio"])
            ones.append(r["one"])
        print(f"first tokens of {o.fork} samples of one prompt of {o.prompt} tokens: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) times those of one sample, {1000 * statistics.median(ones):.1f} ms; {o.runs} runs, {whale.name}")
        whale.close()
        return
    if not o.rival:
        p.error("got neither --rival nor --fork")
    rival = {"transformers": Transformers, "llama.cpp": LlamaCpp}[o.rival](o.rival_model or o.model, o.cores)
    prompts = prompts_of(o.sequences, o.prompt, whale.info["vocab"])
    engines, rates = [whale, rival], {whale: [], rival: []}
    for e in engines:  # a warm-up
        e.batch(prompts, min(o.new, 8), o.temperature)
    for i in range(o.runs):
        for e in engines if i % 2 == 0 else engines[::-1]:
            rates[e].append(e.batch(prompts, o.new, o.temperature))
    print(f"{o.sequences} sequences, {o.prompt} prompt tokens, {o.new} sampled, temperature {o.temperature:g}, {o.cores} cores, {o.runs} runs in turns")
    for kind, what in enumerate(["tokens/s", "tokens by the second of CPU time"]):
        of = {e: [r[kind] for r in rates[e]] for e in engines}
        for e in engines:
            print(f"  {e.name}: {spread(of[e])} {what}")
        ratios = [a / b for a, b in zip(of[whale], of[rival])]
        print(f"  ratio of medians {statistics.median(of[whale]) / statistics.median(of[rival]):.2f}; of neighbouring runs {min(ratios):.2f} to {max(ratios):.2f}")
    peak = whale.ask(f"batch 1 {o.prompt} 1 0")["peak_mb"]
    print(f"  peak memory: whale {peak} MB; this process with {o.rival} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")
    for e in engines:
        e.close()


if __name__ == "__main__":
    main()
