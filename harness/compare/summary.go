package compare

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// summarise says in one line what differs.
func (d *Diff) summarise(identical bool) string {
	if identical {
		return "the same program, to the byte"
	}
	var parts []string
	parts = append(parts, d.functionCounts()...)
	for _, p := range d.Prompts {
		parts = append(parts, p.brief())
	}
	parts = append(parts, d.constantCounts()...)
	parts = append(parts, counts("other statement", len(d.Statements), func(i int) string { return d.Statements[i].Change }, Added, Removed)...)
	if n := len(d.Moved); n > 0 {
		parts = append(parts, plural(n, "statement")+" moved")
	}
	if d.Lines != "" {
		added, removed := 0, 0
		for line := range strings.Lines(d.Lines) {
			switch line[0] {
			case '+':
				added++
			case '-':
				removed++
			}
		}
		parts = append(parts, fmt.Sprintf("+%d −%d lines", added, removed))
	}
	only := len(parts) == 0
	switch {
	case d.Comments && only:
		parts = append(parts, "only comments differ")
	case only:
		parts = append(parts, "only formatting differs")
	case d.Comments:
		parts = append(parts, "comments changed")
	}
	return strings.Join(parts, ", ")
}

// functionCounts leaves out functions of which comments or formatting alone differ.
func (d *Diff) functionCounts() []string {
	out := counts("function", len(d.Functions), func(i int) string { return d.Functions[i].Change }, Changed, Added, Removed)
	for _, f := range d.Functions {
		if f.Change == Renamed {
			out = append(out, fmt.Sprintf("%s renamed to %s", f.Was, f.Name))
		}
	}
	return out
}

// maxShown bounds a value in the summary, in characters.
const maxShown = 24

// constantCounts tells a single short change whole.
func (d *Diff) constantCounts() []string {
	if len(d.Constants) == 1 {
		if c := d.Constants[0]; c.Change == Changed && utf8.RuneCountInString(c.Old) <= maxShown && utf8.RuneCountInString(c.New) <= maxShown {
			return []string{fmt.Sprintf("%s %s → %s", c.Name, c.Old, c.New)}
		}
	}
	return counts("constant", len(d.Constants), func(i int) string { return d.Constants[i].Change }, Changed, Added, Removed)
}

// brief is a prompt's part of the summary: "SYSTEM_PROMPT +34 −2 words".
func (p *Prompt) brief() string {
	switch {
	case p.Change == Added:
		return fmt.Sprintf("%s added with %s", p.Name, plural(p.After.Words, "word"))
	case p.Change == Removed:
		return fmt.Sprintf("%s removed with %s", p.Name, plural(p.Before.Words, "word"))
	case p.WordsAdded > 0 && p.WordsRemoved > 0:
		return fmt.Sprintf("%s +%d −%d words", p.Name, p.WordsAdded, p.WordsRemoved)
	case p.WordsAdded > 0:
		return fmt.Sprintf("%s +%s", p.Name, plural(p.WordsAdded, "word"))
	case p.WordsRemoved > 0:
		return fmt.Sprintf("%s −%s", p.Name, plural(p.WordsRemoved, "word"))
	}
	return p.Name + " changed in spaces alone"
}

// counts gives "2 functions changed", "1 added": the noun stands with the first count alone.
func counts(noun string, n int, change func(int) string, kinds ...string) []string {
	var out []string
	for _, kind := range kinds {
		k := 0
		for i := range n {
			if change(i) == kind {
				k++
			}
		}
		switch {
		case k == 0:
		case len(out) == 0:
			out = append(out, plural(k, noun)+" "+kind)
		default:
			out = append(out, fmt.Sprintf("%d %s", k, kind))
		}
	}
	return out
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
