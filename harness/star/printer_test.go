package star_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.starlark.net/syntax"
)

// printer writes a tree as a program, in a form that draw decides.
type printer struct {
	draw    func(n int) int // a number below n
	prompts bool            // other prompts, too
	b       strings.Builder
}

func (p *printer) file(f *syntax.File) string {
	p.block(f.Stmts, "")
	return p.b.String()
}

func (p *printer) block(stmts []syntax.Stmt, indent string) {
	for _, s := range stmts {
		if p.draw(6) == 0 {
			p.b.WriteString("\n" + indent + "# a comment: x = 1\n")
		}
		p.b.WriteString(indent)
		p.stmt(s, indent)
	}
}

func (p *printer) line(parts ...string) {
	p.b.WriteString(strings.Join(parts, ""))
	if p.draw(8) == 0 {
		p.b.WriteString("  # said at the end")
	}
	p.b.WriteString("\n")
}

func (p *printer) stmt(s syntax.Stmt, indent string) {
	inner := indent + strings.Repeat(" ", 1+p.draw(5))
	switch s := s.(type) {
	case *syntax.AssignStmt:
		if id, ok := s.LHS.(*syntax.Ident); ok && p.prompts && indent == "" && strings.HasSuffix(id.Name, "_PROMPT") {
			p.line(id.Name, " = ", p.quote(strings.Repeat("words ", p.draw(4))), " + \"more\"")
			return
		}
		p.line(p.expr(s.LHS), p.space(), s.Op.String(), p.space(), p.expr(s.RHS))
	case *syntax.BranchStmt:
		p.line(s.Token.String())
	case *syntax.DefStmt:
		p.line("def ", s.Name.Name, "(", p.params(s.Params), "):")
		p.block(s.Body, inner)
	case *syntax.ExprStmt:
		p.line(p.expr(s.X))
	case *syntax.ForStmt:
		p.line("for ", p.expr(s.Vars), " in ", p.expr(s.X), ":")
		p.block(s.Body, inner)
	case *syntax.WhileStmt:
		p.line("while ", p.expr(s.Cond), ":")
		p.block(s.Body, inner)
	case *syntax.IfStmt:
		p.line("if ", p.expr(s.Cond), ":")
		p.block(s.True, inner)
		if len(s.False) > 0 {
			p.b.WriteString(indent)
			p.line("else:")
			p.block(s.False, inner)
		}
	case *syntax.ReturnStmt:
		if s.Result == nil {
			p.line("return")
		} else {
			p.line("return ", p.expr(s.Result))
		}
	default:
		panic(fmt.Sprintf("%T", s))
	}
}

func (p *printer) space() string { return strings.Repeat(" ", 1+p.draw(2)) }

// expr writes an expression so that it binds as the tree says: with parentheses around what could bind otherwise, and at times more.
func (p *printer) expr(e syntax.Expr) string {
	if par, ok := e.(*syntax.ParenExpr); ok {
		return p.expr(par.X)
	}
	switch e.(type) {
	case *syntax.BinaryExpr, *syntax.CondExpr, *syntax.LambdaExpr, *syntax.TupleExpr, *syntax.UnaryExpr:
		return "(" + p.bare(e) + ")"
	case *syntax.Ident, *syntax.Literal, *syntax.ListExpr:
		if p.draw(8) == 0 {
			return "( " + p.bare(e) + " )"
		}
	}
	return p.bare(e)
}

func (p *printer) bare(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.BinaryExpr:
		return p.expr(e.X) + p.space() + e.Op.String() + p.space() + p.expr(e.Y)
	case *syntax.CallExpr:
		return p.expr(e.Fn) + "(" + p.params(e.Args) + ")"
	case *syntax.Comprehension:
		s := p.expr(e.Body)
		if entry, ok := e.Body.(*syntax.DictEntry); ok {
			s = p.expr(entry.Key) + ": " + p.expr(entry.Value)
		}
		for _, c := range e.Clauses {
			switch c := c.(type) {
			case *syntax.ForClause:
				s += " for " + p.expr(c.Vars) + " in " + p.expr(c.X)
			case *syntax.IfClause:
				s += " if " + p.expr(c.Cond)
			}
		}
		if e.Curly {
			return "{" + s + "}"
		}
		return "[" + s + "]"
	case *syntax.CondExpr:
		return p.expr(e.True) + " if " + p.expr(e.Cond) + " else " + p.expr(e.False)
	case *syntax.DictEntry:
		return p.expr(e.Key) + ":" + p.space() + p.expr(e.Value)
	case *syntax.DictExpr:
		return "{" + p.items(e.List) + "}"
	case *syntax.DotExpr:
		return p.expr(e.X) + "." + e.Name.Name
	case *syntax.Ident:
		return e.Name
	case *syntax.IndexExpr:
		return p.expr(e.X) + "[" + p.expr(e.Y) + "]"
	case *syntax.LambdaExpr:
		return "lambda " + p.params(e.Params) + ": " + p.expr(e.Body)
	case *syntax.ListExpr:
		return "[" + p.items(e.List) + "]"
	case *syntax.Literal:
		return p.literal(e)
	case *syntax.SliceExpr:
		part := func(x syntax.Expr) string {
			if x == nil {
				return ""
			}
			return p.expr(x)
		}
		s := p.expr(e.X) + "[" + part(e.Lo) + ":" + part(e.Hi)
		if e.Step != nil {
			s += ":" + part(e.Step)
		}
		return s + "]"
	case *syntax.TupleExpr:
		if len(e.List) == 1 {
			return p.expr(e.List[0]) + ","
		}
		return p.items(e.List)
	case *syntax.UnaryExpr:
		if e.X == nil {
			return e.Op.String()
		}
		return e.Op.String() + " " + p.expr(e.X)
	}
	panic(fmt.Sprintf("%T", e))
}

