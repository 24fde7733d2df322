package custom

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// number is how numbers are written in running text: thousands in groups, a decimal part, an exponent, a fraction, a percent sign.
var number = regexp.MustCompile(`[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?:/\d+)?%?|[-+−]?\.\d+%?`)

// lastNumber gives the last number in a text, without a full stop after it. A sign that ties two words or numbers together, as in 1-2, is none.
func lastNumber(text string) (string, bool) {
	all := number.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return "", false
	}
	last := all[len(all)-1]
	got := text[last[0]:last[1]]
	before, _ := utf8.DecodeLastRuneInString(text[:last[0]])
	if unicode.IsLetter(before) || unicode.IsDigit(before) || before == ')' {
		got = strings.TrimLeft(got, "-+−")
	}
	return strings.Replace(got, "−", "-", 1), true
}

// lastBlock gives the content of the last fenced block of a text, or the whole text where there is none. A block that is never closed is none.
func lastBlock(text string) string {
	const fence = "```"
	found, open := text, -1
	for at := 0; at < len(text); {
		end := strings.IndexByte(text[at:], '\n')
		next := len(text)
		if end >= 0 {
			next = at + end + 1
		}
		line := strings.TrimSpace(text[at:next])
		switch {
		case open < 0 && strings.HasPrefix(line, fence):
			open = next
		case open >= 0 && line == fence:
			found, open = text[open:at], -1
		}
		at = next
	}
	return strings.TrimSpace(found)
}
