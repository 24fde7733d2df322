package audit

import (
	"math/big"

	"go.starlark.net/syntax"
)

// expr evaluates an expression as far as it is known.
func (m *machine) expr(e syntax.Expr, f *frame) *val {
	if !m.spend(e) || m.nesting > maxNesting {
		return unknown(0)
	}
	m.nesting++
	defer func() { m.nesting-- }()
	switch e := e.(type) {
	case *syntax.Literal:
		return literalValue(e)
	case *syntax.Ident:
		return m.name(e.Name, f)
	case *syntax.ParenExpr:
		return m.expr(e.X, f)
	case *syntax.TupleExpr:
		return m.sequence(e, e.List, f)
	case *syntax.ListExpr:
		return m.sequence(e, e.List, f)
	case *syntax.DictExpr:
		return m.dictExpr(e, f)
	case *syntax.UnaryExpr:
		return m.unary(e, f)
	case *syntax.BinaryExpr:
		return m.binaryExpr(e, f)
	case *syntax.CondExpr:
		return m.condExpr(e, f)
	case *syntax.DotExpr:
		return m.attribute(m.expr(e.X, f), e.Name.Name)
	case *syntax.IndexExpr:
		return m.index(e, m.expr(e.X, f), m.expr(e.Y, f))
	case *syntax.SliceExpr:
		return m.sliceExpr(e, f)
	case *syntax.CallExpr:
		return m.call(e, f)
	case *syntax.LambdaExpr:
		fn := &function{params: m.defaults(e.Params, f), result: e.Body, outer: f}
		m.queue = append(m.queue, fn)
		return &val{kind: kindFunc, fn: fn}
	case *syntax.Comprehension:
		return m.comprehension(e, f)
	}
	return unknown(0)
}

func literalValue(e *syntax.Literal) *val {
	switch v := e.Value.(type) {
	case string:
		return str(v)
	case int64:
		return integer(big.NewInt(v))
	case *big.Int:
		if v.BitLen() > maxIntBits {
			return unknown(0)
		}
		return integer(v)
	case float64:
		return &val{kind: kindFloat, f: v}
	}
	return unknown(0)
}

// modules are the names that the contract gives a meaning; builtins are Starlark's.
var (
	modules  = map[string]bool{"re": true, "json": true, "math": true, "text": true, "chat": true, "loop": true}
	builtins = map[string]bool{
		"str": true, "int": true, "float": true, "bool": true, "len": true, "chr": true, "ord": true, "range": true, "list": true, "tuple": true,
		"dict": true, "set": true, "zip": true, "enumerate": true, "sorted": true, "reversed": true, "min": true, "max": true, "abs": true,
		"any": true, "all": true, "type": true, "repr": true, "hash": true, "getattr": true, "hasattr": true, "dir": true, "fail": true,
		"print": true, "bytes": true,
	}
)

func (m *machine) name(name string, f *frame) *val {
	for g := f; g != nil; g = g.outer {
		if v, ok := g.vars[name]; ok {
			return v
		}
	}
	if v, ok := m.globals.vars[name]; ok {
		return v
	}
	switch {
	case name == "None":
		return none()
	case name == "True" || name == "False":
		return boolean(name == "True")
	case modules[name]:
		return &val{kind: kindModule, s: name}
	case builtins[name]:
		return builtin(name)
	}
	return unknown(0)
}

// sequence evaluates a list or tuple, and keeps it as a table.
func (m *machine) sequence(e syntax.Expr, list []syntax.Expr, f *frame) *val {
	if !m.room(len(list)) {
		return unknown(0)
	}
	v := listOf()
	for _, x := range list {
		v.list.elems = append(v.list.elems, m.expr(x, f))
	}
	m.keep(e, v)
	return v
}

// keep remembers a constant container as a table.
func (m *machine) keep(n syntax.Node, v *val) *val {
	if v.kind == kindList && len(v.list.elems) >= 2 || v.kind == kindDict && len(v.dict.keys) >= 2 {
		start, end := n.Span()
		m.out.addTable(at(start), at(end), v)
	}
	return v
}

func (m *machine) dictExpr(e *syntax.DictExpr, f *frame) *val {
	v := &val{kind: kindDict, dict: newDict()}
	if !m.room(2 * len(e.List)) {
		return unknown(0)
	}
	for _, x := range e.List {
		entry, ok := x.(*syntax.DictEntry)
		if !ok {
			continue
		}
		k, w := m.expr(entry.Key, f), m.expr(entry.Value, f)
		if k.outside() {
			v.dict.open = true
		}
		v.dict.set(k, w)
	}
	return m.keep(e, v)
}

func (m *machine) unary(e *syntax.UnaryExpr, f *frame) *val {
	if e.X == nil {
		return unknown(0)
	}
	x := m.expr(e.X, f)
	switch {
	case e.Op == syntax.NOT:
		if value, ok := x.truth(); ok {
			return boolean(!value)
		}
		return unknown(x.taints())
	case x.kind == kindInt && e.Op == syntax.MINUS:
		return integer(new(big.Int).Neg(x.n))
	case x.kind == kindInt && e.Op == syntax.TILDE:
		return integer(new(big.Int).Not(x.n))
	case x.kind == kindFloat && e.Op == syntax.MINUS:
		return &val{kind: kindFloat, f: -x.f}
	case x.isNumber():
		return x
	}
	return &val{taint: x.taints(), opaque: x.opaque, length: x.length}
}