func (p *printer) items(list []syntax.Expr) string {
	var out []string
	for _, e := range list {
		out = append(out, p.expr(e))
	}
	sep := ", "
	if p.draw(4) == 0 {
		sep = ",\n      "
	}
	return strings.Join(out, sep)
}

// params writes parameters or arguments: their names, = and * bear no parentheses.
func (p *printer) params(list []syntax.Expr) string {
	var out []string
	for _, e := range list {
		switch x := e.(type) {
		case *syntax.Ident:
			out = append(out, x.Name)
			continue
		case *syntax.BinaryExpr:
			if id, ok := x.X.(*syntax.Ident); ok && x.Op == syntax.EQ {
				out = append(out, id.Name+p.space()+"="+p.space()+p.expr(x.Y))
				continue
			}
		case *syntax.UnaryExpr:
			if x.Op == syntax.STAR || x.Op == syntax.STARSTAR {
				star := x.Op.String()
				if id, ok := x.X.(*syntax.Ident); ok {
					star += id.Name
				} else if x.X != nil {
					star += p.expr(x.X)
				}
				out = append(out, star)
				continue
			}
		}
		out = append(out, p.expr(e))
	}
	return strings.Join(out, ", ")
}

func (p *printer) literal(l *syntax.Literal) string {
	switch v := l.Value.(type) {
	case string:
		if l.Token == syntax.BYTES {
			return "b" + strconv.Quote(v)
		}
		return p.quote(v)
	case int64:
		if p.draw(3) == 0 && v >= 0 {
			return fmt.Sprintf("0x%x", v)
		}
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	return fmt.Sprint(l.Value)
}

func (p *printer) quote(s string) string {
	plain := !strings.ContainsAny(s, "\\'\"\n\r\x00")
	switch p.draw(4) {
	case 0:
		if plain {
			return "'" + s + "'"
		}
	case 1:
		if plain {
			return `r"""` + s + `"""`
		}
	case 2:
		if !strings.ContainsAny(s, "\\'\r\x00") {
			return "'''" + s + "'''"
		}
	}
	return strconv.Quote(s)
}

// mutateNth changes the n-th of a tree's fields that can be changed, in a way that changes its meaning, and tells which it was.
func mutateNth(v reflect.Value, n int) (string, bool) {
	m := &mutator{left: n}
	m.visit(v)
	return m.what, m.what != ""
}

type mutator struct {
	left int
	what string
}

// here says whether the field under the cursor is the one to change.
func (m *mutator) here(what string) bool {
	if m.what != "" {
		return false
	}
	if m.left > 0 {
		m.left--
		return false
	}
	m.what = what
	return true
}

func (m *mutator) visit(v reflect.Value) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		f, field := v.Field(i), v.Type().Field(i)
		name := v.Type().Name() + "." + field.Name
		switch field.Name {
		case "commentsRef", "Path", "Module", "Options", "Raw", "Binding", "Function":
			continue
		}
		if f.Type() == reflect.TypeFor[syntax.Position]() {
			continue
		}
		if par, ok := v.Addr().Interface().(*syntax.ParenExpr); ok {
			m.visit(reflect.ValueOf(par.X))
			continue
		}
		switch {
		case f.Type() == reflect.TypeFor[syntax.Token]():
			if _, ok := v.Addr().Interface().(*syntax.Literal); !ok && m.here(name) {
				f.Set(reflect.ValueOf(other(f.Interface().(syntax.Token))))
			}
		case f.Kind() == reflect.String:
			if m.here(name) {
				f.SetString(f.String() + "x")
			}
		case f.Kind() == reflect.Bool:
			if m.here(name) {
				f.SetBool(!f.Bool())
			}
		case name == "Literal.Value":
			if m.here(name) {
				lit := v.Addr().Interface().(*syntax.Literal)
				switch x := lit.Value.(type) {
				case string:
					lit.Value = x + " x"
				case int64:
					lit.Value = x + 1
				case float64:
					lit.Value = x + 0.5
				}
			}
		case f.Kind() == reflect.Slice:
			block := field.Name == "Body" || field.Name == "True" // which a statement cannot lack
			if f.Len() > index(block) && m.here(name) {
				f.Set(f.Slice(0, f.Len()-1)) // one less at the end
				if f.Len() == 0 {
					f.SetZero()
				}
			}
			if f.Len() > 0 && m.here(name) {
				grown := reflect.Append(reflect.MakeSlice(f.Type(), 0, f.Len()+1), f.Index(0))
				f.Set(reflect.AppendSlice(grown, f)) // the first one twice
			}
			for j := range f.Len() {
				m.visit(f.Index(j))
			}
		case f.Kind() == reflect.Interface && (name == "ReturnStmt.Result" || name == "SliceExpr.Lo" || name == "SliceExpr.Hi" || name == "SliceExpr.Step"):
			if !f.IsNil() && m.here(name) {
				f.SetZero()
			}
			m.visit(f)
		default:
			m.visit(f)
		}
	}
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// other gives another token of the same kind.
func other(t syntax.Token) syntax.Token {
	switch t {
	case syntax.PLUS:
		return syntax.MINUS
	case syntax.EQL:
		return syntax.NEQ
	case syntax.EQ:
		return syntax.PLUS_EQ
	case syntax.PASS:
		return syntax.CONTINUE
	case syntax.CONTINUE:
		return syntax.BREAK
	case syntax.NOT:
		return syntax.MINUS
	case syntax.STARSTAR:
		return syntax.STAR
	}
	return syntax.PLUS
}
