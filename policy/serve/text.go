package serve

import (
	"strings"
	"unicode/utf8"
)

// cut gives the text before the first stop text, and whether there was one.
func cut(text string, stops []string) (string, bool) {
	at := -1
	for _, s := range stops {
		if i := strings.Index(text, s); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 {
		return text, false
	}
	return text[:at], true
}

// withoutOpenTag leaves out what the rest of a reply may turn into a template's marker: white space before any text, and an unfinished tag at the end.
func withoutOpenTag(text string) string {
	const longest = 24
	if strings.TrimSpace(text) == "" {
		return ""
	}
	if i := strings.LastIndexByte(text, '<'); i >= len(text)-longest && i >= 0 && !strings.ContainsAny(text[i:], "> \n") {
		return text[:i]
	}
	return text
}

// settled is the part of a growing text that later tokens cannot change: it ends before a character that is not whole and before what may be the
// beginning of a stop text.
func settled(text string, stops []string) string {
	text, found := cut(text, stops)
	if found {
		return text
	}
	end := len(text)
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRuneInString(text[i:]) {
				end = i
			}
			break
		}
	}
	for _, s := range stops {
		for n := min(len(s)-1, len(text)); n > 0; n-- { // the longest beginning of s that ends text
			if strings.HasSuffix(text, s[:n]) {
				end = min(end, len(text)-n)
				break
			}
		}
	}
	return text[:end]
}
