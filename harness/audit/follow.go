package audit

import (
	"fmt"
	"maps"

	"go.starlark.net/syntax"
)

// The budget of following one program. An ordinary harness uses a few thousand steps.
const (
	maxSteps    = 150_000  // nodes that are evaluated
	maxString   = 64 << 10 // bytes of a string
	maxMade     = 1 << 20  // elements, and sixteen bytes each, that are made in all
	maxDepth    = 10       // calls within calls
	maxNesting  = 200      // nodes within nodes
	maxRounds   = 4096     // rounds of one loop
	maxUnsure   = 8        // rounds of a loop that may have ended already and whose condition is always true
	maxIntBits  = 1 << 14  // of an integer
	maxElements = 1 << 14  // of a list
)

// machine follows a program: it evaluates what is constant, and goes both ways where it is not known which.
type machine struct {
	out     *program
	globals *frame
	steps   int
	made    int
	calls   int
	nesting int
	unsure  int // inside branches or loops of which it is not known whether they run
	task    *val
	queue   []*function
	memory  map[string]*val // results of calls
	within  int             // rounds of unknown loops within each other
}

// frame holds the variables of a call.
type frame struct {
	vars    map[string]*val
	outer   *frame
	returns *val
}

// signal is how a statement ended.
type signal uint8

const (
	goesOn  signal = iota
	breaks         // left the loop
	repeats        // next round
	returns        // left the function
)

// readStar parses and follows a Starlark program.
func readStar(p *program, name string, src []byte) error {
	options := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
	file, err := options.Parse(name, src, syntax.RetainComments)
	if err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	collectLiterals(p, file)
	m := &machine{out: p, globals: &frame{vars: map[string]*val{}}, task: &val{kind: kindTask}, memory: map[string]*val{}}
	m.block(file.Stmts, m.globals)
	if run, ok := m.globals.vars["run"]; ok && run.kind == kindFunc {
		m.fresh()
		m.apply(run.fn, []*val{m.task, {kind: kindModule, s: "model", taint: taintReply}, {kind: kindModule, s: "env", taint: taintReply}}, nil)
	}
	for i := 0; i < len(m.queue) && i < 256; i++ { // what is called from outside, or never
		if f := m.queue[i]; !f.called {
			m.fresh()
			m.apply(f, nil, nil)
		}
	}
	return nil
}

// fresh gives the next function a budget of its own, so that one that uses its up hides no other. All share what may be made.
func (m *machine) fresh() {
	m.steps = max(0, m.steps-maxSteps/2)
	m.calls, m.nesting, m.unsure, m.within = 0, 0, 0, 0
}

// spend uses up a step; false means that there is none left.
func (m *machine) spend(n syntax.Node) bool {
	m.steps++
	if m.steps <= maxSteps && m.made <= maxMade {
		return true
	}
	if m.out.spent.line == 0 {
		m.out.spent = at(syntax.Start(n))
	}
	return false
}

// room charges for a value of a size; false means that it is too large to follow.
func (m *machine) room(size int) bool {
	m.made += size/16 + 1
	return size <= maxString && m.made <= maxMade
}

func at(p syntax.Position) place { return place{int(p.Line), int(p.Col)} }

// block runs statements until one leaves it.
func (m *machine) block(stmts []syntax.Stmt, f *frame) signal {
	for _, s := range stmts {
		if sig := m.stmt(s, f); sig != goesOn {
			return sig
		}
	}
	return goesOn
}

func (m *machine) stmt(s syntax.Stmt, f *frame) signal {
	if !m.spend(s) || m.nesting > maxNesting {
		return goesOn
	}
	m.nesting++
	defer func() { m.nesting-- }()
	switch s := s.(type) {
	case *syntax.ExprStmt:
		m.expr(s.X, f)
	case *syntax.AssignStmt:
		m.assignStmt(s, f)
	case *syntax.DefStmt:
		fn := &function{name: s.Name.Name, params: m.defaults(s.Params, f), body: s.Body, outer: f}
		m.queue = append(m.queue, fn)
		f.vars[s.Name.Name] = &val{kind: kindFunc, fn: fn}
	case *syntax.IfStmt:
		return m.ifStmt(s, f)
	case *syntax.ForStmt:
		return m.forStmt(s, f)
	case *syntax.WhileStmt:
		return m.whileStmt(s, f)
	case *syntax.ReturnStmt:
		v := none()
		if s.Result != nil {
			v = m.expr(s.Result, f)
		}
		if f.returns == nil {
			f.returns = v
		} else {
			f.returns = join(f.returns, v, 0)
		}
		return returns
	case *syntax.BranchStmt:
		switch s.Token {
		case syntax.BREAK:
			return breaks
		case syntax.CONTINUE:
			return repeats
		}
	}
	return goesOn
}

