package audit

import (
	"math/big"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// arguments are those of a call.
type arguments struct {
	list  []*val
	named map[string]*val
	names []string // of named, in their order
}

func (a *arguments) name(name string, v *val) {
	if a.named == nil {
		a.named = map[string]*val{}
	}
	if _, ok := a.named[name]; !ok {
		a.names = append(a.names, name)
	}
	a.named[name] = v
}

// get gives the i-th argument, or the one of that name, or nil.
func (a *arguments) get(i int, name string) *val {
	if v, ok := a.named[name]; ok {
		return v
	}
	if i >= 0 && i < len(a.list) {
		return a.list[i]
	}
	return nil
}

func (a *arguments) each(f func(v *val)) {
	for _, v := range a.list {
		f(v)
	}
	for _, name := range a.names {
		f(a.named[name])
	}
}

func (a *arguments) taints() taint {
	t := taint(0)
	a.each(func(v *val) { t |= v.taints() })
	return t
}

func (m *machine) call(e *syntax.CallExpr, f *frame) *val {
	fn := m.expr(e.Fn, f)
	args := &arguments{}
	for _, a := range e.Args {
		switch a := a.(type) {
		case *syntax.BinaryExpr:
			if id, ok := a.X.(*syntax.Ident); ok && a.Op == syntax.EQ {
				args.name(id.Name, m.expr(a.Y, f))
				continue
			}
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				v := m.expr(a.X, f)
				if v.kind == kindList && len(v.list.elems) <= 256 {
					args.list = append(args.list, v.list.elems...)
				}
				if v.kind == kindDict {
					for i, k := range v.dict.keys {
						args.name(k.s, v.dict.vals[i])
					}
				}
				continue
			}
		}
		args.list = append(args.list, m.expr(a, f))
	}
	if fn.kind == kindFunc {
		return m.apply(fn.fn, args.list, args.named)
	}
	var out *val
	switch {
	case fn.kind == kindBuiltin && fn.recv == nil:
		out = m.builtin(e, fn.s, args)
	case fn.kind == kindBuiltin && fn.recv.kind == kindModule:
		out = m.module(e, fn.recv.s+"."+fn.s, args)
	case fn.kind == kindBuiltin:
		out = m.method(e, fn.recv, fn.s, args)
	}
	if out == nil {
		m.callbacks(args)
		out = unknown(args.taints() | fn.taints())
	}
	return out
}

// callbacks runs functions that are handed to something which is not followed.
func (m *machine) callbacks(args *arguments) {
	m.unsure++
	defer func() { m.unsure-- }()
	args.each(func(v *val) {
		if v.kind == kindFunc && !v.fn.called {
			m.apply(v.fn, nil, nil)
		}
	})
}

// attribute gives a member of a value.
func (m *machine) attribute(x *val, name string) *val {
	switch x.kind {
	case kindTask:
		return &val{taint: taintTask, col: fieldColumn(name)}
	case kindModule:
		if x.s == "env" && (name == "tools" || name == "left") || x.s == "re" && len(name) == 1 {
			return unknown(0)
		}
		return &val{kind: kindBuiltin, s: name, recv: x}
	case kindUnknown:
		switch name {
		case "tokens", "finish_reason", "tool_calls", "left", "done", "model_calls":
			return unknown(x.taint &^ taintReply)
		}
		return &val{kind: kindBuiltin, s: name, recv: x, taint: x.taint}
	}
	return &val{kind: kindBuiltin, s: name, recv: x}
}

