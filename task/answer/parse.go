package answer

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parser reads a cleaned text from left to right. Every step either takes something off rest or fails.
type parser struct{ rest string }

func (p *parser) take(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

func (p *parser) space() bool {
	before := len(p.rest)
	p.rest = strings.TrimLeft(p.rest, " "+string(thin))
	return len(p.rest) < before
}

// number = sign? currency? sign? magnitude scale? unit?
func (p *parser) number() (n Number, ok bool) {
	negative, signed := p.sign()
	n.Unit = p.currency()
	if n.Unit != "" && !signed {
		negative, _ = p.sign()
	}
	if n.Value, n.Pi, ok = p.magnitude(); !ok {
		return n, false
	}
	if negative {
		n.Value.Neg(n.Value)
	}
	return n, p.tail(&n)
}

func (p *parser) sign() (negative, signed bool) {
	p.space()
	negative = p.take("-")
	signed = negative || p.take("+")
	p.space()
	return negative, signed
}

func (p *parser) currency() string {
	for _, c := range currencies {
		if p.take(c.sign) {
			p.space()
			return c.unit
		}
	}
	return ""
}

// magnitude reads a number without its sign: a literal, a fraction, a mixed number, a number times a power of ten or times π.
func (p *parser) magnitude() (v *big.Rat, pi bool, ok bool) {
	switch {
	case p.take("π"):
		return p.over(big.NewRat(1, 1), true)
	case strings.HasPrefix(p.rest, `\frac`):
		v, pi, ok = p.frac()
		if ok && !pi {
			pi = p.timesPi()
		}
		return v, pi, ok
	}
	if v, ok := p.vulgar(); ok {
		return v, p.timesPi(), true
	}
	v, whole, ok := p.literal()
	if !ok {
		return nil, false, false
	}
	if whole {
		if part, ok := p.mixed(); ok {
			return v.Add(v, part), p.timesPi(), true
		}
	}
	if power, found, ok := p.power(v); found {
		return power, false, ok
	}
	if p.timesPi() {
		return p.over(v, true)
	}
	return p.over(v, false)
}

// timesPi takes a factor of π.
func (p *parser) timesPi() bool {
	before := p.rest
	p.space()
	p.take("*")
	p.space()
	if p.take("π") {
		return true
	}
	if rest, ok := strings.CutPrefix(p.rest, "pi"); ok && (rest == "" || !isLetter(rest[0])) {
		p.rest = rest
		return true
	}
	p.rest = before
	return false
}

// over reads a denominator, if there is one. After it there is no other and no π, since 3/4π can mean two things.
func (p *parser) over(v *big.Rat, pi bool) (*big.Rat, bool, bool) {
	before := p.rest
	p.space()
	if !p.take("/") {
		p.rest = before
		return v, pi, true
	}
	p.space()
	d, ok := p.atom()
	if !ok || d.Sign() == 0 || p.timesPi() {
		return nil, false, false
	}
	return v.Quo(v, d), pi, true
}

// atom is a literal, in braces or parentheses or not.
func (p *parser) atom() (*big.Rat, bool) {
	closing := ""
	switch {
	case p.take("{"):
		closing = "}"
	case p.take("("):
		closing = ")"
	}
	p.space()
	v, _, ok := p.literal()
	return v, ok && p.close(closing)
}

// close takes what closes a group, if one was opened.
func (p *parser) close(closing string) bool {
	if closing == "" {
		return true
	}
	p.space()
	return p.take(closing)
}

// mixed reads the fraction of a mixed number, which is less than 1.
func (p *parser) mixed() (*big.Rat, bool) {
	before := p.rest
	spaced := p.space()
	v, ok := p.vulgar()
	if !ok && strings.HasPrefix(p.rest, `\frac`) {
		var pi bool
		v, pi, ok = p.frac()
		ok = ok && !pi
	} else if !ok && spaced && p.rest != "" && isDigit(p.rest[0]) {
		var whole bool
		if v, whole, ok = p.literal(); ok && whole && p.take("/") {
			d, whole, okD := p.literal()
			if ok = okD && whole && d.Sign() != 0; ok {
				v.Quo(v, d)
			}
		} else {
			ok = false
		}
	}
	if !ok || v.Sign() < 0 || v.Cmp(big.NewRat(1, 1)) >= 0 {
		p.rest = before
		return nil, false
	}
	return v, true
}

// frac reads \frac{a}{b} and \frac12. Numerator and denominator are literals, with a sign or not; the numerator may have a factor of π.
func (p *parser) frac() (v *big.Rat, pi, ok bool) {
	p.take(`\frac`)
	p.space()
	above, ok := p.argument()
	p.space()
	below, ok2 := p.argument()
	if !ok || !ok2 {
		return nil, false, false
	}
	v, pi, ok = part(above)
	d, dPi, ok2 := part(below)
	if !ok || !ok2 || dPi || d.Sign() == 0 {
		return nil, false, false
	}
	return v.Quo(v, d), pi, true
}

// part reads what stands above or below the line of a fraction.
func part(s string) (v *big.Rat, pi, ok bool) {
	p := parser{rest: strings.TrimSpace(s)}
	negative, _ := p.sign()
	if p.take("π") {
		v, pi, ok = big.NewRat(1, 1), true, true
	} else if v, _, ok = p.literal(); ok {
		pi = p.timesPi()
	}
	p.space()
	if !ok || p.rest != "" {
		return nil, false, false
	}
	if negative {
		v.Neg(v)
	}
	return v, pi, true
}

// argument takes a group in braces, or a single character, as LaTeX does.
func (p *parser) argument() (string, bool) {
	if strings.HasPrefix(p.rest, "{") {
		inner, ok := balanced(p.rest)
		if ok {
			p.rest = p.rest[len(inner)+2:]
		}
		return inner, ok
	}
	r, size := utf8.DecodeRuneInString(p.rest)
	if r != 'π' && (r < '0' || r > '9') {
		return "", false
	}
	s := p.rest[:size]
	p.rest = p.rest[size:]
	return s, true
}

// maxExponent bounds a power of ten: its number has some thousand digits.
const maxExponent = 1000

// power reads a power of ten after a literal: e3, *10^3, or ^3 after a 10. found tells that there is one, ok that it can be read.
func (p *parser) power(v *big.Rat) (product *big.Rat, found, ok bool) {
	before := p.rest
	if len(p.rest) > 1 && p.rest[0]|0x20 == 'e' {
		p.rest = p.rest[1:]
		if e, ok := p.exponent(); ok {
			return scaled(v, e)
		}
		p.rest = before
		return nil, false, false
	}
	ten := v.Cmp(big.NewRat(10, 1)) == 0 && strings.HasPrefix(p.rest, "^")
	if !ten {
		p.space()
		if !p.take("*") {
			p.rest = before
			return nil, false, false
		}
		p.space()
		if !strings.HasPrefix(p.rest, "10^") {
			p.rest = before
			return nil, false, false
		}
		p.rest = p.rest[len("10"):]
	} else {
		v = big.NewRat(1, 1)
	}
	p.take("^")
	closing := ""
	if p.take("{") {
		closing = "}"
	}
	p.space()
	e, ok := p.exponent()
	if !ok || !p.close(closing) {
		return nil, true, false
	}
	return scaled(v, e)
}

// exponent reads an integer of few digits.
func (p *parser) exponent() (int, bool) {
	end := 0
	if p.rest != "" && (p.rest[0] == '-' || p.rest[0] == '+') {
		end = 1
	}
	for end < len(p.rest) && isDigit(p.rest[end]) {
		end++
	}
	e, err := strconv.ParseInt(p.rest[:end], 10, 32)
	if err != nil || e > maxExponent || e < -maxExponent {
		return 0, false
	}
	p.rest = p.rest[end:]
	return int(e), true
}

func scaled(v *big.Rat, e int) (*big.Rat, bool, bool) {
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(e, -e))), nil))
	if e < 0 {
		return v.Quo(v, power), true, true
	}
	return v.Mul(v, power), true, true
}
