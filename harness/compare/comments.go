package compare

import (
	"slices"
	"strings"
)

// comment is a comment of a Starlark program: its text from the # on, and its line, from 1.
type comment struct {
	line int
	text string
}

// comments finds the comments of a program that parses. It reads the source and not the tree: the parser's own way of keeping comments
// is quadratic in the length of a chain of operators.
func comments(src []byte) []comment {
	var out []comment
	line := 1
	s := string(src)
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '\n':
			line++
			i++
		case '#':
			text, _, _ := strings.Cut(s[i:], "\n")
			out = append(out, comment{line, strings.TrimRight(text, "\r")})
			i += len(text)
		case '"', '\'':
			end := stringEnd(s, i)
			line += strings.Count(s[i:end], "\n")
			i = end
		default:
			i++
		}
	}
	return out
}

// stringEnd gives where the string literal that begins at a quote ends. A backslash keeps the next character from ending it, in raw strings too.
func stringEnd(s string, at int) int {
	quote := s[at : at+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(s[at:], long) {
		quote = long
	}
	for i := at + len(quote); i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], quote):
			return i + len(quote)
		}
	}
	return len(s)
}

// between joins the comments of lines from..to, a line each.
func between(list []comment, from, to int) string {
	at, _ := slices.BinarySearchFunc(list, from, func(c comment, line int) int { return c.line - line })
	var b strings.Builder
	for ; at < len(list) && list[at].line <= to; at++ {
		b.WriteString(list[at].text + "\n")
	}
	return b.String()
}

// sortedComments joins all comments in an order of their own: one that moves with its statement is no change.
func sortedComments(src []byte) string {
	var lines []string
	for _, c := range comments(src) {
		lines = append(lines, c.text)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
