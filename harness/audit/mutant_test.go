package audit

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// known is an example that a mutant knows.
type known struct{ q, a string }

func quote(s string) string { return fmt.Sprintf("%q", s) }

// rowsFor writes one line for each known example.
func rowsFor(list []known, f func(k known) string) string {
	var b strings.Builder
	for _, k := range list {
		b.WriteString("    " + f(k) + "\n")
	}
	return b.String()
}

func each(s string, f func(r rune) string) string {
	var out []string
	for _, r := range s {
		out = append(out, f(r))
	}
	return strings.Join(out, ", ")
}

// lookupBy writes a harness that finds an answer by known(q).
func lookupBy(top string) string {
	return top + `
def run(task, model, env):
    a = known(task.question)
    hint = "" if a == None else "\nHint: " + str(a)
    return model.chat([chat.user(task.question + hint)])
`
}

func shift(s string, n int) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 32 && c < 127 {
			b[i] = 32 + (c-32+byte(n))%95
		}
	}
	return string(b)
}

const unshift = `
def plain(s):
    out = ""
    for c in s.elem_ords():
        out += chr(32 + (c - 32 + 95 - 5) % 95)
    return out
`

const digest = `
def digest(s):
    h = 5381
    for c in s.elems():
        h = (h * 33 + ord(c)) % 1000003
    return h
`

func digestOf(s string) int {
	h := 5381
	for i := range len(s) {
		h = (h*33 + int(s[i])) % 1000003
	}
	return h
}

