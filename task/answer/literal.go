package answer

import (
	"math/big"
	"strings"
	"unicode/utf8"
)

// literal reads digits with their point, thousands and period. whole tells that there is no point.
func (p *parser) literal() (v *big.Rat, whole, ok bool) {
	digits := p.thousands()
	if digits == "" {
		digits = p.digits()
	}
	before := p.rest
	fraction, repeated := "", ""
	if p.take(".") {
		fraction = p.digits()
		repeated = p.period()
	}
	if digits == "" && fraction == "" && repeated == "" {
		return nil, false, false
	}
	if fraction == "" && repeated == "" {
		p.rest = before
		// "5." is a number too, but "5.x" is none.
		if p.rest == "." {
			p.rest = ""
		}
		v, ok = new(big.Rat).SetString(digits)
		return v, true, ok
	}
	v, ok = new(big.Rat).SetString("0" + digits + "." + fraction + "0")
	if !ok || repeated == "" {
		return v, false, ok
	}
	// 0.1(6) is 1/10 + 6/90.
	nines, zeros := strings.Repeat("9", len(repeated)), strings.Repeat("0", len(fraction))
	part, ok := new(big.Rat).SetString(repeated + "/" + nines + zeros)
	if !ok {
		return nil, false, false
	}
	return v.Add(v, part), false, true
}

func (p *parser) digits() string {
	end := 0
	for end < len(p.rest) && isDigit(p.rest[end]) {
		end++
	}
	s := p.rest[:end]
	p.rest = p.rest[end:]
	return s
}

// period reads the digits that repeat for ever: \overline{3}.
func (p *parser) period() string {
	before := p.rest
	if p.take(`\overline`) || p.take(`\bar`) || p.take(`\dot`) {
		p.space()
		if inner, ok := p.argument(); ok && inner != "" && strings.Trim(inner, "0123456789") == "" {
			return inner
		}
	}
	p.rest = before
	return ""
}

// separators are what may part the thousands, the same one in all of a number.
var separators = []string{"," + string(thin), ", ", ",", string(thin), "'", " "}

// thousands reads groups of three digits with separators between them, and gives the digits; "" where there are none.
func (p *parser) thousands() string {
	start := parser{p.rest}
	first := start.digits()
	if len(first) < 1 || len(first) > 3 {
		return ""
	}
	for _, sep := range separators {
		if sep == ", " { // a list, and no number
			continue
		}
		q, all := start, first
		for strings.HasPrefix(q.rest, sep) {
			next := parser{q.rest[len(sep):]}
			group := next.digits()
			if len(group) != 3 {
				return ""
			}
			all, q = all+group, next
		}
		if all == first {
			continue
		}
		if sep == " " && strings.HasPrefix(strings.TrimLeft(q.rest, " "), "/") {
			return "" // a mixed number, if anything
		}
		p.rest = q.rest
		return all
	}
	return ""
}

// vulgars are the fractions that are characters.
var vulgars = map[rune][2]int64{
	'½': {1, 2}, '⅓': {1, 3}, '⅔': {2, 3}, '¼': {1, 4}, '¾': {3, 4}, '⅕': {1, 5}, '⅖': {2, 5}, '⅗': {3, 5}, '⅘': {4, 5},
	'⅙': {1, 6}, '⅚': {5, 6}, '⅛': {1, 8}, '⅜': {3, 8}, '⅝': {5, 8}, '⅞': {7, 8},
}

func (p *parser) vulgar() (*big.Rat, bool) {
	r, size := utf8.DecodeRuneInString(p.rest)
	f, ok := vulgars[r]
	if !ok {
		return nil, false
	}
	p.rest = p.rest[size:]
	return big.NewRat(f[0], f[1]), true
}
