package answer

import (
	"math/big"
	"strings"
)

// Number is what a text says where it says a number: Value, times π if Pi, in Unit.
type Number struct {
	Value   *big.Rat
	Pi      bool
	Percent bool   // the text has a percent sign; Value is what stands before it
	Unit    string // "" where none is named; spelled in one way for the usual units
}

// maxNumber bounds a text that may be a number, in bytes.
const maxNumber = 4096

// Numeric tells whether two answers are the same number, exactly, or, if neither is a number, the same text in the form of [Plain].
//
// Decisions: a unit that only one of them names does not count; two different units do (5 cm is not 5 m, and nothing is converted). A percent
// sign is a unit that may be left out, or stand for its hundredth: 50% is 50 and is 0.5. π is a factor, and not 3.14. A fraction needs
// no lowest terms. Other expressions that would have to be calculated, such as 5*5, 2^{10} or \sqrt{4}, are texts, so that
// no reply can leave its calculation to the verifier.
func Numeric(a, b string) bool {
	x, ok := ParseNumber(a)
	y, ok2 := ParseNumber(b)
	if ok != ok2 {
		return false
	}
	if !ok {
		return Plain(a) == Plain(b)
	}
	return x.Equal(y)
}

// Equal compares as [Numeric] does.
func (x Number) Equal(y Number) bool {
	if x.Pi != y.Pi || x.Unit != "" && y.Unit != "" && x.Unit != y.Unit {
		return false
	}
	if x.Value.Cmp(y.Value) == 0 {
		return !(x.Percent && y.Unit != "" || y.Percent && x.Unit != "")
	}
	if x.Percent == y.Percent {
		return false
	}
	if y.Percent {
		x, y = y, x
	}
	return y.Unit == "" && new(big.Rat).Quo(x.Value, big.NewRat(100, 1)).Cmp(y.Value) == 0
}

// ParseNumber reads a text that is one number and nothing else but its unit and the name that it is given ("x = 5").
func ParseNumber(s string) (Number, bool) {
	if len(s) > maxNumber {
		return Number{}, false
	}
	s = clean(s)
	if name, value, ok := strings.Cut(s, "="); ok {
		if !isName(strings.TrimSpace(name)) {
			return Number{}, false
		}
		s = value
	}
	s = strings.TrimLeft(strings.TrimSpace(s), "≈")
	for range maxEnclosed {
		inner, ok := enclosed(s)
		if !ok || s[0] == '(' && strings.Contains(inner, ",") { // (1,000) may be a pair
			break
		}
		s = strings.TrimSpace(trimEnd(inner))
	}
	p := parser{rest: strings.TrimSpace(s)}
	n, ok := p.number()
	if !ok || p.rest != "" {
		return Number{}, false
	}
	return n, true
}

// maxEnclosed bounds the braces around a number.
const maxEnclosed = 8

// enclosed takes one pair of parentheses or braces off.
func enclosed(s string) (string, bool) {
	if strings.HasPrefix(s, "{") {
		inner, ok := balanced(s)
		return strings.TrimSpace(inner), ok && len(inner)+2 == len(s)
	}
	inner, open := strings.CutPrefix(s, "(")
	inner, closed := strings.CutSuffix(inner, ")")
	return strings.TrimSpace(inner), open && closed && !strings.ContainsAny(inner, "()")
}

// isName tells whether a text can name a quantity: letters, Greek ones as commands too, with an index, primes or an argument; or nothing.
func isName(s string) bool {
	const most = 40
	if s == "" {
		return true
	}
	if len(s) > most || !isLetter(s[0]) && s[0] != '\\' && s[0] < 0x80 {
		return false
	}
	return !strings.ContainsAny(s, "+-*/^<>=%$")
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
func isDigit(b byte) bool  { return b >= '0' && b <= '9' }
