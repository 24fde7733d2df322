package answer

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestLastBox(t *testing.T) {
	const none = "(none)"
	for _, c := range []struct{ name, text, want string }{
		{"plain", `So \boxed{25}.`, "25"},
		{"last", `\boxed{1} then \boxed{2}`, "2"},
		{"space", `\boxed {7}`, "7"},
		{"line break", "\\boxed\n\t {7}", "7"},
		{"nested", `\boxed{\frac{1}{2}}`, `\frac{1}{2}`},
		{"box in box", `\boxed{ \boxed{3} }`, "3"},
		{"escaped braces", `\boxed{\{1, 2\}}`, `\{1, 2\}`},
		{"escaped brace alone", `\boxed{\}}`, `\}`},
		{"escaped backslash", `\boxed{\\}`, `\\`},
		{"text inside", `\boxed{\text{no}}`, `\text{no}`},
		{"empty", `\boxed{}`, ""},
		{"dollars", `$\boxed{$5$}$`, "$5$"},
		{"doubled backslash", `\\boxed{5}`, "5"},
		{"open command after", `\boxed{5} as in \boxed`, "5"},
		{"other command after", `\boxed{5} and \boxedx{6}`, "5"},
		{"many lines", "\\boxed{5\n}", "5\n"},
		{"nothing", "", none},
		{"no box", "the answer is 25", none},
		{"no brace", `\boxed 25`, none},
		{"no command", `boxed{25}`, none},
		{"upper case", `\Boxed{25}`, none},
		{"fbox", `\fbox{25}`, none},
		{"unterminated", `\boxed{25`, none},
		{"unterminated inside", `\boxed{\frac{1}{2}`, none},
		{"closed by an escaped brace", `\boxed{25\}`, none},
		{"ends in a backslash", `\boxed{25\`, none},
		{"last one unterminated", `\boxed{1} no, \boxed{2`, none},
		{"command at the end", `\boxed`, none},
		{"only braces", `{}{}{`, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := LastBox(c.text)
			if !ok {
				got = none
			}
			if got != c.want {
				t.Errorf("%q: got %q, want %q", c.text, got, c.want)
			}
		})
	}
}

// Whatever stands around it, a box of balanced content is found whole.
func TestLastBoxProperty(t *testing.T) {
	var content func(depth int) *rapid.Generator[string]
	content = func(depth int) *rapid.Generator[string] {
		plain := rapid.StringMatching(`([a-z0-9 $^,é]|\\\{|\\\}|\\\\|\\frac)*`)
		if depth == 0 {
			return plain
		}
		return rapid.Custom(func(t *rapid.T) string {
			return plain.Draw(t, "before") + "{" + content(depth-1).Draw(t, "inside") + "}" + plain.Draw(t, "after")
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		want := content(rapid.IntRange(0, 3).Draw(t, "depth")).Draw(t, "content")
		before := rapid.String().Draw(t, "before")
		after := rapid.StringMatching(`[a-z0-9 {}$\\]*`).Draw(t, "after")
		if strings.Contains(after, `\boxed`) {
			t.Skip("another box")
		}
		gap := rapid.StringMatching(`[ \n\t]*`).Draw(t, "gap")
		got, ok := LastBox(before + `\boxed` + gap + "{" + want + "}" + after)
		if !ok || got != want {
			t.Fatalf("got %q (%v), want %q", got, ok, want)
		}
	})
}

func TestTail(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"abcdef", 0, "abcdef"},
		{"abcdef", 3, "def"},
		{"abcdef", 6, "abcdef"},
		{"abcdef", 99, "abcdef"},
		{"äöü", 2, "öü"},
		{"a\xff\xfe", 2, "\xff\xfe"},
		{"", 5, ""},
	} {
		if got := Tail(c.text, c.n); got != c.want {
			t.Errorf("Tail(%q, %d): got %q, want %q", c.text, c.n, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		n := rapid.IntRange(1, 50).Draw(t, "n")
		got := Tail(s, n)
		if want := min(n, utf8.RuneCountInString(s)); !strings.HasSuffix(s, got) || utf8.RuneCountInString(got) != want {
			t.Fatalf("Tail(%q, %d): got %q, want the last %d characters", s, n, got, want)
		}
	})
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"25", "25"}, {"025", "25"}, {"000", "0"}, {"-0", "0"}, {"-007", "-7"}, {"+7", "7"}, {" 25\n", "25"},
		{"$25$", "25"}, {"$ 025 $", "25"}, {"$$25$$", "25"}, {"$", "$"}, {"$$", ""}, {"$25", "$25"}, {"", ""},
		{"1,000", "1,000"}, {"25.0", "25.0"}, {"--5", "--5"}, {"-", "-"}, {"+", "+"}, {"2 5", "2 5"}, {"0x19", "0x19"},
		{"1e3", "1e3"}, {"٢٥", "٢٥"}, {`\frac{1}{2}`, `\frac{1}{2}`}, {`25^\circ`, `25^\circ`}, {"a025", "a025"},
		{"00" + strings.Repeat("9", 5000), strings.Repeat("9", 5000)},
	} {
		if got := Canonical(c.in); got != c.want {
			t.Errorf("Canonical(%q): got %q, want %q", c.in, got, c.want)
		}
		if got := Canonical(Canonical(c.in)); got != Canonical(c.in) {
			t.Errorf("canonical twice (%q): got %q, want %q", c.in, got, Canonical(c.in))
		}
	}
}

func FuzzLastBox(f *testing.F) {
	for _, s := range []string{``, `\boxed{5}`, `\boxed {\frac{1}{2}}`, `\boxed{`, `\boxed{\}`, `\boxed\boxed{{}`, "\\boxed\xff{1}", `}{\boxed{}}`} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		box, ok := LastBox(s)
		if !ok {
			if box != "" {
				t.Errorf("%q: got content %q with no box", s, box)
			}
			return
		}
		at := strings.LastIndex(s, "{"+box+"}")
		if at < 0 || !strings.Contains(s[:at], `\boxed`) {
			t.Errorf("%q: got %q, which is in no box of it", s, box)
		}
		if _, balanced := balanced("{" + box + "}"); !balanced {
			t.Errorf("%q: got %q, which is not balanced", s, box)
		}
		if n > 0 && !strings.HasSuffix(s, Tail(s, n)) {
			t.Errorf("Tail(%q, %d): got %q, which is not its end", s, n, Tail(s, n))
		}
	})
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"", "025", "-0", "$$$", "$ 5 $", "+-5", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Canonical(s)
		if twice := Canonical(once); twice != once {
			t.Errorf("canonical twice of %q: got %q, want %q", s, twice, once)
		}
	})
}
