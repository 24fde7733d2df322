package evolve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// edit replaces a span of a source text.
type edit struct {
	at   span
	text string
}

// splice applies edits that do not overlap.
func splice(source string, edits []edit) (string, error) {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.at.start, b.at.start) })
	var b strings.Builder
	done := 0
	for _, e := range edits {
		if e.at.start < done || e.at.end < e.at.start || e.at.end > len(source) {
			return "", fmt.Errorf("edit at %d..%d: overlaps another edit or the end", e.at.start, e.at.end)
		}
		b.WriteString(source[done:e.at.start])
		b.WriteString(e.text)
		done = e.at.end
	}
	b.WriteString(source[done:])
	return b.String(), nil
}

// insertArgument adds a keyword argument after the last one, on a line of its own where the last two have lines of their own.
func (p *program) insertArgument(c *call, text string) edit {
	n := len(c.args)
	if n == 0 {
		at := p.offset(c.node.Lparen) + 1
		return edit{span{at, at}, text}
	}
	last := c.args[n-1].at
	sep := ", "
	if n > 1 && p.line(c.args[n-2].at.start) != p.line(last.start) {
		sep = ",\n" + strings.Repeat(" ", p.column(last.start))
	}
	return edit{span{last.end, last.end}, sep + text}
}

// removeArgument takes an argument away, with one comma.
func (c *call) removeArgument(i int) edit {
	switch {
	case i > 0:
		return edit{span{c.args[i-1].at.end, c.args[i].at.end}, ""}
	case len(c.args) > 1:
		return edit{span{c.args[0].at.start, c.args[1].at.start}, ""}
	default:
		return edit{c.args[0].at, ""}
	}
}

// quote writes a string literal; a text of several lines keeps them, where that is safe.
func quote(s string) string {
	plain := !strings.ContainsAny(s, "\\\"") && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == 0xfffd })
	if plain && strings.Contains(s, "\n") {
		return `"""` + s + `"""`
	}
	return syntax.Quote(s, false)
}

// stringValue gives the value of a string literal, or of a sum of them.
func stringValue(e syntax.Expr) (string, bool) {
	switch x := e.(type) {
	case *syntax.Literal:
		s, ok := x.Value.(string)
		return s, ok && x.Token == syntax.STRING
	case *syntax.ParenExpr:
		return stringValue(x.X)
	case *syntax.BinaryExpr:
		if x.Op != syntax.PLUS {
			return "", false
		}
		a, ok := stringValue(x.X)
		if !ok {
			return "", false
		}
		b, ok := stringValue(x.Y)
		return a + b, ok
	}
	return "", false
}

// intValue gives the value of a small integer literal.
func intValue(e syntax.Expr) (int64, bool) {
	if x, ok := e.(*syntax.Literal); ok && x.Token == syntax.INT {
		v, ok := x.Value.(int64)
		return v, ok
	}
	return 0, false
}
