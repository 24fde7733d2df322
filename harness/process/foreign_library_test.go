package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
	"github.com/seed-095d5d2b/whale/harness/star"
)

// signatures is a program that writes what the Python library offers, a function a line.
const signatures = `import inspect, whale

def run(task, model, env):
    for where in (text, chat, loop):
        for name, f in vars(where).items():
            if not name.startswith("_"):
                show(where.__name__ + "." + name, f.__func__)
    for name in ("chat", "count", "clip"):
        show("model." + name, getattr(whale.Model, name))

def show(name, f):
    out = []
    for p in inspect.signature(f.__wrapped__).parameters.values():
        d = p.default
        if d is p.empty:
            out.append(p.name)
        else:
            d = d.__qualname__ if callable(d) else "[]" if d == () else json.dumps(d) if isinstance(d, str) else repr(d)
            out.append(p.name + " = " + d)
    print(name + "(" + ", ".join(out) + ")")
`

// The Python library has the functions of Starlark's, with the same parameters and defaults: one table cannot serve both, so this holds them
// together.
func TestPythonLibraryIsStarlarks(t *testing.T) {
	r := open(t, nil)
	needs(t, r, whale.LanguagePython)
	host, _, err := runForeign(t, r, "a.py", signatures)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for line := range strings.Lines(host.Log) {
		got[strings.TrimSpace(line)] = true
	}
	want := 0
	for _, f := range star.Library() {
		switch f.Module {
		case "text", "chat", "loop", "model":
		default:
			continue
		}
		var params []string
		for _, p := range f.Params {
			s := p.Name
			if p.Default != "" {
				s += " = " + p.Default
			}
			params = append(params, s)
		}
		line := fmt.Sprintf("%s(%s)", f.FullName(), strings.Join(params, ", "))
		if want++; !got[line] {
			t.Errorf("the Python library lacks %s", line)
		}
		delete(got, line)
	}
	for line := range got {
		t.Errorf("the Python library has %s, which Starlark's has not", line)
	}
	if want < 20 {
		t.Errorf("compared %d functions: the test looks in the wrong place", want)
	}
}

// texts is a program that is both Starlark and Python. It applies the functions of the module text to each text that it is given.
const texts = `def run(task, model, env):
    for s in json.decode(task.question):
        out = [text.fence(s), text.fence(s, lang = "", which = "last"), text.fence(s, "js", "last"), text.tag(s, "a"), text.tag(s, "a", "first"),
            text.boxed(s), text.fill(s, {"a": "<{b}>", "b": 1, "": "e"}), text.truncate(s, 5)]
        for n in range(4):
            out += [text.head(s, n), text.tail(s, n)]
        print(json.encode(out))
`

// The functions of the module text do the same in both languages, on texts made of the parts that they look for.
func TestPythonTextIsStarlarks(t *testing.T) {
	r := open(t, nil)
	needs(t, r, whale.LanguagePython)
	parts := []string{
		"```", "```python\n", "```py \n", "```Python x\n", "```js\n", "``", "`", "\n", "\n", "\r\n", " ", "\t", "<a>", "</a>", "<a", "<b>", "\\boxed{", "\\boxed",
		"{", "}", "\\{", "\\}", "\\\\", "\\", "{a}", "{b}", "{}", "{c}", "{{a}}", "x", "é", "😀", "\u2028", "\u00a0", "1",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var list []string
	for range 2000 {
		var b strings.Builder
		for range 1 + rng.IntN(14) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		list = append(list, b.String())
	}
	question, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	logs := map[string][]string{}
	for _, name := range []string{"a.star", "a.py"} {
		h, err := r.New(name, []byte(texts))
		if err != nil {
			t.Fatal(err)
		}
		limits := harnesstest.Limits()
		limits.LogBytes, limits.Steps = 8<<20, 1<<30
		host := &harnesstest.Host{View: map[string]string{"question": string(question)}, Limits: limits}
		if _, err := h.Run(t.Context(), host); err != nil {
			t.Fatal(err)
		}
		logs[name] = strings.Split(host.Log, "\n")
	}
	if len(logs["a.star"]) != len(list)+1 {
		t.Fatalf("got %d lines, want %d", len(logs["a.star"]), len(list)+1)
	}
	for i, s := range list {
		var want, got []any // by value: the two write JSON in their own ways
		if err := errors.Join(json.Unmarshal([]byte(logs["a.star"][i]), &want), json.Unmarshal([]byte(logs["a.py"][i]), &got)); err != nil {
			t.Fatal(err)
		}
		for j := range want {
			if got[j] != want[j] {
				t.Fatalf("%q: result %d: in Python %q, in Starlark %q", s, j, got[j], want[j])
			}
		}
	}
}

// Authors may import the library where there is no episode: for their editor, and for tests of their own functions.
func TestPythonLibraryAlone(t *testing.T) {
	r := open(t, nil)
	ip, err := r.interpreter(t.Context(), whale.LanguagePython)
	if err != nil {
		t.Skip(err)
	}
	for _, tt := range []struct{ program, want string }{
		{`import whale; print(whale.text.boxed("\\boxed{5}"), whale.chat.user("a"), whale.PROTOCOL, whale.CONTRACT)`, "5 {'role': 'user', 'content': 'a'} 1 1\n"},
		{"import whale\ntry: whale.Model.chat([whale.chat.user('a')])\nexcept whale.Error as e: print(e)", "chat: there is no episode: model and env work inside of run\n"},
		{"import whale\nprint(sorted(set(whale.__all__) - set(vars(whale))))", "[]\n"},
	} {
		cmd := exec.CommandContext(t.Context(), ip.path, "-S", "-B", "-c", tt.program)
		cmd.Env = []string{"PYTHONPATH=sdk"}
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != tt.want {
			t.Errorf("%s: got %q, %v; want %q", tt.program, out, err, tt.want)
		}
	}
	cmd := exec.CommandContext(t.Context(), ip.path, "-S", "-B", "sdk/whale.py")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "usage: ") {
		t.Errorf("without a host: got %q, %v", out, err)
	}
	if whale.ContractVersion != 1 || Protocol != 1 {
		t.Error("the Python library speaks versions that are no longer the host's")
	}
}
