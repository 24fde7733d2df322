"""Writes python_re.json: what CPython's re answers to the cases below. Run it by hand: python3 python_re.py > python_re.json

Positions are written as byte offsets in UTF-8, as Starlark counts them.
"""
import json
import re
import sys

PATTERNS = [
    "a", "abc", "a|b", "a|ab", "(a|ab)(c|bcd)", "(a)|(b)", "a*", "a+", "a?", "a*?", "a+?", "a??b", "x*", "|a", "a|", "",
    "a{2}", "a{2,}", "a{,2}", "a{1,2}", "a{1,2}?", "a{", "a{,", "a{x}", "a{1", "{", "}", "{}", "a{,}b", "]", "a]",
    r"\d", r"\d+", r"\D+", r"\w+", r"\W+", r"\s+", r"\S+", r"[\w.]+", r"[^\w]+", r"[\W\d]+", r"[^\S\n]+", r"[\s\S]+", r"[\D]+",
    r"\bfoo\b", r"\b", r"\B", r"o\b", r"\Bo", r"^", r"$", r"^a", r"a$", r"^$", r"\Aa", r"a\Z", r"$\n", r"a$\n?", r"(a$)", r"\n$", r"\s*$",
    ".", ".+", ".*", "a.c", "(?s).+", "(?m)^.", "(?m).$", "(?m)^", "(?m)$", "(?im)^a", "(?i)ABC", "(?i:A)b", "a(?i:B)c", "(?i)a(?-i:B)c",
    "(?s:.)a", "(?a)\\w+", "(?i)[^a]+", "(?i)é", "(?i)straße",
    "[abc]", "[^abc]", "[a-c]+", "[]]", "[^]]", "[]a]+", "[a-]", "[-a]", "[a^]", "[.]", r"[\]]", r"[\d-]+", r"[a\-z]+", r"[\b]", r"[\n\t]+", "[[]", "[a-z&&b]",
    "(a)(b)?", "(a)?b", "(?P<x>a)(?P<y>b)?", "(?:a|b)+", "((a)(b))", "(a*)*", "(a|b)*", "(a|b)*?c", "((a)|b)*", "(?:(a)|b)*", "(a)+", "(ab?)+",
    "(?#comment)a", "a(?#c)*", r"\x61", r"\u00e9", r"\U0001F600", r"\141", r"\0", r"\a\f\v", r"\.", r"\/", r"\-", r"\ ", r"\é",
    r"<answer>(.*?)</answer>", r"(?s)<answer>(.*?)</answer>", r"(\w+)=(\w+)", r"([^,]*),?", r"\\boxed\{([^}]*)\}", r"\\boxed{([^}]*)}", r"-?\d+(?:\.\d+)?",
    r"(?P<year>\d{4})-(?P<month>\d\d)", r"[+-]?\d[\d,]*", "é", "[é-ü]+", "日本", "[一-龥]+", "😀", r"\$(\d+)",
    # errors
    "(", ")", "a)", "(a", "[", "[a", "*", "+a", "a**", "a+*", "a{2}{3}", "|*", "(*)", r"a\\"[:-1], r"\q", r"\z", r"\p{L}", r"\C", r"\Q", "(?P<1a>b)", "(?P<a>b)(?P<a>c)", "(?P<a", "(?z)a",
    "[b-a]", r"[\w-a]", r"[a-\d]", "a(?i)b", "a{3,2}", "^*", "$*", r"\b+", r"\xZ1", r"\u12", "(?", "(?:", "(?P>a)", "(?i", r"[\q]", r"(?#abc",
]
TEXTS = [
    "", "a", "b", "ab", "abc", "aaa", "aab", "abcd", "foo bar", "a\n", "a\nb\n", "\n", "ABC abc", "a1 b22, c_3", "x=1, y=2", "<answer>4</answer> <answer>5\n</answer>",
    r"so \boxed{42} and \boxed{7}", "2024-05 and 1999-12", "-3.5 + 1,234 = $99", "é ü É", "日本語 😀 é", "a{2} a] [b] {}", "tab\tx\x0b y \xa0z", "straße STRASSE", "a a\u2028b \u0663", "]a-^[\\.b\b\x00/",
]


def offsets(text):
    table, n = [], 0
    for c in text:
        table.append(n)
        n += len(c.encode())
    return table + [n]


def spans(m, table):
    if m is None:
        return None
    return [[table[i] if i >= 0 else -1 for i in m.span(g)] for g in range(m.re.groups + 1)]


def listed(x):
    return [list(i) if isinstance(i, tuple) else i for i in x]


def main():
    cases = []
    for p in PATTERNS:
        try:
            c = re.compile(p)
        except re.error as e:
            cases.append({"pattern": p, "error": str(e)})
            continue
        texts = []
        for t in TEXTS:
            table = offsets(t)
            if not c.search(t) and len(t) > 3 or len(texts) == 9:  # little to learn from it
                continue
            texts.append({
                "text": t,
                "search": spans(c.search(t), table),
                "match": spans(c.match(t), table),
                "fullmatch": spans(c.fullmatch(t), table),
                "finditer": [spans(m, table) for m in c.finditer(t)],
                "findall": listed(c.findall(t)),
                "split": c.split(t),
                "split1": c.split(t, maxsplit=1),
                "sub": c.sub("<\\g<0>>", t),
                "sub1": c.sub("", t, count=1),
            })
        cases.append({"pattern": p, "groups": c.groups, "groupindex": dict(c.groupindex), "texts": texts})
    escapes = [[t, re.escape(t)] for t in TEXTS]
    templates = []
    for p, repl in [
        ("(a)(b)?", r"[\1|\2]"), ("(?P<x>a)", r"\g<x>\g<x>"), ("a", r"\\n"), ("a", r"\n\t"), ("(a)", r"\g<1>0"), ("a", r"\0"), ("a", r"\101"), ("a", r"\-"), ("a", "$1"),
        ("a", r"\1"), ("a", r"\g<x>"), ("a", r"\g<"), ("a", r"\q"), ("a", "\\"), ("(a)", r"\12"), ("a", r"\g<0>x"), ("a", r"\gx"), ("a", r"\07"),
    ]:
        try:
            templates.append([p, repl, re.sub(p, repl, "xaby")])
        except (re.error, IndexError):
            templates.append([p, repl, None])
    json.dump({"python": sys.version.split()[0], "cases": cases, "escape": escapes, "templates": templates}, sys.stdout, ensure_ascii=False, separators=(",", ":"))
    print()


main()
