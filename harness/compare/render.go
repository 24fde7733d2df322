package compare

import (
	"encoding/json"
	"fmt"
	"strings"
)

// contextWords is how many unchanged words are shown beside a change of a prompt.
const contextWords = 8

// JSON writes the diff, indented.
func (d *Diff) JSON() ([]byte, error) {
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

// Text writes the diff for people: the summary, then each change. In prompts, [-…-] is removed and {+…+} added.
func (d *Diff) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s → %s\n%s\n", d.A, d.B, d.Summary)
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	for _, p := range d.Prompts {
		fmt.Fprintf(&b, "\n%s %s (%s): %s\n", p.Name, p.Change, places(p.LineA, p.LineB), sizes(p))
		indented(&b, p.marked())
	}
	for _, c := range d.Constants {
		fmt.Fprintf(&b, "\n%s %s (%s)\n", c.Name, c.Change, places(c.LineA, c.LineB))
		if c.Old != "" {
			indented(&b, "- "+strings.ReplaceAll(c.Old, "\n", "\n- "))
		}
		if c.New != "" {
			indented(&b, "+ "+strings.ReplaceAll(c.New, "\n", "\n+ "))
		}
	}
	for _, f := range d.Functions {
		fmt.Fprintf(&b, "\nfunction %s %s (%s)\n", f.Name, f.said(), places(f.LineA, f.LineB))
		indented(&b, f.Diff)
	}
	for _, s := range d.Statements {
		mark := "+ "
		line := places(0, s.Line)
		if s.Change == Removed {
			mark, line = "- ", places(s.Line, 0)
		}
		fmt.Fprintf(&b, "\nstatement %s (%s)\n", s.Change, line)
		indented(&b, mark+strings.ReplaceAll(s.Text, "\n", "\n"+mark))
	}
	if len(d.Moved) > 0 {
		b.WriteString("\nmoved\n")
		for _, m := range d.Moved {
			fmt.Fprintf(&b, "  %s (%s)\n", m.Name, places(m.LineA, m.LineB))
		}
	}
	if d.Lines != "" {
		b.WriteString("\n" + d.Lines)
	}
	return b.String()
}

func (f *Function) said() string {
	switch f.Change {
	case Renamed:
		return "renamed from " + f.Was
	case Comments:
		return "changed in comments alone"
	case Formatting:
		return "changed in formatting alone"
	}
	return f.Change
}

func places(a, b int) string {
	switch {
	case a == 0:
		return fmt.Sprintf("line %d", b)
	case b == 0:
		return fmt.Sprintf("line %d of the old program", a)
	case a == b:
		return fmt.Sprintf("line %d", a)
	}
	return fmt.Sprintf("line %d → %d", a, b)
}

func sizes(p Prompt) string {
	s := fmt.Sprintf("%d → %d words, %d → %d characters", p.Before.Words, p.After.Words, p.Before.Characters, p.After.Characters)
	if p.Before.Tokens+p.After.Tokens > 0 {
		s += fmt.Sprintf(", %d → %d tokens", p.Before.Tokens, p.After.Tokens)
	}
	return s
}

// marked writes a prompt's changes in their surroundings.
func (p *Prompt) marked() string {
	var b strings.Builder
	for i, e := range p.Edits {
		switch e.Change {
		case Added:
			b.WriteString("{+" + e.Text + "+}")
		case Removed:
			b.WriteString("[-" + e.Text + "-]")
		default:
			b.WriteString(surroundings(e.Text, i > 0, i < len(p.Edits)-1))
		}
	}
	return b.String()
}

// surroundings keeps the words of an unchanged span that stand beside a change.
func surroundings(s string, after, before bool) string {
	words := wordOrSpace.FindAllString(s, -1)
	const most = 2 * contextWords // with the spaces between
	head, tail := 0, 0
	if after {
		head = most
	}
	if before {
		tail = most
	}
	if head+tail >= len(words) {
		return s
	}
	return strings.Join(words[:head], "") + "…" + strings.Join(words[len(words)-tail:], "")
}

// indented writes lines, each two spaces in.
func indented(b *strings.Builder, s string) {
	if s == "" {
		return
	}
	for line := range strings.Lines(s) {
		b.WriteString("  " + strings.TrimRight(line, "\r\n") + "\n")
	}
}
