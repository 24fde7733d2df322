"""Writes golden.json and families/ beside this file: what Hugging Face's tokenizers
library makes of the texts here. To run it:

    pip install tokenizers==0.23.3 && python golden.py

golden.json has the three bare splits and Llama 3's on texts.json, with the merges learned from
corpus.txt. families/NAME.json are tokenizers in the shape of the real models' files
(their pre-tokenizers, normalisers, flags, post-processors and added tokens, with a small
vocabulary learned here); families/golden.json has their ids of families/texts.json,
with special tokens recognised (ids), and not (text: only where it differs from ids), and
with the post-processor's tokens (framed: only for the first texts).
"""
import hashlib, json, os, random
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers, trainers

here = lambda *name: os.path.join(os.path.dirname(os.path.abspath(__file__)), *name)

QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = QWEN.replace(r"\p{N}|", r"\p{N}{1,3}|")
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def byte_level(use_regex, trim=True):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": trim, "use_regex": use_regex}


def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": list(steps)}


def split_on(regex):
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}


DIGITS = {"type": "Digits", "individual_digits": True}
SPLITS = {
    "gpt2": byte_level(True),
    "qwen": sequence(split_on(QWEN), byte_level(False)),
    "llama3": sequence(split_on(LLAMA3), byte_level(False)),
    "digits": sequence(DIGITS, byte_level(True)),
}


def tokenizer(pre, vocab, merges, **other):
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
             "vocab": vocab, "merges": merges}
    model.update(other.pop("model", {}))
    file = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
            "pre_tokenizer": pre, "post_processor": None, "decoder": byte_level(True), "model": model}
    file.update(other)
    return Tokenizer.from_str(json.dumps(file))


def alphabet():
    printable = lambda b: 33 <= b <= 126 or 0xA1 <= b <= 0xAC or b >= 0xAE
    letters, n = [], 256
    for b in range(256):
        if printable(b):
            letters.append(chr(b))
        else:
            letters.append(chr(n))
            n += 1
    return sorted(letters)


def load(*name):
    with open(here(*name), encoding="utf-8") as f:
        return json.load(f)


def learn(pre, size=30000):
    t = tokenizer(pre, {}, [])
    t.train([here("corpus.txt")], trainers.BpeTrainer(vocab_size=size, show_progress=False, special_tokens=[], initial_alphabet=[]))
    return json.loads(t.to_str())["model"]


def write_golden():
    letters = alphabet()
    vocab = {c: i for i, c in enumerate(letters)}
    merges = []
    for a in letters:
        for b in letters:
            vocab[a + b] = 256 + len(merges)
            merges.append([a, b])
    texts = load("texts.json")
    lines = []
    for name, pre in SPLITS.items():
        every = tokenizer(pre, vocab, merges)
        ids = ["  " + json.dumps(every.encode(t).ids, separators=(",", ":")) for t in texts]
        learned = [m if isinstance(m, str) else " ".join(m) for m in learn(pre)["merges"]]
        merged = json.dumps(learned, separators=(",", ":"), ensure_ascii=False)
        lines.append('"%s": {"ids": [\n%s\n ], "merges": %s}' % (name, ",\n".join(ids), merged))
    with open(here("golden.json"), "w", encoding="utf-8") as f:
        f.write("{\n" + ",\n".join(lines) + "\n}\n")


# The classes of all characters as the library's patterns see them: runs of
# "class:count" over the code points, hashed, which family_test.go repeats.
def classes():
    points = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    def members(pattern):
        found, step = set(), pre_tokenizers.Split(Regex(pattern), "removed")
        for i in range(0, len(points), 4096):
            left = set()
            for piece, _ in step.pre_tokenize_str("".join(map(chr, points[i:i + 4096]))):
                left.update(map(ord, piece))
            found.update(c for c in points[i:i + 4096] if c not in left)
        return found
    letters, numbers, spaces = members(r"\p{L}"), members(r"\p{N}"), members(r"\s")
    text = "".join("L" if c in letters else "N" if c in numbers else "S" if c in spaces else "." for c in points)
    return hashlib.sha256(text.encode()).hexdigest()