// defaults evaluates nothing; it only keeps parameters. Defaults are evaluated where the function is applied.
func (m *machine) defaults(params []syntax.Expr, f *frame) []syntax.Expr {
	for _, p := range params {
		if b, ok := p.(*syntax.BinaryExpr); ok {
			m.expr(b.Y, f)
		}
	}
	return params
}

func (m *machine) ifStmt(s *syntax.IfStmt, f *frame) signal {
	before := len(m.out.tests)
	cond := m.expr(s.Cond, f)
	if value, ok := cond.truth(); ok {
		if value {
			return m.block(s.True, f)
		}
		return m.block(s.False, f)
	}
	m.branch(cond, before, s.True)
	m.unsure++
	defer func() { m.unsure-- }()
	vars := maps.Clone(f.vars)
	m.charge(len(vars))
	yes := m.block(s.True, f)
	after := f.vars
	f.vars = vars
	no := m.block(s.False, f)
	switch {
	case yes != goesOn && no != goesOn:
		m.merge(f, after, cond.taints())
		return max(yes, no)
	case yes != goesOn: // goes on as if it had not been taken, but remembers what it left behind
		m.mergeNew(f, after)
		return goesOn
	case no != goesOn:
		f.vars, after = after, f.vars
		m.mergeNew(f, after)
		return goesOn
	}
	m.merge(f, after, cond.taints())
	return goesOn
}

// branch keeps the constants of a body that runs only for some texts, with the texts of its condition, which are the tests since a number.
func (m *machine) branch(cond *val, since int, body []syntax.Stmt) {
	if cond.taints()&taintTask == 0 {
		return
	}
	var out []string
	for _, s := range body {
		out = constantsOf(out, s)
	}
	m.out.addBranch(at(syntax.Start(body[0])), out, since)
}

// constantsOf appends the texts and numbers that stand in a node, those of inner branches apart.
func constantsOf(out []string, n syntax.Node) []string {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.IfStmt:
			return false
		case *syntax.Literal:
			if len(out) < 16 {
				out = append(out, literalValue(n).text(0))
			}
		}
		return true
	})
	return out
}

func (m *machine) charge(n int) { m.made += n / 4 }

// merge joins another path's variables into a frame's.
func (m *machine) merge(f *frame, other map[string]*val, t taint) {
	for name, v := range other {
		if mine, ok := f.vars[name]; !ok {
			f.vars[name] = v
		} else if mine != v {
			f.vars[name] = join(mine, v, t)
		}
	}
}

// mergeNew takes from a path that left only what the other does not have, or has empty.
func (m *machine) mergeNew(f *frame, other map[string]*val) {
	for name, v := range other {
		mine, ok := f.vars[name]
		if !ok {
			f.vars[name] = v
			continue
		}
		if value, ok := mine.truth(); mine != v && ok && !value && mine.kind != kindBool && mine.kind != kindInt {
			f.vars[name] = join(mine, v, 0)
		}
	}
}

func (m *machine) forStmt(s *syntax.ForStmt, f *frame) signal {
	over := m.expr(s.X, f)
	elems, sure := m.iterate(over)
	for i, e := range elems {
		if i == maxRounds || !m.spend(s) {
			break
		}
		m.assign(s.Vars, e, f)
		switch m.block(s.Body, f) {
		case breaks:
			return goesOn
		case returns:
			return returns
		}
	}
	if !sure {
		m.once(func() {
			m.assign(s.Vars, m.element(over), f)
			m.block(s.Body, f)
		}, f, over.taints())
	}
	return goesOn
}

