package math

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lastBox gives the content of the last \boxed{…} of a text. White space may stand before the brace; braces inside must balance,
// where \{ and \} count as characters. The last opening decides: where it is never closed there is no box, even if an earlier
// one was complete, since the text broke off while it was answering. A \boxed without a brace is not an opening.
func lastBox(text string) (content string, ok bool) {
	const command = `\boxed`
	for end := len(text); ; {
		at := strings.LastIndex(text[:end], command)
		if at < 0 {
			return "", false
		}
		rest := strings.TrimLeftFunc(text[at+len(command):], unicode.IsSpace)
		if strings.HasPrefix(rest, "{") {
			return balanced(rest)
		}
		end = at
	}
}

// balanced gives what lies between the brace that s starts with and its partner.
func balanced(s string) (string, bool) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++ // the next character is escaped; in \boxed and the like it is a letter anyway
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[1:i], true
			}
		}
	}
	return "", false
}

// tail gives the last n characters of a text, or the whole of it for n = 0.
func tail(text string, n int) string {
	if n == 0 || len(text) <= n {
		return text
	}
	at := len(text)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return text[at:]
}

// canonical is the form in which answers are compared: without white space and pairs of $ around it; an integer (ASCII digits with an optional sign) without
// leading zeros and plus sign, and never as -0. Nothing else is rewritten: "1,000", "25.0" and "\frac{1}{2}" stay as they are.
func canonical(s string) string {
	s = strings.TrimSpace(s)
	for len(s) >= 2 && s[0] == '$' && s[len(s)-1] == '$' {
		s = strings.TrimSpace(s[1 : len(s)-1])
	}
	digits := s
	negative := false
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		negative = digits[0] == '-'
		digits = digits[1:]
	}
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return s
	}
	digits = strings.TrimLeft(digits, "0")
	switch {
	case digits == "":
		return "0"
	case negative:
		return "-" + digits
	}
	return digits
}
