package pyre

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func free(int) error { return nil }

// The comparison with CPython's answers is the test of package star, which sees the whole module; here are bounds and messages.

func TestMessages(t *testing.T) {
	for _, tt := range []struct{ pattern, want string }{
		{`a(?=b)`, "lookahead (?=…) is not supported: match what follows and use a group for the part that is wanted at position 1"},
		{`(?!b)`, "lookahead (?!…) is not supported: match more and check the result in code at position 0"},
		{`(?<=b)`, "lookbehind (?<=…) is not supported: match what precedes and use a group for the part that is wanted at position 0"},
		{`(?<!b)`, "lookbehind (?<!…) is not supported: match more and check the result in code at position 0"},
		{`(a)\1`, `backreferences (\1) are not supported: match twice and compare at position 3`},
		{`(?P<x>a)(?P=x)`, "backreferences are not supported: match twice and compare at position 8"},
		{`(a)?(?(1)b|c)`, "conditions are not supported: write two patterns at position 4"},
		{`(?>a)`, "atomic groups are not supported at position 0"},
		{`a*+`, "possessive quantifiers are not supported at position 1"},
		{`a{1001}`, "a repeat of more than 1000 ({1001})"},
		{`(?:a{100}){100}`, "a repeat of more than 1000 ({100})"},
		{`*`, "nothing to repeat at position 0"},
		{`a**`, "multiple repeat at position 2"},
		{`(a`, "missing ), unterminated subpattern at position 2"},
		{`a)`, "unbalanced parenthesis at position 1"},
		{`[a`, "unterminated character set at position 0"},
		{`[z-a]`, "bad character range z-a at position 1"},
		{`\q`, `bad escape \q at position 0`},
		{`a(?i)b`, "global flags not at the start of the expression at position 1"},
		{`(?x)a`, "unknown flag 'x': known are i, m, s, a and u at position 2"},
		{strings.Repeat("a{1000}", 100), "the pattern is too large: its repeats multiply"},
		{strings.Repeat("a", MaxPattern+1), "the pattern has 16385 bytes, want at most 16384"},
		{strings.Repeat("(", 2000) + strings.Repeat(")", 2000), "the pattern is too large"},
	} {
		_, err := Compile(tt.pattern, 0)
		var e *Error
		if !errors.As(err, &e) || err.Error() != tt.want {
			t.Errorf("%.40q: got %v, want %s", tt.pattern, err, tt.want)
		}
	}
	if _, err := Compile("a", 4); err == nil || err.Error() != "unknown flags 4: known are I, M, S and A" {
		t.Errorf("flag 4: got %v", err)
	}
}

func TestFlags(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		flags   Flags
		text    string
		want    int // matches
	}{
		{"A", IgnoreCase, "aA", 2},
		{"^a", Multiline, "a\na", 2},
		{"^a", 0, "a\na", 1},
		{"a$", Multiline, "a\na\n", 2},
		{"a.", DotAll, "a\n", 1},
		{"a.", 0, "a\n", 0},
		{`\w`, 0, "éa", 2},
		{`\w`, ASCII, "éa", 1},
		{`\b`, 0, "é", 2},
		{`\b`, ASCII, "é", 0},
		{"(?i)a", Multiline, "A", 1},
	} {
		re, err := Compile(tt.pattern, tt.flags)
		if err != nil {
			t.Fatal(err)
		}
		got, err := re.FindAll(tt.text, 0, free)
		if err != nil || len(got) != tt.want {
			t.Errorf("%q with %d in %q: got %d matches, %v, want %d", tt.pattern, tt.flags, tt.text, len(got), err, tt.want)
		}
	}
}

