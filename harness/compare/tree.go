package compare

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/seed-095d5d2b/whale/harness/star"
)

// The kinds of units.
const (
	kindPrompt = iota
	kindFunction
	kindConstant
	kindOther
)

// unit is a statement of a program's top level.
type unit struct {
	kind     int
	key      string // what it is paired by: the name, and which of several of that name
	name     string
	line     int    // from 1
	text     string // its lines
	value    string // of a constant: the value's source; of a prompt: the text itself
	outline  string // equal where the meaning is
	body     string // of a function: the outline without its name
	comments string
}

// byTree compares two Starlark programs.
func (d *Diff) byTree(a, b Source) error {
	left, err := units(a)
	if err != nil {
		return err
	}
	right, err := units(b)
	if err != nil {
		return err
	}
	var onlyA, onlyB []unit
	inA, inB := byKey(left), byKey(right)
	for _, x := range left {
		if _, ok := inB[x.key]; !ok {
			onlyA = append(onlyA, x)
		}
	}
	for _, y := range right {
		x, ok := inA[y.key]
		if !ok {
			onlyB = append(onlyB, y)
			continue
		}
		d.pair(x, y)
	}
	d.renamed(&onlyA, &onlyB)
	for _, x := range onlyA {
		d.single(x, Removed)
	}
	for _, y := range onlyB {
		d.single(y, Added)
	}
	d.moved(left, right)
	slices.SortStableFunc(d.Functions, func(x, y Function) int { return order(x.LineA, x.LineB) - order(y.LineA, y.LineB) })

	d.Same = len(d.Prompts) == 0 && len(d.Constants) == 0 && len(d.Statements) == 0 && len(d.Moved) == 0 &&
		!slices.ContainsFunc(d.Functions, func(f Function) bool { return f.Change != Comments && f.Change != Formatting })
	d.Comments = sortedComments(a.Text) != sortedComments(b.Text)
	d.Formatting = d.Same && !d.Comments && string(a.Text) != string(b.Text)
	return nil
}

// order sorts changes by their place in the new program, and what is gone by its place in the old one.
func order(a, b int) int {
	if b != 0 {
		return b
	}
	return a
}

func byKey(list []unit) map[string]unit {
	out := make(map[string]unit, len(list))
	for _, u := range list {
		out[u.key] = u
	}
	return out
}

// pair tells of two units of one key.
func (d *Diff) pair(x, y unit) {
	switch {
	case x.outline != y.outline && x.kind == kindPrompt:
		d.prompt(Changed, x, y)
	case x.outline != y.outline && x.kind == kindFunction:
		d.Functions = append(d.Functions, Function{
			Name: y.name, Change: Changed, LineA: x.line, LineB: y.line, Diff: lineDiff(x, y),
		})
	case x.outline != y.outline: // a constant; others are keyed by their outline
		d.Constants = append(d.Constants, Constant{Name: y.name, Change: Changed, LineA: x.line, LineB: y.line, Old: x.value, New: y.value})
	case x.kind == kindFunction && x.text != y.text:
		change := Formatting
		if x.comments != y.comments {
			change = Comments
		}
		d.Functions = append(d.Functions, Function{Name: y.name, Change: change, LineA: x.line, LineB: y.line, Diff: lineDiff(x, y)})
	}
}

// single tells of a unit that one program alone has.
func (d *Diff) single(u unit, change string) {
	lineA, lineB := u.line, 0
	var old, new unit
	old = u
	if change == Added {
		lineA, lineB = 0, u.line
		old, new = unit{}, u
	}
	switch u.kind {
	case kindPrompt:
		old.name, new.name = u.name, u.name
		d.prompt(change, old, new)
	case kindFunction:
		d.Functions = append(d.Functions, Function{Name: u.name, Change: change, LineA: lineA, LineB: lineB, Diff: lineDiff(old, new)})
	case kindConstant:
		d.Constants = append(d.Constants, Constant{Name: u.name, Change: change, LineA: lineA, LineB: lineB, Old: old.value, New: new.value})
	default:
		d.Statements = append(d.Statements, Statement{Change: change, Line: u.line, Text: u.text})
	}
}

