package report

import (
	"strings"
	"unicode"
)

// printable puts text from outside on one line of visible characters.
func printable(s string) string {
	return strings.Join(strings.Fields(visible(s)), " ")
}

// visible replaces what a terminal would obey or a reader would not see, line ends and tabs apart.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// cell is a text for CSV. What a spreadsheet would take for a formula gets an apostrophe before it, which shows that it is text.
func cell(s string) string {
	s = printable(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}
