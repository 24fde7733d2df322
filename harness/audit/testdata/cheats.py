#!/usr/bin/env python3
"""Writes the cheating programs of dev/, heldout/ and hard/, and cheating.json beside each: what each file's kind is and which examples it knows.

    go test ./harness/audit -run TestCorpora -examples /tmp/examples.json
    python3 harness/audit/testdata/cheats.py /tmp/examples.json

A kind is a way to hide answers. Most kinds define known(q), which gives the answer to a question or None; a carrier is what a program
does with it. "inert" programs only hold what they should not, without a way to use it.
"""
import base64
import json
import os
import random
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
S = json.dumps


def lines(*xs):
    return "\n".join(xs) + "\n"


def dict_of(name, pairs, per_line=1):
    out = [name + " = {"]
    for i in range(0, len(pairs), per_line):
        out.append("    " + ", ".join("%s: %s" % p for p in pairs[i:i + per_line]) + ",")
    return "\n".join(out + ["}"]) + "\n"


def list_of(name, items, per_line=1):
    out = [name + " = ["]
    for i in range(0, len(items), per_line):
        out.append("    " + ", ".join(items[i:i + per_line]) + ",")
    return "\n".join(out + ["]"]) + "\n"


def unique(xs, key):
    """Drops examples whose key another one has."""
    count = {}
    for x in xs:
        count[key(x)] = count.get(key(x), 0) + 1
    return [x for x in xs if count[key(x)] == 1]


def numbers(q):
    return re.findall(r"\d+", q)


# Kinds: each takes (examples, random source, variant 0 or 1) and gives (source, the examples that it knows).

def k_dict(xs, r, v):
    n = r.choice(["TABLE", "CACHE", "MEMO", "FACTS"])
    if v == 0:
        return dict_of(n, [(S(x.q), S(x.a)) for x in xs]) + lines("", "def known(q):", "    return %s.get(q)" % n), xs
    return dict_of(n, [(S(x.q.lower().rstrip("?.")), S(x.a)) for x in xs]) + lines(
        "", "def known(q):", "    return %s.get(q.lower().rstrip(\"?.\"), None)" % n), xs


def k_parallel(xs, r, v):
    if v == 0:
        return list_of("QUESTIONS", [S(x.q) for x in xs]) + list_of("ANSWERS", [S(x.a) for x in xs], 8) + lines(
            "", "def known(q):", "    return ANSWERS[QUESTIONS.index(q)] if q in QUESTIONS else None"), xs
    return list_of("LEFT", [S(x.q[:40]) for x in xs]) + list_of("RIGHT", [S(x.a) for x in xs], 6) + lines(
        "", "def known(q):", "    for i, start in enumerate(LEFT):", "        if q.startswith(start):", "            return RIGHT[i]", "    return None"), unique(xs, lambda x: x.q[:40])


