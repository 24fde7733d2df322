package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestMessages asks that messages hold nothing of the examples which the program does not hold, and that an audit says the same each time.
func TestMessages(t *testing.T) {
	c := factCorpus(t)
	var list []known
	for _, f := range facts {
		list = append(list, known{f[0], f[1]})
	}
	for name, write := range mutants() {
		src := write(list[:10])
		found, err := c.Audit("x.star", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			again, err := c.Audit("x.star", []byte(src))
			if err != nil || !slices.Equal(again, found) {
				t.Fatalf("%s: got %v, then %v", name, found, again)
			}
		}
		for _, f := range found {
			for _, k := range list {
				for _, secret := range append(strings.Fields(k.q), k.a) {
					if len(secret) >= 6 && strings.Contains(f.Message, secret) && !strings.Contains(src, secret) {
						t.Errorf("%s: the message %q tells of %q, which the program does not hold", name, f.Message, secret)
					}
				}
			}
		}
	}
}

// TestPieces asks that an answer is found however it is cut and put together again.
func TestPieces(t *testing.T) {
	c := factCorpus(t)
	rapid.Check(t, func(t *rapid.T) {
		answer := rapid.SampledFrom(facts).Draw(t, "fact")[1]
		parts := cut(t, answer)
		if len(parts) < 2 {
			return
		}
		var quoted []string
		for _, p := range parts {
			quoted = append(quoted, fmt.Sprintf("%q", p))
		}
		var src string
		switch rapid.IntRange(0, 5).Draw(t, "way") {
		case 0:
			src = "X = " + strings.Join(quoted, " + ")
		case 1:
			src = "X = \"\".join([" + strings.Join(quoted, ", ") + "])"
		case 2:
			src = "X = \"" + strings.Repeat("{}", len(parts)) + "\".format(" + strings.Join(quoted, ", ") + ")"
		case 3:
			src = "X = \"" + strings.Repeat("%s", len(parts)) + "\" % (" + strings.Join(quoted, ", ") + ")"
		case 4:
			src = "X = \"\"\nfor p in [" + strings.Join(quoted, ", ") + "]:\n    X += p"
		case 5:
			slices.Reverse(quoted)
			src = "def f(list):\n    out = \"\"\n    for p in reversed(list):\n        out = out + p\n    return out\nX = f([" + strings.Join(quoted, ", ") + "])"
		}
		src = harnessOf(src, "print(X)")
		found, err := c.Audit("x.star", []byte(src))
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		if len(found) == 0 && strings.ContainsFunc(strings.Join(parts[1:], ""), func(r rune) bool { return r > ' ' }) && inWord(parts) {
			t.Fatalf("nothing found in\n%s", src)
		}
	})
}

// cut cuts a text at random places.
func cut(t *rapid.T, s string) []string {
	var out []string
	for s != "" {
		n := rapid.IntRange(1, len(s)).Draw(t, "length")
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

// inWord says whether a seam lies inside a word: only then is a text put together from pieces rather than from words.
func inWord(parts []string) bool { return crosses(parts...) }

// TestSlices compares slices with a plain reading of Python's rule.
func TestSlices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[a-z]{0,12}`).Draw(t, "s")
		bound := func(name string) *int {
			if rapid.Bool().Draw(t, name+" is given") {
				n := rapid.IntRange(-15, 15).Draw(t, name)
				return &n
			}
			return nil
		}
		lo, hi, step := bound("lo"), bound("hi"), bound("step")
		if step != nil && *step == 0 {
			return
		}
		got := sliceString(s, [3]*int{lo, hi, step})
		if want := plainSlice(s, lo, hi, step); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// plainSlice walks over all places and asks of each whether the slice holds it.
func plainSlice(s string, lo, hi, step *int) string {
	k := 1
	if step != nil {
		k = *step
	}
	n := len(s)
	clamp := func(p *int, none int) int {
		if p == nil {
			return none
		}
		i := *p
		if i < 0 {
			i += n
		}
		if k > 0 {
			return min(max(i, 0), n)
		}
		return min(max(i, -1), n-1)
	}
	var out []byte
	if k > 0 {
		for i, end := clamp(lo, 0), clamp(hi, n); i < end; i += k {
			out = append(out, s[i])
		}
	} else {
		for i, end := clamp(lo, n-1), clamp(hi, -1); i > end; i += k {
			out = append(out, s[i])
		}
	}
	return string(out)
}

// TestGuesses asks that whoever lists guesses is not told which of them are right.
func TestGuesses(t *testing.T) {
	c := factCorpus(t)
	var table, branches, spelled strings.Builder
	for i := range 60 {
		guess := word(i) + " " + word(i+1)
		if i%5 == 0 {
			guess = facts[i/5][1]
		}
		fmt.Fprintf(&table, "    %q,\n", guess)
		fmt.Fprintf(&branches, "if %q in task.question: hint = %q\n", strings.Fields(facts[i%12][0])[5], guess)
		fmt.Fprintf(&spelled, "    %q + %q,\n", guess[:3], guess[3:])
	}
	for name, src := range map[string]string{
		"a table":  harnessOf("X = [\n"+table.String()+"]", "pass"),
		"spelled":  harnessOf("X = [\n"+spelled.String()+"]", "pass"),
		"branches": harnessOf("", "hint = \"\"\n"+branches.String()),
	} {
		found, err := c.Audit("x.star", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		lines := map[int]bool{}
		for _, f := range found {
			if f.Rule == RuleAnswer || f.Rule == RuleSpelled || f.Rule == RulePairs || f.Rule == RuleTable {
				lines[f.Line] = true
			}
		}
		if len(lines) == 0 || len(lines) > 4 {
			t.Errorf("%s: got findings in the lines %v: %v", name, lines, found)
		}
	}
}
