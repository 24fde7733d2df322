package calc

import "go.starlark.net/syntax"

// Names of the functions that rewrite calls.
const (
	showName   = "__show__"   // prints the value of the last statement
	enterName  = "__enter__"  // checks the depth of calls
	updateName = "__update__" // container[index] op= value
	setName    = "__set__"    // container[index] = value
	keyName    = "__key__"    // an index that is assigned to in another way
	attrName   = "__attr__"   // value.name
	methodName = "__method__" // value.name(arguments)
	sliceName  = "__slice__"  // container[low:high:step]
	spreadName = "__spread__" // *arguments and **arguments
	dictName   = "__dict__"   // {key: value}
	tableName  = "__table__"  // a dict made by a comprehension
	opIndex    = "__index__"  // container[index]
	formatName = "__format__" // explains that str.format is not available
)

// opNames are the functions of the operators that rewrite replaces.
var opNames = map[syntax.Token]string{
	syntax.PLUS: "__add__", syntax.MINUS: "__sub__", syntax.STAR: "__mul__", syntax.SLASH: "__div__",
	syntax.SLASHSLASH: "__floordiv__", syntax.PERCENT: "__mod__", syntax.LTLT: "__lshift__", syntax.GTGT: "__rshift__",
	syntax.AMP: "__and__", syntax.PIPE: "__or__", syntax.CIRCUMFLEX: "__xor__", syntax.IN: "__in__", syntax.NOT_IN: "__notin__",
	syntax.EQL: "__eq__", syntax.NEQ: "__ne__", syntax.LT: "__lt__", syntax.LE: "__le__", syntax.GT: "__gt__", syntax.GE: "__ge__",
}

// signNames are those of the unary operators.
var signNames = map[syntax.Token]string{syntax.MINUS: "__neg__", syntax.PLUS: "__pos__", syntax.TILDE: "__invert__"}

// assignNames are those of the augmented assignments. `+=` and `|=` have their own because they change containers in place.
var assignNames = map[syntax.Token]string{
	syntax.PLUS_EQ: "__iadd__", syntax.MINUS_EQ: "__sub__", syntax.STAR_EQ: "__mul__", syntax.SLASH_EQ: "__div__",
	syntax.SLASHSLASH_EQ: "__floordiv__", syntax.PERCENT_EQ: "__mod__", syntax.LTLT_EQ: "__lshift__", syntax.GTGT_EQ: "__rshift__",
	syntax.AMP_EQ: "__and__", syntax.PIPE_EQ: "__ior__", syntax.CIRCUMFLEX_EQ: "__xor__",
}

// rewrite replaces whatever can cost more than a few instructions by calls, guards function bodies, and makes the last expression
// print itself. It returns how many bytes a call of any of the program's functions takes at most.
func rewrite(file *syntax.File) (frame int) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.DefStmt, *syntax.LambdaExpr:
			frame = max(frame, frameSize(n))
		}
		return true
	})
	if len(file.Stmts) == 0 {
		return frame
	}
	last, ok := file.Stmts[len(file.Stmts)-1].(*syntax.ExprStmt)
	// A call that returns None was made for what it does; print is one.
	quiet := "False"
	if ok && isCall(last.X) {
		quiet = "True"
	}
	file.Stmts = stmts(file.Stmts)
	if ok {
		start, _ := last.X.Span()
		last.X = call(start, showName, last.X, ident(start, quiet))
	}
	return frame
}

// frameSize is how many bytes a call of f takes at most: every variable, and every value that waits for others, comes from a node or
// from the call that replaces it.
func frameSize(f syntax.Node) int {
	nodes := 0
	syntax.Walk(f, func(n syntax.Node) bool {
		if n != nil {
			nodes++
		}
		return true
	})
	return 2 * nodes * sizePointer
}

// isCall reports whether x is a call that the program wrote, and not a power.
func isCall(x syntax.Expr) bool {
	c, ok := x.(*syntax.CallExpr)
	if !ok {
		return false
	}
	fn, ok := c.Fn.(*syntax.Ident)
	return !ok || fn.Name != powName
}

func ident(pos syntax.Position, name string) syntax.Expr {
	return &syntax.Ident{NamePos: pos, Name: name}
}

func call(pos syntax.Position, name string, args ...syntax.Expr) syntax.Expr {
	return &syntax.CallExpr{Fn: ident(pos, name), Lparen: pos, Args: args, Rparen: pos}
}

func quoted(pos syntax.Position, s string) syntax.Expr {
	return &syntax.Literal{Token: syntax.STRING, TokenPos: pos, Raw: s, Value: s}
}

func stmts(list []syntax.Stmt) []syntax.Stmt {
	for i, s := range list {
		list[i] = stmt(s)
	}
	return list
}

func stmt(s syntax.Stmt) syntax.Stmt {
	switch s := s.(type) {
	case *syntax.ExprStmt:
		s.X = expr(s.X)
	case *syntax.IfStmt:
		s.Cond, s.True, s.False = expr(s.Cond), stmts(s.True), stmts(s.False)
	case *syntax.ForStmt:
		s.Vars, s.X, s.Body = assigned(s.Vars), expr(s.X), stmts(s.Body)
	case *syntax.WhileStmt:
		s.Cond, s.Body = expr(s.Cond), stmts(s.Body)
	case *syntax.ReturnStmt:
		if s.Result != nil {
			s.Result = expr(s.Result)
		}
	case *syntax.DefStmt:
		params(s.Params)
		s.Body = append([]syntax.Stmt{&syntax.ExprStmt{X: call(s.Def, enterName)}}, stmts(s.Body)...)
	case *syntax.AssignStmt:
		return assign(s)
	}
	return s
}

