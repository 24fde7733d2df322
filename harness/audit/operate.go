package audit

import (
	"math/big"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/syntax"
)

// text makes a string that a program computes, and keeps it as an atom. spells says that the operation puts a text together from
// parts, or changes its characters.
func (m *machine) text(n syntax.Node, s string, spells bool, from ...*val) *val {
	t := taint(0)
	guess, spelled := false, spells
	for _, v := range from {
		t |= v.taints()
		guess = guess || v.guess
		spelled = spelled || v.spelled
	}
	if !m.room(len(s)) {
		return unknown(t)
	}
	m.out.addText(atom{text: s, at: at(syntax.Start(n)), from: computed, spelled: spelled})
	return &val{kind: kindString, s: s, taint: t, guess: guess, spelled: spelled}
}

// integer makes an integer that a program computes.
func (m *machine) integer(n syntax.Node, i *big.Int) *val {
	if i.BitLen() > maxIntBits {
		return unknown(0)
	}
	m.made += i.BitLen() / 256
	m.out.addNumber(number{n: i, at: at(syntax.Start(n)), from: computed})
	return integer(i)
}

// derived is a value made of another one that is not known.
func (m *machine) derived(x *val, col *column) *val {
	return &val{taint: x.taints(), opaque: x.opaque, col: col}
}

func (m *machine) binary(n syntax.Node, op syntax.Token, x, y *val) *val {
	switch op {
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE, syntax.IN, syntax.NOT_IN:
		return m.compare(n, op, x, y)
	}
	t := x.taints() | y.taints()
	switch {
	case x.kind == kindString && y.kind == kindString && op == syntax.PLUS:
		return m.text(n, x.s+y.s, crosses(x.s, y.s), x, y)
	case x.kind == kindString && op == syntax.PERCENT:
		parts := percent(x.s, y)
		return m.text(n, strings.Join(parts, ""), crosses(parts...), x, y)
	case (x.kind == kindString || y.kind == kindString) && op == syntax.PLUS && (x.kind == kindUnknown || y.kind == kindUnknown):
		return m.text(n, x.text(0)+y.text(0), false, x, y)
	case op == syntax.STAR && (x.kind == kindString || y.kind == kindString || x.kind == kindList || y.kind == kindList):
		return m.repeat(n, x, y)
	case x.kind == kindList && y.kind == kindList && op == syntax.PLUS:
		out := &val{kind: kindList, list: &sequence{open: x.list.open || y.list.open}}
		if !m.room(len(x.list.elems) + len(y.list.elems)) {
			return unknown(t)
		}
		out.list.elems = append(append(out.list.elems, x.list.elems...), y.list.elems...)
		return m.keep(n, out)
	case x.kind == kindList && op == syntax.PLUS || y.kind == kindList && op == syntax.PLUS: // with something unknown
		out := &val{kind: kindList, list: &sequence{open: true}, taint: t}
		for _, v := range []*val{x, y} {
			if v.kind == kindList {
				out.list.elems = append(out.list.elems, v.list.elems...)
			}
		}
		return out
	case x.kind == kindDict && y.kind == kindDict && op == syntax.PIPE:
		out := &val{kind: kindDict, dict: newDict()}
		for _, d := range []*dict{x.dict, y.dict} {
			if !m.room(len(d.keys)) {
				return unknown(t)
			}
			for i, k := range d.keys {
				out.dict.set(k, d.vals[i])
			}
			out.dict.open = out.dict.open || d.open
		}
		return m.keep(n, out)
	case x.kind == kindInt && y.kind == kindInt:
		return m.intOp(n, op, x.n, y.n)
	case x.isNumber() && y.isNumber():
		return floatOp(op, x.float(), y.float())
	}
	out := &val{taint: t, opaque: x.opaque || y.opaque, length: x.length || y.length}
	if x.col != nil && y.kind == kindInt {
		out.col = arithColumn(x.col, op, y.n, false)
	} else if y.col != nil && x.kind == kindInt {
		out.col = arithColumn(y.col, op, x.n, true)
	}
	return out
}

func (v *val) float() float64 {
	if v.kind == kindInt {
		f, _ := new(big.Float).SetInt(v.n).Float64()
		return f
	}
	return v.f
}

func (m *machine) repeat(n syntax.Node, x, y *val) *val {
	if x.kind == kindInt || x.kind == kindUnknown {
		x, y = y, x
	}
	times, ok := y.smallInt()
	if !ok {
		return unknown(x.taints() | y.taints())
	}
	times = max(0, times)
	switch {
	case x.kind == kindString && (times == 0 || len(x.s) <= maxString/times):
		return m.text(n, strings.Repeat(x.s, times), true, x)
	case x.kind == kindList && (times == 0 || len(x.list.elems) <= maxElements/times):
		if !m.room(len(x.list.elems) * times) {
			break
		}
		return &val{kind: kindList, list: &sequence{elems: slices.Repeat(x.list.elems, times), open: x.list.open}}
	}
	return unknown(x.taints())
}

