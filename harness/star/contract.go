package star

import (
	"fmt"
	"strings"

	"go.starlark.net/syntax"
)

// The names that the contract gives a meaning.
const (
	runName      = "run"
	systemPrompt = "SYSTEM_PROMPT"
	userPrompt   = "USER_PROMPT"
)

var runParams = [...]string{"task", "model", "env"}

// checkContract checks what the contract asks of a file's syntax: no load, one run(task, model, env) at top level, and prompt constants
// that are plain strings. It gives the position of run.
func checkContract(name string, file *syntax.File) (runAt syntax.Position, found Errors) {
	report := func(pos syntax.Position, suggestion, format string, args ...any) {
		found = append(found, &Error{
			Gate: GateContract, File: name, Line: int(pos.Line), Col: int(pos.Col),
			Message: fmt.Sprintf(format, args...), Suggestion: suggestion,
		})
	}
	runs := 0
	assigned := map[string]bool{}
	for _, stmt := range file.Stmts {
		switch s := stmt.(type) {
		case *syntax.DefStmt:
			if s.Name.Name == runName {
				runs++
				runAt = s.Name.NamePos
				if runs > 1 {
					report(runAt, "", "run is defined twice")
				} else if got := signature(s.Params); got != strings.Join(runParams[:], ", ") {
					report(runAt, "", "run: got the parameters (%s), want (task, model, env)", got)
				}
				continue
			}
		case *syntax.AssignStmt:
			if id, ok := s.LHS.(*syntax.Ident); ok && s.Op == syntax.EQ && isPrompt(id.Name) {
				if assigned[id.Name] {
					report(id.NamePos, "", "%s is assigned twice", id.Name)
				}
				assigned[id.Name] = true
				if bad := notLiteral(s.RHS); bad != nil {
					report(syntax.Start(bad), "a prompt is a string literal or literals joined by +; fill it in run with text.fill",
						"%s: got %s, want a string literal", id.Name, describe(bad))
				}
				continue
			}
		}
		syntax.Walk(stmt, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.LoadStmt:
				report(n.Load, "the modules re, json, math, text, chat and loop are there without it", "load: a harness is one file")
			case *syntax.DefStmt:
				if isPrompt(n.Name.Name) {
					report(n.Name.NamePos, "", "%s: got a function, want a string literal", n.Name.Name)
				} else if n.Name.Name == runName {
					report(n.Name.NamePos, "", "run: got a def inside a block, want it at the top level")
				}
				return false // other functions' locals may have any name
			case *syntax.LambdaExpr, *syntax.Comprehension:
				return false
			case *syntax.AssignStmt:
				boundNames(n.LHS, func(id *syntax.Ident) { reportBinding(report, id) })
			case *syntax.ForStmt:
				boundNames(n.Vars, func(id *syntax.Ident) { reportBinding(report, id) })
			}
			return true
		})
	}
	if runs == 0 {
		report(syntax.MakePosition(&name, 1, 1), "define it at the top level: def run(task, model, env):", "run: not defined")
	}
	return runAt, found
}

func reportBinding(report func(syntax.Position, string, string, ...any), id *syntax.Ident) {
	switch {
	case isPrompt(id.Name):
		report(id.NamePos, "write NAME = \"…\" once, outside of any block",
			"%s: got an assignment of another form, want one plain assignment at the top level", id.Name)
	case id.Name == runName:
		report(id.NamePos, "define it at the top level: def run(task, model, env):", "run: got an assignment, want a def")
	}
}

func isPrompt(name string) bool { return name == systemPrompt || name == userPrompt }

// boundNames calls f with each name that an assignment's left side binds.
func boundNames(lhs syntax.Expr, f func(*syntax.Ident)) {
	switch x := lhs.(type) {
	case *syntax.Ident:
		f(x)
	case *syntax.ParenExpr:
		boundNames(x.X, f)
	case *syntax.TupleExpr:
		for _, e := range x.List {
			boundNames(e, f)
		}
	case *syntax.ListExpr:
		for _, e := range x.List {
			boundNames(e, f)
		}
	}
}

// notLiteral gives the first part of an expression that is neither a string literal nor a + of such, or nil.
func notLiteral(e syntax.Expr) syntax.Expr {
	switch x := e.(type) {
	case *syntax.Literal:
		if x.Token == syntax.STRING {
			return nil
		}
	case *syntax.ParenExpr:
		return notLiteral(x.X)
	case *syntax.BinaryExpr:
		if x.Op == syntax.PLUS {
			if bad := notLiteral(x.X); bad != nil {
				return bad
			}
			return notLiteral(x.Y)
		}
	}
	return e
}

func describe(e syntax.Expr) string {
	switch x := e.(type) {
	case *syntax.Literal:
		if x.Token == syntax.BYTES {
			return "bytes"
		}
		return "a number"
	case *syntax.Ident:
		return "the name " + x.Name
	case *syntax.CallExpr:
		return "a call"
	case *syntax.BinaryExpr:
		return "the operator " + x.Op.String()
	case *syntax.ListExpr:
		return "a list"
	case *syntax.TupleExpr:
		return "a tuple"
	default:
		return "another expression"
	}
}

// signature writes parameters as in the source, defaults as "name=…".
func signature(params []syntax.Expr) string {
	var out []string
	for _, p := range params {
		switch p := p.(type) {
		case *syntax.Ident:
			out = append(out, p.Name)
		case *syntax.BinaryExpr:
			if id, ok := p.X.(*syntax.Ident); ok {
				out = append(out, id.Name+"=…")
			}
		case *syntax.UnaryExpr:
			s := p.Op.String()
			if id, ok := p.X.(*syntax.Ident); ok {
				s += id.Name
			}
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}
