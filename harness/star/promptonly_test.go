package star_test

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.starlark.net/syntax"
	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale/harness/star"
)

const plain = `"""A harness."""
SYSTEM_PROMPT = "You solve problems."
USER_PROMPT = "{question}" + "\nAnswer in a box."
TURNS = 3
WORDS = {"add": "+", "times": "*"}

def helper(x, y = 2, *rest, **named):
    """Helps."""
    if x > y and not rest:
        return [x, -y, 1.5]
    elif x == y:
        pass
    else:
        for a, b in named.items():
            x += a[1:2][0]
            if b: continue
    while x < 3: x = x + 1
    return {k: v for k, v in named.items() if v} or (lambda z: z)(x)

def run(task, model, env):
    note = b"raw"
    reply = model.chat([chat.user(text.fill(USER_PROMPT, task))], max_tokens = 0x10)
    return reply if len(note) > 1 else None
`

func TestPromptOnly(t *testing.T) {
	change := func(pairs ...string) string {
		out := plain
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(out, pairs[i]) {
				t.Fatalf("no %q in the program", pairs[i])
			}
			out = strings.Replace(out, pairs[i], pairs[i+1], 1)
		}
		return out
	}
	const only = " (only the values of SYSTEM_PROMPT and USER_PROMPT may change, comments and formatting aside)"
	for _, tt := range []struct{ name, candidate, want string }{
		{"the same", plain, ""},
		{"both prompts", change("You solve problems.", "Think.", `"{question}" + "\nAnswer in a box."`, `'''{question}
Box it.'''`), ""},
		{"a comment, a blank line", change("TURNS = 3", "# How often.\n\nTURNS  =  3  # times"), ""},
		{"quotes and raw strings", change(`{"add": "+"`, `{'add': r"""+"""`), ""},
		{"the base of a number", change("0x10", "16"), ""},
		{"parentheses", change("x > y and not rest", "((x) > y) and (not (rest))", "for a, b in", "for (a, b) in"), ""},
		{"elif as else and if", change("    elif x == y:\n        pass\n    else:\n        for a, b in named.items():\n            x += a[1:2][0]\n            if b: continue",
			"    else:\n      if x == y: pass\n      else:\n        for a, b in named.items():\n            x += a[1:2][0]\n            if b: continue"), ""},
		{"a number", change("TURNS = 3", "TURNS = 4"), "4:9: got the number 4, want the number 3, as in line 4 of the incoming harness" + only},
		{"int and float", change("TURNS = 3", "TURNS = 3.0"), "4:9: got the number 3.0, want the number 3, as in line 4 of the incoming harness" + only},
		{"bytes and string", change(`b"raw"`, `"raw"`), `21:12: got the string "raw", want the bytes "raw", as in line 21 of the incoming harness` + only},
		{"a name", change("note = b", "nota = b", "len(note)", "len(nota)"), "21:5: got the name nota, want the name note, as in line 21 of the incoming harness" + only},
		{"a docstring", change("Helps.", "Helps much."), `8:5: got the string "Helps much.", want the string "Helps.", as in line 8 of the incoming harness` + only},
		{"the order of two statements", change("TURNS = 3\n", "", "\ndef helper", "TURNS = 3\n\ndef helper"),
			"4:1: got the name WORDS, want the name TURNS, as in line 4 of the incoming harness" + only},
		{"a statement more", change("TURNS = 3", "TURNS = 3\nprint(1)"), "5:1: got an expression as a statement, want an assignment with =, as in line 5 of the incoming harness" + only},
		{"a function more", plain + "\ndef more():\n    pass\n", "25:1: got the function more, want the end of the program" + only},
		{"a function less", plain[:strings.Index(plain, "def helper")] + plain[strings.Index(plain, "def run"):],
			"7:1: got the function run, want the function helper, as in line 7 of the incoming harness" + only},
		{"a statement less at the end", change("def helper", "def hidden", "def hidden", "def helper", "    return reply if len(note) > 1 else None\n", ""),
			"22:85: got the end of the function run, want a return, as in line 23 of the incoming harness" + only},
		{"an argument more", change("max_tokens = 0x10", "max_tokens = 0x10, stop = []"),
			"22:91: got the operator =, want the end of the call's arguments, as in line 22 of the incoming harness" + only},
		{"a joined string is another tree", change(`{"add": "+"`, `{"a" + "dd": "+"`), `5:14: got the operator +, want the string "add", as in line 5 of the incoming harness` + only},
		{"a prompt elsewhere", change("SYSTEM_PROMPT = \"You solve problems.\"\n", "", "TURNS = 3", "SYSTEM_PROMPT = \"You solve problems.\"\nTURNS = 3"),
			"2:1: got the assignment of USER_PROMPT, want the assignment of SYSTEM_PROMPT, as in line 2 of the incoming harness (the value of USER_PROMPT may change, but it stays where it stands in the incoming harness, or absent where it is absent)"},
		{"no harness", change("TURNS = 3", "TURNS = y"), "4:9: undefined: y"},
		{"a prompt that is computed", change(`"You solve problems."`, `str(1)`), "2:17: SYSTEM_PROMPT: got a call, want a string literal (a prompt is a string literal or literals joined by +; fill it in run with text.fill)"},
	} {
		err := star.PromptOnly([]byte(plain), []byte(tt.candidate))
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "candidate.star:")
			var list star.Errors
			if !errors.As(err, &list) {
				t.Errorf("%s: got an error of type %T", tt.name, err)
			}
		}
		if got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestPromptOnlyOfNoHarness(t *testing.T) {
	err := star.PromptOnly([]byte("x = y"), []byte(plain))
	if err == nil || err.Error() != "prompt-only: the incoming harness is none: incoming.star:1:5: undefined: y" {
		t.Errorf("got %v", err)
	}
	var list star.Errors
	err = star.PromptOnly([]byte(plain), []byte(strings.Replace(plain, "TURNS = 3", "TURNS = 4", 1)))
	if !errors.As(err, &list) || len(list) != 1 || list[0].Gate != star.GatePromptOnly || list[0].Line != 4 || list[0].Col != 9 {
		t.Errorf("got %#v", err)
	}
}

