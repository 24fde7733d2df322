package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const pythonHead = `"""A harness."""
import json, re
from whale import chat

SYSTEM_PROMPT = "You answer questions. Reply with <answer></answer>."
`

const pythonRun = `

def run(task, model, env):
    hint = known(task.question)
    return model.chat([chat.user(f"{task.question}\n{hint}")])
`

func TestForeignFound(t *testing.T) {
	c := factCorpus(t)
	q, a := facts[0][0], facts[0][1]
	python := func(body string) string { return pythonHead + body + pythonRun }
	dict := "T = {\n    'Salamander': 'Port Ellinor',\n    'Grauwald': 'Marit Oskarsen',\n}\ndef known(q):\n    return T.get(q)\n"
	for name, test := range map[string]struct{ rule, file, src string }{
		"a question":              {RuleQuote, "x.py", python("X = '" + q + "'\n")},
		"a question side by side": {RuleQuote, "x.py", python("X = ('Which harbour did the frigate '\n     'Salamander leave before ' \"the storm of Vesterhav?\")\n")},
		"a question added":        {RuleQuote, "x.mjs", "const X = 'Which harbour did the frigate ' + `Salamander leave before ` + \"the storm of Vesterhav?\";\n"},
		"a question in a comment": {RuleQuote, "x.py", python("# " + q + "\n")},
		"a question in base64":    {RuleQuote, "x.js", "const X = atob('V2hpY2ggaGFyYm91ciBkaWQgdGhlIGZyaWdhdGUgU2FsYW1hbmRlciBsZWF2ZSBiZWZvcmUgdGhlIHN0b3JtIG9mIFZlc3Rlcmhhdj8=')\n"},
		"an id":                   {RuleID, "x.py", python("X = {'nq-70100': 1}\n")},
		"a dataset":               {RuleName, "x.mjs", "const P = `Questions of GSM8K`\n"},
		"a table":                 {RulePairs, "x.py", python(dict)},
		"a table of JavaScript":   {RulePairs, "x.mjs", "const T = {\n  Salamander: 'Port Ellinor',\n  Grauwald: `Marit Oskarsen`,\n};\n"},
		"answers":                 {RuleAnswer, "x.js", "const T = ['Port Ellinor', 'Marit Oskarsen', 'Dorothea Blix', 'Yusuf Hallam']"},
		"an answer by join":       {RuleSpelled, "x.py", python("X = ''.join(['Port El', 'lin', 'or'])\n")},
		"an answer by chr":        {RuleSpelled, "x.py", python("X = " + strings.Join(chrs(a, "chr(%d)"), " + ") + "\n")},
		"an answer by codes":      {RuleSpelled, "x.mjs", "const X = String.fromCharCode(" + codesOf(a) + ")\n"},
		"an answer by code lists": {RuleSpelled, "x.py", python("X = bytes([" + codesOf(a) + "]).decode()\n")},
		"an answer added":         {RuleSpelled, "x.mjs", "const X = 'Port Ell' + 'inor'\n"},
		"an answer by f-string":   {RuleSpelled, "x.py", python("X = 'Port El' f\"{'lin'}or\"\n")},
		"an escaped answer":       {RulePairs, "x.py", python("X = {'\\x53alamander': 'Port \\u0045llinor', 'Grauwald': 'Marit \\117skarsen'}\n")},
		"a question by equality":  {RuleBranch, "x.py", python("def known(q):\n    if q == 1: pass\ndef run(task, model, env):\n    if task.question == 'Who composed the overture that opened the Theatre of Grauwald?':\n        return 1\n")},
		"a question by prefix":    {RuleBranch, "x.mjs", "const q = task.question\nif (q.startsWith('Who composed the overture that')) { hint = 1 }\n"},
		"a question by length":    {RuleBranch, "x.py", python("def run(task, model, env):\n    if len(task.question) == 77:\n        return 1\n")},
		"answers by a table":      {RuleTable, "x.py", python("T = {'Which': 'Port Ellinor', 'Who': 'Marit Oskarsen', 'In': 'the Tresk valley'}\ndef run(task, model, env):\n    q = task.question\n    print(T[q.split()[0]])\n")},
		"answers by a hash":       {RuleHash, "x.py", python("T = {8211: 'Port Ellinor', 3377: 'Marit Oskarsen'}\ndef run(task, model, env):\n    print(T.get(zlib.crc32(task.question.encode())))\n")},
		"packed text":             {RuleOpaque, "x.py", python("X = 'qk9Zp3LxT7vB2mWn8RcY5dHs1JfG6tKuA4eQ0oPiXz9Vb3Nc7Mq2Wl5Er8Ty1Uk6'\n")},
	} {
		t.Run(name, func(t *testing.T) {
			if got := rulesOf(t, c, test.file, test.src); !slices.Contains(got, test.rule) {
				t.Errorf("got %v, want %s in\n%s", got, test.rule, test.src)
			}
		})
	}
}