func (m *machine) intOp(n syntax.Node, op syntax.Token, a, b *big.Int) *val {
	out := new(big.Int)
	switch op {
	case syntax.PLUS:
		out.Add(a, b)
	case syntax.MINUS:
		out.Sub(a, b)
	case syntax.STAR:
		if a.BitLen()+b.BitLen() > maxIntBits {
			return unknown(0)
		}
		out.Mul(a, b)
	case syntax.SLASHSLASH, syntax.PERCENT:
		if b.Sign() == 0 {
			return unknown(0)
		}
		q, r := new(big.Int).QuoRem(a, b, new(big.Int))
		if r.Sign() != 0 && r.Sign() != b.Sign() {
			q.Sub(q, big.NewInt(1))
			r.Add(r, b)
		}
		if out = q; op == syntax.PERCENT {
			out = r
		}
	case syntax.SLASH:
		return floatOp(op, integer(a).float(), integer(b).float())
	case syntax.AMP:
		out.And(a, b)
	case syntax.PIPE:
		out.Or(a, b)
	case syntax.CIRCUMFLEX:
		out.Xor(a, b)
	case syntax.LTLT, syntax.GTGT:
		if b.Sign() < 0 || !b.IsInt64() || b.Int64() > maxIntBits {
			return unknown(0)
		}
		if op == syntax.LTLT {
			out.Lsh(a, uint(b.Int64()))
		} else {
			out.Rsh(a, uint(b.Int64()))
		}
	default:
		return unknown(0)
	}
	return m.integer(n, out)
}

func floatOp(op syntax.Token, a, b float64) *val {
	var out float64
	switch op {
	case syntax.PLUS:
		out = a + b
	case syntax.MINUS:
		out = a - b
	case syntax.STAR:
		out = a * b
	case syntax.SLASH:
		if b == 0 {
			return unknown(0)
		}
		out = a / b
	default:
		return unknown(0)
	}
	return &val{kind: kindFloat, f: out}
}

// compare decides a comparison of constants, and keeps one with what is tainted as a test or lookup.
func (m *machine) compare(n syntax.Node, op syntax.Token, x, y *val) *val {
	if op == syntax.IN || op == syntax.NOT_IN {
		return m.contains(n, op == syntax.NOT_IN, x, y)
	}
	if x.known() && y.known() && !x.guess && !y.guess {
		equal := x.kind == y.kind && x.key() == y.key()
		if x.isNumber() && y.isNumber() {
			equal = x.float() == y.float()
		}
		switch op {
		case syntax.EQL:
			return boolean(equal)
		case syntax.NEQ:
			return boolean(!equal)
		}
		less, ok := lessThan(x, y)
		if !ok {
			return unknown(0)
		}
		switch op {
		case syntax.LT:
			return boolean(less)
		case syntax.LE:
			return boolean(less || equal)
		case syntax.GT:
			return boolean(!less && !equal)
		default:
			return boolean(!less)
		}
	}
	kind := testEqual
	if op != syntax.EQL && op != syntax.NEQ {
		kind = testOrder
	}
	m.test(n, kind, x, y)
	return unknown(x.taints() | y.taints())
}

// test keeps a comparison of which one side is constant and the other comes from outside.
func (m *machine) test(n syntax.Node, kind testKind, x, y *val) {
	if x.known() && (!y.known() || x.taints() == 0) {
		x, y = y, x
	}
	if x.taints() == 0 || !y.known() || y.kind == kindNone || y.kind == kindBool {
		return
	}
	if y.kind == kindList && x.kind == kindList && len(x.list.elems) == len(y.list.elems) {
		for i, e := range y.list.elems {
			m.test(n, kind, x.list.elems[i], e)
		}
		return
	}
	m.out.addTest(test{at: at(syntax.Start(n)), kind: kind, with: y, of: x})
}