// builtin runs one of Starlark's functions; nil says that it is not followed.
func (m *machine) builtin(n syntax.Node, name string, args *arguments) *val {
	x := args.get(0, "")
	if x == nil {
		switch name {
		case "list", "tuple", "set":
			return listOf()
		case "dict":
			return m.dictOf(n, args)
		case "str":
			return str("")
		}
		return nil
	}

	switch name {
	case "str":
		if x.kind == kindUnknown {
			return &val{taint: x.taint, opaque: x.opaque, col: textColumn(x.col)}
		}
		return m.text(n, x.text(0), false, x)
	case "repr":
		return m.text(n, x.quoted(0), false, x)
	case "int":
		return m.toInt(n, x, args.get(1, "base"))
	case "len":
		return m.length(x)
	case "chr":
		if i, ok := x.smallInt(); ok && i >= 0 && i <= 0x10FFFF {
			return m.text(n, string(rune(i)), true, x)
		}
		return unknown(x.taints())
	case "ord":
		if x.isString() {
			for _, r := range x.s {
				return smallInt(int(r))
			}
		}
		return &val{taint: x.taints(), opaque: true}
	case "hash":
		if x.isString() {
			return integer(big.NewInt(javaHash(x.s)))
		}
		return &val{taint: x.taints(), opaque: true, col: hashColumn(x.col)}
	case "range":
		return m.rangeOf(args)
	case "list", "tuple", "set", "reversed", "sorted":
		return m.listFrom(n, name, x, args)
	case "dict":
		return m.dictOf(n, args)
	case "zip":
		return m.zip(n, args)
	case "enumerate":
		if x.kind != kindList {
			return &val{taint: x.taints()}
		}
		start := 0
		if s := args.get(1, ""); s != nil {
			start, _ = s.smallInt()
		}
		out := &val{kind: kindList, list: &sequence{open: x.list.open}}
		if !m.room(2 * len(x.list.elems)) {
			return unknown(x.taints())
		}
		for i, e := range x.list.elems {
			out.list.elems = append(out.list.elems, listOf(smallInt(start+i), e))
		}
		return out
	case "min", "max":
		list := args.list
		if len(list) == 1 && x.kind == kindList {
			list = x.list.elems
		}
		if args.named == nil && len(list) > 0 && !slices.ContainsFunc(list, func(v *val) bool { return !v.known() || v.guess }) {
			return slices.MaxFunc(list, func(a, b *val) int {
				if less, _ := lessThan(a, b); less == (name == "max") {
					return -1
				}
				return 1
			})
		}
		out := unknown(args.taints())
		args.each(func(v *val) { out.opaque, out.length = out.opaque || v.opaque, out.length || v.length })
		return out
	case "abs":
		if x.kind == kindInt {
			return integer(new(big.Int).Abs(x.n))
		}
		return &val{taint: x.taints(), opaque: x.opaque, length: x.length}
	case "float", "bool", "type", "hasattr", "dir":
		if value, ok := x.truth(); ok && name == "bool" {
			return boolean(value)
		}
		if name == "type" || name == "hasattr" || name == "dir" {
			return unknown(0)
		}
		if x.isNumber() {
			return &val{kind: kindFloat, f: x.float()}
		}
		return &val{taint: x.taints(), opaque: x.opaque}
	case "any", "all":
		if x.kind == kindList && x.known() {
			found := slices.ContainsFunc(x.list.elems, func(v *val) bool { b, _ := v.truth(); return b == (name == "any") })
			return boolean(found == (name == "any"))
		}
		return unknown(x.taints())
	case "getattr":
		if s := args.get(1, ""); s != nil && s.isString() {
			return m.attribute(x, s.s)
		}
		return unknown(args.taints())
	case "print", "fail":
		return none()
	}
	return nil
}

func (m *machine) toInt(n syntax.Node, x, base *val) *val {
	radix := 10
	if base != nil {
		b, ok := base.smallInt()
		if !ok {
			return unknown(x.taints())
		}
		radix = b
	}
	switch {
	case x.isString() && (radix == 0 || radix >= 2 && radix <= 36) && len(x.s) <= maxIntBits/4:
		s := strings.TrimSpace(x.s)
		if radix == 16 {
			s = strings.TrimPrefix(strings.ToLower(s), "0x")
		}
		if i, ok := new(big.Int).SetString(s, radix); ok {
			return m.integer(n, i)
		}
		return unknown(0)
	case x.kind == kindInt:
		return x
	case x.kind == kindFloat:
		i, _ := big.NewFloat(x.f).Int(nil)
		if i == nil {
			return unknown(0)
		}
		return m.integer(n, i)
	}
	return &val{taint: x.taints(), opaque: x.opaque, length: x.length, col: intColumn(x.col)}
}

func (m *machine) length(x *val) *val {
	switch x.kind {
	case kindString:
		if !x.holes() {
			return smallInt(len(x.s))
		}
	case kindList:
		if !x.list.open {
			return smallInt(len(x.list.elems))
		}
	case kindDict:
		if !x.dict.open {
			return smallInt(len(x.dict.keys))
		}
	}
	return &val{taint: x.taints(), length: true, col: lenColumn(x.col)}
}

