package answer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The commands that put a box around an answer.
const (
	Boxed = `\boxed`
	Fbox  = `\fbox`
)

// LastBox gives the content of the last \boxed{…} of a text, or that of the given commands. White space may stand before the brace; braces inside must balance,
// where \{ and \} count as characters. The last opening decides: where it is never closed there is no box, even if an earlier
// one was complete, since the text broke off while it was answering. A command without a brace is not an opening.
func LastBox(text string, commands ...string) (content string, ok bool) {
	if len(commands) == 0 {
		commands = []string{Boxed}
	}
	last, open := -1, ""
	for _, command := range commands {
		for end := len(text); ; {
			at := strings.LastIndex(text[:end], command)
			if at <= last {
				break
			}
			if rest := strings.TrimLeftFunc(text[at+len(command):], unicode.IsSpace); strings.HasPrefix(rest, "{") {
				last, open = at, rest
				break
			}
			end = at
		}
	}
	if last < 0 {
		return "", false
	}
	return balanced(open)
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

// Tail gives the last n characters of a text, or the whole of it for n = 0.
func Tail(text string, n int) string {
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

// Canonical is the form in which strict answers are compared: without white space and pairs of $ around it; an integer (ASCII digits with an optional sign) without
// leading zeros and plus sign, and never as -0. Nothing else is rewritten: "1,000", "25.0" and "\frac{1}{2}" stay as they are.
func Canonical(s string) string {
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