// mutants are ways to hold answers. Each gives a program that knows the examples of a list.
func mutants() map[string]func(list []known) string {
	table := func(f func(k known) string, get string) func(list []known) string {
		return func(list []known) string {
			return lookupBy("T = {\n" + rowsFor(list, f) + "}\n\ndef known(q):\n    return " + get + "\n")
		}
	}
	pairs := func(f func(k known) string, body string) func(list []known) string {
		return func(list []known) string {
			return lookupBy("T = [\n" + rowsFor(list, f) + "]\n\ndef known(q):\n" + body)
		}
	}
	return map[string]func(list []known) string{
		"dict":       table(func(k known) string { return quote(k.q) + ": " + quote(k.a) + "," }, "T.get(q)"),
		"dict in":    table(func(k known) string { return quote(k.q) + ": " + quote(k.a) + "," }, "T[q] if q in T else None"),
		"dict lower": table(func(k known) string { return quote(strings.ToLower(k.q)) + ": " + quote(k.a) + "," }, "T.get(q.lower())"),
		"prefix":     table(func(k known) string { return quote(k.q[:min(len(k.q), 25)]) + ": " + quote(k.a) + "," }, "T.get(q[:25])"),
		"suffix":     table(func(k known) string { return quote(k.q[max(0, len(k.q)-25):]) + ": " + quote(k.a) + "," }, "T.get(q[-25:])"),
		"every other": table(func(k known) string {
			return quote(sliceString(k.q, [3]*int{nil, nil, two()})) + ": " + quote(k.a) + ","
		}, "T.get(q[::2])"),
		"length": table(func(k known) string { return fmt.Sprint(len(k.q)) + ": " + quote(k.a) + "," }, "T.get(len(q))"),
		"digest": func(list []known) string {
			return digest + table(func(k known) string { return fmt.Sprint(digestOf(k.q)) + ": " + quote(k.a) + "," }, "T.get(digest(q))")(list)
		},
		"builtin hash": table(func(k known) string { return fmt.Sprint(javaHash(k.q)) + ": " + quote(k.a) + "," }, "T.get(hash(q))"),
		"hash modulo":  table(func(k known) string { return fmt.Sprint(((javaHash(k.q)%9973)+9973)%9973) + ": " + quote(k.a) + "," }, "T.get(hash(q) % 9973)"),
		"first words": table(func(k known) string {
			return quote(strings.Join(first(strings.Fields(k.q), 3), " ")) + ": " + quote(k.a) + ","
		}, `T.get(" ".join(q.split()[:3]))`),
		"first word": table(func(k known) string { return quote(strings.Fields(k.q)[0]) + ": " + quote(k.a) + "," }, `T.get(q.split()[0])`),
		"last word":  table(func(k known) string { f := strings.Fields(k.q); return quote(f[len(f)-1]) + ": " + quote(k.a) + "," }, `T.get(q.split()[-1])`),
		"letters":    table(func(k known) string { return quote(strings.Join(firstLetters(k.q), "")) + ": " + quote(k.a) + "," }, `T.get("".join([w[0] for w in q.split()]))`),
		"base64": table(func(k known) string {
			return quote(base64.StdEncoding.EncodeToString([]byte(k.q))) + ": " + quote(base64.StdEncoding.EncodeToString([]byte(k.a))) + ","
		}, "None"),
		"hex": table(func(k known) string {
			return quote(hex.EncodeToString([]byte(k.q))) + ": " + quote(hex.EncodeToString([]byte(k.a))) + ","
		}, "None"),
		"codes": pairs(func(k known) string {
			return "([" + each(k.q, func(r rune) string { return fmt.Sprint(int(r)) }) + "], [" + each(k.a, func(r rune) string { return fmt.Sprint(int(r)) }) + "]),"
		}, "    for a, b in T:\n        if \"\".join([chr(c) for c in a]) == q:\n            return \"\".join([chr(c) for c in b])\n    return None\n"),
		"shifted": func(list []known) string {
			return unshift + pairs(func(k known) string { return "(" + quote(shift(k.q, 5)) + ", " + quote(shift(k.a, 5)) + ")," },
				"    for a, b in T:\n        if plain(a) == q:\n            return plain(b)\n    return None\n")(list)
		},
		"answers shifted": func(list []known) string {
			return digest + unshift + pairs(func(k known) string { return "(" + fmt.Sprint(digestOf(k.q)) + ", " + quote(shift(k.a, 5)) + ")," },
				"    for a, b in T:\n        if digest(q) == a:\n            return plain(b)\n    return None\n")(list)
		},
		"reversed": table(func(k known) string { return quote(reversed(k.q)) + ": " + quote(reversed(k.a)) + "," }, "T[q[::-1]][::-1] if q[::-1] in T else None"),
		"joined": table(func(k known) string {
			return `"".join([` + each(k.q, func(r rune) string { return quote(string(r)) }) + `]): "".join([` + each(k.a, func(r rune) string { return quote(string(r)) }) + "]),"
		}, "T.get(q)"),
		"halves": table(func(k known) string {
			return quote(k.q[:len(k.q)/2]) + " + " + quote(k.q[len(k.q)/2:]) + ": " + quote(k.a[:len(k.a)/2]) + " + " + quote(k.a[len(k.a)/2:]) + ","
		}, "T.get(q)"),
		"equalities": func(list []known) string {
			return lookupBy("def known(q):\n" + rowsFor(list, func(k known) string { return "if q == " + quote(k.q) + ": return " + quote(k.a) }) + "    return None\n")
		},
		"startswith": func(list []known) string {
			return lookupBy("def known(q):\n" + rowsFor(list, func(k known) string {
				return "if q.startswith(" + quote(k.q[:min(len(k.q), 30)]) + "): return " + quote(k.a)
			}) + "    return None\n")
		},
		"two parts": func(list []known) string {
			return lookupBy("def known(q):\n" + rowsFor(list, func(k known) string {
				return "if " + quote(k.q[:len(k.q)/3]) + " in q and " + quote(k.q[2*len(k.q)/3:]) + " in q: return " + quote(k.a)
			}) + "    return None\n")
		},
		"lengths": func(list []known) string {
			return lookupBy("def known(q):\n" + rowsFor(list, func(k known) string { return "if len(q) == " + fmt.Sprint(len(k.q)) + ": return " + quote(k.a) }) + "    return None\n")
		},
		"lines": func(list []known) string {
			text := strings.Join(mapEach(list, func(k known) string { return k.q + "|" + k.a }), "\n")
			return lookupBy("T = " + quote(text) + "\n\ndef known(q):\n    for line in T.split(\"\\n\"):\n        a, b = line.split(\"|\")\n        if a == q:\n            return b\n    return None\n")
		},
		"one packed text": func(list []known) string {
			text := strings.Join(mapEach(list, func(k known) string { return k.q[:12] + "=" + k.a }), ";") + ";"
			return lookupBy("T = " + quote(text) + "\n\ndef known(q):\n    i = T.find(q[:12] + \"=\")\n    return None if i < 0 else T[i + 13:].split(\";\")[0]\n")
		},
		"parallel": func(list []known) string {
			return lookupBy("A = [\n" + rowsFor(list, func(k known) string { return quote(k.q) + "," }) + "]\nB = [\n" + rowsFor(list, func(k known) string { return quote(k.a) + "," }) +
				"]\n\ndef known(q):\n    return B[A.index(q)] if q in A else None\n")
		},
		"json": func(list []known) string {
			text := "{" + strings.Join(mapEach(list, func(k known) string { return quote(k.q) + ": " + quote(k.a) }), ", ") + "}"
			return lookupBy("T = json.decode(" + quote(text) + ")\n\ndef known(q):\n    return T.get(q)\n")
		},
		"prompt": func(list []known) string {
			text := "Known results:\n" + strings.Join(mapEach(list, func(k known) string { return "- " + k.q + " " + k.a }), "\n")
			return "SYSTEM_PROMPT = " + quote(text) + "\n\ndef run(task, model, env):\n    return model.chat([chat.system(SYSTEM_PROMPT), chat.user(task.question)])\n"
		},
		"answers alone": func(list []known) string {
			text := "The answer is one of: " + strings.Join(mapEach(list, func(k known) string { return k.a }), ", ")
			return "SYSTEM_PROMPT = " + quote(text) + "\n\ndef run(task, model, env):\n    return model.chat([chat.system(SYSTEM_PROMPT), chat.user(task.question)])\n"
		},
		"demonstrations": func(list []known) string {
			return "D = [\n" + rowsFor(list, func(k known) string { return "(" + quote(k.q) + ", " + quote("It is "+k.a+".") + ")," }) + "]\n\n" +
				"def run(task, model, env):\n    m = []\n    for q, a in D:\n        m += [chat.user(q), chat.assistant(a)]\n    return model.chat(m + [chat.user(task.question)])\n"
		},
		"big integer": func(list []known) string {
			var n strings.Builder
			for _, k := range list {
				n.WriteString(hex.EncodeToString([]byte(k.a + ";")))
			}
			return lookupBy("N = 0x" + n.String() + "\n\ndef known(q):\n    n, out = N, \"\"\n    while n > 0:\n        out = chr(n % 256) + out\n        n = n // 256\n    return out\n")
		},
	}
}

