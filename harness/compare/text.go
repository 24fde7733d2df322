package compare

import (
	"strings"

	"go.starlark.net/syntax"
)

// text is a source with its lines.
type text struct {
	all   string
	line  []string
	start []int // byte offset of each line
}

func newText(src []byte) text {
	t := text{all: string(src), line: strings.SplitAfter(string(src), "\n")}
	at := 0
	for _, l := range t.line {
		t.start = append(t.start, at)
		at += len(l)
	}
	return t
}

// lines gives lines from..to, from 1, both included, without the last newline.
func (t text) lines(from, to int) string {
	return strings.TrimRight(strings.Join(t.line[from-1:min(to, len(t.line))], ""), "\r\n")
}

// span gives the source of a node.
func (t text) span(n syntax.Node) string {
	start, end := n.Span()
	from, to := t.offset(start), t.offset(end)
	if from > to {
		return t.lines(int(start.Line), int(end.Line))
	}
	return t.all[from:to]
}

// offset is the byte at a position, whose column counts characters.
func (t text) offset(pos syntax.Position) int {
	if int(pos.Line) > len(t.line) {
		return len(t.all)
	}
	line, col := t.line[pos.Line-1], int(pos.Col)-1
	for i := range line {
		if col == 0 {
			return t.start[pos.Line-1] + i
		}
		col--
	}
	return t.start[pos.Line-1] + len(line)
}
