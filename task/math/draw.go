package math

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// maxResult bounds every result, intermediate ones included: five digits.
const maxResult = 99_999

// draw makes one candidate of a template: numbers that fit its calculation, and words. It reports false where the numbers drawn
// do not fit; the caller tries again.
func draw(r *rand.Rand, t template, maxDigits int) (Problem, bool) {
	s, err := t.parse()
	if err != nil {
		return Problem{}, false // a test parses every template
	}
	limit := pow10(maxDigits) - 1
	a, b, ok := drawFirst(r, s.first, maxDigits)
	if !ok {
		return Problem{}, false
	}
	result, ok := s.first.apply(a, b)
	if !ok || result < 1 || result > maxResult {
		return Problem{}, false
	}
	p := Problem{Kind: t.kind(), Template: t.id, Steps: []Step{{Op: s.first, A: Operand{Value: a}, B: Operand{Value: b}}}}
	var c int64
	if s.second != "" {
		if c, ok = drawSecond(r, s, result, limit, maxDigits); !ok {
			return Problem{}, false
		}
		step := Step{Op: s.second, A: Operand{Prev: true}, B: Operand{Value: c}}
		left, right := result, c
		if s.flipped {
			step.A, step.B = step.B, step.A
			left, right = right, left
		}
		if result, ok = s.second.apply(left, right); !ok || result < 1 || result > maxResult {
			return Problem{}, false
		}
		p.Steps = append(p.Steps, step)
	}
	p.Answer = result
	p.Text = fillText(r, t.text, a, b, c)
	return p, true
}

// drawFirst draws the operands of a first step.
func drawFirst(r *rand.Rand, op Op, maxDigits int) (a, b int64, ok bool) {
	a, b = number(r, maxDigits), number(r, maxDigits)
	switch op {
	case OpSub:
		if a < b {
			a, b = b, a
		}
		return a, b, a > b
	case OpDiv:
		// By divisor and quotient, so that it is exact; the dividend must still be a number of the text.
		most := (pow10(maxDigits) - 1) / b
		if most < 2 {
			return 0, 0, false
		}
		return b * between(r, 2, most), b, true
	}
	return a, b, true
}

// drawSecond draws the third number, given the first result.
func drawSecond(r *rand.Rand, s shape, prev, limit int64, maxDigits int) (int64, bool) {
	switch {
	case s.second == OpSub && s.flipped: // c - prev
		if prev+1 > limit {
			return 0, false
		}
		return between(r, prev+1, limit), true
	case s.second == OpSub: // prev - c
		if prev < 3 {
			return 0, false
		}
		c := number(r, maxDigits)
		if c >= prev {
			c = between(r, 2, prev-1)
		}
		return c, true
	case s.second == OpDiv && s.flipped: // no template divides by a result
		return 0, false
	case s.second == OpDiv:
		var divisors []int64
		for d := int64(2); d <= min(limit, prev/2); d++ {
			if prev%d == 0 {
				divisors = append(divisors, d)
			}
		}
		if len(divisors) == 0 {
			return 0, false
		}
		return divisors[r.IntN(len(divisors))], true
	}
	return number(r, maxDigits), true
}

// number draws a number of at least 2: first how many digits (d digits with weight d, so that short numbers are well represented
// but do not crowd out the long ones), then one of that length.
func number(r *rand.Rand, maxDigits int) int64 {
	at := r.IntN(maxDigits * (maxDigits + 1) / 2)
	d := 1
	for ; at >= d; d++ {
		at -= d
	}
	return between(r, max(2, pow10(d-1)), pow10(d)-1)
}

// between draws uniformly, both ends included.
func between(r *rand.Rand, low, high int64) int64 { return low + r.Int64N(high-low+1) }

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

func fillText(r *rand.Rand, text string, a, b, c int64) string {
	people, goods := names(), things()
	i := r.IntN(len(people))
	j := (i + 1 + r.IntN(len(people)-1)) % len(people) // another one
	return strings.NewReplacer(
		"{a}", strconv.FormatInt(a, 10),
		"{b}", strconv.FormatInt(b, 10),
		"{c}", strconv.FormatInt(c, 10),
		"{name}", people[i],
		"{other}", people[j],
		"{things}", goods[r.IntN(len(goods))],
	).Replace(text)
}
