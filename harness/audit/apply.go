package audit

import (
	"fmt"
	"strings"

	"go.starlark.net/syntax"
)

// heavyCall is from how many steps on a call is remembered: a helper that walks a board is called many times with values of which nothing
// is known.
const heavyCall = 400

// apply runs a function of the program, or remembers what a like call gave. Parameters that get no argument are what comes from outside.
func (m *machine) apply(fn *function, args []*val, named map[string]*val) *val {
	fn.called = true
	key, keyed := callKey(fn, args, named)
	if out, ok := m.memory[key]; ok && keyed {
		return out
	}
	before := m.steps
	out := m.run(fn, args, named)
	if keyed && m.steps-before > heavyCall && len(m.memory) < 1000 {
		m.memory[key] = out
	}
	return out
}

// callKey identifies a call by its function and what is known of its arguments; calls with names are not remembered.
func callKey(fn *function, args []*val, named map[string]*val) (string, bool) {
	if len(named) > 0 {
		return "", false
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%p", fn)
	for _, a := range args {
		switch {
		case a.kind == kindUnknown && a.col != nil:
			b.WriteString("\x00c" + a.col.key)
		case a.kind == kindUnknown:
			fmt.Fprintf(&b, "\x00u%d%t%t", a.taint, a.opaque, a.length)
		case a.kind == kindList || a.kind == kindDict || a.kind == kindFunc || a.kind == kindBuiltin:
			fmt.Fprintf(&b, "\x00%p", a)
		default:
			b.WriteString("\x00k" + a.key())
		}
		if b.Len() > 1000 {
			return "", false
		}
	}
	return b.String(), true
}

func (m *machine) run(fn *function, args []*val, named map[string]*val) *val {
	if m.calls >= maxDepth || m.steps > maxSteps {
		t := taint(0)
		for _, a := range args {
			t |= a.taints()
		}
		return unknown(t)
	}
	m.calls++
	defer func() { m.calls-- }()
	f := &frame{vars: map[string]*val{}, outer: fn.outer}
	i := 0
	for _, p := range fn.params {
		switch p := p.(type) {
		case *syntax.Ident:
			f.vars[p.Name] = unknown(taintReply)
			if i < len(args) {
				f.vars[p.Name] = args[i]
			}
			i++
			if v, ok := named[p.Name]; ok {
				f.vars[p.Name] = v
			}
		case *syntax.BinaryExpr:
			id, ok := p.X.(*syntax.Ident)
			if !ok {
				continue
			}
			if v, ok := named[id.Name]; ok {
				f.vars[id.Name] = v
			} else if i < len(args) {
				f.vars[id.Name] = args[i]
			} else {
				f.vars[id.Name] = m.expr(p.Y, fn.outer)
			}
			i++
		case *syntax.UnaryExpr:
			id, ok := p.X.(*syntax.Ident)
			if !ok {
				continue
			}
			if p.Op == syntax.STARSTAR {
				f.vars[id.Name] = unknown(taintReply)
			} else {
				f.vars[id.Name] = listOf(args[min(i, len(args)):]...)
				i = len(args)
			}
		}
	}
	if fn.result != nil {
		return m.expr(fn.result, f)
	}
	m.block(fn.body, f)
	if f.returns == nil {
		return none()
	}
	return f.returns
}
