package answer

import (
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"
)

// currencies may stand before a number, or after it.
var currencies = []struct{ sign, unit string }{{"US$", "dollar"}, {"$", "dollar"}, {"€", "euro"}, {"£", "pound"}, {"¥", "yen"}, {"₹", "rupee"}, {"₩", "won"}}

// scales are words that multiply.
var scales = map[string]int64{"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}

// spellings gives the usual units one name each. Those of a single letter count as units only where a space or a font parts them from the number.
var spellings = spelled(map[string]string{
	"degree": "degrees deg °", "dollar": "dollars usd bucks", "cent": "cents ¢", "euro": "euros eur", "pound": "pounds lb lbs gbp", "ounce": "ounces oz",
	"mm": "millimeter millimeters millimetre millimetres", "cm": "centimeter centimeters centimetre centimetres", "m": "meter meters metre metres",
	"km": "kilometer kilometers kilometre kilometres", "inch": "inches in", "foot": "feet ft", "yard": "yards yd", "mile": "miles mi",
	"mg": "milligram milligrams", "g": "gram grams", "kg": "kilogram kilograms kilos", "ton": "tons tonne tonnes",
	"ms": "millisecond milliseconds", "s": "second seconds sec secs", "min": "minute minutes mins", "h": "hour hours hr hrs", "day": "days", "week": "weeks", "month": "months", "year": "years yr yrs",
	"l": "liter liters litre litres L", "ml": "milliliter milliliters millilitre millilitres", "gallon": "gallons gal",
	"mph": "", "kph": "kmh", "hz": "hertz", "khz": "", "mhz": "", "newton": "newtons N", "joule": "joules J", "kj": "", "watt": "watts W", "kw": "", "volt": "volts V", "kelvin": "K", "rad": "radian radians",
	"unit": "units", "sq": "square squared", "cu": "cubic cubed",
})

func spelled(table map[string]string) map[string]string {
	out := make(map[string]string)
	for unit, others := range table {
		out[unit] = unit
		for _, o := range strings.Fields(others) {
			out[o] = unit
		}
	}
	return out
}

// noUnits are words after a number that make it something else.
var noUnits = map[string]bool{
	"or": true, "and": true, "to": true, "mod": true, "modulo": true, "plus": true, "minus": true, "times": true, "divided": true, "over": true, "not": true, "is": true, "the": true,
	"sin": true, "cos": true, "tan": true, "cot": true, "csc": true, "log": true, "ln": true, "exp": true, "sqrt": true, "gcd": true, "lcm": true, "max": true,
	"hundred": true, "dozen": true, "dozens": true, "half": true, "halves": true, "quarter": true, "quarters": true, "third": true, "thirds": true, "if": true, "when": true, "for": true,
	"factorial": true, "choose": true, "more": true, "less": true, "than": true, "infinity": true, "pi": true, "but": true, "with": true, "point": true, "root": true,
}

// tail reads what follows a number: a scale, a percent sign, a currency, a unit.
func (p *parser) tail(n *Number) bool {
	spaced := p.space()
	if word := p.word(); scales[strings.ToLower(word)] != 0 {
		n.Value.Mul(n.Value, new(big.Rat).SetInt64(scales[strings.ToLower(word)]))
		p.rest = p.rest[len(word):]
		spaced = p.space()
	}
	switch {
	case p.rest == "":
		return true
	case p.take("%") || p.take("percent"):
		n.Percent = true
		p.space()
		return n.Unit == "" && p.rest == ""
	case p.take("°"):
		n.Unit = "degree"
		p.space()
		if p.rest == "C" || p.rest == "F" {
			n.Unit += p.rest
			p.rest = ""
		}
		return p.rest == ""
	}
	unit := p.currency()
	if unit == "" {
		unit = p.unit(spaced)
	}
	p.space()
	if unit == "" || p.rest != "" || n.Unit != "" && n.Unit != unit {
		return false
	}
	n.Unit = unit
	return true
}

// word is the word that the rest starts with.
func (p *parser) word() string {
	end := strings.IndexFunc(p.rest, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		end = len(p.rest)
	}
	return p.rest[:end]
}

const maxUnitWords = 4

// unit reads words with powers, quotients and products between them, and gives them in one spelling; "" where they are no unit.
func (p *parser) unit(spaced bool) string {
	var parts []string
	for len(parts) < 2*maxUnitWords {
		word := p.word()
		letters := utf8.RuneCountInString(word)
		known := word
		if letters > 1 {
			known = strings.ToLower(word)
		}
		name, usual := spellings[known]
		switch {
		case word == "" || len(word) > 20:
			return ""
		case usual && (letters > 1 || spaced): // a known one
		case noUnits[strings.ToLower(word)]:
			return ""
		case letters < 3 || !spaced:
			return "" // it may be a variable
		default:
			name = singular(strings.ToLower(word))
		}
		p.rest = p.rest[len(word):]
		if power := p.unitPower(); power != "" {
			name += "^" + power
		}
		parts = append(parts, name)
		spaced = p.space()
		switch {
		case p.rest == "" || p.rest == ".":
			p.rest = ""
			return strings.Join(parts, " ")
		case p.take("/") || p.take("per "):
			parts = append(parts, "/")
			p.space()
			spaced = true
		case p.take("*"):
			p.space()
			spaced = true
		case !spaced:
			return ""
		}
	}
	return ""
}

func (p *parser) unitPower() string {
	before := p.rest
	p.space()
	switch {
	case p.take("^2"), p.take("^{2}"), p.take("²"):
		return "2"
	case p.take("^3"), p.take("^{3}"), p.take("³"):
		return "3"
	}
	p.rest = before
	return ""
}

// singular takes a plural's s off; it is for comparing, and need be no word.
func singular(word string) string {
	if len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
		return strings.TrimSuffix(word, "s")
	}
	return word
}