// assign rewrites `x op= y` into `x = op(x, y)`, and `c[i] op= y` into a call that evaluates c and i once.
func assign(s *syntax.AssignStmt) syntax.Stmt {
	s.RHS = expr(s.RHS)
	target := s.LHS
	for {
		p, ok := target.(*syntax.ParenExpr)
		if !ok {
			break
		}
		target = p.X
	}
	name, ok := assignNames[s.Op]
	if !ok {
		if x, ok := target.(*syntax.IndexExpr); ok {
			return &syntax.ExprStmt{X: call(s.OpPos, setName, expr(x.X), expr(x.Y), s.RHS)}
		}
		s.LHS = assigned(s.LHS)
		return s
	}
	switch target := target.(type) {
	case *syntax.Ident:
		s.RHS = call(s.OpPos, name, ident(target.NamePos, target.Name), s.RHS)
		s.Op = syntax.EQ
	case *syntax.IndexExpr:
		return &syntax.ExprStmt{X: call(s.OpPos, updateName, expr(target.X), expr(target.Y), quoted(s.OpPos, name), s.RHS)}
	}
	return s // the resolver refuses any other target
}

// assigned rewrites what is assigned to by anything but a plain assignment.
func assigned(x syntax.Expr) syntax.Expr {
	switch x := x.(type) {
	case *syntax.IndexExpr:
		x.X, x.Y = expr(x.X), call(x.Lbrack, keyName, expr(x.Y))
	case *syntax.DotExpr:
		x.X = expr(x.X)
	case *syntax.ParenExpr:
		x.X = assigned(x.X)
	case *syntax.ListExpr:
		for i, y := range x.List {
			x.List[i] = assigned(y)
		}
	case *syntax.TupleExpr:
		for i, y := range x.List {
			x.List[i] = assigned(y)
		}
	}
	return x
}

func params(list []syntax.Expr) {
	for _, p := range list {
		if b, ok := p.(*syntax.BinaryExpr); ok { // name=default
			b.Y = expr(b.Y)
		}
	}
}

func exprs(list []syntax.Expr) {
	for i, x := range list {
		list[i] = expr(x)
	}
}

func expr(x syntax.Expr) syntax.Expr {
	switch x := x.(type) {
	case *syntax.BinaryExpr:
		if x.Op == syntax.EQ { // name=value in a call
			x.Y = expr(x.Y)
			return x
		}
		x.X, x.Y = expr(x.X), expr(x.Y)
		if name, ok := opNames[x.Op]; ok {
			return call(x.OpPos, name, x.X, x.Y)
		}
	case *syntax.UnaryExpr:
		if x.X != nil { // nil in a bare * parameter
			x.X = expr(x.X)
		}
		if name, ok := signNames[x.Op]; ok {
			return call(x.OpPos, name, x.X)
		}
	case *syntax.ParenExpr:
		x.X = expr(x.X)
	case *syntax.CondExpr:
		x.Cond, x.True, x.False = expr(x.Cond), expr(x.True), expr(x.False)
	case *syntax.IndexExpr:
		return call(x.Lbrack, opIndex, expr(x.X), expr(x.Y))
	case *syntax.SliceExpr:
		args := []syntax.Expr{expr(x.X)}
		for _, part := range []syntax.Expr{x.Lo, x.Hi, x.Step} {
			if part == nil {
				part = ident(x.Lbrack, "None")
			} else {
				part = expr(part)
			}
			args = append(args, part)
		}
		return call(x.Lbrack, sliceName, args...)
	case *syntax.DotExpr:
		return call(x.Dot, attrName, expr(x.X), quoted(x.NamePos, x.Name.Name))
	case *syntax.CallExpr:
		arguments(x.Args)
		dot, ok := x.Fn.(*syntax.DotExpr)
		switch {
		case ok && dot.Name.Name == "format":
			return call(x.Lparen, formatName)
		case ok:
			args := append([]syntax.Expr{expr(dot.X), quoted(dot.NamePos, dot.Name.Name)}, x.Args...)
			return call(x.Lparen, methodName, args...)
		}
		x.Fn = expr(x.Fn)
	case *syntax.ListExpr:
		exprs(x.List)
	case *syntax.TupleExpr:
		exprs(x.List)
	case *syntax.DictExpr:
		pairs := &syntax.TupleExpr{Lparen: x.Lbrace, Rparen: x.Rbrace}
		for _, e := range x.List {
			if e, ok := e.(*syntax.DictEntry); ok {
				pairs.List = append(pairs.List, expr(e.Key), expr(e.Value))
			}
		}
		return call(x.Lbrace, dictName, pairs)
	case *syntax.LambdaExpr:
		params(x.Params)
		// None or body is body.
		x.Body = &syntax.BinaryExpr{X: call(x.Lambda, enterName), OpPos: x.Lambda, Op: syntax.OR, Y: expr(x.Body)}
	case *syntax.Comprehension:
		if e, ok := x.Body.(*syntax.DictEntry); ok {
			e.Key, e.Value = call(e.Colon, keyName, expr(e.Key)), expr(e.Value)
		} else {
			x.Body = expr(x.Body)
		}
		for _, c := range x.Clauses {
			switch c := c.(type) {
			case *syntax.ForClause:
				c.Vars, c.X = assigned(c.Vars), expr(c.X)
			case *syntax.IfClause:
				c.Cond = expr(c.Cond)
			}
		}
		if x.Curly {
			return call(x.Lbrack, tableName, x)
		}
	}
	return x
}

// arguments rewrites those of a call.
func arguments(list []syntax.Expr) {
	for i, x := range list {
		list[i] = expr(x)
		if u, ok := x.(*syntax.UnaryExpr); ok && (u.Op == syntax.STAR || u.Op == syntax.STARSTAR) {
			u.X = call(u.OpPos, spreadName, u.X)
			list[i] = u
		}
	}
}
