package math

import (
	"fmt"
	"strconv"
)

// The kinds of problem.
const (
	KindOneStep = "one-step"
	KindTwoStep = "two-step"
)

// Op is an operation of a step, as Python writes it.
type Op string

// The operations. Division is always exact here.
const (
	OpAdd Op = "+"
	OpSub Op = "-"
	OpMul Op = "*"
	OpDiv Op = "//"
)

// Operand is a number of the problem's text, or the result of the step before.
type Operand struct {
	Value int64 `json:"value,omitempty"`
	Prev  bool  `json:"prev,omitempty"` // the previous result; Value is then 0
}

// Step is one operation of a solution.
type Step struct {
	Op Op      `json:"op"`
	A  Operand `json:"a"`
	B  Operand `json:"b"`
}

// Problem is a generated problem with its solution as data.
type Problem struct {
	Text     string `json:"text"`
	Steps    []Step `json:"steps"` // one or two
	Answer   int64  `json:"answer"`
	Kind     string `json:"kind"`     // KindOneStep or KindTwoStep
	Template string `json:"template"` // which wording it came from
}

// apply computes a step whose operands are known. It reports false where the result is undefined or a division leaves a rest.
func (op Op) apply(a, b int64) (int64, bool) {
	switch op {
	case OpAdd:
		return a + b, true
	case OpSub:
		return a - b, true
	case OpMul:
		return a * b, true
	case OpDiv:
		if b == 0 || a%b != 0 {
			return 0, false
		}
		return a / b, true
	}
	return 0, false
}

func (o Operand) resolve(prev int64) int64 {
	if o.Prev {
		return prev
	}
	return o.Value
}

// Results gives the result of every step; the last one is the answer.
func (p Problem) Results() ([]int64, error) {
	var prev int64
	results := make([]int64, 0, len(p.Steps))
	for i, s := range p.Steps {
		r, ok := s.Op.apply(s.A.resolve(prev), s.B.resolve(prev))
		if !ok {
			return nil, fmt.Errorf("problem %q: step %d: got %d%s%d, want an exact result", p.Template, i+1, s.A.resolve(prev), s.Op, s.B.resolve(prev))
		}
		results = append(results, r)
		prev = r
	}
	return results, nil
}

// Expressions gives one Python expression a step, the previous result written out as a number: "347+58", then "405*3".
func (p Problem) Expressions() []string {
	var prev int64
	out := make([]string, 0, len(p.Steps))
	for _, s := range p.Steps {
		a, b := s.A.resolve(prev), s.B.resolve(prev)
		out = append(out, strconv.FormatInt(a, 10)+string(s.Op)+strconv.FormatInt(b, 10))
		prev, _ = s.Op.apply(a, b)
	}
	return out
}

// Expression gives the whole solution as one Python expression. The first step of two is always in parentheses, needed or not:
// "(347+58)*3", "500-(12*7)".
func (p Problem) Expression() string {
	prev := ""
	for i, s := range p.Steps {
		if i > 0 {
			prev = "(" + prev + ")"
		}
		prev = s.A.write(prev) + string(s.Op) + s.B.write(prev)
	}
	return prev
}

func (o Operand) write(prev string) string {
	if o.Prev {
		return prev
	}
	return strconv.FormatInt(o.Value, 10)
}