# The library's NFC of all characters, alone and beside marks of a high and a low class,
# where it changes anything; nfc_test.go repeats it.
def nfc():
    form, h = normalizers.NFC(), hashlib.sha256()
    for c in range(0x110000):
        if not 0xD800 <= c < 0xE000:
            for text in (chr(c), "\u0345" + chr(c), chr(c) + "\u0334"):
                if (got := form.normalize_str(text)) != text:
                    h.update(f"{text}={got};".encode())
    return h.hexdigest()


def added(names, first, special, **flags):
    return [dict({"id": first + i, "content": n, "single_word": False, "lstrip": False, "rstrip": False,
                  "normalized": False, "special": special}, **flags) for i, n in enumerate(names)]


def family(pre, first, last, model={}, merges_as_strings=True, extra=(), unmerged=(), missing=(), **other):
    """first: (names, special) before the vocabulary, last: after it; as the real files do."""
    m = learn(pre, 420)
    vocab, tokens = {}, []
    for names, special in first:
        tokens += added(names, len(vocab), special)
        for n in names:
            vocab[n] = len(vocab)
    for c in alphabet():
        if c not in missing:
            vocab[c] = len(vocab)
    for a, b in (x.split(" ") if isinstance(x, str) else x for x in m["merges"]):
        vocab.setdefault(a + b, len(vocab))
    for word in unmerged:
        vocab.setdefault(word, len(vocab))
    next_id = len(vocab)
    for names, special in last:
        for n in names:  # a word of the vocabulary can be an added token as well
            tokens += added([n], vocab.get(n, next_id), special)
            next_id += n not in vocab
    for token in extra:
        tokens.append(dict(added([token["content"]], next_id, False)[0], **token))
        next_id += 1
    merges = m["merges"]
    if merges_as_strings:
        merges = [x if isinstance(x, str) else " ".join(x) for x in merges]
    if callable(other.get("post_processor")):
        other["post_processor"] = other["post_processor"]({t["content"]: t["id"] for t in tokens})
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": tokens,
            "normalizer": other.get("normalizer"), "pre_tokenizer": pre,
            "post_processor": other.get("post_processor"), "decoder": byte_level(True),
            "model": dict({"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                           "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                           "ignore_merges": False, "vocab": vocab, "merges": merges}, **model)}