func (m *machine) binaryExpr(e *syntax.BinaryExpr, f *frame) *val {
	// A long sum leans to the left: its levels are walked in a loop, so that only true nesting counts as such.
	var spine []*syntax.BinaryExpr
	x := syntax.Expr(e)
	for {
		b, ok := x.(*syntax.BinaryExpr)
		if !ok || b.Op == syntax.AND || b.Op == syntax.OR && len(spine) > 0 {
			break
		}
		if b.Op == syntax.OR {
			break
		}
		spine = append(spine, b)
		x = b.X
	}
	if len(spine) == 0 {
		left := m.expr(e.X, f)
		value, ok := left.truth()
		if ok && value == (e.Op == syntax.OR) {
			return left
		}
		right := m.expr(e.Y, f)
		if ok {
			return right
		}
		return join(left, right, left.taints()|right.taints())
	}
	v := m.expr(x, f)
	start := spot{syntax.Start(x)} // a node finds its start by walking down: once for all of them
	for i := len(spine) - 1; i >= 0; i-- {
		if !m.spend(start) {
			return unknown(0)
		}
		v = m.binary(start, spine[i].Op, v, m.expr(spine[i].Y, f))
	}
	return v
}

// spot stands for a node of which only the place is asked.
type spot struct{ at syntax.Position }

func (s spot) Span() (start, end syntax.Position) { return s.at, s.at }
func (s spot) Comments() *syntax.Comments         { return nil }
func (s spot) AllocComments()                     {}

func (m *machine) condExpr(e *syntax.CondExpr, f *frame) *val {
	before := len(m.out.tests)
	cond := m.expr(e.Cond, f)
	if value, ok := cond.truth(); ok {
		if value {
			return m.expr(e.True, f)
		}
		return m.expr(e.False, f)
	}
	if cond.taints()&taintTask != 0 {
		m.out.addBranch(at(syntax.Start(e.True)), constantsOf(nil, e.True), before)
	}
	m.unsure++
	defer func() { m.unsure-- }()
	return join(m.expr(e.True, f), m.expr(e.False, f), cond.taints())
}

func (m *machine) sliceExpr(e *syntax.SliceExpr, f *frame) *val {
	x := m.expr(e.X, f)
	var bounds [3]*int
	sure := true
	for i, b := range []syntax.Expr{e.Lo, e.Hi, e.Step} {
		if b == nil {
			continue
		}
		v := m.expr(b, f)
		if v.kind == kindNone {
			continue
		}
		n, ok := v.smallInt()
		sure = sure && ok
		bounds[i] = &n
	}
	if !sure {
		return m.derived(x, nil)
	}
	switch {
	case x.isString():
		out := sliceString(x.s, bounds)
		return m.text(e, out, true, x)
	case x.kind == kindList && !x.list.open:
		var out []*val
		for _, i := range indices(len(x.list.elems), bounds) {
			out = append(out, x.list.elems[i])
		}
		if !m.room(len(out)) {
			return unknown(x.taints())
		}
		return m.keep(e, &val{kind: kindList, list: &sequence{elems: out}})
	}
	return m.derived(x, sliceColumn(x.col, bounds))
}

func (m *machine) comprehension(e *syntax.Comprehension, f *frame) *val {
	inner := &frame{vars: map[string]*val{}, outer: f}
	out := &val{kind: kindList, list: &sequence{}}
	if e.Curly {
		out = &val{kind: kindDict, dict: newDict()}
	}
	open := false
	var clause func(i int)
	add := func() {
		if entry, ok := e.Body.(*syntax.DictEntry); ok {
			k, v := m.expr(entry.Key, inner), m.expr(entry.Value, inner)
			if out.kind == kindDict && len(out.dict.keys) < maxElements && m.room(1) {
				out.dict.set(k, v)
			}
			return
		}
		v := m.expr(e.Body, inner)
		if out.kind == kindDict {
			out = &val{kind: kindList, list: &sequence{}} // a set
		}
		if len(out.list.elems) < maxElements && m.room(1) {
			out.list.elems = append(out.list.elems, v)
		}
	}
	clause = func(i int) {
		if i == len(e.Clauses) {
			add()
			return
		}
		switch c := e.Clauses[i].(type) {
		case *syntax.ForClause:
			over := m.expr(c.X, inner)
			elems, sure := m.iterate(over)
			for k, v := range elems {
				if k == maxRounds || !m.spend(e) {
					open = true
					break
				}
				m.assign(c.Vars, v, inner)
				clause(i + 1)
			}
			if !sure {
				open = true
				m.unsure++
				m.assign(c.Vars, m.element(over), inner)
				clause(i + 1)
				m.unsure--
			}
		case *syntax.IfClause:
			cond := m.expr(c.Cond, inner)
			value, ok := cond.truth()
			if ok && !value {
				return
			}
			if !ok {
				open = true
				m.unsure++
				defer func() { m.unsure-- }()
			}
			clause(i + 1)
		}
	}
	clause(0)
	if out.kind == kindList {
		out.list.open = open
	} else {
		out.dict.open = open
	}
	m.keep(e, out)
	return out
}
