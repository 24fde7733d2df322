package answer

import (
	"strings"
	"unicode"
)

// thin stands for every kind of small space, which may part the thousands.
const thin = '\u2009'

// clean writes a text without the freedoms of LaTeX and Unicode that do not change what a number is: math delimiters, boxes and fonts go; minus
// signs, products, degrees and fractions are written in one way.
func clean(s string) string {
	s = strings.TrimSpace(trimEnd(strings.ToValidUTF8(s, "\uFFFD")))
	s = commands(withoutDollars(s))
	s = strings.NewReplacer("{,}", ",", "^{°}", "°", "^{ ° }", "°", "^ °", "°", "^°", "°", "{}", "").Replace(s)
	return strings.TrimSpace(trimEnd(s))
}

// withoutDollars takes the signs off that begin and end math. A single one is a currency, as is one after a backslash.
func withoutDollars(s string) string {
	n := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '$':
			n++
		}
	}
	if n == 0 || n%2 != 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			b.WriteString(s[i:min(i+2, len(s))])
			i++
		case '$':
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// trimEnd takes off the punctuation of a sentence, but no dots that say that something is left out. A backslash before it belongs to it, and then to a space of LaTeX.
func trimEnd(s string) string {
	for {
		t := strings.TrimRightFunc(s, unicode.IsSpace)
		if n := len(t); n > 1 && !strings.HasSuffix(t, "..") && strings.IndexByte(".,;:", t[n-1]) >= 0 {
			t = strings.TrimSuffix(t[:n-1], `\`)
		}
		if t == s {
			return s
		}
		s = t
	}
}

// wrappers are the commands that set their argument in a font or on the same level.
var wrappers = map[string]bool{
	"text": true, "textbf": true, "textit": true, "textrm": true, "textnormal": true, "mathrm": true, "mathbf": true, "mathit": true, "mathsf": true,
	"rm": true, "bf": true, "mbox": true, "hbox": true, "operatorname": true, "mathop": true, "ensuremath": true, "underline": true,
	"boxed": true, "fbox": true, "bm": true, "boldsymbol": true,
}

// written are the commands that are written in another way.
var written = map[string]string{
	"dfrac": `\frac`, "tfrac": `\frac`, "cfrac": `\frac`, "times": "*", "cdot": "*", "ast": "*", "circ": "°", "degree": "°", "pi": "π",
	"left": "", "right": "", "bigl": "", "bigr": "", "Bigl": "", "Bigr": "", "big": "", "Big": "", "displaystyle": "", "textstyle": "", "limits": "", "thinspace": string(thin),
	"quad": " ", "qquad": " ", "space": " ", "pounds": "£", "euro": "€", "yen": "¥", "approx": "≈", "percent": "%", "dollar": "$", "textdollar": "$",
	"lbrace": `\{`, "rbrace": `\}`, "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠", "infty": "∞", "pm": "±",
}

// commands rewrites commands and characters from left to right.
func commands(s string) string {
	var b strings.Builder
	for s != "" {
		if s[0] == '\\' {
			s = command(&b, s)
			continue
		}
		r, size := rune(s[0]), 1
		if r >= 0x80 {
			for i, c := range s { // the first character
				if i > 0 {
					size = i
					break
				}
				r, size = c, len(s)
			}
		}
		b.WriteString(character(r))
		s = s[size:]
	}
	return b.String()
}

// command rewrites the command that s starts with and gives what follows.
func command(b *strings.Builder, s string) string {
	end := 1
	for end < len(s) && isLetter(s[end]) {
		end++
	}
	name, rest := s[1:end], s[end:]
	if name == "" {
		if rest == "" {
			return ""
		}
		switch rest[0] {
		case ',', ';', ':', ' ', '\\', '\n', '>':
			b.WriteRune(thin)
		case '!': // a negative space
		case '%', '$', '&', '#', '_':
			b.WriteByte(rest[0])
		case '(', ')', '[', ']':
		default:
			b.WriteByte('\\')
			return rest
		}
		return rest[1:]
	}
	if wrappers[name] {
		b.WriteByte(' ')
		if open := strings.TrimLeft(rest, " "); strings.HasPrefix(open, "{") {
			if inner, ok := balanced(open); ok {
				return inner + " " + open[len(inner)+2:]
			}
		}
		return rest
	}
	if other, ok := written[name]; ok {
		b.WriteString(other)
		return rest
	}
	b.WriteString(s[:end])
	return rest
}

// character writes characters that mean the same in one way.
func character(r rune) string {
	switch r {
	case '−', '–', '‒', '﹣', '－':
		return "-"
	case '×', '·', '∙', '⋅', '∗':
		return "*"
	case '％':
		return "%"
	case '～', '~', '\t', '\n', '\r':
		return " "
	case '\u00a0', '\u202f', '\u2007', '\u2008', '\u200a', thin:
		return string(thin)
	case 'º', '˚':
		return "°"
	case '𝜋', 'Π':
		return "π"
	case '’', 'ʼ':
		return "'"
	case '⁄', '∕':
		return "/"
	}
	return string(r)
}

// Plain is the form in which answers that are no numbers are compared: without what [Numeric] overlooks in numbers (delimiters, boxes, fonts, the period at the end) and without white space. Words of two letters and more
// are compared in lower case; a text of single letters and signs is not, since x and X may differ.
func Plain(s string) string {
	if len(s) > maxNumber {
		return s
	}
	s = clean(s)
	words := strings.ContainsFunc(s, unicode.IsLetter)
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsSpace(r) && r != '-' && r != '\'' {
			words = false
			break
		}
	}
	if words && len([]rune(strings.TrimSpace(s))) > 1 {
		return strings.ToLower(strings.Join(strings.Fields(s), " "))
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, braced(s))
}

// braced puts the braces around single characters that LaTeX does without: \frac12, \sqrt 2.
func braced(s string) string {
	var b strings.Builder
	for s != "" {
		name, arguments := "", 0
		switch {
		case strings.HasPrefix(s, `\frac`):
			name, arguments = `\frac`, 2
		case strings.HasPrefix(s, `\sqrt`):
			name, arguments = `\sqrt`, 1
		default:
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		b.WriteString(name)
		s = s[len(name):]
		for range arguments {
			s = strings.TrimLeft(s, " "+string(thin))
			if inner, ok := balanced(s); ok && s[0] == '{' {
				b.WriteString("{" + braced(inner) + "}")
				s = s[len(inner)+2:]
				continue
			}
			if s == "" || !isDigit(s[0]) && !isLetter(s[0]) {
				break
			}
			b.WriteString("{" + s[:1] + "}")
			s = s[1:]
		}
	}
	return b.String()
}
