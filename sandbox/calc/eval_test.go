package calc

import (
	"errors"
	"strings"
	"testing"
)

// The expected texts of these are what CPython 3.12 prints.
func TestLikePython(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"1+1", "2"}, {"7/2", "3.5"}, {"6/3", "2.0"}, {"7//2, -7//2, 7//-2, -7//-2", "(3, -4, -4, 3)"},
		{"7%3, -7%3, 7%-3, -7%-3", "(1, 2, -2, -1)"}, {"7.5//2, -7.5//2, 7.5%-2", "(3.0, -4.0, -0.5)"},
		{"1.0//0.1, 1.0%0.1", "(9.0, 0.09999999999999995)"}, {"0.0//-3, -0.0%3", "(-0.0, 0.0)"},
		{"10**400/10**399", "10.0"}, {"9007199254740993/3", "3002399751580331.0"}, {"3**50/7**20", "8997087.324405745"},
		{"-2**2", "-4"}, {"(-2)**2", "4"}, {"2**3**2", "512"}, {"2**-1", "0.5"}, {"2**-2**2", "0.0625"}, {"-2**-2", "-0.25"},
		{"2*3**2", "18"}, {"2**3*4", "32"}, {"not 2**2", "False"}, {"0**0", "1"}, {"(-1)**(10**30)", "1"}, {"2 ** ~ -3", "4"},
		{"abs(-3)**2", "9"}, {"[1,2,3][1]**3", "8"}, {"{'a': 3}['a']**2", "9"}, {"'ab'.upper()*2**2", "ABABABAB"},
		{"(lambda x: x**2)(5)", "25"}, {"2**(1+1)**(1+1)", "16"}, {"1_000**2", "1000000"}, {"[x**2 for x in range(4)]", "[0, 1, 4, 9]"},
		{"2**0.5, 2.0**3, 4**-0.5", "(1.4142135623730951, 8.0, 0.5)"}, {"1.05**10", "1.628894626777442"}, {"(-8.0)**3", "-512.0"},
		{"100*1.07**30", "761.2255042662042"}, {"1.1**-7.3", "0.4986931448463441"}, {"10**-5", "1e-05"},
		{"0.1+0.2", "0.30000000000000004"}, {"1e16, 1e15, 123456789.0, 1.5e-7, 0.0001, 1e22", "(1e+16, 1000000000000000.0, 123456789.0, 1.5e-07, 0.0001, 1e+22)"},
		{"1e308*10, -1e308*10", "(inf, -inf)"}, {"5e-324, 2.5e-5", "(5e-324, 2.5e-05)"},
		{"round(0.5), round(1.5), round(2.5), round(-0.5), round(-1.5)", "(0, 2, 2, 0, -2)"},
		{"round(2.675, 2), round(0.125, 2), round(1e300, 2), round(5, 3)", "(2.67, 0.12, 1e+300, 5)"},
		{"round(1234, -2), round(1250, -2), round(1350, -2), round(-1250, -2), round(5, -1), round(15, -1)", "(1200, 1200, 1400, -1200, 0, 20)"},
		{"round(1250.0, -2), round(1250.5, -2), round(-1249.9, -2), round(0.4, -1), round(2.5, 0)", "(1200.0, 1300.0, -1200.0, 0.0, 2.0)"},
		{"round(3.7), round(1e20), round(True)", "(4, 100000000000000000000, 1)"},
		{"int(3.9), int(-3.9), int('42'), int(' 7 '), int('ff', 16), float('1e3'), float(3)", "(3, -3, 42, 7, 255, 1000.0, 3.0)"},
		{"divmod(-7, 2), divmod(7.5, 2)", "((-4, 1), (3.0, 1.5))"}, {"pow(2, 10), pow(3, -1, 7), pow(-3, 3, 5), pow(2, 3, -5)", "(1024, 5, 3, -2)"},
		{"sum([0.1]*10), sum([1, 2, 3]), sum([[1], [2]], [])", "(1.0, 6, [1, 2])"}, {"sum(x*x for x in range(4))", "14"},
		{"sum(x*y for x in range(3) for y in [1, 2] if y > 1)", "6"}, {"max(x**2 for x in [-3, 2])", "9"}, {"list((a, b) for a, b in [(1, 2)])", "[(1, 2)]"},
		{"min(3, 1, 2), max([4, 9]), len('abc'), sorted([3, 1, 2], reverse=True)", "(1, 9, 3, [3, 2, 1])"},
		{"True + True, True * 3, -True, ~5, +2", "(2, 3, -1, -6, 2)"}, {"5 > 3, 2 == 2.0, not 1", "(True, True, False)"},
		{"1 << 70, -5 >> 1, 6 & 3, 6 | 3, 6 ^ 3", "(1180591620717411303424, -3, 2, 7, 5)"},
		{"str(1.0) + 'x', repr('it\\'s'), str([1.0, 'a'])", `('1.0x', '"it\'s"', "[1.0, 'a']")`},
		{"None", "None"}, {"(1,), (), [], {}, set(), {1: 2.0}, set([3])", "((1,), (), [], {}, set(), {1: 2.0}, {3})"},
		{"range(5), range(1, 9, 2)", "(range(0, 5), range(1, 9, 2))"},
		{"'a\\n\\t\\x00é' + '\\u200b', ['a\\n\\t\\x00é\\u200b']", "('a\\n\\t\\x00é\\u200b', ['a\\n\\t\\x00é\\u200b'])"},
		{"import math\nmath.sqrt(16), math.floor(-2.5), math.ceil(2.1), math.trunc(-2.7)", "(4.0, -3, 3, -2)"},
		{"math.gcd(12, 18), math.gcd(), math.lcm(4, 6), math.comb(5, 2), math.perm(5, 2), math.factorial(10)", "(6, 0, 12, 10, 20, 3628800)"},
		{"math.pi, math.e", "(3.141592653589793, 2.718281828459045)"}, {"math.log(100, 10), math.log2(8), math.log10(1000), math.exp(1)", "(2.0, 3.0, 3.0, 2.718281828459045)"},
		{"math.isqrt(10**40), math.hypot(3, 4), math.prod([2, 3.0])", "(100000000000000000000, 5.0, 6.0)"}, {"math.comb(100, 98), math.comb(3, 5)", "(4950, 0)"},
		{"from math import sqrt, pi as p\nsqrt(4) * p", "6.283185307179586"}, {"from math import (floor,\n  ceil)\nfloor(1.5) + ceil(1.5)", "3"},
		{"import math as m; m.sqrt(9)", "3.0"}, {"from math import *\nsqrt(9)", "3.0"},
		{"x = 3\nx **= 2\nx -= 1\nx //= 3\nx", "2"}, {"a = [1, 2]\na[-1] += 5\na", "[1, 7]"},
		{"d = {'k': 7}\nd['k'] //= 2\nd['k'] <<= 3\nd", "{'k': 24}"}, {"a = [1]\nb = a\na += [2]\na += a\nb", "[1, 2, 1, 2]"},
		{"a = [7]\nb = a\na = a + [8]\nb", "[7]"}, {"x = 5\nx %= 3\nx *= 2\nx /= 8\nx", "0.5"},
		{"def f(n):\n    return 1 if n < 2 else n * f(n - 1)\nf(20)", "2432902008176640000"},
		{"def fib(n):\n    a, b = 0, 1\n    while n > 0:\n        a, b = b, a + b\n        n -= 1\n    return a\nfib(90)", "2880067194370816120"},
		{"total = 0\nfor i in range(1, 101):\n    if i % 3 == 0 or i % 5 == 0:\n        total += i\ntotal", "2418"},
		{"   x = 2\n   x**5", "32"}, {"x = 1\n\n# comment\n", ""}, {"for i in range(2): print(i**2)", "0\n1"},
		{"print(1, 2.0, 'a', None, sep='-', end='!')\nprint()", "1-2.0-a-None!"}, {"print('x')", "x"}, {"def f():\n  print('in')\nf()", "in"},
		{"'''two\nlines'''", "two\nlines"}, {"a = (1 +\n  2 **\n  3)\na", "9"}, {"x = 1 + \\\n 2**2\nx", "5"}, {"", ""},
		{"a = [1]\na.append(a)\na", "[1, [...]]"}, {"list(map(lambda x: x**2, [1, 2])), list(filter(None, [0, 1]))", "([1, 4], [1])"},
	} {
		got, err := Eval(c.src, DefaultLimits)
		if err != nil || strings.TrimSuffix(got, "\n") != c.want {
			t.Errorf("%q: got %q, %v, want %q", c.src, got, err, c.want)
		}
	}
}

