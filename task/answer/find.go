package answer

import (
	"regexp"
	"strings"
)

// LastTag gives what stands between the last <name> of a text and the </name> that follows it, without white space around it. As with boxes, the last
// opening decides: where it is never closed there is no answer.
func LastTag(text, name string) (content string, ok bool) {
	open := "<" + name + ">"
	at := strings.LastIndex(text, open)
	if at < 0 {
		return "", false
	}
	content, _, ok = strings.Cut(text[at+len(open):], "</"+name+">")
	if !ok {
		return "", false
	}
	return strings.TrimSpace(content), true
}

// LastMatch gives the last match of an expression in a text (matches do not overlap), or that of its first group if it has groups; a group that took no part in the match is no answer.
func LastMatch(expr *regexp.Regexp, text string) (content string, ok bool) {
	all := expr.FindAllStringSubmatchIndex(text, -1)
	if len(all) == 0 {
		return "", false
	}
	last := all[len(all)-1]
	from, to := last[0], last[1]
	if len(last) > 2 {
		from, to = last[2], last[3]
	}
	if from < 0 {
		return "", false
	}
	return text[from:to], true
}