// Where Go's semantics and Python's agree, the matcher finds what Go's own finds.
func TestAgainstGo(t *testing.T) {
	atom := rapid.SampledFrom([]string{"a", "b", "c", ".", "[ab]", "[^a]", "(a)", "(ab|c)", "(?:a|b)", "(?:ab)"})
	quantifier := rapid.SampledFrom([]string{"", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}"})
	rapid.Check(t, func(t *rapid.T) {
		pattern := ""
		for range rapid.IntRange(1, 5).Draw(t, "parts") {
			pattern += atom.Draw(t, "atom") + quantifier.Draw(t, "quantifier") + rapid.SampledFrom([]string{"", "", "|"}).Draw(t, "bar")
		}
		text := rapid.StringMatching("[abc]{0,12}").Draw(t, "text")
		re, err := Compile(pattern, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := re.Find(text, 0, Search, free)
		if err != nil {
			t.Fatal(err)
		}
		want := regexp.MustCompile("(?:" + pattern + ")").FindStringSubmatchIndex(text)
		if len(got) != len(want) {
			t.Fatalf("%q in %q: got %v, want %v", pattern, text, got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%q in %q: got %v, want %v", pattern, text, got, want)
			}
		}
		whole, err := re.Find(text, 0, Full, free)
		if err != nil {
			t.Fatal(err)
		}
		if want := regexp.MustCompile("^(?:" + pattern + ")$").MatchString(text); (whole != nil) != want {
			t.Fatalf("%q on all of %q: got %v, want %v", pattern, text, whole, want)
		}
	})
}

// What makes backtracking matchers explode takes time proportional to pattern times text here, and the budget sees it.
func TestNoExplosion(t *testing.T) {
	text := strings.Repeat("a", 100_000)
	for _, pattern := range []string{"(a*)*b", "(a|a)*b", "(a+)+$b", "(.*)(.*)(.*)b", "(a|aa)+b"} {
		re, err := Compile(pattern, 0)
		if err != nil {
			t.Fatal(err)
		}
		steps := 0
		start := time.Now()
		spans, err := re.Find(text, 0, Search, func(n int) error { steps += n; return nil })
		if err != nil || spans != nil {
			t.Errorf("%s: got %v, %v, want no match", pattern, spans, err)
		}
		if most := 2 * len(re.prog.Inst) * len(text); steps < len(text) || steps > most {
			t.Errorf("%s: got %d steps, want %d to %d", pattern, steps, len(text), most)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s: it took %v", pattern, d)
		}
	}
}

func TestBudgetStops(t *testing.T) {
	re, err := Compile("a*?b|a", 0)
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	steps := 0
	_, err = re.FindAll(strings.Repeat("a", 100_000), 0, func(n int) error {
		if steps += n; steps > 1_000_000 {
			return enough
		}
		return nil
	})
	if err != enough || steps > 1_010_000 {
		t.Errorf("got %v after %d steps", err, steps)
	}
}

func TestTooLong(t *testing.T) {
	re, err := Compile("(?:abcdefgh|[x-z]{500})", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := re.Find(strings.Repeat("a", 1<<20), 0, Search, free); err != ErrTooLong {
		t.Errorf("got %v, want %v", err, ErrTooLong)
	}
}

func TestEscapeMatchesItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		re, err := Compile(Escape(s), 0)
		if err != nil {
			t.Fatal(err)
		}
		if spans, err := re.Find(s, 0, Full, free); err != nil || spans == nil {
			t.Fatalf("%q does not match itself: %v", s, err)
		}
	})
}

// Compile neither panics nor lets through what makes Find panic, and spans lie in the text.
func FuzzCompile(f *testing.F) {
	for _, p := range []string{`(?P<a>\w+)=(\d*)`, `[^]\-\d]{2,}?`, `(?im)^a|b$`, `\x41\u00e9\141\0`, `(?i:a)(?-i:b)(?#c)`, `$\b\B\Z`, `a{,3}b{2}{`, `[[a-z&&b]`} {
		f.Add(p, "a=1 b\n", `\1\g<a>\n`, uint16(0))
	}
	f.Fuzz(func(t *testing.T, pattern, text, template string, flags uint16) {
		re, err := Compile(pattern, Flags(flags))
		if err != nil {
			return
		}
		all, err := re.FindAll(text, 100, free)
		if err != nil {
			return
		}
		tpl, err := re.Template(template)
		if err != nil {
			tpl = &Template{}
		}
		var b strings.Builder
		end := 0
		for _, spans := range all {
			if spans[0] < end || spans[1] < spans[0] || spans[1] > len(text) || len(spans) != 2*(re.NumGroups()+1) {
				t.Fatalf("%q in %q: got %v after %d", pattern, text, spans, end)
			}
			end = spans[1]
			tpl.Expand(&b, text, spans)
		}
	})
}
