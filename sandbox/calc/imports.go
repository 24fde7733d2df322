package calc

import (
	"slices"
	"strings"
)

// importStatement replaces an import of math, which is always there, by assignments or nothing, and refuses all others.
func (t *translator) importStatement(i int) error {
	end := i
	for !t.endsStatement(end) {
		end++
	}
	words := make([]string, 0, end-i)
	for _, tok := range t.toks[i:end] {
		words = append(words, tok.text)
	}
	text, ok := importAssignments(words)
	if !ok {
		return errorAt(t.toks[i].line, "%s: only math can be imported", clip(strings.Join(words, " ")))
	}
	if text == "" {
		text = "pass"
	}
	// Line breaks inside brackets stay, as a comment would move the lines below.
	breaks := strings.Repeat("\\\n", t.toks[end-1].line-t.toks[i].line)
	t.edits = append(t.edits, edit{t.toks[i].start, t.toks[end-1].end, text + breaks, 0})
	return nil
}

// importAssignments translates the words of an import statement.
func importAssignments(words []string) (text string, ok bool) {
	switch {
	case slices.Equal(words, []string{"import", "math"}):
		return "", true
	case len(words) == 4 && slices.Equal(words[:3], []string{"import", "math", "as"}):
		return words[3] + " = math", true
	case len(words) < 4 || !slices.Equal(words[:3], []string{"from", "math", "import"}):
		return "", false
	}
	names := words[3:]
	if names[0] == "(" && names[len(names)-1] == ")" {
		names = names[1 : len(names)-1]
	}
	if slices.Equal(names, []string{"*"}) {
		names = strings.Split(strings.Join(mathNames(), " , "), " ")
	}
	var parts []string
	for len(names) > 0 {
		name, as := names[0], names[0]
		if !isNameStart(name) {
			return "", false
		}
		names = names[1:]
		if len(names) >= 2 && names[0] == "as" {
			as, names = names[1], names[2:]
		}
		parts = append(parts, as+" = math."+name)
		if len(names) > 0 {
			if names[0] != "," {
				return "", false
			}
			names = names[1:]
		}
	}
	return strings.Join(parts, "; "), true
}