func TestErrorsForTheModel(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"1/0", "line 1: division by zero"}, {"x = 1\ny = 0\nprint(x // y)", "line 3: division by zero"}, {"1.0 % 0", "line 1: division by zero"},
		{"def f(x):\n    return 1 / x\n\nf(0)", "line 2: division by zero"}, {"0**-1", "line 1: zero cannot be raised"},
		{"(-8)**(1/3)", "line 1: a negative number to a fractional power is complex"}, {"10.0**400", "line 1: the result is too large"},
		{"9**9**9", "line 1: the result is too large"}, {"1 << 10**9", "line 1: the result is too large"}, {"math.factorial(10**6)", "line 1: the result is too large"},
		{"'a' * 10**9", "line 1: the result is too large"}, {"[0] * (1 << 29)", "line 1: the result is too large"}, {"10**5000", "line 1: the integer has more than 4300 digits"},
		{"math.comb(10**9, 5 * 10**8)", "line 1: the result is too large"}, {"int('9' * 5000)", "line 1: the string has more than 4300 characters"},
		{"range(10**12)", "line 1: the range has more than 10000000 elements"}, {"while True: pass", "line 1: too many steps, the limit is 5000000"},
		{"def f(n):\n    return f(n + 1)\nf(0)", "line 1: maximum recursion depth exceeded"}, {"f = lambda n: f(n)\nf(0)", "line 1: maximum recursion depth exceeded"},
		{"10**400 * 1.0", "line 1: int too large"}, {"10**400 / 3", "line 1: the result is too large"}, {"math.sqrt(-1)", "line 1: math domain error"},
		{"math.log(0)", "line 1: math domain error"}, {"math.exp(1000)", "line 1: the result is too large"}, {"int(math.inf)", "line 1: "},
		{"'a' + 1", "line 1: unsupported operand types for +: string and int"}, {"1 - 'a'", "line 1: unsupported operand types for -"}, {"-'a'", "line 1: unsupported operand type for -"},
		{"foo", "line 1: undefined: foo"}, {"sqrt(2)", "line 1: undefined: sqrt: did you mean math.sqrt?"}, {"(1", "line 1: got end of file"},
		{"x = 1\ny = x +", "line 2: got newline"}, {"2 ** ", "line 1: "}, {"** 2", "line 1: "}, {"$", "line 1: unexpected input character"},
		{"f'{1}'", "line 1: f-strings are not available"}, {"1\nrf'{1}'", "line 2: f-strings are not available"}, {"'%d' % 3", "line 1: formatting with %"},
		{"'{}'.format(1)", "line 1: format is not available"}, {"import os", "line 1: import os: only math can be imported"}, {"from os import system", "line 1: from os import system: only"},
		{"import math, os", "line 1: import math , os: only math"}, {"x = 1\nclass A: pass", "line 2: \"class\" is not available"}, {"1 is 1", "line 1: \"is\" is not available"},
		{"__pow__(2, 10**9)", "line 1: __pow__: names that begin with __"}, {"x.__class__", "line 1: __class__: names that begin with __"}, {"'abc", "line 1: the string has no end"},
		{"d = {}\nd['k'] += 1", "line 2: 'k' is not in the dict"}, {"a = [1]\na[3] += 1", "line 2: list index out of range"}, {"x = (1, 2)\nx[0] += 1", "line 2: tuple does not support item assignment"},
		{"a = [1]\na[0] **= 2", "line 2: **= works on plain names only"}, {"open('/etc/passwd')", "line 1: undefined: open"}, {"load('x', 'y')", "line 1: "},
		{"print('a' * 9000)", "line 1: the output is longer than 8192 bytes"}, {"a\x00b", "the program is not valid text"}, {"a\xff", "the program is not valid text"},
		{strings.Repeat("1", 5000), "the program has 5000 bytes, the limit is 4096"}, {"a = []\nfor i in range(200):\n  a = [a]\na", "line 4: the value is nested too deeply"},
		{"{}[" + strings.Repeat("'x' + ", 400) + "'x']", "line 1: key"},
	} {
		_, err := Eval(c.src, DefaultLimits)
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.60q: got %v, want %q", c.src, err, c.want)
			continue
		}
		if text := err.Error(); strings.Contains(text, "\n") || len(text) > 300 {
			t.Errorf("%.60q: got %q, want one short line", c.src, text)
		}
	}
}

