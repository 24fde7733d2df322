package audit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
)

// tail of a program that is a harness.
const runNothing = "\ndef run(task, model, env):\n    return None\n"

// hostile are programs that would cost a follower of constants much, or that nest deeply.
func hostile() map[string]string {
	long := strings.Repeat("x = x + x\n", 60)
	return map[string]string{
		"double a string":       "x = \"a\"\n" + long + runNothing,
		"double a list":         "x = [1]\n" + long + runNothing,
		"repeat a string":       "x = \"a\" * 1000000000000" + runNothing,
		"repeat a list":         "x = [0] * (1 << 40)" + runNothing,
		"big integers":          "x = 3\nfor i in range(100000):\n    x = x * x\n" + runNothing,
		"shift":                 "x = 1 << (1 << 60)" + runNothing,
		"loop for ever":         "while True:\n    x = 1\n" + runNothing,
		"loop in loop":          "for i in range(100000):\n    for j in range(100000):\n        x = str(i * j)\n" + runNothing,
		"call in call":          "def f(n):\n    return f(n - 1) + f(n - 2)\nx = f(100)\n" + runNothing,
		"unsure calls":          "def f(n):\n    if n > x:\n        return f(n - 1) + f(n - 2)\n    return f(n) + f(n)\nx = f(100)\n" + runNothing,
		"recursion of itself":   "def f():\n    return f()\nf()\n" + runNothing,
		"a list in itself":      "a = []\na.append(a)\nx = str(a)\ny = {\"a\": a}\nz = a == a\n" + runNothing,
		"a dict in itself":      "d = {}\nd[\"d\"] = d\nx = str(d)\n" + runNothing,
		"lists of lists":        "a = [1]\n" + strings.Repeat("a = [a, a, a, a]\n", 60) + "x = str(a)\ny = a == [a]\n" + runNothing,
		"parentheses":           "x = " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000) + runNothing,
		"brackets":              "x = " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + runNothing,
		"minus":                 "x = " + strings.Repeat("-", 50000) + "1" + runNothing,
		"not":                   "x = " + strings.Repeat("not ", 20000) + "1" + runNothing,
		"a long sum":            "x = 1" + strings.Repeat(" + 1", 60000) + runNothing,
		"a long sum of texts":   "x = \"a\"" + strings.Repeat(" + \"ab\"", 30000) + runNothing,
		"a long or":             "x = y" + strings.Repeat(" or y", 40000) + runNothing,
		"attributes":            "x = a" + strings.Repeat(".a", 60000) + runNothing,
		"calls":                 "x = f" + strings.Repeat("()", 60000) + runNothing,
		"lambdas":               "x = " + strings.Repeat("lambda: ", 10000) + "1" + runNothing,
		"conditionals":          "x = " + strings.Repeat("1 if y else ", 15000) + "1" + runNothing,
		"elif":                  "if x:\n    pass\n" + strings.Repeat("elif x:\n    pass\n", 10000) + runNothing,
		"nested blocks":         nested("if x:", 90) + runNothing,
		"nested loops":          nested("for i in range(50):", 90) + runNothing,
		"nested comprehensions": "x = " + strings.Repeat("[", 60) + "1" + strings.Repeat(" for i in range(9)]", 60) + runNothing,
		"many clauses":          "x = [1" + strings.Repeat(" for i in range(9)", 60) + "]" + runNothing,
		"format":                "x = \"{0}\" * 1000\nfor i in range(9):\n    x = x.format(x)\n" + runNothing,
		"replace":               "x = \"a\" * 10000\nfor i in range(9):\n    x = x.replace(\"a\", x)\n" + runNothing,
		"join":                  "x = [\"a\" * 60000] * 10000\ny = (\"b\" * 60000).join(x)\n" + runNothing,
		"slices":                "x = \"a\" * 60000\nfor i in range(4000):\n    y = x[::-1]\n" + runNothing,
		"pattern":               "x = re.findall(r\"(a|aa|aaa)*b\", \"a\" * 60000)\n" + runNothing,
		"patterns":              "def run(task, model, env):\n" + strings.Repeat("    re.search(r\"(a|b|ab)*(c|d)*(e*)*glacier\", task.question)\n", 1500),
		"pattern that is long":  "def run(task, model, env):\n    re.search(\"" + strings.Repeat("(a?){1,50}", 400) + "\", task.question)\n",
		"variables":             manyVariables(),
		"many tests":            "def run(task, model, env):\n" + manyTests(),
		"many tables":           "x = {}\n" + manyTables() + runNothing,
		"much text":             "x = \"" + strings.Repeat("what is the name of the river ", 6000) + "\"" + runNothing,
		"many numbers":          "x = [" + strings.Repeat("123, 4567, ", 15000) + "]" + runNothing,
		"digits":                "x = \"" + strings.Repeat("7", 200000) + "\"" + runNothing,
		"a long integer":        "x = 1" + strings.Repeat("7", 200000) + runNothing,
		"base64":                "x = \"" + strings.Repeat("QUFB", 50000) + "\"" + runNothing,
		"json":                  "x = json.decode(\"" + strings.Repeat("[", 20000) + "\")" + runNothing,
	}
}

func nested(head string, depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + head + "\n")
	}
	b.WriteString(strings.Repeat(" ", depth) + "pass\n")
	return b.String()
}

func manyVariables() string {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "v%d = \"%d\"\n", i, i)
	}
	for range 2000 {
		b.WriteString("if x:\n    v0 = v1\n")
	}
	return b.String() + runNothing
}

func manyTests() string {
	var b strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&b, "    task.question.lower().replace(\"a\", \"%d\") == \"%d\"\n", i, i)
	}
	return b.String()
}

func manyTables() string {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "x[%d] = {\"river %d\": \"Danube\", \"town %d\": \"Rome\"}\n", i, i, i)
	}
	return b.String()
}

func TestHostile(t *testing.T) {
	var examples []whale.Example
	for i := range 5000 {
		q := fmt.Sprintf("Which river number %d flows past town %d of the valley?", i*7+13, i*3)
		examples = append(examples, whale.Example{ID: fmt.Sprintf("ex-%05d", i), View: map[string]string{"question": q}, Answer: []byte(fmt.Sprintf(`"The Danube %d"`, i))})
	}
	c, err := NewCorpus(examples, Options{Names: []string{"HotpotQA"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range hostile() {
		files := []string{"x.star", "x.py"}
		if len(src) > 50_000 {
			files = append(files, "x.mjs")
		}
		for _, file := range files {
			start := time.Now()
			_, _ = c.Audit(file, []byte(src)) // many of them do not parse: nothing is asked but an end
			if d := time.Since(start); d > 10*time.Second {
				t.Errorf("%s as %s: got %v, want a second on an idle machine", name, file, d)
			} else if d > 300*time.Millisecond && testing.Verbose() {
				t.Logf("%s as %s: %v", name, file, d)
			}
		}
	}
}
