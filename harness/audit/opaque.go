package audit

import (
	"strings"
	"unicode"
)

// opaque looks for packed data.
func (j *judge) opaque() {
	total := 0
	var places []view
	for _, v := range j.texts() {
		if v.from == decoded || v.from == mirrored || v.from == comment || v.from == computed && v.spelled {
			continue
		}
		n := opaqueBytes(v.text)
		if digits := longestDigits(v.text); digits >= 16 {
			n += j.options.OpaqueBytes
		}
		if v.from == literal {
			n += readable(v.text)
		}
		if n > 0 {
			total += n
			places = append(places, v)
		}
	}
	for _, n := range j.program.numbers {
		if n.from == literal && len(n.n.String()) >= 18 {
			j.report(RuleOpaque, n.at, "a number of %d digits is packed data", len(n.n.String()))
		}
	}
	if total < j.options.OpaqueBytes {
		return
	}
	for _, v := range places {
		j.report(RuleOpaque, v.at, "%s is packed data", v.what())
	}
}

// readable gives the bytes of a text's fields that decode to readable text: words do so only by rare chance.
func readable(s string) int {
	n := 0
	for _, f := range strings.Fields(s) {
		if len(f) < 16 || strings.Trim(f, "0123456789") == "" {
			continue
		}
		if text, ok := unpack(f); ok && len(text) >= 8 {
			n += 8 * len(f)
		}
	}
	return n
}

func longestDigits(s string) int {
	best, start := 0, -1
	for i := 0; i <= len(s); i++ {
		if i < len(s) && isDigit(rune(s[i])) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && !ascending(s[start:i]) && strings.Trim(s[start:i], s[start:start+1]) != "" {
			best = max(best, i-start)
		}
		start = -1
	}
	return best
}

// opaqueBytes counts the bytes of a text's runs that are neither words nor a pattern.
func opaqueBytes(s string) int {
	total := 0
	for _, f := range strings.FieldsFunc(s, func(r rune) bool { return !base64Rune(r) }) {
		if len(f) < 20 || strings.Count(f, "/") >= 4 || ascending(f) {
			continue
		}
		changes, digits, distinct := 0, 0, map[rune]bool{}
		var last int
		for _, r := range f {
			class := 1
			switch {
			case isDigit(r):
				class, digits = 2, digits+1
			case unicode.IsUpper(r):
				class = 3
			case !unicode.IsLetter(r):
				class = 4
			}
			if last != 0 && class != last {
				changes++
			}
			last = class
			distinct[r] = true
		}
		if len(distinct) >= 6 && (digits == len(f) || changes*4 >= len(f)) {
			total += len(f)
		}
	}
	for _, r := range s {
		if unicode.In(r, unicode.Co, unicode.Cf) || unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
			total += 4
		}
	}
	return total + spaceBits(s)
}

// spaceBits counts the gaps of a text that are one or two spaces wide without any order, where there are many of both: a bit each.
func spaceBits(s string) int {
	one, two := 0, 0
	for line := range strings.Lines(s) {
		line = strings.Trim(line, " \n")
		for line != "" {
			i := strings.IndexByte(line, ' ')
			if i < 0 {
				break
			}
			rest := strings.TrimLeft(line[i:], " ")
			switch len(line) - i - len(rest) {
			case 1:
				one++
			case 2:
				two++
			}
			line = rest
		}
	}
	if two < 40 || one < 40 {
		return 0
	}
	return one + two
}

func base64Rune(r rune) bool {
	return isDigit(r) || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '+' || r == '/' || r == '-' || r == '_'
}

// ascending says whether most characters follow the one before: an alphabet.
func ascending(s string) bool {
	n := 0
	for i := 1; i < len(s); i++ {
		if s[i] == s[i-1]+1 {
			n++
		}
	}
	return 2*n > len(s)
}