func TestOutputBeforeAnErrorIsKept(t *testing.T) {
	out, err := Eval("print(1)\nprint(2)\n1/0", DefaultLimits)
	if out != "1\n2\n" || err == nil {
		t.Fatalf("got %q, %v", out, err)
	}
}

func TestLimits(t *testing.T) {
	lim := Limits{Steps: 1000, Output: 10, Source: 100}
	if _, err := Eval("for i in range(10): i", lim); err != nil {
		t.Error(err)
	}
	if _, err := Eval("for i in range(1000): i", lim); err == nil || !strings.Contains(err.Error(), "the limit is 1000") {
		t.Errorf("steps: got %v", err)
	}
	if out, err := Eval("print('é' * 9)", lim); err == nil || len(out) != 10 {
		t.Errorf("output: got %q, %v", out, err)
	}
	if out, err := Eval("print('éa' * 9)", lim); err == nil || len(out) != 9 { // the limit cuts a character
		t.Errorf("output: got %q, %v", out, err)
	}
	for _, bad := range []Limits{{}, {Steps: 1, Output: 1}, {Steps: 1, Source: 1}, {Output: 1, Source: 1}} {
		if _, err := Eval("1", bad); err == nil {
			t.Errorf("%+v: got nil, want an error", bad)
		}
	}
}
