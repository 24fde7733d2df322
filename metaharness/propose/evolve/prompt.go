package evolve

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// promptNames are the constants that the contract keeps for prompts.
var promptNames = []string{"SYSTEM_PROMPT", "USER_PROMPT"}

const (
	maxPrompt    = 4000 // bytes; a longer prompt only gets shorter
	maxSentences = 40   // that are left out or moved
)

// placeholder is a {name} that a program fills in: the sentence around it is left alone, and none is written.
var placeholder = regexp.MustCompile(`\{[A-Za-z_][A-Za-z0-9_]*\}`)

// promptEdits adds, removes and reorders sentences of the prompts.
func promptEdits(p *program, e *evidence, seen []string) []mutation {
	var out []mutation
	for _, name := range promptNames {
		c := p.constant(name)
		if c == nil {
			continue
		}
		text, ok := stringValue(c.value)
		if !ok {
			continue
		}
		parts := sentences(text)
		set := func(op, detail string, a axis, weight float64, what string, parts []string) {
			out = append(out, mutation{
				op: op, target: name, detail: detail, axis: a, weight: weight, what: name + ": " + what,
				edits: []edit{{c.at, quote(strings.Join(parts, ""))}},
			})
		}
		if len(text) < maxPrompt {
			for _, ph := range sayable(e, seen) {
				if strings.Contains(text, ph.text) {
					continue
				}
				set(opSay, ph.kind, ph.axis, ph.weight, fmt.Sprintf("say %q last", ph.text), appended(parts, ph.text))
				set(opSay, ph.kind, ph.axis, ph.weight/2, fmt.Sprintf("say %q first", ph.text), prepended(parts, ph.text))
			}
		}
		for i, s := range parts[:min(len(parts), maxSentences)] {
			if placeholder.MatchString(s) || strings.TrimSpace(s) == "" {
				continue
			}
			set(opUnsay, "", axisOther, 1, fmt.Sprintf("leave out %q", oneLine(s)), slices.Delete(slices.Clone(parts), i, i+1))
			if i+1 < len(parts) && !placeholder.MatchString(parts[i+1]) && strings.TrimSpace(s) != strings.TrimSpace(parts[i+1]) {
				set(opReorder, "", axisOther, 1, fmt.Sprintf("%q after %q", oneLine(s), oneLine(parts[i+1])), swapped(parts, i))
			}
		}
	}
	return out
}

// sayable gives everything that may be said in a prompt.
func sayable(e *evidence, seen []string) []phrase {
	var out []phrase
	for _, a := range axes {
		out = append(out, phrasesFor(a, e)...)
	}
	told := toldPhrases(e.about)
	for _, s := range told {
		out = append(out, phrase{s, axisFormat, "told", 1 / float64(len(told))})
	}
	for _, s := range seen {
		out = append(out, phrase{fmt.Sprintf("Write like this: %s", s), axisFormat, "seen", 1 / float64(len(seen))})
	}
	return out
}

// sentences splits a text after sentence ends and line breaks; joined again, the parts give the text.
func sentences(text string) []string {
	var out []string
	start := 0
	for i := range len(text) {
		end := text[i] == '\n'
		if i+1 < len(text) && text[i] == ' ' && i > start {
			end = strings.IndexByte(".!?:", text[i-1]) >= 0
		}
		if end {
			out = append(out, text[start:i+1])
			start = i + 1
		}
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

// appended adds a sentence at the end, on a line of its own where the text has lines.
func appended(parts []string, s string) []string {
	if len(parts) == 0 {
		return []string{s}
	}
	parts = slices.Clone(parts)
	last := strings.TrimRight(parts[len(parts)-1], " ")
	switch {
	case strings.HasSuffix(last, "\n"):
		parts[len(parts)-1] = last
	case len(parts) > 1 && strings.Contains(strings.Join(parts, ""), "\n"), placeholder.MatchString(last):
		parts[len(parts)-1] = last + "\n"
	default:
		parts[len(parts)-1] = last + " "
	}
	return append(parts, s)
}

func prepended(parts []string, s string) []string {
	switch {
	case len(parts) == 0:
		return []string{s}
	case strings.Contains(strings.Join(parts, ""), "\n") || placeholder.MatchString(parts[0]):
		s += "\n"
	default:
		s += " "
	}
	return append([]string{s}, parts...)
}

// swapped lets two neighbours change places; the white space between sentences stays where it is.
func swapped(parts []string, i int) []string {
	parts = slices.Clone(parts)
	a, b := parts[i], parts[i+1]
	at, bt := strings.TrimRight(a, " \n"), strings.TrimRight(b, " \n")
	parts[i], parts[i+1] = bt+a[len(at):], at+b[len(bt):]
	return parts
}
