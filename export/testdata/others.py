"""Scores a text with other libraries: one JSON object on standard output.

usage: others.py HF GGUF BASE PEFT TEXT, with transformers, peft and llama-cpp-python installed
  HF    folder of whale export --format hf
  GGUF  file of whale export --format gguf
  BASE  folder of whale export --format hf --at start, of a run that trains an adapter
  PEFT  folder of whale export --format peft, of that run

Each list has the log-probability of every token of the text but the first.
"""
import json
import sys

import numpy
import torch
from llama_cpp import Llama
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer


def chosen(logits, ids):
    rows = torch.log_softmax(torch.as_tensor(logits).float(), -1)
    return [float(rows[i - 1, ids[i]]) for i in range(1, len(ids))]


def scores(model, ids):
    with torch.no_grad():
        return chosen(model(torch.tensor([ids])).logits[0], ids)


hf, gguf, base, peft, text = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(hf)
ids = tokenizer(text, add_special_tokens=False)["input_ids"]
model = AutoModelForCausalLM.from_pretrained(hf, dtype=torch.float32)
llama = Llama(gguf, n_ctx=256, logits_all=True, verbose=False, type_k=0, type_v=0)
llama_ids = llama.tokenize(text.encode(), add_bos=False, special=True)
llama.eval(llama_ids)
adapted = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32), peft)
json.dump({
    "ids": ids, "transformers": scores(model, ids), "eos": tokenizer.eos_token_id, "generation_eos": model.generation_config.eos_token_id,
    "llama_ids": llama_ids, "llama": chosen(numpy.array(llama.scores[:len(llama_ids)]), llama_ids), "llama_eos": llama.token_eos(),
    "peft": scores(adapted, ids),
}, sys.stdout)