func TestPromptOnlyShowsTheDifference(t *testing.T) {
	long := strings.Repeat("the same words again and again ", 20)
	one := "NOTE = \"" + long + "one\"\n" + plain
	two := "NOTE = \"" + long + "two\"\n" + plain
	err := star.PromptOnly([]byte(one), []byte(two))
	if err == nil || !strings.Contains(err.Error(), `again and again two", want the string …`) || len(err.Error()) > 400 {
		t.Errorf("got %v", err)
	}
}

// programs are sources whose trees the properties below are tried on.
func programs(t testing.TB) []string {
	out := []string{plain, star.Example}
	for _, path := range []string{"loop.star", "../../examples/math/h0.star", "../../examples/math/h0-smollm2.star"} {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := string(src)
		if path == "loop.star" {
			s = strings.Replace(s, "def run(", "def other(", 1) + "\ndef run(task, model, env):\n    return other(task, model, env)\n"
		}
		out = append(out, s)
	}
	return out
}

// TestReformattedIsPromptOnly prints trees with other spaces, quotes, parentheses, comments and prompts.
func TestReformattedIsPromptOnly(t *testing.T) {
	sources := programs(t)
	rapid.Check(t, func(rt *rapid.T) {
		src := rapid.SampledFrom(sources).Draw(rt, "source")
		p := &printer{draw: func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "choice") }, prompts: true}
		again := p.file(parse(rt, src))
		if err := star.PromptOnly([]byte(src), []byte(again)); err != nil {
			rt.Fatalf("%v\n%s", err, again)
		}
	})
}

