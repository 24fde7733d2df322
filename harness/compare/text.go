package compare

import (
	"strings"

	"go.starlark.net/syntax"
)

// text is a source with its lines.
type text struct{ line []string }

func newText(src []byte) text { return text{strings.SplitAfter(string(src), "\n")} }

// lines gives lines from..to, from 1, both included, without the last newline.
func (t text) lines(from, to int) string {
	return strings.TrimRight(strings.Join(t.line[from-1:min(to, len(t.line))], ""), "\r\n")
}

// span gives the source of a node.
func (t text) span(n syntax.Node) string {
	start, end := n.Span()
	from, to := t.offset(start), t.offset(end)
	all := strings.Join(t.line, "")
	if from > to || to > len(all) {
		return t.lines(int(start.Line), int(end.Line))
	}
	return all[from:to]
}

// offset is the byte at a position, whose column counts characters.
func (t text) offset(pos syntax.Position) int {
	at := 0
	for i := 0; i < int(pos.Line)-1 && i < len(t.line); i++ {
		at += len(t.line[i])
	}
	if int(pos.Line)-1 >= len(t.line) {
		return at
	}
	col := int(pos.Col) - 1
	for i := range t.line[pos.Line-1] {
		if col == 0 {
			return at + i
		}
		col--
	}
	return at + len(t.line[pos.Line-1])
}