func (m *machine) contains(n syntax.Node, not bool, x, y *val) *val {
	out := unknown(x.taints() | y.taints())
	decide := func(b bool) *val {
		if x.guess || y.guess {
			return out
		}
		return boolean(b != not)
	}
	switch y.kind {
	case kindString:
		switch {
		case x.isString() && y.isString():
			return decide(strings.Contains(y.s, x.s))
		case y.isString() && x.taints() != 0:
			m.out.addLookup(lookup{at: at(syntax.Start(n)), of: x, text: y.s})
		case x.isString():
			m.test(n, testContains, x, y)
		}
	case kindList, kindDict:
		keys := []*val(nil)
		open := false
		if y.kind == kindList {
			keys, open = y.list.elems, y.list.open
		} else {
			keys, open = y.dict.keys, y.dict.open
		}
		if x.known() && y.known() {
			key := x.key()
			m.made += len(keys)
			return decide(slices.ContainsFunc(keys, func(k *val) bool { return k.key() == key }))
		}
		if x.known() && !open && !slices.ContainsFunc(keys, func(k *val) bool { return !k.known() }) {
			break
		}
		switch {
		case x.taints() != 0 && !x.known():
			m.out.addLookup(lookup{at: at(syntax.Start(n)), of: x, keys: keys})
		case x.known():
			for _, k := range keys[:min(len(keys), 64)] {
				m.test(n, testEqual, k, x)
			}
			if len(keys) == 0 || open {
				m.test(n, testContains, x, m.derived(y, nil))
			}
		}
	case kindUnknown:
		if x.isString() || x.kind == kindInt {
			m.test(n, testContains, x, y)
		}
	}
	return out
}

func lessThan(x, y *val) (less, ok bool) {
	switch {
	case x.kind == kindInt && y.kind == kindInt:
		return x.n.Cmp(y.n) < 0, true
	case x.isNumber() && y.isNumber():
		return x.float() < y.float(), true
	case x.kind == kindString && y.kind == kindString:
		return x.s < y.s, true
	case x.kind == kindList && y.kind == kindList:
		for i := range min(len(x.list.elems), len(y.list.elems)) {
			a, b := x.list.elems[i], y.list.elems[i]
			if a.key() != b.key() {
				return lessThan(a, b)
			}
		}
		return len(x.list.elems) < len(y.list.elems), true
	}
	return false, false
}

// index gives an element, or keeps a lookup by what is tainted.
func (m *machine) index(n syntax.Node, x, y *val) *val {
	t := x.taints() | y.taints()
	switch x.kind {
	case kindString:
		if i, ok := y.smallInt(); ok && x.isString() {
			if i < 0 {
				i += len(x.s)
			}
			if i >= 0 && i < len(x.s) {
				v := str(x.s[i : i+1])
				v.spelled, v.taint, v.guess = true, x.taint, x.guess
				return v
			}
			return unknown(t)
		}
		if x.isString() && y.taints() != 0 {
			m.out.addLookup(lookup{at: at(syntax.Start(n)), of: y, text: x.s})
		}
	case kindList:
		if i, ok := y.smallInt(); ok && !y.guess {
			if i < 0 && !x.list.open {
				i += len(x.list.elems)
			}
			if i >= 0 && i < len(x.list.elems) {
				return x.list.elems[i]
			}
			return unknown(t)
		}
		if y.taints() != 0 {
			m.out.addLookup(lookup{at: at(syntax.Start(n)), of: y, values: x.list.elems})
		}
		return m.anyOf(x.list.elems, t)
	case kindDict:
		if y.known() && !y.guess {
			if v, ok := x.dict.get(y); ok {
				return v
			}
			return unknown(t)
		}
		m.lookupDict(n, x, y)
		return m.anyOf(x.dict.vals, t)
	case kindUnknown:
		if y.known() {
			if i, ok := y.smallInt(); ok && x.col != nil {
				return m.derived(x, indexColumn(x.col, i))
			}
			return m.derived(x, nil)
		}
	}
	return unknown(t)
}

func (m *machine) lookupDict(n syntax.Node, d, key *val) {
	if key.taints() != 0 {
		m.out.addLookup(lookup{at: at(syntax.Start(n)), of: key, keys: d.dict.keys, values: d.dict.vals})
	}
}

// anyOf stands for one of several values: the first keeps its shape, so that lists of lists can be followed on.
func (m *machine) anyOf(list []*val, t taint) *val {
	if len(list) > 0 && (list[0].kind == kindList || list[0].kind == kindDict || list[0].kind == kindFunc) {
		out := *list[0]
		out.guess, out.taint = true, out.taint|t
		return &out
	}
	return unknown(t)
}

// crosses says whether a word or number goes over the seam of two parts: it is put together from pieces.
func crosses(parts ...string) bool {
	last := rune(0)
	for _, p := range parts {
		if p == "" {
			continue
		}
		first, _ := utf8.DecodeRuneInString(p)
		if isDigit(last) && isDigit(first) || unicode.IsLetter(last) && unicode.IsLetter(first) {
			return true
		}
		last, _ = utf8.DecodeLastRuneInString(p)
	}
	return false
}