func (m *machine) rangeOf(args *arguments) *val {
	var b [3]int
	b[2] = 1
	for i, v := range args.list {
		n, ok := v.smallInt()
		if !ok || i > 2 {
			return &val{kind: kindList, list: &sequence{open: true}, taint: args.taints()}
		}
		b[i] = n
	}
	if len(args.list) == 1 {
		b[0], b[1] = 0, b[0]
	}
	out := &val{kind: kindList, list: &sequence{}}
	if b[2] == 0 {
		return unknown(0)
	}
	for i := b[0]; b[2] > 0 && i < b[1] || b[2] < 0 && i > b[1]; i += b[2] {
		if len(out.list.elems) == maxRounds || !m.room(1) {
			out.list.open = true
			break
		}
		out.list.elems = append(out.list.elems, smallInt(i))
	}
	return out
}

func (m *machine) listFrom(n syntax.Node, name string, x *val, args *arguments) *val {
	elems, sure := m.iterate(x)
	if x.kind != kindList && x.kind != kindDict {
		m.callbacks(args)
		return m.derived(x, x.col)
	}
	if !m.room(len(elems)) {
		return unknown(x.taints())
	}
	switch name {
	case "reversed":
		slices.Reverse(elems)
	case "sorted":
		if args.get(1, "key") != nil {
			return m.sortBy(n, x, elems, sure, args)
		}
		slices.SortStableFunc(elems, compareVals)
		if r := args.get(2, "reverse"); r != nil {
			if value, _ := r.truth(); value {
				slices.Reverse(elems)
			}
		}
	case "set":
		d := newDict()
		for _, e := range elems {
			d.set(e, e)
		}
		elems = d.keys
	}
	return m.keep(n, &val{kind: kindList, list: &sequence{elems: elems, open: !sure}})
}

func compareVals(a, b *val) int {
	if less, ok := lessThan(a, b); ok && less {
		return -1
	}
	if less, ok := lessThan(b, a); ok && less {
		return 1
	}
	return 0
}

// sortBy sorts by what a function of the program gives.
func (m *machine) sortBy(n syntax.Node, x *val, elems []*val, sure bool, args *arguments) *val {
	fn := args.get(1, "key")
	if fn.kind != kindFunc {
		return m.derived(x, nil)
	}
	type keyed struct{ key, v *val }
	list := make([]keyed, len(elems))
	for i, e := range elems {
		list[i] = keyed{m.apply(fn.fn, []*val{e}, nil), e}
	}
	slices.SortStableFunc(list, func(a, b keyed) int { return compareVals(a.key, b.key) })
	if r := args.get(2, "reverse"); r != nil {
		if value, _ := r.truth(); value {
			slices.Reverse(list)
		}
	}
	for i := range list {
		elems[i] = list[i].v
	}
	return m.keep(n, &val{kind: kindList, list: &sequence{elems: elems, open: !sure}})
}

func (m *machine) dictOf(n syntax.Node, args *arguments) *val {
	out := &val{kind: kindDict, dict: newDict()}
	if x := args.get(0, ""); x != nil {
		switch x.kind {
		case kindDict:
			if !m.room(len(x.dict.keys)) {
				return unknown(0)
			}
			for i, k := range x.dict.keys {
				out.dict.set(k, x.dict.vals[i])
			}
			out.dict.open = x.dict.open
		case kindList:
			for _, e := range x.list.elems {
				if e.kind == kindList && len(e.list.elems) == 2 && m.room(1) {
					out.dict.set(e.list.elems[0], e.list.elems[1])
				}
			}
			out.dict.open = x.list.open
		default:
			return m.derived(x, nil)
		}
	}
	for _, name := range args.names {
		out.dict.set(str(name), args.named[name])
	}
	return m.keep(n, out)
}

func (m *machine) zip(n syntax.Node, args *arguments) *val {
	shortest, open := maxElements, false
	for _, a := range args.list {
		if a.kind != kindList {
			return unknown(args.taints())
		}
		shortest = min(shortest, len(a.list.elems))
		open = open || a.list.open
	}
	out := &val{kind: kindList, list: &sequence{open: open}}
	if !m.room(shortest * len(args.list)) {
		return unknown(args.taints())
	}
	for i := range shortest {
		r := listOf()
		for _, a := range args.list {
			r.list.elems = append(r.list.elems, a.list.elems[i])
		}
		out.list.elems = append(out.list.elems, r)
	}
	return m.keep(n, out)
}

func (m *machine) extend(x, more *val) {
	if !m.room(len(more.list.elems)) || len(x.list.elems)+len(more.list.elems) > maxElements {
		x.list.open = true
		return
	}
	x.list.elems = append(x.list.elems, more.list.elems...)
	x.list.open = x.list.open || more.list.open || m.unsure > 0
}
