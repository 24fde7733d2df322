package math

import (
	"fmt"
	"strings"
)

// template is a wording with the calculation that it asks for.
//
// The text holds the numbers {a}, {b}, {c}, the words {name}, {other} (a second person) and {things}. The formula is "a+b" for one
// step, and "(a+b)*c" or "c-(a*b)" for two, with any of + - * /; every division is made exact by the choice of numbers.
// Numbers are at least 2, so that the plural is always right.
type template struct {
	id      string
	text    string
	formula string
	bare    bool // arithmetic without a story
}

// shape is a parsed formula.
type shape struct {
	first   Op
	second  Op   // "" for one step
	flipped bool // the previous result is the right operand of the second step
}

func (t template) kind() string {
	if len(t.formula) == len("a+b") {
		return KindOneStep
	}
	return KindTwoStep
}

// parse reads the formula. The table of templates is ours, so an error is a defect that the tests find.
func (t template) parse() (shape, error) {
	f := t.formula
	var s shape
	var errs [2]error
	switch {
	case len(f) == 3 && f[0] == 'a' && f[2] == 'b':
		s.first, errs[0] = opOf(f[1])
	case len(f) == 7 && strings.HasPrefix(f, "(a") && strings.HasPrefix(f[3:], "b)") && f[6] == 'c':
		s.first, errs[0] = opOf(f[2])
		s.second, errs[1] = opOf(f[5])
	case len(f) == 7 && strings.HasPrefix(f, "c") && strings.HasPrefix(f[2:], "(a") && strings.HasSuffix(f, "b)"):
		s.first, errs[0] = opOf(f[4])
		s.second, errs[1] = opOf(f[1])
		s.flipped = true
	default:
		return s, fmt.Errorf("template %s: got formula %q, want the form a+b, (a+b)*c or c-(a*b)", t.id, f)
	}
	for _, err := range errs {
		if err != nil {
			return s, fmt.Errorf("template %s: formula %q: %w", t.id, f, err)
		}
	}
	return s, nil
}

func opOf(c byte) (Op, error) {
	switch c {
	case '+':
		return OpAdd, nil
	case '-':
		return OpSub, nil
	case '*':
		return OpMul, nil
	case '/':
		return OpDiv, nil
	}
	return "", fmt.Errorf("got operator %q, want one of + - * /", string(c))
}

// names and things are few on purpose: a small model is to learn the arithmetic, not the dictionary.
func names() []string {
	return []string{"Anna", "Ben", "Cara", "Dan", "Eva", "Finn", "Gina", "Hugo", "Ida", "Jon", "Kim", "Leo"}
}

func things() []string {
	return []string{"apples", "pens", "books", "cards", "coins", "shells", "stamps", "beads", "eggs", "nuts", "cups", "stones"}
}
