package evolve

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// maxCalls bounds the calls of a program that are edited.
const maxCalls = 100

// span is a range of bytes of a source text.
type span struct{ start, end int }

// program is a source text with the places that can be edited.
type program struct {
	source string
	lib    *catalogue
	lines  []int   // byte offset of each line
	runes  [][]int // byte offset in its line of each character; made when first asked for
	consts []constant
	defs   []definition
	calls  []call // of library functions, the first maxCalls
}

// constant is NAME = value at the top level.
type constant struct {
	name  string
	value syntax.Expr
	at    span // of the value
}

// definition is a function at the top level.
type definition struct {
	name string
	at   span // from def to the end of its last statement
	text string
}

// call is a call of a library function, or of one that this package wrote, anywhere in the program.
type call struct {
	fn   *function
	node *syntax.CallExpr
	args []argument
}

// argument is an argument of a call. Its param is nil where the catalogue does not know it.
type argument struct {
	param   *param
	keyword bool
	name    string // of the keyword
	value   syntax.Expr
	at      span // with the keyword
	valueAt span
}

// dialect is the contract's: everything that Starlark leaves to choose is on.
func dialect() *syntax.FileOptions {
	return &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
}

// parse reads a program. Its tree is not resolved, for resolving changes trees.
func parse(source string, lib *catalogue) (*program, error) {
	if strings.ContainsRune(source, '\r') {
		return nil, fmt.Errorf("program: got carriage returns, want lines that end in a line feed")
	}
	file, err := dialect().Parse("program", source, 0)
	if err != nil {
		return nil, err
	}
	p := &program{source: source, lib: lib, lines: []int{0}}
	for i := range len(source) {
		if source[i] == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	p.runes = make([][]int, len(p.lines))
	for _, stmt := range file.Stmts {
		switch s := stmt.(type) {
		case *syntax.AssignStmt:
			if id, ok := s.LHS.(*syntax.Ident); ok && s.Op == syntax.EQ {
				p.consts = append(p.consts, constant{name: id.Name, value: s.RHS, at: p.spanOf(s.RHS)})
			}
		case *syntax.DefStmt:
			at := p.spanOf(s)
			p.defs = append(p.defs, definition{name: s.Name.Name, at: at, text: source[at.start:at.end]})
		}
		if d, ok := stmt.(*syntax.DefStmt); ok && slices.Contains(finished, d.Name.Name) {
			continue
		}
		syntax.Walk(stmt, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok && len(p.calls) < maxCalls {
				p.addCall(c, lib)
			}
			return true
		})
	}
	return p, nil
}

func (p *program) addCall(node *syntax.CallExpr, lib *catalogue) {
	fn := lib.callee(node.Fn)
	if fn == nil {
		return
	}
	c := call{fn: fn, node: node}
	for i, arg := range node.Args {
		a := argument{value: arg, at: p.spanOf(arg)}
		switch x := arg.(type) {
		case *syntax.UnaryExpr:
			if x.Op == syntax.STAR || x.Op == syntax.STARSTAR {
				return // what it passes cannot be seen
			}
		case *syntax.BinaryExpr:
			if id, ok := x.X.(*syntax.Ident); ok && x.Op == syntax.EQ {
				a.keyword, a.name, a.value, a.param = true, id.Name, x.Y, fn.find(id.Name)
			}
		}
		if !a.keyword && i < len(fn.Params) {
			a.param = &fn.Params[i]
		}
		a.valueAt = p.spanOf(a.value)
		c.args = append(c.args, a)
	}
	p.calls = append(p.calls, c)
}

// given says whether a call passes a parameter.
func (c *call) given(name string) bool {
	return slices.ContainsFunc(c.args, func(a argument) bool { return a.param != nil && a.param.Name == name })
}

func (p *program) constant(name string) *constant {
	for i := range p.consts {
		if p.consts[i].name == name {
			return &p.consts[i]
		}
	}
	return nil
}

func (p *program) definition(name string) *definition {
	for i := range p.defs {
		if p.defs[i].name == name {
			return &p.defs[i]
		}
	}
	return nil
}

func (p *program) spanOf(n syntax.Node) span {
	start, end := n.Span()
	return span{p.offset(start), p.offset(end)}
}

// offset turns a position (line and column in code points, from 1) into a byte offset.
func (p *program) offset(pos syntax.Position) int {
	line, col := int(pos.Line)-1, int(pos.Col)-1
	if p.runes[line] == nil {
		end := len(p.source)
		if line+1 < len(p.lines) {
			end = p.lines[line+1]
		}
		for i := range p.source[p.lines[line]:end] {
			p.runes[line] = append(p.runes[line], i)
		}
		p.runes[line] = append(p.runes[line], end-p.lines[line])
	}
	return p.lines[line] + p.runes[line][min(col, len(p.runes[line])-1)]
}

// line is the number of the line that an offset lies in, from 0.
func (p *program) line(offset int) int { return sort.SearchInts(p.lines, offset+1) - 1 }

// column is the number of characters before an offset in its line.
func (p *program) column(offset int) int {
	return utf8.RuneCountInString(p.source[p.lines[p.line(offset)]:offset])
}

// freeNames gives the names that a program takes from outside, its library modules among them.
func freeNames(source string) (map[string]bool, error) {
	free := map[string]bool{}
	file, err := dialect().Parse("program", source, 0)
	if err != nil {
		return nil, err
	}
	note := func(name string) bool { free[name] = true; return true }
	return free, resolve.File(file, func(name string) bool { return !starlark.Universe.Has(name) && note(name) }, starlark.Universe.Has)
}

// check says whether a product is a program: it parses, and takes no name from outside but the known ones.
func check(source string, known map[string]bool) error {
	file, err := dialect().Parse("program", source, 0)
	if err != nil {
		return err
	}
	return resolve.File(file, func(name string) bool { return known[name] }, starlark.Universe.Has)
}