func chrs(s, format string) []string {
	var out []string
	for _, r := range s {
		out = append(out, fmt.Sprintf(format, r))
	}
	return out
}

func TestForeignNotFound(t *testing.T) {
	numbers, _ := sumCorpus(t)
	for name, test := range map[string]struct{ file, src string }{
		"a loop of Python": {"x.py", pythonHead + `
import math
LIMITS = {"first": 512, "second": 1024}
WORDS = {"thirteen": 13, "fourteen": 14}
BOX = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")

def last_number(text: str) -> str | None:
    """Gives the last number, "3.5" say, or None."""
    found = re.findall(r"-?\d+(?:\.\d+)?", text)
    return found[-1] if found else None

def run(task, model, env):
    q = task.question
    if "how many" in q.lower() or len(q) > 200:
        q += "\nCount carefully."
    messages = [chat.system(SYSTEM_PROMPT), chat.user(q)]
    for turn in range(3):
        reply = model.chat(messages, max_tokens=LIMITS["first"])
        if BOX.search(reply.text):
            return reply
        messages += [reply, chat.user(f"Attempt {turn + 1}: give the answer as \\boxed{{...}}, for example 12 * 4 = 48.")]
    return reply
`},
		"a loop of JavaScript": {"x.mjs", `#!/usr/bin/env node
// Asks again until the box is there.
import { createInterface } from 'node:readline';
const SYSTEM_PROMPT = ` + "`You solve ${'short'} problems.\nThink / then answer.`" + `;
const lines = createInterface({ input: process.stdin });
let id = 0, half = 10 / 2;
const box = /\\boxed\{([^{}]*)\}/g;
function say(message) { process.stdout.write(JSON.stringify(message) + '\n'); }
lines.on('line', line => {
  const m = JSON.parse(line);
  if (m.type === 'start') {
    const q = m.task.question.trim();
    say({ type: 'request', id: ++id, op: 'chat', messages: [{ role: 'system', content: SYSTEM_PROMPT }, { role: 'user', content: q }] });
  } else if (m.type === 'response') {
    say({ type: 'answer', reply: m.reply.ref });
  }
});
`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []*Corpus{factCorpus(t), numbers} {
				found, err := c.Audit(test.file, []byte(test.src))
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range found {
					t.Errorf("got %+v", f)
				}
			}
		})
	}
}

func TestScan(t *testing.T) {
	for _, test := range []struct {
		language language
		src      string
		want     []string // strings and numbers
	}{
		{python, `x = r"a\d" + b'c' + u"\u00e9" + f"p{q}r{{s}}"`, []string{`a\d`, "c", "é", "p\uFDD0r{s}"}},
		{python, "x = '''a\n'b' \"c\"'''; y = \"d\\\"e\"; z = 'f", []string{"a\n'b' \"c\"", `d"e`, "f"}},
		{python, `x = 1_000 + 0xff + 1.5e3 # "no"`, []string{"1000", "255", "1.5e3"}},
		{python, `x = "\x41\101\U0001F600\q"`, []string{"AA😀q"}},
		{javascript, "x = `a${b + `c`}d` + 'e' // 'no'", []string{"a\uFDD0d", "e"}},
		{javascript, `x = a / b / "c"; y = /d"[/]e/g; /* "no" */ z = "\u{1F600}"`, []string{"c", `d"[/]e`, "😀"}},
		{javascript, "x = 10n + 0b101", []string{"10", "5"}},
	} {
		s, err := scan(test.language, []byte(test.src))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range s.out {
			if x.kind == lexString || x.kind == lexNumber {
				got = append(got, x.text)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.src, got, test.want)
		}
	}
}
