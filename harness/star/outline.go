package star

import (
	"fmt"
	"strconv"
	"strings"

	"go.starlark.net/syntax"
)

// Part is one element of a syntax tree's outline, in the order of the source.
type Part struct {
	Text string          // what stands there, such as "the name x", "the number 3" or "a call"
	Pos  syntax.Position // where
}

// Outline writes trees as a flat list of parts. Two trees have the same texts in the same order exactly where they differ in nothing but
// comments, blank lines, formatting, the spelling of literals (quotes, raw strings, the base of a number) and redundant parentheses.
// Docstrings are statements like any other, and "a" + "b" is not "ab". The trees must not have been resolved, for resolving changes them.
func Outline(nodes ...syntax.Node) []Part {
	var o outliner
	for _, n := range nodes {
		o.node(n)
	}
	return o.parts
}

// Parse gives the unresolved tree of a program in the contract's dialect. The error is of type [Errors], of the gate parse. It looks at
// nothing else of the contract. The tree has no comments: the parser assigns them to nodes in a time that is quadratic in the length of a
// chain of operators, half a minute for 64 KiB.
func Parse(name string, src []byte) (*syntax.File, error) {
	file, err := options().Parse(name, src, 0)
	if err != nil {
		return nil, parseErrors(name, src, err)
	}
	return file, nil
}

type outliner struct {
	parts []Part
	free  func(*syntax.AssignStmt) bool // assignments whose value is left out; nil = none
}

func (o *outliner) add(pos syntax.Position, format string, args ...any) {
	o.parts = append(o.parts, Part{Text: fmt.Sprintf(format, args...), Pos: pos})
}

// list writes nodes and an end, so that where one list ends and the next begins is part of the outline.
func list[T syntax.Node](o *outliner, end syntax.Position, what string, nodes []T) {
	for _, n := range nodes {
		o.node(n)
	}
	o.add(end, "the end of %s", what)
}

// optional writes a node that may be absent.
func (o *outliner) optional(pos syntax.Position, what string, n syntax.Expr) {
	if n == nil {
		o.add(pos, "no %s", what)
		return
	}
	o.node(n)
}

func (o *outliner) node(n syntax.Node) {
	switch n := n.(type) {
	case syntax.Stmt:
		start, end := n.Span()
		o.stmt(n, start, end)
	case syntax.Expr:
		o.expr(n)
	case *syntax.ForClause:
		o.add(n.For, "a for in a comprehension")
		o.node(n.Vars)
		o.node(n.X)
	case *syntax.IfClause:
		o.add(n.If, "an if in a comprehension")
		o.node(n.Cond)
	default:
		panic(fmt.Sprintf("star: outline of %T", n)) // the kinds of nodes are closed; a test outlines each
	}
}

func (o *outliner) stmt(n syntax.Stmt, start, end syntax.Position) {
	switch n := n.(type) {
	case *syntax.AssignStmt:
		if id, ok := n.LHS.(*syntax.Ident); ok && o.free != nil && o.free(n) {
			o.add(start, "the assignment of %s", id.Name)
			return
		}
		o.add(n.OpPos, "an assignment with %s", n.Op)
		o.node(n.LHS)
		o.node(n.RHS)
	case *syntax.BranchStmt:
		o.add(start, "the statement %s", n.Token)
	case *syntax.DefStmt:
		o.add(start, "the function %s", n.Name.Name)
		list(o, n.Rparen, "its parameters", n.Params)
		list(o, end, "the function "+n.Name.Name, n.Body)
	case *syntax.ExprStmt:
		o.add(start, "an expression as a statement")
		o.node(n.X)
	case *syntax.ForStmt:
		o.add(start, "a for loop")
		o.node(n.Vars)
		o.node(n.X)
		list(o, end, "the for loop", n.Body)
	case *syntax.WhileStmt:
		o.add(start, "a while loop")
		o.node(n.Cond)
		list(o, end, "the while loop", n.Body)
	case *syntax.IfStmt: // an elif is an if in the else of another, and means the same
		o.add(start, "an if")
		o.node(n.Cond)
		list(o, syntax.End(n.True[len(n.True)-1]), "the if's block", n.True)
		list(o, end, "the else's block", n.False)
	case *syntax.LoadStmt:
		o.add(start, "a load of %s", strconv.Quote(n.ModuleName()))
		list(o, end, "the load's names", n.From)
		list(o, end, "the load", n.To)
	case *syntax.ReturnStmt:
		o.add(start, "a return")
		o.optional(end, "value returned", n.Result)
	}
}