// once runs what may run any number of times: the variables that it changes are not known any more, and depend on what it runs over.
func (m *machine) once(run func(), f *frame, t taint) {
	m.unsure++
	defer func() { m.unsure-- }()
	before := maps.Clone(f.vars)
	m.charge(len(before))
	m.within++
	run()
	if m.within == 1 { // once more, so that what one round leaves is seen by the next
		run()
	}
	m.within--
	for name, was := range before {
		if now := f.vars[name]; now != was {
			if now.isNumber() || was.isNumber() {
				f.vars[name] = &val{taint: was.taint | now.taint | t, opaque: now.opaque, length: t != 0 && !now.opaque}
			} else {
				f.vars[name] = join(was, now, t)
			}
		}
	}
}

func (m *machine) whileStmt(s *syntax.WhileStmt, f *frame) signal {
	for round := range maxRounds {
		if !m.spend(s) {
			return goesOn
		}
		cond := m.expr(s.Cond, f)
		value, ok := cond.truth()
		if !ok {
			m.once(func() { m.block(s.Body, f) }, f, cond.taints())
			return goesOn
		}
		if !value {
			return goesOn
		}
		if _, always := s.Cond.(*syntax.Ident); always && round >= maxUnsure*32 {
			return goesOn
		}
		unsureBefore := m.unsure
		sig := m.block(s.Body, f)
		m.unsure = unsureBefore
		if sig == breaks {
			return goesOn
		}
		if sig == returns {
			return returns
		}
	}
	return goesOn
}

// iterate gives the elements that a loop runs over, and whether they are all.
func (m *machine) iterate(v *val) ([]*val, bool) {
	switch v.kind {
	case kindList:
		return append([]*val(nil), v.list.elems...), !v.list.open
	case kindDict:
		return append([]*val(nil), v.dict.keys...), !v.dict.open
	}
	return nil, false
}

// element stands for any element of a value that is not known.
func (m *machine) element(v *val) *val {
	return &val{taint: v.taints(), opaque: v.opaque}
}

func (m *machine) assignStmt(s *syntax.AssignStmt, f *frame) {
	v := m.expr(s.RHS, f)
	if s.Op != syntax.EQ {
		old := m.expr(s.LHS, f)
		op := s.Op - syntax.PLUS_EQ + syntax.PLUS
		if old.kind == kindList && op == syntax.PLUS { // in place
			if v.kind == kindList {
				m.extend(old, v)
				return
			}
		}
		v = m.binary(s, op, old, v)
	}
	m.assign(s.LHS, v, f)
}

// assign binds names, and sets elements.
func (m *machine) assign(lhs syntax.Expr, v *val, f *frame) {
	switch x := lhs.(type) {
	case *syntax.Ident:
		f.vars[x.Name] = v
	case *syntax.ParenExpr:
		m.assign(x.X, v, f)
	case *syntax.TupleExpr:
		m.assignEach(x.List, v, f)
	case *syntax.ListExpr:
		m.assignEach(x.List, v, f)
	case *syntax.IndexExpr:
		into, at := m.expr(x.X, f), m.expr(x.Y, f)
		switch into.kind {
		case kindDict:
			if at.outside() {
				into.dict.open = true
			}
			if len(into.dict.keys) < maxElements && m.room(1) {
				into.dict.set(at, v)
			}
		case kindList:
			if i, ok := at.smallInt(); ok && i >= 0 && i < len(into.list.elems) {
				into.list.elems[i] = v
			} else if ok && i < 0 && -i <= len(into.list.elems) {
				into.list.elems[len(into.list.elems)+i] = v
			} else {
				into.list.open = true
			}
		}
	}
}

func (m *machine) assignEach(names []syntax.Expr, v *val, f *frame) {
	for i, n := range names {
		switch {
		case v.kind == kindList && i < len(v.list.elems):
			m.assign(n, v.list.elems[i], f)
		case v.col != nil:
			e := m.element(v)
			e.col = indexColumn(v.col, i)
			m.assign(n, e, f)
		default:
			m.assign(n, m.element(v), f)
		}
	}
}
