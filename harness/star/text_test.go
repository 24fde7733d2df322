package star

import (
	"strings"
	"testing"
	"time"

	"go.starlark.net/starlark"
	"pgregory.net/rapid"
)

const none = "\x00none"

func orNone(s string, ok bool) string {
	if !ok {
		return none
	}
	return s
}

func TestFence(t *testing.T) {
	for _, tt := range []struct {
		s, lang     string
		first, last string
	}{
		{"no block", "python", none, none},
		{"```python\nx = 1\n```", "python", "x = 1", "x = 1"},
		{"a\n```python\nx\n```\nb\n```python\ny\nz\n```\n", "python", "x", "y\nz"},
		{"```py\nx\n```", "python", "x", "x"},
		{"```Python\nx\n```", "python", "x", "x"},
		{"```\nx\n```", "python", none, none},
		{"```\nx\n```\n```json\n{}\n```", "", "x", "{}"},
		{"```json\n{}\n```\n```python\nx\n```", "python", "x", "x"},
		{"```python\nx\n```\n```json\n{}\n```", "python", "x", "x"},
		{"```python\nx = 1", "python", "x = 1", "x = 1"}, // the last fence may lack its end
		{"```python\nx\n```\nthen\n```python\ny", "python", "x", "y"},
		{"so: ```python\nx\n```", "python", "x", "x"}, // a fence need not begin its line
		{"use ```x``` or\n```python\ny\n```", "python", "y", "y"},
		{"```python x ```", "python", none, none},
		{"```python", "python", none, none},
		{"```python\n```", "python", "", ""},
		{"```python\r\nx\r\n```", "python", "x", "x"},
		{"```python title\nx\n```", "python", "x", "x"},
		{"```python\n\n  x\n\n  ```", "python", "\n  x\n", "\n  x\n"},
	} {
		if got := orNone(fence(tt.s, tt.lang, false)); got != tt.first {
			t.Errorf("first of %q: got %q, want %q", tt.s, got, tt.first)
		}
		if got := orNone(fence(tt.s, tt.lang, true)); got != tt.last {
			t.Errorf("last of %q: got %q, want %q", tt.s, got, tt.last)
		}
	}
}

func TestTag(t *testing.T) {
	for _, tt := range []struct{ s, first, last string }{
		{"", none, none},
		{"<a>1</a>", "1", "1"},
		{"<a> 1\n</a> <a>2</a>", "1", "2"},
		{"<a>1", none, none},
		{"1</a>", none, none},
		{"</a><a>", none, none},
		{"<a>1<a>2</a>", "1<a>2", "2"},
		{"<a>1</a> <a>2", "1", "1"},
		{"<b>1</b>", none, none},
	} {
		if got := orNone(tag(tt.s, "a", false)); got != tt.first {
			t.Errorf("first of %q: got %q, want %q", tt.s, got, tt.first)
		}
		if got := orNone(tag(tt.s, "a", true)); got != tt.last {
			t.Errorf("last of %q: got %q, want %q", tt.s, got, tt.last)
		}
	}
}

func TestBoxed(t *testing.T) {
	for _, tt := range []struct{ s, want string }{
		{"", none},
		{`\boxed{2}`, "2"},
		{`\boxed{1} and \boxed{\frac{1}{2}}`, `\frac{1}{2}`},
		{`\boxed{1} and \boxed{2`, "1"},
		{`\boxed{`, none},
		{`\boxed 2`, none},
		{`\fbox{2}`, none},
		{`$\boxed{\{1, 2\}}$`, `\{1, 2\}`},
		{`\boxed{\left\{ x \right.}`, `\left\{ x \right.`},
		{`} \boxed{3} }`, "3"},
		{`{ \boxed{3}`, "3"},
		{`\boxed{a \boxed{b} c}`, "b"},
		{`\\boxed{4}`, "4"},
		{`\boxed{}`, ""},
		{`\boxed{é}`, "é"},
	} {
		if got := orNone(boxed(tt.s)); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.s, got, tt.want)
		}
	}
}