// expr asks no node for its span: that of a long chain of operators costs its length, and each of its nodes would ask.
func (o *outliner) expr(n syntax.Expr) {
	switch n := n.(type) {
	case *syntax.BinaryExpr:
		o.add(n.OpPos, "the operator %s", n.Op)
		o.node(n.X)
		o.node(n.Y)
	case *syntax.CallExpr:
		o.add(n.Lparen, "a call")
		o.node(n.Fn)
		list(o, n.Rparen, "the call's arguments", n.Args)
	case *syntax.Comprehension:
		o.add(n.Lbrack, "a %s comprehension", comprehended(n))
		o.node(n.Body)
		list(o, n.Rbrack, "the comprehension", n.Clauses)
	case *syntax.CondExpr:
		o.add(n.If, "an if expression")
		o.node(n.True)
		o.node(n.Cond)
		o.node(n.False)
	case *syntax.DictEntry:
		o.add(n.Colon, "an entry of a dict")
		o.node(n.Key)
		o.node(n.Value)
	case *syntax.DictExpr:
		o.add(n.Lbrace, "a dict")
		list(o, n.Rbrace, "the dict", n.List)
	case *syntax.DotExpr:
		o.add(n.NamePos, "the attribute .%s", n.Name.Name)
		o.node(n.X)
	case *syntax.Ident:
		o.add(n.NamePos, "the name %s", n.Name)
	case *syntax.IndexExpr:
		o.add(n.Lbrack, "an index")
		o.node(n.X)
		o.node(n.Y)
	case *syntax.LambdaExpr:
		o.add(n.Lambda, "a lambda")
		list(o, n.Lambda, "the lambda's parameters", n.Params)
		o.node(n.Body)
	case *syntax.ListExpr:
		o.add(n.Lbrack, "a list")
		list(o, n.Rbrack, "the list", n.List)
	case *syntax.Literal:
		o.add(n.TokenPos, "%s", literal(n))
	case *syntax.ParenExpr:
		o.node(n.X)
	case *syntax.SliceExpr:
		o.add(n.Lbrack, "a slice")
		o.node(n.X)
		o.optional(n.Lbrack, "start of the slice", n.Lo)
		o.optional(n.Rbrack, "end of the slice", n.Hi)
		o.optional(n.Rbrack, "step of the slice", n.Step)
	case *syntax.TupleExpr:
		o.add(tuplePos(n), "a tuple")
		list(o, tuplePos(n), "the tuple", n.List)
	case *syntax.UnaryExpr:
		o.add(n.OpPos, "the operator %s before a value", n.Op)
		o.optional(n.OpPos, "name after the operator", n.X) // a bare * among parameters
	}
}

// tuplePos is where a tuple without parentheses begins, or its parenthesis.
func tuplePos(n *syntax.TupleExpr) syntax.Position {
	if n.Lparen.IsValid() || len(n.List) == 0 {
		return n.Lparen
	}
	return syntax.Start(n.List[0])
}

func comprehended(n *syntax.Comprehension) string {
	if n.Curly {
		return "dict"
	}
	return "list"
}

// literal writes a literal's value in one way, however it is spelled.
func literal(n *syntax.Literal) string {
	switch v := n.Value.(type) {
	case string:
		if n.Token == syntax.BYTES {
			return "the bytes " + strconv.Quote(v)
		}
		return "the string " + strconv.Quote(v)
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return "the number " + s
	default: // int64 or *big.Int
		return fmt.Sprintf("the number %v", v)
	}
}
