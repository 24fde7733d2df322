package calc

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// tree is an expression with its value computed independently of the calculator.
type tree struct {
	text  string
	value *big.Int
	level int // of precedence: 0 sum, 1 product, 2 sign, 3 power, 4 atom
}

// at puts brackets around x when it binds less tightly than level.
func (x tree) at(level int) string {
	if x.level < level {
		return "(" + x.text + ")"
	}
	return x.text
}

func drawTree(t *rapid.T, depth int) tree {
	kind := 0
	if depth > 0 {
		kind = rapid.IntRange(0, 6).Draw(t, "kind")
	}
	space := rapid.SampledFrom([]string{"", " "}).Draw(t, "space")
	switch kind {
	case 1, 2:
		x, y := drawTree(t, depth-1), drawTree(t, depth-1)
		if rapid.Bool().Draw(t, "minus") {
			return tree{x.at(0) + space + "-" + space + y.at(1), new(big.Int).Sub(x.value, y.value), 0}
		}
		return tree{x.at(1) + space + "*" + space + y.at(2), new(big.Int).Mul(x.value, y.value), 1}
	case 3:
		x := drawTree(t, depth-1)
		return tree{"-" + space + x.at(2), new(big.Int).Neg(x.value), 2}
	case 4, 5:
		x := drawTree(t, depth-1)
		y := rapid.IntRange(0, 4).Draw(t, "exponent")
		exponent := fmt.Sprint(y)
		switch rapid.IntRange(0, 2).Draw(t, "form") {
		case 1:
			exponent = fmt.Sprintf("- -%d", y)
		case 2:
			exponent = fmt.Sprintf("%d**1", y)
		}
		return tree{x.at(4) + space + "**" + space + exponent, new(big.Int).Exp(x.value, big.NewInt(int64(y)), nil), 3}
	case 6:
		x := drawTree(t, depth-1)
		return tree{"max(" + x.text + ", " + x.text + ")", x.value, 4}
	}
	n := rapid.IntRange(0, 9).Draw(t, "n")
	return tree{fmt.Sprint(n), big.NewInt(int64(n)), 4}
}

// Powers keep Python's precedence and associativity whatever stands around them.
func TestPrecedence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawTree(t, 5)
		if len(x.text) > 2000 || x.value.BitLen() > 5000 {
			t.Skip("too large")
		}
		got, err := Eval(x.text, DefaultLimits)
		if err != nil || got != x.value.String()+"\n" {
			t.Fatalf("%s: got %q, %v, want %v", x.text, got, err, x.value)
		}
	})
}

func TestDivisionIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Int64().Draw(t, "a")
		b := rapid.Int64().Filter(func(b int64) bool { return b != 0 }).Draw(t, "b")
		src := fmt.Sprintf("a, b = %d, %d\nq, r = a // b, a %% b\nq * b + r == a, r == 0 or (r < 0) == (b < 0), abs(r) < abs(b)", a, b)
		if got, err := Eval(src, DefaultLimits); err != nil || got != "(True, True, True)\n" {
			t.Fatalf("%d, %d: got %q, %v", a, b, got, err)
		}
	})
}

func TestFloatRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		text := pyFloat(f)
		if got, err := Eval(text, DefaultLimits); err != nil || got != text+"\n" {
			t.Fatalf("%s: got %q, %v", text, got, err)
		}
	})
}

func TestPreciseFunctions(t *testing.T) {
	near := func(got, want float64) bool {
		return got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 1e-12*math.Abs(want)+1e-300
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-1e6, 1e6).Draw(t, "x")
		if math.Abs(x) < 0x1p-1022 {
			x = 0 // Go's own logarithm, the reference here, is wrong for subnormal numbers
		}
		y := rapid.Float64Range(-50, 50).Draw(t, "y")
		if rapid.Bool().Draw(t, "whole") {
			y = math.Round(y)
		}
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"pow", precisePow(x, y), math.Pow(x, y)}, {"exp", preciseExp(y), math.Exp(y)}, {"log", preciseLog(math.Abs(x)), math.Log(math.Abs(x))},
			{"log2", preciseLogBase(2)(math.Abs(x)), math.Log2(math.Abs(x))},
		} {
			if !near(c.got, c.want) {
				t.Fatalf("%s of %v, %v: got %v, want about %v", c.name, x, y, c.got, c.want)
			}
		}
	})
	for _, c := range []struct{ got, want float64 }{
		{precisePow(2, -1074), 5e-324}, {precisePow(2, 1023), math.Ldexp(1, 1023)}, {precisePow(2, 1024), math.Inf(1)}, {precisePow(-2, 3), -8},
		{precisePow(4, 0.5), 2}, {precisePow(10, -400), 0}, {precisePow(0, 0), 1}, {precisePow(1, math.NaN()), 1}, {preciseLog(1), 0},
		{precisePow(-2, -1e300), 0}, {preciseExp(-750), 0}, {preciseExp(0), 1},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

// A pure arithmetic expression gives the same bytes in this process as in a worker.
func TestFastPathIsTheSame(t *testing.T) {
	c := newCalculator(t, 1)
	fast, ctx := 0, t.Context()
	check := func(t interface{ Fatalf(string, ...any) }, src string) {
		if !harmless(src) {
			return
		}
		fast++
		got, err := c.Do(ctx, src)
		if err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		want, err := c.inWorker(ctx, src)
		if err != nil || got != want {
			t.Fatalf("%q: got %+v here, %+v in a worker, %v", src, got, want, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.StringMatching(`[-0-9.+*/%() ]{0,40}`).Draw(t, "noise"))
		operand := rapid.StringMatching(`-?\(?[0-9]{1,25}(\.[0-9]{0,9})?\)?`)
		src := operand.Draw(t, "x")
		for range rapid.IntRange(0, 5).Draw(t, "n") {
			src += rapid.SampledFrom([]string{"+", "-", " * ", "/", "//", " % "}).Draw(t, "op") + operand.Draw(t, "y")
		}
		check(t, src)
	})
	check(t, strings.Repeat("9", 99)+"*"+strings.Repeat("9", 99))
	check(t, strings.Repeat("(", 100)+strings.Repeat(")", 100))
	if fast < 100 {
		t.Fatalf("only %d sources took the fast path", fast)
	}
	for _, src := range []string{"2**3", "2* *3", "a", "'1'", "1<<2", "1e9", "1\n2", "[1]", "1,2", strings.Repeat("1", 201), "1==1"} {
		if harmless(src) != (src == "2* *3") {
			t.Errorf("%q: harmless is %v", src, harmless(src))
		}
	}
}

// Whatever the source, translating it neither panics nor moves a line.
func FuzzTranslate(f *testing.F) {
	for _, s := range []string{
		"2**3**-x[1](2).y", "from math import (sqrt,\n pi)\nx **= 2", "sum(x**2 for x in y)\n'''a\nb'''", "f(**{'a': 2**1_0})", "**", "(**)", "a**)", "import", "from math import *; x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		out, err := translate(src)
		if err == nil && strings.Count(out, "\n") != strings.Count(src, "\n") {
			t.Fatalf("%q became %q", src, out)
		}
	})
}
