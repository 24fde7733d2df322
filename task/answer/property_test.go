package answer

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// writtenAnswer draws an answer in one of the ways in which they are written, or nonsense of the same characters.
func writtenAnswer() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`-?[0-9]{1,6}(\.[0-9]{1,3})?( ?(%|cm|\\%|\^\\circ|\\text\{ km\}|dollars|million))?`),
		rapid.StringMatching(`\\d?frac\{-?[0-9]{1,3}\}\{[0-9]{1,3}\}(\\pi)?`),
		rapid.StringMatching(`[0-9]{1,2}(/| )[0-9]{1,2}(/[0-9])?`),
		rapid.StringMatching(`[0-9 .,'/\\{}$%^()=*a-eπ-]{0,20}`),
		rapid.SampledFrom([]string{"", "yes", `\boxed{5}`, `\frac`, `\frac{`, "10^", "1e", "½", `\overline{3}`, "x = ", "$", `\`}),
		rapid.String(),
	)
}

// Every answer equals itself, and the order of two does not matter.
func TestNumericProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := writtenAnswer().Draw(t, "a"), writtenAnswer().Draw(t, "b")
		if !Numeric(a, a) {
			t.Fatalf("%q is not itself", a)
		}
		if Numeric(a, b) != Numeric(b, a) {
			t.Fatalf("%q and %q: got another verdict the other way round", a, b)
		}
	})
}

// A number stays itself in every dress.
func TestNumericDress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.StringMatching(`-?(0|[1-9][0-9]{0,8})(\.[0-9]{1,4})?`).Draw(t, "number")
		dressed := n
		for range rapid.IntRange(1, 4).Draw(t, "layers") {
			dressed = strings.Replace(rapid.SampledFrom([]string{"$N$", " N ", `\text{N}`, `\boxed{N}`, "{N}", `\left(N\right)`, `\mathrm{N}`, `N\,`, `\displaystyle N`}).Draw(t, "dress"), "N", dressed, 1)
		}
		if strings.Count(dressed, "(") > 1 || strings.Contains(dressed, "$$") && strings.Count(dressed, "$")%4 != 0 {
			t.Skip("not how a number is written")
		}
		dressed += rapid.SampledFrom([]string{"", "."}).Draw(t, "end")
		if !Numeric(n, dressed) {
			t.Fatalf("%q is not %q", dressed, n)
		}
		other := n + "1"
		if !strings.Contains(n, ".") && Numeric(other, dressed) {
			t.Fatalf("%q is %q", dressed, other)
		}
	})
}

// What would take for ever to calculate, or to read, is not.
func TestNumericBounded(t *testing.T) {
	start := time.Now()
	for _, hostile := range []string{
		"10^10^10", "10^{10^{10}}", "1e1000000000", "1 \\times 10^{999999999}", strings.Repeat("9", 4000), strings.Repeat("9", 1<<20), "1e" + strings.Repeat("9", 4000),
		"0." + strings.Repeat("1", 4000), `0.\overline{` + strings.Repeat("12", 1900) + "}", strings.Repeat(`\frac{`, 600), strings.Repeat(`\frac`, 800) + "12", strings.Repeat(`\text{`, 600) + strings.Repeat("}", 400),
		strings.Repeat("{", 4000), strings.Repeat("{", 2000) + strings.Repeat("}", 2000), strings.Repeat("$", 4000), strings.Repeat(`\`, 4000), strings.Repeat("1 ", 2000), strings.Repeat("1,", 2000), strings.Repeat("a ", 2000), strings.Repeat("1 a/", 1000),
		strings.Repeat(`\boxed{`, 1<<16), strings.Repeat(`\boxed `, 1<<16), strings.Repeat("x=", 2000), strings.Repeat("\u2009", 1300), "1/" + strings.Repeat("9", 4000),
	} {
		if !Numeric(hostile, hostile) {
			t.Errorf("%.20q: is not itself", hostile)
		}
		Numeric(hostile, "1")
		LastBox(hostile, Boxed, Fbox)
		LastTag(hostile, "answer")
		Squad(hostile)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func FuzzNumeric(f *testing.F) {
	for _, c := range numericCases {
		f.Add(c.a, c.b)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if !Numeric(a, a) {
			t.Errorf("%q is not itself", a)
		}
		if Numeric(a, b) != Numeric(b, a) {
			t.Errorf("%q and %q: got another verdict the other way round", a, b)
		}
		if n, ok := ParseNumber(a); ok && n.Value == nil {
			t.Errorf("%q: got a number without a value", a)
		}
		Plain(a)
	})
}
