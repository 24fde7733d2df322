"""What transformers and PEFT make of a model folder and an adapter folder that this
package wrote. Writes expected.json beside this script, with the log-probability of each
token, and an adapter of PEFT's own: the same with its factors doubled.

    go test ./lm -run PEFT -peft PYTHON     (a Python with torch, transformers and peft)
"""

import json
import pathlib
import sys

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM


def log_probs(model, tokens):
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([tokens])).logits[0].double().log_softmax(-1)
    return [logits[t - 1, tokens[t]].item() for t in range(1, len(tokens))]


base, adapter, tokens = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
out = {"tokens": tokens, "base": log_probs(model, tokens)}
model = PeftModel.from_pretrained(model, adapter)
out["ours"] = log_probs(model, tokens)
with torch.no_grad():
    for name, p in model.named_parameters():
        if "lora_" in name:
            p.mul_(2)
out["theirs"] = log_probs(model, tokens)
here = pathlib.Path(__file__).parent
model.peft_config["default"].base_model_name_or_path = "whale-test"
model.save_pretrained(here, safe_serialization=True)
(here / "README.md").unlink(missing_ok=True)
(here / "expected.json").write_text(json.dumps(out, indent=1) + "\n")