def bos(ids):
    t = "<|begin_of_text|>"
    return {"type": "Sequence", "processors": [byte_level(True), {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": t, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"SpecialToken": {"id": t, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                 {"SpecialToken": {"id": t, "type_id": 1}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {t: {"id": t, "ids": [ids[t]], "tokens": [t]}}}]}


def framed(ids):
    piece = lambda t: {"SpecialToken": {"id": t, "type_id": 0}}
    return {"type": "TemplateProcessing", "single": [piece("<s>"), {"Sequence": {"id": "A", "type_id": 0}}, piece("</s>")],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {t: {"id": t, "ids": [ids[t]], "tokens": [t]} for t in ("<s>", "</s>")}}


QWEN_SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>",
                "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>",
                "<|image_pad|>", "<|video_pad|>"]
QWEN_PLAIN = ["<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>",
              "<|file_sep|>"]
LLAMA_SPECIAL = ["<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>",
                 "<|finetune_right_pad_id|>", "<|reserved_special_token_2|>", "<|start_header_id|>", "<|end_header_id|>",
                 "<|eom_id|>", "<|eot_id|>", "<|python_tag|>"]
SMOL_SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<repo_name>", "<reponame>", "<file_sep>", "<filename>",
                "<gh_stars>", "<issue_start>", "<issue_comment>", "<issue_closed>", "<jupyter_start>", "<jupyter_text>",
                "<jupyter_code>", "<jupyter_output>", "<jupyter_script>", "<empty_output>"]
# SmolLM2's vocabulary has no tokens for these bytes, and 0x01 here, spelled in the alphabet.
SMOL_MISSING = "\u0101\u0104\u0106\u0113\u0114\u0116\u011d\u00c0\u00c1\u00f1\u00f2\u00f5\u00f6\u00f7\u00f8\u00f9\u00fa\u00fb\u00fc\u00fd\u00fe\u00ff"
QWEN_MODEL = {"continuing_subword_prefix": "", "end_of_word_suffix": ""}


def families():
    qwen = sequence(split_on(QWEN), byte_level(False, trim=False))
    return {
        "gpt2": family(byte_level(True), [], [(["<|endoftext|>"], True)], QWEN_MODEL, post_processor=byte_level(True, trim=False)),
        "smollm2": family(SPLITS["digits"], [(SMOL_SPECIAL, True)], [], missing=SMOL_MISSING),
        "llama3": family(sequence(split_on(LLAMA3), byte_level(False)), [], [(LLAMA_SPECIAL, True)], {"ignore_merges": True},
                         unmerged=["Hello", "\u0120world", "\u0120apples", "234", "!\u010a\u010a"], post_processor=bos),
        "qwen2": family(qwen, [], [(QWEN_SPECIAL, True), (QWEN_PLAIN, False)], QWEN_MODEL, normalizer={"type": "NFC"},
                        post_processor=byte_level(False, trim=False)),
        "qwen3": family(qwen, [], [(QWEN_SPECIAL, True), (QWEN_PLAIN + ["<tool_response>", "</tool_response>", "<think>", "</think>"], False)],
                        QWEN_MODEL, merges_as_strings=False, normalizer={"type": "NFC"}, post_processor=byte_level(False, trim=False)),
        # No model is like this one: every flag, overlaps, tokens with white space and accents.
        "flags": family(qwen, [(["<s>", "</s>"], True)], [(["<a>", "<a>b", "<<a>>"], True), (["b<a", "    ", "\t\t", "minus", "in"], False)],
                        normalizer={"type": "Sequence", "normalizers": [{"type": "NFC"}]}, post_processor=framed, extra=[
                            {"content": "[L]", "lstrip": True}, {"content": "[R]", "rstrip": True, "special": True},
                            {"content": "[B]", "lstrip": True, "rstrip": True, "normalized": True},
                            {"content": "word", "single_word": True}, {"content": "\u00e9t\u00e9", "normalized": True, "single_word": True},
                            {"content": "cafe\u0301", "normalized": True}, {"content": "re\u0301sume", "normalized": False},
                            {"content": "<norm>", "normalized": True, "special": True}]),
    }


CHATS = [
    "<|im_start|>system\nYou are a helpful assistant.\n\n# Tools\n\n<tools>\n{\"type\": \"function\", \"function\": {\"name\": \"calc\"}}\n</tools>"
    "<|im_end|>\n<|im_start|>user\nHow many apples does Tom have? 12 plus 7<|im_end|>\n<|im_start|>assistant\n<think>\n12 plus 7 is 19\n</think>\n\n"
    "<tool_call>\n{\"name\": \"calc\", \"arguments\": {\"e\": \"12 + 7\"}}\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\n19\n"
    "</tool_response>\n<tool_response>\n20\n</tool_response><|im_end|>\n<|im_start|>assistant\n",
    "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nWhat's 1234567 times 89?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
    "<|python_tag|>calc(1234567 * 89)<|eom_id|><|start_header_id|>ipython<|end_header_id|>\n\n\"109876463\"<|eot_id|>",
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n<|im_start|>user\n\u4f60\u597d, caf\u00e9!<|im_end|>\n",
]
TEXTS = [
    "", " ", "\n", "\r\n", "  \n  ", "\t", "\u00a0", "a", "Hello, world!", "Hello   world", "don't DON'T we'LL I'\u017f it'd", "1234567890",
    "3.14159, 2,718,281.828 1e-10 0xFF", "12 345 6789 1234", "\u0661\u0662\u0663\u0664\u0665 \u0967\u0968\u0969\u096a \u2167\u00bd\u00b2", "\u4e09\u5341\u4e94 35",
    "x\r\ny\r\n\r\nz", "a\u00a0b\u00a0\u00a0c \u2003d\u3000e", "tabs\tand\t\ttabs", "trailing   ", "   leading", "line\n\n\n  indented\n\tcode",
    "def f(x):\n    return {'a': [x, 1], \"b\": x**2}  # note\n", "for (int i = 0; i < n; ++i) { a[i] += 0.5f; }", "SELECT * FROM t WHERE a >= 10 AND b <> 'x';",
    "<html><body class=\"x\">&amp;</body></html>", "https://example.org/a?b=c&d=%20e#f", "user@example.com", "C:\\Users\\x\\file.txt", "$\\frac{a}{b} \\neq \\sqrt{2}$",
    "\U0001F600\U0001F601", "\U0001F468\u200d\U0001F469\u200d\U0001F467\u200d\U0001F466 family", "\U0001F1E9\U0001F1EA\U0001F1EB\U0001F1F7", "\U0001F44D\U0001F3FD ok \u2764\ufe0f", "\u270d\U0001F3FE\u200d\u2640\ufe0f",
    "\u65e5\u672c\u8a9e\u306e\u30c6\u30b9\u30c8\u3002", "\u4e2d\u6587\uff0c\u6d4b\u8bd5\uff01", "\ud55c\uad6d\uc5b4 \ud14c\uc2a4\ud2b8", "\u1112\u1161\u11ab\u1100\u116e\u11a8", "\u1100\u1161\u11a8x \u1100\u1161 \uac00\u11a8", "\uff21\uff22\uff23\uff11\uff12\uff13\uff5e", "\u2460\u2461 \u3131 \ufb01 \ufb03",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645", "\u0627\u064e\u0644\u0652\u0639\u064e\u0631\u064e\u0628\u0650\u064a\u064e\u0651\u0629", "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd \u05e2\u05d5\u05dc\u05dd", "\u0939\u093f\u0928\u094d\u0926\u0940 \u0915\u093c \u0958", "\u09ac\u09be\u0982\u09b2\u09be \u0995\u09c7\u09be \u0995\u09cb", "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22", "\u0420\u0443\u0441\u0441\u043a\u0438\u0439 \u0442\u0435\u043a\u0441\u0442, \u0451 \u0435\u0308 \u0439 \u0438\u0306", "\u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac \u1fc1 \u1f82",
    "Ti\u1ebfng Vi\u1ec7t", "Tie\u0302\u0301ng Vie\u0323\u0302t", "e\u0301\u0323 \u1eb9\u0301 e\u0323\u0301", "A\u030a \u212b \u00c5", "\u2126 \u03a9 \u212a K", "q\u0307\u0323 q\u0323\u0307", "\u1e69 s\u0323\u0307 \u1e63\u0307 \u1e0b\u0323", "\u0344 \u0340\u0341 \u0343", "\u2adc \u1d15e\U0001D160 \ufb1d",
    "a" + "\u0301" * 5 + "b", "z" + "\u0316\u0301\u0323" * 14 + "!", "o" + "\u0308" * 33 + "\u0323x", "\u0301 leading mark", "\u0dd9\u0dcf \u0dd9\u0dca \u0dd9\u0dcf\u0dca", "a\u09fe\u0355 e\u1abf\u0301", "\U00011935\U00011930 \U00011938", "\U00011099\U000110ba \U0001112f \U00011131\U00011127",
    "\u200b\u200c\u200d\ufeff", "\u202eright\u202c left", "\u0000\u0001\u001c\u001f\u007f\u0085x", "\ufffd\ufffe", "\U0002EBF0\U00013460\U000116D0 \U00010D45", "\u2028para\u2029", "\u180e\u1680x",
    "a\u0004b t\u0001h\u0001e\u0001 the\u0001", "\u0001", "\u0001\u0004", "\U00046131\U000c6131x\U00041361", " \u0001the", "1\u00012",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "--------====++++", "!!!\n\n???", "...\r\n...", "\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb", "'re're'RE'Ve'LL'll'x", "' s 's", "_snake_case camelCase kebab-case",
    "<|endoftext|>", "a<|endoftext|>b", "<|im_start|>user\nhi<|im_end|>", " <|im_end|> ", "<|im_end", "<|im_end|<|im_end|>>", "<|<|im_start|>|>", "<|im_start|><|im_start|>", "<|IM_START|>", "<|eot_id|><|begin_of_text|>",
    "<think>hm</think>", "<think", "<<think>>", "</think>\n\n<tool_call>\n{}\n</tool_call>", "<tool_response>19</tool_response>", "<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>", "<repo_name>x<file_sep>y", "<|reserved_special_token_1|>",
    "e<|im_end|>\u0301", "e\u0301<|im_end|>e\u0301", "don<|im_end|>'t", "12<|im_end|>34", " <think> x </think> ", "x  <|im_end|>  y\n\n<think>\n\n",
    "<a>b<a>", "b<a>b", "<<a>>", "<<a>>b", "<<a>b", "b<a<a>", "b<a b<a>b<", "        x", "\t\t\t", "apple apples", "x  [L]  y", "x  [R]  y", "x  [B]  y", "[L] [L]", " [R] [L] ", "[B][B] [B]\n[R]\u00a0[L]", "[R]  [B]",
    "word words word. sword _word word_ word\u0301 \u00e9word word1", "word", "\u00e9t\u00e9 e\u0301te\u0301 \u00e9t\u00e9s l'\u00e9t\u00e9", "caf\u00e9 cafe\u0301s cafe", "r\u00e9sume re\u0301sume", "<norm> a<norm>", "<s>a</s>", "<s><a></s>",
    "Question: Tom has 12 apples. He buys 7 more and gives 5 to Ana.", "<tool>calc(12 + 7 - 5)</tool>\n<result>14</result>\n<answer>14</answer>", "Thought: Let's check with the tool.",
]


def all_texts():
    texts = list(TEXTS) + CHATS
    rng = random.Random(7)
    pieces = [p for t in TEXTS for p in ([t] if len(t) < 9 else [t[i:i + rng.randint(1, 8)] for i in range(0, len(t), 9)]) if p]
    pieces += ["<|im_start|>", "<|im_end|>", "<think>", "[L]", "[B]", "\u0301", "\u0323", "'s", " ", "\n", "1"]
    while len(texts) < 200:
        texts.append("".join(rng.choice(pieces) for _ in range(rng.randint(2, 7))))
    return texts


def compact(x):
    return json.dumps(x, separators=(",", ":"), ensure_ascii=False)


def write_families():
    os.makedirs(here("families"), exist_ok=True)
    texts = all_texts()
    with open(here("families", "texts.json"), "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(t) for t in texts) + "\n]\n")
    out = []
    for name, file in families().items():
        with open(here("families", name + ".json"), "w", encoding="utf-8") as f:
            f.write(compact(file) + "\n")
        t = Tokenizer.from_str(json.dumps(file))
        t.encode_special_tokens = False
        ids = [t.encode(s, add_special_tokens=False).ids for s in texts]
        framed = [t.encode(s).ids for s in texts[:12]]
        # Where the bytes are no UTF-8 (one was dropped) the library shows U+FFFD, we the bytes.
        shown = [d if "\ufffd" not in (d := t.decode(i, skip_special_tokens=True)) else "" for i in ids]
        t.encode_special_tokens = True
        text = {str(i): e for i, s in enumerate(texts) if (e := t.encode(s, add_special_tokens=False).ids) != ids[i]}
        out.append('"%s": {\n"ids": [\n%s\n],\n"text": %s,\n"framed": %s,\n"decoded": "%s"\n}' % (
            name, ",\n".join(map(compact, ids)), compact(text), compact(framed), hashlib.sha256("\0".join(shown).encode()).hexdigest()))
    with open(here("families", "golden.json"), "w", encoding="utf-8") as f:
        f.write("{\n" + ",\n".join(out) + "\n}\n")


if __name__ == "__main__":
    write_golden()
    write_families()
    print("classes of all characters, for family_test.go:", classes())
    print("NFC of all characters, for nfc_test.go:", nfc())