// renamed pairs functions that are gone with new ones of the same body, and takes them out of the lists.
func (d *Diff) renamed(onlyA, onlyB *[]unit) {
	*onlyA = slices.DeleteFunc(*onlyA, func(x unit) bool {
		at := slices.IndexFunc(*onlyB, func(y unit) bool { return x.kind == kindFunction && y.kind == kindFunction && x.body == y.body })
		if at < 0 {
			return false
		}
		y := (*onlyB)[at]
		d.Functions = append(d.Functions, Function{Name: y.name, Was: x.name, Change: Renamed, LineA: x.line, LineB: y.line})
		*onlyB = slices.Delete(*onlyB, at, at+1)
		return true
	})
}

// moved lists the units of both programs that are out of the order which the most of them keep.
func (d *Diff) moved(left, right []unit) {
	place := map[string]int{}
	for i, x := range left {
		place[x.key] = i
	}
	var common []int // for each unit of both, in B's order, its place in A
	var those []unit
	for _, y := range right {
		if at, ok := place[y.key]; ok {
			common, those = append(common, at), append(those, y)
		}
	}
	keep := rising(common)
	for i, y := range those {
		if !keep[i] {
			x := left[common[i]]
			d.Moved = append(d.Moved, Move{Name: title(y), LineA: x.line, LineB: y.line})
		}
	}
}

// rising marks a longest rising subsequence.
func rising(xs []int) []bool {
	var ends []int // ends[n] is where a rising run of n+1 ends that ends lowest
	prev := make([]int, len(xs))
	for i, x := range xs {
		n, _ := slices.BinarySearchFunc(ends, x, func(at, x int) int { return xs[at] - x })
		prev[i] = -1
		if n > 0 {
			prev[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	keep := make([]bool, len(xs))
	if len(ends) > 0 {
		for at := ends[len(ends)-1]; at >= 0; at = prev[at] {
			keep[at] = true
		}
	}
	return keep
}

// title names a unit for a reader.
func title(u unit) string {
	switch u.kind {
	case kindFunction:
		return "function " + u.name
	case kindOther:
		first, _, _ := strings.Cut(u.text, "\n")
		return "statement " + first
	}
	return u.name
}

// units reads a program's top level.
func units(s Source) ([]unit, error) {
	file, err := star.Parse(s.Name, s.Text)
	if err != nil {
		return nil, err
	}
	src := newText(s.Text)
	remarks := comments(s.Text)
	seen := map[string]int{}
	var out []unit
	for _, stmt := range file.Stmts {
		start, end := stmt.Span()
		u := unit{
			kind: kindOther, line: int(start.Line), text: src.lines(int(start.Line), int(end.Line)),
			outline: joined(star.Outline(stmt)), comments: between(remarks, int(start.Line), int(end.Line)),
		}
		switch x := stmt.(type) {
		case *syntax.DefStmt:
			u.kind, u.name = kindFunction, x.Name.Name
			u.body = anonymous(star.Outline(stmt), u.name)
		case *syntax.AssignStmt:
			if id, ok := x.LHS.(*syntax.Ident); ok && x.Op == syntax.EQ {
				u.kind, u.name, u.value = kindConstant, id.Name, src.span(x.RHS)
				if text, ok := promptText(x.RHS); ok && (id.Name == "SYSTEM_PROMPT" || id.Name == "USER_PROMPT") {
					u.kind, u.value, u.outline = kindPrompt, text, text
				}
			}
		}
		u.key = fmt.Sprintf("%d %s", u.kind, u.name)
		if u.kind == kindOther {
			u.key += u.outline
		}
		seen[u.key]++
		u.key = fmt.Sprintf("%s #%d", u.key, seen[u.key])
		out = append(out, u)
	}
	return out, nil
}

func joined(parts []star.Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
		b.WriteByte('\n') // texts hold none: strings are quoted
	}
	return b.String()
}

// anonymous is a function's outline without its name, calls of itself included.
func anonymous(parts []star.Part, name string) string {
	parts = slices.Clone(parts[1 : len(parts)-1])
	for i := range parts {
		if parts[i].Text == "the name "+name {
			parts[i].Text = "the name of the function itself"
		}
	}
	return joined(parts)
}

// promptText is the value of a string literal or of literals joined by +.
func promptText(e syntax.Expr) (string, bool) {
	switch x := e.(type) {
	case *syntax.Literal:
		s, ok := x.Value.(string)
		return s, ok && x.Token == syntax.STRING
	case *syntax.ParenExpr:
		return promptText(x.X)
	case *syntax.BinaryExpr:
		if x.Op == syntax.PLUS {
			left, ok := promptText(x.X)
			right, ok2 := promptText(x.Y)
			return left + right, ok && ok2
		}
	}
	return "", false
}