func TestFill(t *testing.T) {
	values := newTask(map[string]string{"question": "1+1?", "x": "{question}"})
	for _, tt := range []struct{ template, want string }{
		{"", ""},
		{"{question}", "1+1?"},
		{"a {question} b {x}", "a 1+1? b {question}"},
		{`put it in \boxed{} or {answer}`, `put it in \boxed{} or {answer}`},
		{`\boxed{{question}}`, `\boxed{1+1?}`},
		{"{", "{"},
		{"{question", "{question"},
		{"{{question}", "{1+1?"},
		{"}{question}{", "}1+1?{"},
	} {
		got, err := fill(tt.template, values)
		if err != nil || got != tt.want {
			t.Errorf("%q: got %q, %v, want %q", tt.template, got, err, tt.want)
		}
	}
	d := starlark.NewDict(1)
	if err := d.SetKey(starlark.String("n"), starlark.MakeInt(3)); err != nil {
		t.Fatal(err)
	}
	if got, err := fill("{n}", d); err != nil || got != "3" {
		t.Errorf("a number: got %q, %v, want 3", got, err)
	}
	long := newTask(map[string]string{"x": strings.Repeat("a", 1<<20)})
	if _, err := fill(strings.Repeat("{x}", 100), long); err == nil {
		t.Error("a result of 100 MiB: got no error")
	}
}

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		s          string
		n          int
		head, tail string
	}{
		{"", 1, "", ""},
		{"a", 0, "", ""},
		{"a\nb\nc", 2, "a\nb", "b\nc"},
		{"a\nb\nc\n", 2, "a\nb", "b\nc\n"},
		{"a\nb", 9, "a\nb", "a\nb"},
		{"\n\n", 1, "", "\n"},
	} {
		if got := head(tt.s, tt.n); got != tt.head {
			t.Errorf("head(%q, %d): got %q, want %q", tt.s, tt.n, got, tt.head)
		}
		if got := tail(tt.s, tt.n); got != tt.tail {
			t.Errorf("tail(%q, %d): got %q, want %q", tt.s, tt.n, got, tt.tail)
		}
	}
}

func TestTruncate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(0, 20).Draw(t, "n")
		want := []rune(s)
		want = want[:min(n, len(want))]
		if got := truncate(s, n); got != string(want) {
			t.Fatalf("got %q, want %q", got, string(want))
		}
	})
}

// The extractors read a text once, whatever it holds: a megabyte of half-open marks takes no time.
func TestHostileTexts(t *testing.T) {
	start := time.Now()
	for _, part := range []string{"```", "```x", "``` ```\n", `\boxed{`, "<a>", "</a>", "{", "{x", "}", "\n"} {
		s := strings.Repeat(part, 1<<20/len(part))
		fence(s, "python", true)
		fence(s, "", true)
		tag(s, "a", true)
		tag(s, "a", false)
		boxed(s)
		if _, err := fill(s, newTask(nil)); err != nil {
			t.Error(err)
		}
		if len(head(s, 1<<20)) > len(s) || len(tail(s, 1<<20)) > len(s) {
			t.Error("a text has grown")
		}
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("it took %v", d)
	}
}

// A value that JSON can hold survives the way into Starlark and back.
func TestJSONRoundTrip(t *testing.T) {
	var gen func(depth int) *rapid.Generator[starlark.Value]
	gen = func(depth int) *rapid.Generator[starlark.Value] {
		return rapid.Custom(func(t *rapid.T) starlark.Value {
			kinds := 7
			if depth == 0 {
				kinds = 5
			}
			switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
			case 0:
				return starlark.None
			case 1:
				return starlark.Bool(rapid.Bool().Draw(t, "bool"))
			case 2:
				return starlark.MakeInt64(rapid.Int64().Draw(t, "int"))
			case 3:
				return starlark.Float(rapid.Float64().Draw(t, "float"))
			case 4:
				return starlark.String(rapid.String().Draw(t, "string"))
			case 5:
				return starlark.NewList(rapid.SliceOfN(gen(depth-1), 0, 4).Draw(t, "list"))
			}
			d := starlark.NewDict(0)
			for _, k := range rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "keys") {
				if err := d.SetKey(starlark.String(k), gen(depth-1).Draw(t, "value")); err != nil {
					t.Fatal(err)
				}
			}
			return d
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		v := gen(3).Draw(t, "v")
		data, err := toJSON(v)
		if err != nil {
			t.Fatal(err)
		}
		back, err := fromJSON(data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if same, err := starlark.Equal(v, back); err != nil || !same || v.String() != back.String() {
			t.Fatalf("got %v, want %v", back, v)
		}
	})
}

func TestFromJSONRefuses(t *testing.T) {
	for _, s := range []string{"", "{", "1 2", "1]", "nul", `{"a":}`, strings.Repeat("9", 2000), strings.Repeat("[", 100), "[1,]"} {
		if v, err := fromJSON([]byte(s)); err == nil {
			t.Errorf("%q: got %v, want an error", s, v)
		}
	}
}
