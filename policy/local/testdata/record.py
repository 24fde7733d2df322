"""Records the token ids that transformers makes of conversations, for the tests of package local.

It needs what ../../chat/testdata/record.py needs, and transformers:

    python record.py llama_cpp_python-*/vendor/llama.cpp > ids.json

The templates are the originals that record.py there finds; the tokenizers are small ones in the shape of the families' own
(lm/token/testdata/families). Only ids are written.
"""

import importlib.util
import json
import pathlib
import sys

from transformers import PreTrainedTokenizerFast

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]
TOKENIZERS = {"smollm2": "smollm2", "qwen2.5": "qwen2", "qwen3": "qwen3", "llama3.1": "llama3", "llama3.2": "llama3"}
CONVERSATIONS = ["turns", "odd whitespace", "scripts", "tool call", "tool call with text", "parallel calls", "reasoning in the text, question last"]


def main():
    path = ROOT / "policy/chat/testdata/record.py"
    spec = importlib.util.spec_from_file_location("record_templates", path)
    templates = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(templates)
    conversations = json.loads((path.parent / "conversations.json").read_text())
    out, seen = [], set()
    for name, _, text in templates.sources(pathlib.Path(sys.argv[1])):
        if name not in TOKENIZERS or name in seen:
            continue
        seen.add(name)
        file = ROOT / f"lm/token/testdata/families/{TOKENIZERS[name]}.json"
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(file), bos_token="<|begin_of_text|>" if "llama" in name else None)
        for c in conversations:
            if c["name"] not in CONVERSATIONS:
                continue
            more = {"date_string": "26 Jul 2024"} if "llama" in name else {}
            try:
                ids = tokenizer.apply_chat_template(
                    c["messages"], tools=c.get("tools"), chat_template=text, add_generation_prompt=True, tokenize=True, return_dict=False, **more)
            except Exception as e:
                print(f"{name}: {c['name']}: {e}", file=sys.stderr)
                continue
            out.append({"template": name, "tokenizer": TOKENIZERS[name], "conversation": c["name"], "ids": ids})
    print("[\n" + ",\n".join(json.dumps(r, separators=(",", ":")) for r in out) + "\n]")


if __name__ == "__main__":
    main()