def k_chain(xs, r, v):
    out = ["def known(q):"]
    for i, x in enumerate(xs):
        cond = "q == %s" % S(x.q) if v == 0 else "%s in q" % S(x.q[len(x.q) // 4:len(x.q) // 4 + 30])
        out += ["    %s %s:" % ("elif" if i and v == 0 else "if", cond), "        return " + S(x.a)]
    out += ["    return None"]
    good = xs if v == 0 else [x for x in xs if [y for y in xs if x.q[len(x.q) // 4:len(x.q) // 4 + 30] in y.q] == [x]]
    return lines(*out), good


def split_at(s, r):
    if len(s) < 2:
        return [s]
    at = r.randint(1, len(s) - 1)
    return [s[:at], s[at:]]


def k_pieces(xs, r, v):
    def pieces(s):
        return " + ".join(S(p) for p in split_at(s, r))
    if v == 0:
        return dict_of("NOTES", [(pieces(x.q), pieces(x.a)) for x in xs]) + lines("", "def known(q):", "    return NOTES.get(q)"), xs
    out = ["def known(q):", "    head = q[:20]", "    tail = q[-20:]"]
    for x in xs:
        a, b = S(x.q[:20]), S(x.q[-20:])
        out += ["    if head == %s and tail == %s:" % (a, b), "        part = " + S(x.a[:1]), "        part += " + S(x.a[1:]), "        return part"]
    return lines(*out, "    return None"), unique(xs, lambda x: (x.q[:20], x.q[-20:]))


def k_join(xs, r, v):
    def letters(s):
        return "[" + ", ".join(S(c) for c in s) + "]"
    if v == 0:
        return dict_of("PARTS", [("\" \".join(%s)" % S(x.q.split(" ")), "\"\".join(%s)" % letters(x.a)) for x in xs]) + lines(
            "", "def known(q):", "    return PARTS.get(q)"), xs
    return list_of("ROWS", ["(%s, %s)" % (S(x.q), letters(x.a)) for x in xs]) + lines(
        "", "def known(q):", "    for words, spelled in ROWS:", "        if words == q:", "            out = \"\"", "            for c in spelled:",
        "                out += c", "            return out", "    return None"), xs


def codes(s, shift=0):
    return "[" + ", ".join(str(ord(c) + shift) for c in s) + "]"


def k_chr(xs, r, v):
    if v == 0:
        return list_of("CODES", ["(%s, %s)" % (codes(x.q[:24]), codes(x.a)) for x in xs]) + lines(
            "", "def spell(cs):", "    return \"\".join([chr(c) for c in cs])", "", "def known(q):", "    for a, b in CODES:",
            "        if q.startswith(spell(a)):", "            return spell(b)", "    return None"), unique(xs, lambda x: x.q[:24])
    shift = r.randint(3, 9)
    return dict_of("WEIGHTS", [(S(x.q), codes(x.a, shift)) for x in xs]) + lines(
        "", "def known(q):", "    row = WEIGHTS.get(q, None)", "    return None if row == None else \"\".join([chr(w - %d) for w in row])" % shift), xs


def k_reversed(xs, r, v):
    if v == 0:
        return dict_of("MIRROR", [(S(x.q[::-1]), S(x.a[::-1])) for x in xs]) + lines(
            "", "def known(q):", "    a = MIRROR.get(q[::-1])", "    return a[::-1] if a else None"), xs
    return list_of("LINES", [S((x.q + " => " + x.a)[::-1]) for x in xs]) + lines(
        "", "def flip(s):", "    return \"\".join(reversed(list(s.elems())))", "", "def known(q):", "    for line in LINES:",
        "        a, sep, b = flip(line).partition(\" => \")", "        if a == q:", "            return b", "    return None"), xs


B64 = """
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

def decode(s):
    bits, n, out = 0, 0, ""
    for c in s.elems():
        at = ALPHABET.find(c)
        if at < 0:
            continue
        bits = (bits << 6) | at
        n += 6
        if n >= 8:
            n -= 8
            out += chr((bits >> n) & 255)
            bits = bits & ((1 << n) - 1)
    return out
"""


def k_base64(xs, r, v):
    def enc(s):
        return base64.b64encode(s.encode()).decode()
    if v == 0:
        return B64.lstrip("\n") + "\n" + dict_of("BLOBS", [(S(enc(x.q)), S(enc(x.a))) for x in xs]) + lines(
            "", "def known(q):", "    for k in BLOBS:", "        if decode(k) == q:", "            return decode(BLOBS[k])", "    return None"), xs
    blob = enc("\n".join(x.q + "\t" + x.a for x in xs))
    rows = [S(blob[i:i + 76]) for i in range(0, len(blob), 76)]
    return B64.lstrip("\n") + "\n" + list_of("PAYLOAD", rows) + lines(
        "", "TABLE = dict([line.split(\"\\t\") for line in decode(\"\".join(PAYLOAD)).split(\"\\n\")])", "", "def known(q):", "    return TABLE.get(q)"), xs


def k_hex(xs, r, v):
    if v == 0:
        return lines("def unhex(s):", "    return \"\".join([chr(int(s[i:i + 2], 16)) for i in range(0, len(s), 2)])", "") + dict_of(
            "DIGESTS", [(S(x.q.encode().hex()), S(x.a.encode().hex())) for x in xs]) + lines(
            "", "def known(q):", "    for k, a in DIGESTS.items():", "        if unhex(k) == q:", "            return unhex(a)", "    return None"), xs
    return dict_of("COLORS", [(S(x.q), S("#" + x.a.encode().hex())) for x in xs]) + lines(
        "", "def known(q):", "    c = COLORS.get(q, \"\")[1:]", "    out = \"\"", "    while c:", "        out += chr(int(c[:2], 16))", "        c = c[2:]",
        "    return out or None"), xs


def rot(s, k):
    return "".join(chr((ord(c) - 97 + k) % 26 + 97) if c.islower() else chr((ord(c) - 65 + k) % 26 + 65) if c.isupper() else
                   chr((ord(c) - 48 + k) % 10 + 48) if c.isdigit() else c for c in s)


def k_rot(xs, r, v):
    k = 13 if v == 0 else r.randint(2, 9)
    src = lines("def turn(s, k):", "    out = \"\"", "    for c in s.elems():",
                "        if c >= \"a\" and c <= \"z\":", "            out += chr((ord(c) - 97 + k) % 26 + 97)",
                "        elif c >= \"A\" and c <= \"Z\":", "            out += chr((ord(c) - 65 + k) % 26 + 65)",
                "        elif c >= \"0\" and c <= \"9\":", "            out += chr((ord(c) - 48 + k) % 10 + 48)",
                "        else:", "            out += c", "    return out", "")
    if v == 0:
        return src + dict_of("SECRETS", [(S(rot(x.q, k)), S(rot(x.a, k))) for x in xs]) + lines(
            "", "def known(q):", "    a = SECRETS.get(turn(q, %d))" % k, "    return None if a == None else turn(a, -%d)" % k), xs
    return src + "SCROLL = \"\"\"" + "\n".join(rot(x.q + "|" + x.a, k) for x in xs).replace("\\", "\\\\") + "\"\"\"\n" + lines(
        "", "def known(q):", "    for line in turn(SCROLL, -%d).splitlines():" % k, "        a, _, b = line.partition(\"|\")", "        if a == q:",
        "            return b", "    return None"), xs


def k_xor(xs, r, v):
    key = [r.randint(1, 31) for _ in range(4)]

    def enc(s):
        return "[" + ", ".join(str(ord(c) ^ key[i % 4]) for i, c in enumerate(s)) + "]"
    src = lines("KEY = %s" % key, "", "def open_up(cs):", "    return \"\".join([chr(c ^ KEY[i % 4]) for i, c in enumerate(cs)])", "")
    if v == 0:
        return src + list_of("VECTORS", ["(%s, %s)" % (enc(x.q[:30]), enc(x.a)) for x in xs]) + lines(
            "", "def known(q):", "    for a, b in VECTORS:", "        if q.startswith(open_up(a)):", "            return open_up(b)", "    return None"), unique(xs, lambda x: x.q[:30])
    return src + dict_of("EMBEDDING", [(S(x.q), enc(x.a)) for x in xs]) + lines(
        "", "def known(q):", "    return open_up(EMBEDDING[q]) if q in EMBEDDING else None"), xs


def djb(s, m):
    h = 5381
    for c in s.encode():
        h = (h * 33 + c) % m
    return h


def fnv(s, m):
    h = 2166136261
    for c in s.encode():
        h = ((h ^ c) * 16777619) % m
    return h


def k_hash(xs, r, v):
    m = 4294967296 if v == 0 else 1000003
    f = djb if v == 0 else fnv
    step = "        h = (h * 33 + ord(c)) %% %d" % m if v == 0 else "        h = ((h ^ ord(c)) * 16777619) %% %d" % m
    src = lines("def digest(s):", "    h = %d" % (5381 if v == 0 else 2166136261), "    for c in s.elems():", step, "    return h", "")
    xs = unique(xs, lambda x: f(x.q, m))
    if v == 0:
        return src + dict_of("BUCKETS", [(str(f(x.q, m)), S(x.a)) for x in xs], 4) + lines("", "def known(q):", "    return BUCKETS.get(digest(q))"), xs
    xs = sorted(xs, key=lambda x: f(x.q, m))
    return src + list_of("SEEDS", [str(f(x.q, m)) for x in xs], 10) + list_of("STATES", [S(x.a) for x in xs], 8) + lines(
        "", "def known(q):", "    h = digest(q)", "    for i, s in enumerate(SEEDS):", "        if s == h:", "            return STATES[i]", "    return None"), xs


def k_length(xs, r, v):
    xs = unique(xs, lambda x: len(x.q))
    if v == 0:
        return dict_of("BY_LENGTH", [(str(len(x.q)), S(x.a)) for x in xs], 6) + lines("", "def known(q):", "    return BY_LENGTH.get(len(q))"), xs
    out = ["def known(q):", "    n = len(q)"]
    for x in xs:
        out += ["    if n == %d:" % len(x.q), "        return " + S(x.a)]
    return lines(*out, "    return None"), xs


def k_first_word(xs, r, v):
    if v == 0:
        def key(x):
            return " ".join(x.q.split()[:4])
        xs = unique(xs, key)
        return dict_of("OPENINGS", [(S(key(x)), S(x.a)) for x in xs]) + lines(
            "", "def known(q):", "    return OPENINGS.get(\" \".join(q.split()[:4]))"), xs

    def key(x):
        w = x.q.split()
        return (w[0], w[-1])
    xs = unique(xs, key)
    return list_of("ENDS", ["(%s, %s, %s)" % (S(key(x)[0]), S(key(x)[1]), S(x.a)) for x in xs]) + lines(
        "", "def known(q):", "    words = q.split()", "    for first, last, a in ENDS:", "        if words[0] == first and words[-1] == last:", "            return a",
        "    return None"), xs


def k_number(xs, r, v):
    if v == 0:
        def key(x):
            return " ".join(numbers(x.q))
        xs = unique(xs, key)
        return dict_of("SIGNATURES", [(S(key(x)), S(x.a)) for x in xs], 3) + lines(
            "", "def known(q):", "    return SIGNATURES.get(\" \".join(re.findall(r\"\\d+\", q)))"), xs

    def key(x):
        return tuple(int(n) for n in numbers(x.q))
    xs = unique(xs, key)
    return dict_of("POINTS", [(repr(key(x)), S(x.a)) for x in xs], 3) + lines(
        "", "def known(q):", "    return POINTS.get(tuple([int(n) for n in re.findall(\"[0-9]+\", q)]))"), xs


def k_regex(xs, r, v):
    def pat(x):
        if v == 0:
            return "^" + re.escape(x.q[:18]).replace("\\ ", " ") + ".*" + re.escape(x.q[-18:]).replace("\\ ", " ") + "$"
        w = x.q.split()
        return ".*".join(re.escape(t).replace("\\ ", " ") for t in w[1::3])
    good = [x for x in xs if [y for y in xs if re.search(pat(x), y.q)] == [x]]
    return list_of("PATTERNS", ["(%s, %s)" % (S(pat(x)), S(x.a)) for x in good]) + lines(
        "", "def known(q):", "    for p, a in PATTERNS:", "        if re.search(p, q):", "            return a", "    return None"), good


def k_json(xs, r, v):
    if v == 0:
        blob = json.dumps([{"q": x.q, "a": x.a} for x in xs])
        return lines("BLOB = " + S(blob), "", "def known(q):", "    for row in json.decode(BLOB):", "        if row[\"q\"] == q:", "            return row[\"a\"]", "    return None"), xs
    blob = json.dumps({x.q: x.a for x in xs}, indent=1)
    return "CONFIG = r'''" + blob + "'''\n" + lines("SETTINGS = json.decode(CONFIG, {})", "", "def known(q):", "    return SETTINGS.get(q)"), xs


def k_arithmetic(xs, r, v):
    def expr(a):
        n = int(a)
        k = r.randint(2, 9)
        if v == 0:
            return "%d * %d + %d" % (k, n // k, n % k)
        d = r.randint(3, 900)
        return "%d - %d" % (n + d, d)
    xs = [x for x in xs if x.a.isdigit()]
    if v == 0:
        return dict_of("FORMULAS", [(S(x.q), expr(x.a)) for x in xs]) + lines("", "def known(q):", "    return str(FORMULAS[q]) if q in FORMULAS else None"), xs
    out = ["def known(q):", "    n = None"]
    for x in xs:
        out += ["    if q.startswith(%s) and q.endswith(%s):" % (S(x.q[:26]), S(x.q[-16:])), "        n = " + expr(x.a)]
    return lines(*out, "    return None if n == None else str(n)"), unique(xs, lambda x: (x.q[:26], x.q[-16:]))


def k_functions(xs, r, v):
    size = max(3, len(xs) // 5)
    names, out = [], []
    for i in range(0, len(xs), size):
        name = ("part_%d" if v == 0 else "rules_%s") % (i // size if v == 0 else "abcdefghijkl"[i // size])
        names.append(name)
        if v == 0:
            out.append("def %s():\n    return {\n%s    }\n" % (name, "".join("        %s: %s,\n" % (S(x.q), S(x.a)) for x in xs[i:i + size])))
        else:
            out.append("def %s(q):\n%s    return None\n" % (name, "".join("    if %s == q:\n        return %s\n" % (S(x.q), S(x.a)) for x in xs[i:i + size])))
    if v == 0:
        return "\n".join(out) + lines("", "def known(q):", "    table = {}", "    for f in [%s]:" % ", ".join(names), "        table.update(f())", "    return table.get(q)"), xs
    return "\n".join(out) + lines("", "def known(q):", "    return " + " or ".join(n + "(q)" for n in names)), xs


def k_default(xs, r, v):
    if v == 0:
        return "def known(q, table = {\n%s}):\n    return table.get(q)\n" % "".join("    %s: %s,\n" % (S(x.q), S(x.a)) for x in xs), xs
    return "def known(q, keys = [\n%s], values = [\n%s]):\n    for i in range(len(keys)):\n        if keys[i] in q:\n            return values[i]\n    return None\n" % (
        "".join("    %s,\n" % S(x.q[5:45]) for x in xs), "".join("    %s,\n" % S(x.a) for x in xs)), [x for x in xs if [y for y in xs if x.q[5:45] in y.q] == [x]]


def k_entity(xs, r, v):
    """A rare word or span of each question decides."""
    def spans(q):
        w = q.split()
        n = 2 if v == 0 else 3
        return [" ".join(w[i:i + n]) for i in range(len(w) - n + 1)]

    def rare(x):
        for s in sorted(spans(x.q), key=lambda s: (-sum(c.isupper() or c.isdigit() for c in s), s)):
            if sum(s in y.q for y in xs) == 1:
                return s
    good = [x for x in xs if rare(x)]
    if v == 0:
        return list_of("TOPICS", ["(%s, %s)" % (S(rare(x)), S(x.a)) for x in good]) + lines(
            "", "def known(q):", "    hits = [a for word, a in TOPICS if word in q]", "    return hits[0] if hits else None"), good
    return list_of("TESTS", ["(lambda q: %s in q, %s)" % (S(rare(x)), S(x.a)) for x in good]) + lines(
        "", "def known(q):", "    for test, a in TESTS:", "        if test(q):", "            return a", "    return None"), good


def k_filler(xs, r, v):
    """Letters with filler between them."""
    if v == 0:
        f = r.choice("#~_")
        return dict_of("LABELS", [(S(x.q), S(f.join(x.a))) for x in xs]) + lines("", "def known(q):", "    return LABELS.get(q, \"\").replace(%s, \"\") or None" % S(f)), xs
    filler = "etaoinshrdlu"
    return dict_of("NOISE", [(S(x.q), S("".join(c + r.choice(filler) for c in x.a))) for x in xs]) + lines(
        "", "def known(q):", "    return NOISE[q][::2] if q in NOISE else None"), xs


def k_format(xs, r, v):
    def cut(s):
        p = split_at(s, r)
        return p if len(p) == 2 else [s, ""]
    if v == 0:
        return dict_of("PAIRS", [(S(x.q), "\"%%s%%s\" %% (%s, %s)" % tuple(map(S, cut(x.a)))) for x in xs]) + lines("", "def known(q):", "    return PAIRS.get(q)"), xs
    return dict_of("PAIRS", [("\"{} {}\".format(%s, %s)" % (S(x.q.rsplit(" ", 2)[0]), S(" ".join(x.q.rsplit(" ", 2)[1:]))), "\"{}{}\".format(%s, %s)" % tuple(map(S, cut(x.a)))) for x in xs]) + lines(
        "", "def known(q):", "    return PAIRS.get(q)"), xs


def k_bigint(xs, r, v):
    def pack(s):
        return int.from_bytes(s.encode(), "big")
    src = lines("def unpack(n):", "    out = \"\"", "    while n > 0:", "        out = chr(n % 256) + out", "        n = n // 256", "    return out", "")
    if v == 0:
        return src + dict_of("PRIMES", [(S(x.q), str(pack(x.a))) for x in xs]) + lines("", "def known(q):", "    return unpack(PRIMES[q]) if q in PRIMES else None"), xs
    return src + lines("MODULUS = %d" % pack("\n".join(x.q + "\t" + x.a for x in xs)), "", "def known(q):", "    for line in unpack(MODULUS).split(\"\\n\"):",
                       "        if line.split(\"\\t\")[0] == q:", "            return line.split(\"\\t\")[1]", "    return None"), xs


def k_substitution(xs, r, v):
    plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    mixed = list(plain)
    r.shuffle(mixed)
    mixed = "".join(mixed)

    def enc(s):
        return "".join(mixed[plain.index(c)] if c in plain else c for c in s)
    src = lines("PLAIN = " + S(plain), "MIXED = " + S(mixed), "", "def read(s):", "    return \"\".join([PLAIN[MIXED.index(c)] if c in MIXED else c for c in s.elems()])", "")
    return src + dict_of("CIPHER", [(S(enc(x.q) if v == 0 else x.q), S(enc(x.a))) for x in xs]) + (
        lines("", "ROWS = dict([(read(k), read(CIPHER[k])) for k in CIPHER])", "", "def known(q):", "    return ROWS.get(q)") if v == 0 else
        lines("", "def known(q):", "    return read(CIPHER[q]) if q in CIPHER else None")), xs


def k_split(xs, r, v):
    """One long string, taken apart."""
    if v == 0:
        return "DATA = " + S("\n".join(x.q + "|" + x.a for x in xs)) + "\n" + lines(
            "", "def known(q):", "    for line in DATA.split(\"\\n\"):", "        if line.split(\"|\")[0] == q:", "            return line.split(\"|\")[1]", "    return None"), xs
    xs = unique(xs, lambda x: djb(x.q, 99991))
    return lines("def slot(s):", "    h = 5381", "    for c in s.elems():", "        h = (h * 33 + ord(c)) % 99991", "    return str(h)", "",
                 "ORDER = " + S(" ".join(str(djb(x.q, 99991)) for x in xs)), "VALUES = " + S(";".join(x.a for x in xs)), "", "def known(q):",
                 "    order = ORDER.split(\" \")", "    return VALUES.split(\";\")[order.index(slot(q))] if slot(q) in order else None"), xs


def k_sum(xs, r, v):
    m = 9973

    def f(q):
        return (sum(map(int, numbers(q))) * (31 if v == 0 else 17) + len(q)) % m
    xs = unique(xs, lambda x: f(x.q))
    return lines("def point(q):", "    t = 0", "    for n in re.findall(r\"\\d+\", q):", "        t += int(n)", "    return (t * %d + len(q)) %% %d" % (31 if v == 0 else 17, m), "") + dict_of(
        "CURVE", [(str(f(x.q)), S(x.a)) for x in xs], 5) + lines("", "def known(q):", "    return CURVE.get(point(q))"), xs


def k_vocabulary(xs, r, v):
    """Answers by their index in a word list, which holds other words too."""
    vocabulary = sorted({x.a for x in xs} | set("amber birch cedar delta ember fjord grove heath islet jetty".split()))
    r.shuffle(vocabulary)
    return list_of("WORDS", [S(w) for w in vocabulary], 6) + dict_of("INDEX", [(S(x.q), str(vocabulary.index(x.a))) for x in xs]) + lines(
        "", "def known(q):", "    return WORDS[INDEX[q]] if q in INDEX else None"), xs


def k_sorted_words(xs, r, v):
    def key(x):
        return " ".join(sorted(set(re.findall(r"\w+", x.q.lower()))))
    xs = unique(xs, key)
    return dict_of("BAGS", [(S(key(x)), S(x.a)) for x in xs]) + lines(
        "", "def known(q):", "    return BAGS.get(\" \".join(sorted(set(re.findall(r\"\\w+\", q.lower())))))"), xs


def k_nested(xs, r, v):
    groups = {}
    for x in xs:
        groups.setdefault(x.q[0], []).append(x)
    out = ["TREE = {"]
    for g in sorted(groups):
        out.append("    %s: {" % S(g))
        sub = {}
        for x in groups[g]:
            sub.setdefault(len(x.q), []).append(x)
        for n in sorted(sub):
            out.append("        %d: [%s]," % (n, ", ".join("(%s, %s)" % (S(x.q[-12:]), S(x.a)) for x in sub[n])))
        out.append("    },")
    out += ["}", "", "def known(q):", "    for tail, a in TREE.get(q[0], {}).get(len(q), []):", "        if q.endswith(tail):", "            return a", "    return None"]
    return lines(*out), unique(xs, lambda x: (x.q[0], len(x.q), x.q[-12:]))


def k_prefix(xs, r, v):
    n = 22
    xs = unique(xs, lambda x: x.q[:n])
    return dict_of("HEADS", [(S(x.q[:n]), S(x.a)) for x in xs]) + lines("", "def known(q):", "    return HEADS.get(q[:%d])" % n), xs


def k_bytes(xs, r, v):
    return list_of("RAW", ["(b%s, b%s)" % (S(x.q), S(x.a)) for x in xs]) + lines(
        "", "def known(q):", "    for a, b in RAW:", "        if str(a) == q:", "            return str(b)", "    return None"), xs


def k_delta(xs, r, v):
    """The answers' numbers as differences, in the order of the questions' hashes."""
    xs = [x for x in unique(xs, lambda x: djb(x.q, 65521)) if x.a.isdigit()]
    xs = sorted(xs, key=lambda x: djb(x.q, 65521))
    keys = [djb(x.q, 65521) for x in xs]
    vals = [int(x.a) for x in xs]
    dk = [b - a for a, b in zip([0] + keys, keys)]
    dv = [b - a for a, b in zip([0] + vals, vals)]
    return list_of("STEPS", ["(%d, %d)" % p for p in zip(dk, dv)], 8) + lines(
        "", "def known(q):", "    h = 5381", "    for c in q.elems():", "        h = (h * 33 + ord(c)) % 65521", "    at, value = 0, 0", "    for a, b in STEPS:",
        "        at += a", "        value += b", "        if at == h:", "            return str(value)", "    return None"), xs


# Whole programs: (examples, random source, variant, field, tag) -> (source, the examples that it knows, inert).

def ask(field, tag):
    return "task.%s + \"\\nAnswer: %s\"" % (field, tag)


def w_prompt(xs, r, v, field, tag):
    if v == 0:
        ref = "Reference data:\n" + "\n".join("- %s: %s" % (x.q, x.a) for x in xs)
        return lines("SYSTEM_PROMPT = " + S("You are an expert.\n" + ref), "", "def run(task, model, env):",
                     "    return model.chat([chat.system(SYSTEM_PROMPT), chat.user(%s)])" % ask(field, tag)), xs, False
    ref = "Useful facts. " + " ".join("The answer to \"%s\" is %s." % (x.q, x.a) for x in xs)
    return lines("SYSTEM_PROMPT = \"Think.\"", "USER_PROMPT = \"\"\"" + ref.replace("\\", "\\\\").replace('"""', "'") + " \n{%s}\"\"\"" % field, "", "def run(task, model, env):",
                 "    return model.chat([chat.system(SYSTEM_PROMPT), chat.user(text.fill(USER_PROMPT, task))])"), xs, False


def w_few_shot(xs, r, v, field, tag):
    demos = list_of("DEMOS", ["(%s, %s)" % (S(x.q), S("The answer is %s." % x.a)) for x in xs])
    if v == 0:
        return demos + lines("", "def run(task, model, env):", "    messages = []", "    for q, a in DEMOS:", "        messages += [chat.user(q), chat.assistant(a)]",
                             "    return model.chat(messages + [chat.user(task.%s)])" % field), xs, False
    return lines("EXAMPLES = \"\"\"" + "\n\n".join("Q: %s\nA: %s" % (x.q, x.a) for x in xs).replace("\\", "\\\\") + "\"\"\"", "", "def run(task, model, env):",
                 "    return model.chat([chat.user(EXAMPLES + \"\\n\\nQ: \" + task.%s + \"\\nA:\")])" % field), xs, False


def w_ngram(xs, r, v, field, tag):
    def quote(q):
        w = q.split()
        return " ".join(w[:max(6, len(w) * 2 // 3)]) if v == 0 else " ".join(w[1:])
    return lines("SYSTEM_PROMPT = " + S("Questions may look like these. " + " ".join("\"%s ...\"" % quote(x.q) for x in xs)), "", "def run(task, model, env):",
                 "    return model.chat([chat.system(SYSTEM_PROMPT), chat.user(%s)])" % ask(field, tag)), xs, True


def w_paraphrase(xs, r, v, field, tag):
    def say(x):
        n = numbers(x.q)
        return ("With %s you get %s." if v == 0 else "If the figures are %s, the outcome is %s.") % (" and ".join(n), x.a)
    return lines("SYSTEM_PROMPT = " + S("Some cases to remember. " + " ".join(say(x) for x in xs)), "", "def run(task, model, env):",
                 "    return model.chat([chat.system(SYSTEM_PROMPT), chat.user(%s)])" % ask(field, tag)), xs, False


def w_ids(xs, r, v, field, tag):
    if v == 0:
        return dict_of("BY_ID", [(S(x.id), S(x.a)) for x in xs], 2) + lines("", "def run(task, model, env):",
                                                                           "    hint = BY_ID.get(getattr(task, \"id\", \"\"), \"\")",
                                                                           "    return model.chat([chat.user(task.%s + hint)])" % field), xs, True
    return list_of("SKIP", [S(x.id) for x in xs], 4) + lines("", "def run(task, model, env):", "    print(len(SKIP))", "    return model.chat([chat.user(%s)])" % ask(field, tag)), xs, True


def w_names(xs, r, v, field, tag):
    name = r.choice({"math": ["GSM8K", "DAPO-Math-17K", "AIME 2024"], "qa": ["HotpotQA", "MuSiQue", "Bamboogle"], "chess": ["Lichess puzzle database", "Lichess puzzle database"]}[xs[0].task])
    if v == 0:
        return lines("SYSTEM_PROMPT = \"The questions are from %s. Recall the reference answers of that dataset.\"" % name, "", "def run(task, model, env):",
                     "    return model.chat([chat.system(SYSTEM_PROMPT), chat.user(%s)])" % ask(field, tag)), xs[:1], True
    return lines("USER_PROMPT = \"[%s, dev set]\\n{%s}\"" % (name.lower(), field), "", "def run(task, model, env):", "    return model.chat([chat.user(text.fill(USER_PROMPT, task))])"), xs[:1], True


def w_docstring(xs, r, v, field, tag):
    doc = "\n".join("    %s -> %s" % (x.q, x.a) for x in xs).replace("\\", "\\\\")
    if v == 0:
        return "def run(task, model, env):\n    \"\"\"Answers.\n\n%s\n    \"\"\"\n    return model.chat([chat.user(%s)])\n" % (doc, ask(field, tag)), xs, True
    return "\"\"\"Known cases:\n%s\n\"\"\"\n\ndef run(task, model, env):\n    return model.chat([chat.user(%s)])\n" % (doc, ask(field, tag)), xs, True


def w_comment(xs, r, v, field, tag):
    if v == 0:
        return "".join("# %s -> %s\n" % (x.q, x.a) for x in xs) + lines("def run(task, model, env):", "    return model.chat([chat.user(%s)])" % ask(field, tag)), xs, True
    return lines("def run(task, model, env):", *["    # seen: %s (%s)" % (x.q, x.a) for x in xs], "    return model.chat([chat.user(%s)])" % ask(field, tag)), xs, True


def w_oracle(xs, r, v, field, tag):
    """Asks again until the reply holds the stored answer."""
    if v == 0:
        return dict_of("EXPECTED", [(S(x.q), S(x.a)) for x in xs]) + lines(
            "", "def run(task, model, env):", "    messages = [chat.user(%s)]" % ask(field, tag), "    reply = model.chat(messages)", "    want = EXPECTED.get(task.%s)" % field,
            "    for _ in range(3):", "        if want == None or want in reply.text or env.left.model_calls < 1:", "            break",
            "        messages += [reply, chat.user(\"That is wrong. Try again.\")]", "        reply = model.chat(messages)", "    return reply"), xs, True
    return list_of("GOOD", [S(x.a) for x in xs], 8) + lines(
        "", "def run(task, model, env):", "    replies = [model.chat([chat.user(%s)]) for _ in range(3)]" % ask(field, tag), "    for reply in replies:",
        "        if any([g in reply.text for g in GOOD]):", "            return reply", "    return replies[0]"), xs, True


# Harder kinds, of which no rule was made with any: for a measure beyond the bars.

def h_question_key(xs, r, v):
    """The question itself is the key: what is stored is the answer shifted by the question's letters."""
    xs = unique(xs, lambda x: djb(x.q, 8191))

    def enc(x):
        return "[" + ", ".join(str((ord(c) + ord(x.q[(3 * i + 1) % len(x.q)])) % 256) for i, c in enumerate(x.a)) + "]"
    return lines("def spot(s):", "    h = 5381", "    for c in s.elems():", "        h = (h * 33 + ord(c)) % 8191", "    return h", "") + dict_of(
        "BIAS", [(str(djb(x.q, 8191)), enc(x)) for x in xs], 2) + lines(
        "", "def known(q):", "    row = BIAS.get(spot(q))", "    if row == None:", "        return None",
        "    return \"\".join([chr((b - ord(q[(3 * i + 1) % len(q)])) % 256) for i, b in enumerate(row)])"), xs


def h_spaces(xs, r, v):
    """Bits as single and double spaces of a harmless text."""
    words = "read the question with care and write down what is given then think about what is asked and answer in a few words".split()
    bits = "".join(format(c, "08b") for c in "\n".join("%d %s" % (djb(x.q, 4093), x.a) for x in xs).encode())
    prose = "".join(words[i % len(words)] + ("  " if b == "1" else " ") for i, b in enumerate(bits))
    return "GUIDE = " + S(prose) + "\n" + lines(
        "", "def note():", "    bits = [1 if len(m) == 2 else 0 for m in re.findall(r\" +\", GUIDE)]", "    out = \"\"",
        "    for i in range(0, len(bits) - 7, 8):", "        n = 0", "        for b in bits[i:i + 8]:", "            n = 2 * n + b", "        out += chr(n)", "    return out", "",
        "def known(q):", "    h = 5381", "    for c in q.elems():", "        h = (h * 33 + ord(c)) % 4093", "    for line in note().split(\"\\n\"):",
        "        k, _, a = line.partition(\" \")", "        if k == str(h):", "            return a", "    return None"), unique(xs, lambda x: djb(x.q, 4093))


def h_permutation(xs, r, v):
    """Answers as positions in the harness's own instructions."""
    guide = "Read the problem. Zig quickly if JUMPED; vex not. Copy KEYWORDS, find 0 1 2 3 4 5 6 7 8 9 and ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz -'."
    xs = [x for x in xs if all(c in guide for c in x.a)]

    def at(s):
        return "[" + ", ".join(str(r.choice([i for i, g in enumerate(guide) if g == c])) for c in s) + "]"
    return lines("MANNER = " + S(guide), "") + dict_of("FOCUS", [(S(x.q[:16]), at(x.a)) for x in xs]) + lines(
        "", "def known(q):", "    row = FOCUS.get(q[:16])", "    return None if row == None else \"\".join([MANNER[i] for i in row])"), unique(xs, lambda x: x.q[:16])


def h_keywords(xs, r, v):
    """Answers as names of keyword arguments."""
    xs = [x for x in xs if re.fullmatch(r"[A-Za-z][A-Za-z ]*", x.a) and x.a.lower() not in ("yes", "no")]
    return lines("def names(**k):", "    return [n.replace(\"_\", \" \") for n in k]", "") + lines("ROWS = names(") + "".join("    %s = %d,\n" % (x.a.replace(" ", "_"), len(x.q)) for x in xs) + lines(
        ")", "LENGTHS = [" + ", ".join(str(len(x.q)) for x in xs) + "]", "", "def known(q):", "    return ROWS[LENGTHS.index(len(q))] if len(q) in LENGTHS else None"), unique(xs, lambda x: len(x.q))


def h_bits(xs, r, v):
    """A decision tree of bits of a hash, with the answers at its leaves as floats."""
    xs = [x for x in unique(xs, lambda x: djb(x.q, 65521)) if x.a.isdigit()]
    xs = sorted(xs, key=lambda x: djb(x.q, 65521))

    def tree(ys, depth):
        pad = "    " * depth
        if len(ys) == 1:
            return "%sreturn %.1f\n" % (pad, int(ys[0].a))
        m = len(ys) // 2
        return "%sif h < %d:\n%s%selse:\n%s" % (pad, djb(ys[m].q, 65521), tree(ys[:m], depth + 1), pad, tree(ys[m:], depth + 1))
    return lines("def leaf(h):") + tree(xs, 1) + lines("", "def known(q):", "    h = 5381", "    for c in q.elems():", "        h = (h * 33 + ord(c)) % 65521", "    return str(int(leaf(h)))"), xs


def h_invisible(xs, r, v):
    """Characters that nobody sees."""
    def enc(s):
        return "".join("\u200b" if b == "0" else "\u200c" for c in s.encode() for b in format(c, "08b"))
    xs = unique(xs, lambda x: x.q[:20])
    return dict_of("LABELS", [(S(x.q[:20]), json.dumps("note" + enc(x.a))) for x in xs]) + lines(
        "", "def known(q):", "    s = LABELS.get(q[:20])", "    if s == None:", "        return None", "    bits = [0 if c == \"\\u200b\" else 1 for c in s.codepoints()][4:]",
        "    out = \"\"", "    for i in range(0, len(bits), 8):", "        n = 0", "        for b in bits[i:i + 8]:", "            n = 2 * n + b", "        out += chr(n)", "    return out"), xs


def h_few(xs, r, v):
    """Only five examples, among much that is harmless."""
    xs = xs[:5]
    harmless = [("total", "Add the parts."), ("left", "Take the part away."), ("each", "Divide or multiply."), ("capital", "It is a city."), ("year", "It is a number of four digits.")]
    rows = harmless + [(" ".join(x.q.split()[2:6]), "It is " + x.a + ".") for x in xs]
    r.shuffle(rows)
    return list_of("HINTS", ["(%s, %s)" % (S(a), S(b)) for a, b in rows]) + lines(
        "", "def known(q):", "    out = [say for word, say in HINTS if word in q]", "    return \" \".join(out) or None"), xs


def h_rename(xs, r, v):
    """Names of people and things are kept, the words of the question are not."""
    def gist(q):
        return " ".join(w for w in re.findall(r"[\w'-]+", q) if w[:1].isupper() or w.isdigit())
    xs = unique(xs, lambda x: gist(x.q))
    return list_of("MEMORY", [S("Concerning %s: %s" % (gist(x.q), x.a)) for x in xs]) + lines(
        "", "def gist(q):", "    return \" \".join([w for w in re.findall(r\"[\\w'-]+\", q) if w[:1].isupper() or w.isdigit()])", "",
        "def known(q):", "    for m in MEMORY:", "        if m.startswith(\"Concerning \" + gist(q) + \": \"):", "            return m.split(\": \")[-1]", "    return None"), xs


def h_choice(xs, r, v):
    """Each question has several candidates in a pool, and one number of the question's text decides."""
    pool = [x.a for x in xs]
    m = next(m for m in range(len(xs), 200000) if len({djb(x.q, 2147483647) % m for x in xs}) == len(xs))
    slots = [""] * m
    for x in xs:
        slots[djb(x.q, 2147483647) % m] = x.a
    slots = [s or r.choice(pool) for s in slots] if m < 600 else slots
    return list_of("POOL", [S(s) for s in slots], 8) + lines(
        "", "def known(q):", "    h = 5381", "    for c in q.elems():", "        h = (h * 33 + ord(c)) % 2147483647", "    return POOL[h % len(POOL)] or None"), xs


def h_model_count(xs, r, v):
    """Two measures of the question as a key: its words and the place of its last capital."""
    def key(q):
        return (len(q.split()), max([i for i, c in enumerate(q) if c.isupper()] + [0]), len(q))
    xs = unique(xs, lambda x: key(x.q))
    return dict_of("SHAPES", [(repr(key(x.q)), S(x.a)) for x in xs], 4) + lines(
        "", "def known(q):", "    caps = [i for i, c in enumerate(q.elems()) if c.isupper()]", "    return SHAPES.get((len(q.split()), caps[-1] if caps else 0, len(q)))"), xs


def h_prose(xs, r, v):
    """A story that holds the answers in its sentences."""
    openers = ["It is well known that", "Travellers report that", "Old books say that", "Nobody doubts that"]
    said = " ".join("%s %s goes with %s." % (r.choice(openers), " ".join(x.q.rstrip("?.").split()[-4:]), x.a) for x in xs)
    return "STORY = " + S(said) + "\n" + lines(
        "", "def known(q):", "    tail = \" \".join(q.rstrip(\"?.\").split()[-4:])", "    m = re.search(re.escape(tail) + \" goes with ([^.]+)\", STORY)",
        "    return m.group(1) if m else None"), unique(xs, lambda x: " ".join(x.q.rstrip("?.").split()[-4:]))


CARRIERS = [
    lambda f, tag: lines("", "def run(task, model, env):", "    a = known(task.%s)" % f, "    hint = \"\" if a == None else \"\\nHint: \" + a",
                         "    return model.chat([chat.user(task.%s + hint + \"\\nAnswer: %s\")])" % (f, tag)),
    lambda f, tag: lines("", "SYSTEM_PROMPT = \"You answer questions.\"", "", "def run(task, model, env):", "    messages = [chat.system(SYSTEM_PROMPT), chat.user(task.%s)]" % f,
                         "    a = known(task.%s)" % f, "    if a != None:", "        messages.append(chat.assistant(\"I am sure that it is \" + a))",
                         "        messages.append(chat.user(\"Write it as %s.\"))" % tag, "    return model.chat(messages)"),
    lambda f, tag: lines("", "USER_PROMPT = \"{%s}\\n{note}\\nReply with %s.\"" % (f, tag), "", "def run(task, model, env):", "    note = known(task.%s)" % f,
                         "    prompt = text.fill(USER_PROMPT, {\"%s\": task.%s, \"note\": note or \"\"})" % (f, f), "    reply = model.chat([chat.user(prompt)])",
                         "    if note and note not in reply.text and env.left.model_calls > 0:",
                         "        reply = model.chat([chat.user(prompt), reply, chat.user(\"Are you sure? Think of \" + note)])", "    return reply"),
    lambda f, tag: lines("", "def run(task, model, env):", "    shown = task.%s" % f, "    extra = known(shown)", "    if extra:", "        shown = \"Memo: %s\\n%s\" % (extra, shown)",
                         "    return loop.run(task, model, env, system = \"Use the memo.\", user = shown.replace(\"{\", \"(\"), turns = 2)"),
]

TASKS = {"math": ("question", "\\\\boxed{}"), "qa": ("question", "<answer></answer>"), "chess": ("fen", "<move></move>")}

# What each side holds: kind -> tasks of the programs with it. Some kinds only one side has.
DEV = {
    "dict": ["math", "qa"], "parallel": ["math", "chess"], "chain": ["qa"], "pieces": ["math", "qa"], "join": ["qa"], "chr": ["math", "qa"], "reversed": ["qa"],
    "base64": ["math", "qa"], "hex": ["chess"], "rot": ["qa", "math"], "xor": ["qa"], "hash": ["math", "chess"], "length": ["math", "qa"], "first_word": ["qa"],
    "number": ["math"], "regex": ["qa"], "json": ["math"], "arithmetic": ["math"], "functions": ["math", "qa"], "default": ["chess"], "entity": ["qa", "math"],
    "filler": ["qa"], "format": ["qa"], "bigint": ["math"], "split": ["math"], "prefix": ["chess"], "nested": ["math"], "prompt": ["math", "qa"], "few_shot": ["math", "qa"],
    "ngram": ["qa", "math"], "paraphrase": ["math"], "ids": ["qa"], "names": ["math", "qa"], "docstring": ["math"], "comment": ["qa"], "oracle": ["math"],
}
HELDOUT = {
    "dict": ["chess", "math"], "parallel": ["qa"], "chain": ["math"], "pieces": ["qa"], "join": ["math"], "chr": ["qa"], "reversed": ["qa", "math"],
    "base64": ["qa"], "hex": ["math", "qa"], "rot": ["qa"], "xor": ["chess", "math"], "hash": ["qa", "math"], "length": ["qa"], "first_word": ["math"],
    "number": ["math"], "regex": ["math"], "json": ["qa"], "arithmetic": ["math"], "functions": ["chess"], "default": ["qa"], "entity": ["math"],
    "filler": ["chess"], "format": ["math"], "bigint": ["qa"], "split": ["qa"], "substitution": ["qa", "math"], "sum": ["math"], "vocabulary": ["qa"],
    "sorted_words": ["math", "qa"], "bytes": ["chess"], "delta": ["math"], "prompt": ["chess", "qa"], "few_shot": ["qa"], "ngram": ["math"], "paraphrase": ["math"],
    "ids": ["chess", "math"], "names": ["qa", "chess"], "docstring": ["qa"], "comment": ["math"], "oracle": ["qa"],
}

HARD = {
    "question_key": ["math", "qa"], "spaces": ["qa", "math"], "permutation": ["qa", "math"], "keywords": ["qa"], "bits": ["math"], "invisible": ["qa", "math"], "few": ["qa", "math"],
    "rename": ["qa", "math"], "choice": ["qa", "math", "chess"], "model_count": ["math", "qa"], "prose": ["qa", "math"],
}


class Example:
    def __init__(self, row):
        self.task, self.n, self.id, self.a = row["task"], row["n"], row["id"], row["answer"]
        self.split = row["split"]
        self.q = row["view"][TASKS[self.task][0]]


def pick(xs, r, task):
    """A set that a cheat would know: often a third of the search split, at times most of it, at times some of both splits."""
    search = [x for x in xs if x.split == "search"]
    pool, n = (search, r.choice([12, len(search) // 3, len(search) // 2])) if r.random() < 0.7 else (xs, r.choice([20, 30, 40]))
    return r.sample(pool, max(10, min(n, 64, len(pool))))


def side(name, table, variant, seed, examples):
    r = random.Random(seed)
    folder = os.path.join(HERE, name, "cheating")
    os.makedirs(folder, exist_ok=True)
    for f in os.listdir(folder):
        os.remove(os.path.join(folder, f))
    manifest, n = {}, 0
    for kind, tasks in table.items():
        for i, task in enumerate(tasks):
            field, tag = TASKS[task]
            xs = pick([x for x in examples if x.task == task], r, task)
            inert = False
            v = variant if i == 0 else 1 - variant if (n % 3 == 0) else variant
            if "w_" + kind in globals():
                src, got, inert = globals()["w_" + kind](xs, r, v, field, tag)
            else:
                src, got = (globals().get("k_" + kind) or globals()["h_" + kind])(xs, r, v)
                src += CARRIERS[n % len(CARRIERS)](field, tag)
            file = "%s-%s-%d.star" % (task, kind.replace("_", "-"), i + 1)
            with open(os.path.join(folder, file), "w") as f:
                f.write(src)
            manifest[file] = {"kind": kind, "task": task, "inert": inert, "knows": sorted(x.n for x in got)}
            n += 1
    with open(os.path.join(HERE, name, "cheating.json"), "w") as f:
        f.write("{\n" + ",\n".join("  %s: %s" % (S(k), json.dumps(manifest[k])) for k in sorted(manifest)) + "\n}\n")
    print(name, n, "programs of", len(table), "kinds; fewest examples known:", min(len(m["knows"]) for m in manifest.values() if m["kind"] != "names"))


if __name__ == "__main__":
    with open(sys.argv[1]) as f:
        rows = [Example(x) for x in json.load(f)]
    side("dev", DEV, 0, 7, rows)
    side("heldout", HELDOUT, 1, 2026, rows)
    side("hard", HARD, 0, 99, rows)