// TestEveryFieldCounts changes each field of each node of the trees in turn, positions and comments aside, and asks for the difference.
func TestEveryFieldCounts(t *testing.T) {
	changed := map[string]int{}
	for _, src := range programs(t) {
		want := star.Outline(nodes(parse(t, src))...)
		for i := 0; ; i++ {
			file := parse(t, src)
			what, ok := mutateNth(reflect.ValueOf(file), i)
			if !ok {
				break
			}
			changed[what]++
			if same(star.Outline(nodes(file)...), want) {
				t.Errorf("change %d, of %s, is not seen", i, what)
			}
		}
	}
	for _, field := range []string{"AssignStmt.Op", "DefStmt.Params", "DefStmt.Body", "Ident.Name", "Literal.Value", "IfStmt.False", "UnaryExpr.Op",
		"CallExpr.Args", "DictExpr.List", "Comprehension.Clauses", "ReturnStmt.Result", "SliceExpr.Lo", "BranchStmt.Token", "File.Stmts"} {
		if changed[field] == 0 {
			t.Errorf("no program has a %s that could be changed", field)
		}
	}
}

// TestMutatedIsNotPromptOnly changes one field and prints the tree: what still passes the gates must be found.
func TestMutatedIsNotPromptOnly(t *testing.T) {
	sources := programs(t)
	found := 0
	rapid.Check(t, func(rt *rapid.T) {
		src := rapid.SampledFrom(sources).Draw(rt, "source")
		file := parse(rt, src)
		what, ok := mutateNth(reflect.ValueOf(file), rapid.IntRange(0, 400).Draw(rt, "change"))
		if !ok {
			return
		}
		p := &printer{draw: func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "choice") }}
		mutant := p.file(file)
		tree, err := star.Parse("mutant.star", []byte(mutant))
		if err != nil || same(star.Outline(nodes(tree)...), star.Outline(nodes(parse(rt, src))...)) {
			return // it cannot be written, or the change is of a kind that its text does not keep
		}
		found++
		if err := star.PromptOnly([]byte(src), []byte(mutant)); err == nil && !inPrompt(src, mutant) {
			rt.Fatalf("a change of %s passes:\n%s", what, mutant)
		}
	})
	if found == 0 {
		t.Error("no mutant could be written")
	}
}

// inPrompt says whether two programs are the same once their prompts are cut out.
func inPrompt(a, b string) bool {
	return same(withoutPrompts(a), withoutPrompts(b))
}

func withoutPrompts(src string) []star.Part {
	file, err := star.Parse("p.star", []byte(src))
	if err != nil {
		return nil
	}
	var out []star.Part
	for _, s := range file.Stmts {
		if a, ok := s.(*syntax.AssignStmt); ok {
			if id, ok := a.LHS.(*syntax.Ident); ok && strings.HasSuffix(id.Name, "_PROMPT") {
				out = append(out, star.Part{Text: id.Name})
				continue
			}
		}
		out = append(out, star.Outline(s)...)
	}
	return out
}

func same(a, b []star.Part) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Text != b[i].Text {
			return false
		}
	}
	return true
}

func nodes(f *syntax.File) []syntax.Node {
	var out []syntax.Node
	for _, s := range f.Stmts {
		out = append(out, s)
	}
	return out
}

func parse(t interface{ Fatal(...any) }, src string) *syntax.File {
	file, err := star.Parse("p.star", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestPromptOnlyOfDeepTrees asks that trees as deep as a program may have are compared in a moment.
func TestPromptOnlyOfDeepTrees(t *testing.T) {
	const run = "\ndef run(task, model, env):\n    pass\n"
	for name, src := range map[string]string{
		"operators": "x = 1" + strings.Repeat("+1", 32000) + run,
		"calls":     "x = len" + strings.Repeat("()", 32000) + run,
		"fields":    "x = len" + strings.Repeat(".a", 32000) + run,
		"indices":   "x = len" + strings.Repeat("[1]", 20000) + run,
		"branches":  "x = 1\nif x: pass\n" + strings.Repeat("elif x: pass\n", 4500) + run,
	} {
		start := time.Now()
		if err := star.PromptOnly([]byte(src), []byte(src+"# the same\n")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > 5*time.Second { // some tens of milliseconds on an idle machine
			t.Errorf("%s: it took %v", name, took)
		}
	}
}