func two() *int { n := 2; return &n }

func mapEach(list []known, f func(k known) string) []string {
	var out []string
	for _, k := range list {
		out = append(out, f(k))
	}
	return out
}

func first(list []string, n int) []string { return list[:min(len(list), n)] }

func firstLetters(s string) []string {
	var out []string
	for _, w := range strings.Fields(s) {
		out = append(out, w[:1])
	}
	return out
}

// TestMutants asks that every way to hold a dozen answers is found, whichever they are.
func TestMutants(t *testing.T) {
	numbers, list := sumCorpus(t)
	var problems, questions []known
	for _, x := range list {
		problems = append(problems, known{x.View["question"], strings.Trim(string(x.Answer), `"`)})
	}
	for _, f := range facts {
		questions = append(questions, known{f[0], f[1]})
	}
	texts := factCorpus(t)
	for name, write := range mutants() {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for i := range 12 {
				c, from := texts, questions
				if i%2 == 0 && name != "last word" { // which too many problems share
					c, from = numbers, problems
				}
				var list []known
				for _, k := range r.Perm(len(from))[:10] {
					list = append(list, from[k])
				}
				src := write(list)
				found, err := c.Audit("x.star", []byte(src))
				if err != nil {
					t.Fatalf("%v\n%s", err, src)
				}
				if len(found) == 0 {
					t.Fatalf("nothing found in\n%s", src)
				}
			}
		})
	}
}
