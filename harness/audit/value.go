package audit

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"go.starlark.net/syntax"
)

// kind is what is known of a value.
type kind uint8

const (
	kindUnknown kind = iota
	kindNone
	kindBool
	kindInt
	kindFloat
	kindString
	kindList // lists, tuples, sets, ranges
	kindDict
	kindFunc    // of the program
	kindBuiltin // a builtin, a module's function, or a method with its receiver
	kindModule
	kindTask    // run's parameter task
	kindPattern // a compiled pattern
)

// taint is where a value that is not known comes from.
type taint uint8

const (
	taintReply taint = 1 << iota // the model's or a tool's text
	taintTask                    // the task's text
)

// hole stands, in a string, for a part that is not known.
const hole = '\uFDD0'

// val is a value as far as it is known. Lists and dicts are shared, as in the program; everything else is immutable.
type val struct {
	kind    kind
	b       bool
	n       *big.Int
	f       float64
	s       string
	list    *sequence
	dict    *dict
	fn      *function
	recv    *val // of a method
	taint   taint
	opaque  bool    // made of character codes or hashes of a tainted text
	length  bool    // the length of a tainted text, or a count in it
	guess   bool    // one of several values that it may have: comparisons with it are not decided
	spelled bool    // a string put together from pieces or codes
	col     *column // how it is made of the task's text, where that is known
}

// sequence is a list; open says that it may hold more than is known.
type sequence struct {
	elems []*val
	open  bool
}

// dict keeps its entries in their order.
type dict struct {
	at   map[string]int
	keys []*val
	vals []*val
	open bool
}

// function is a def or lambda with the frame that it closes over.
type function struct {
	name   string
	params []syntax.Expr
	body   []syntax.Stmt
	result syntax.Expr // of a lambda
	outer  *frame
	called bool
}

func unknown(t taint) *val      { return &val{taint: t} }
func none() *val                { return &val{kind: kindNone} }
func boolean(b bool) *val       { return &val{kind: kindBool, b: b} }
func integer(n *big.Int) *val   { return &val{kind: kindInt, n: n} }
func smallInt(n int) *val       { return integer(big.NewInt(int64(n))) }
func str(s string) *val         { return &val{kind: kindString, s: s} }
func listOf(elems ...*val) *val { return &val{kind: kindList, list: &sequence{elems: elems}} }
func builtin(name string) *val  { return &val{kind: kindBuiltin, s: name} }
func (v *val) holes() bool      { return v.kind == kindString && strings.ContainsRune(v.s, hole) }
func (v *val) isString() bool   { return v.kind == kindString && !v.holes() }
func (v *val) outside() bool    { return v.kind == kindUnknown || v.holes() }
func (v *val) isNumber() bool   { return v.kind == kindInt || v.kind == kindFloat }
func (v *val) smallInt() (int, bool) {
	if v.kind == kindInt && v.n.IsInt64() && v.n.Int64() == int64(int(v.n.Int64())) {
		return int(v.n.Int64()), true
	}
	return 0, false
}

func newDict() *dict { return &dict{at: map[string]int{}} }

func (d *dict) set(k, v *val) {
	key := k.key()
	if i, ok := d.at[key]; ok {
		d.vals[i] = v
		return
	}
	d.at[key] = len(d.keys)
	d.keys = append(d.keys, k)
	d.vals = append(d.vals, v)
}

func (d *dict) get(k *val) (*val, bool) {
	if i, ok := d.at[k.key()]; ok {
		return d.vals[i], true
	}
	return nil, false
}

func (d *dict) remove(k *val) {
	i, ok := d.at[k.key()]
	if !ok {
		return
	}
	d.keys = append(d.keys[:i:i], d.keys[i+1:]...)
	d.vals = append(d.vals[:i:i], d.vals[i+1:]...)
	d.at = make(map[string]int, len(d.keys))
	for i, k := range d.keys {
		d.at[k.key()] = i
	}
}

// known says whether a value is known to its last part.
func (v *val) known() bool { return v.knownTo(8) }

func (v *val) knownTo(depth int) bool {
	switch v.kind {
	case kindNone, kindBool, kindInt, kindFloat:
		return true
	case kindString:
		return !v.holes()
	case kindList:
		if v.list.open || depth == 0 {
			return false
		}
		for _, e := range v.list.elems {
			if !e.knownTo(depth - 1) {
				return false
			}
		}
		return true
	case kindDict:
		if v.dict.open || depth == 0 {
			return false
		}
		for i := range v.dict.keys {
			if !v.dict.keys[i].knownTo(depth-1) || !v.dict.vals[i].knownTo(depth-1) {
				return false
			}
		}
		return true
	}
	return false
}

// taints gives where the parts of a value come from.
func (v *val) taints() taint { return v.taintTo(4) }

func (v *val) taintTo(depth int) taint {
	t := v.taint
	if depth == 0 {
		return t
	}
	switch v.kind {
	case kindTask:
		t |= taintTask
	case kindList:
		for i, e := range v.list.elems {
			if i == 64 {
				break
			}
			t |= e.taintTo(depth - 1)
		}
	case kindDict:
		for i := range v.dict.keys {
			if i == 64 {
				break
			}
			t |= v.dict.keys[i].taintTo(depth-1) | v.dict.vals[i].taintTo(depth-1)
		}
	case kindBuiltin:
		if v.recv != nil {
			t |= v.recv.taintTo(depth - 1)
		}
	}
	return t
}

// key identifies a value among the keys of a dict.
func (v *val) key() string {
	switch v.kind {
	case kindNone:
		return "N"
	case kindBool:
		return strconv.FormatBool(v.b)
	case kindInt:
		return "i" + v.n.String()
	case kindFloat:
		return fmt.Sprintf("f%g", v.f)
	case kindString:
		return "s" + v.s
	case kindList:
		var b strings.Builder
		b.WriteByte('(')
		for i, e := range v.list.elems {
			if i == 32 || b.Len() > 4096 {
				break
			}
			b.WriteString(e.key())
			b.WriteByte(0)
		}
		return b.String()
	}
	return fmt.Sprintf("%p", v)
}

// truth says whether a value is true, where that is known.
func (v *val) truth() (value, ok bool) {
	if v.guess {
		return false, false
	}
	switch v.kind {
	case kindNone:
		return false, true
	case kindBool:
		return v.b, true
	case kindInt:
		return v.n.Sign() != 0, true
	case kindFloat:
		return v.f != 0, true
	case kindString:
		if v.holes() {
			return true, len(v.s) > len(string(hole))
		}
		return v.s != "", true
	case kindList:
		return len(v.list.elems) > 0, len(v.list.elems) > 0 || !v.list.open
	case kindDict:
		return len(v.dict.keys) > 0, len(v.dict.keys) > 0 || !v.dict.open
	case kindFunc, kindBuiltin, kindModule, kindTask, kindPattern:
		return true, true
	}
	return false, false
}

// text is what str gives of a value; what is not known becomes a hole.
func (v *val) text(depth int) string {
	switch v.kind {
	case kindNone:
		return "None"
	case kindBool:
		if v.b {
			return "True"
		}
		return "False"
	case kindInt:
		return v.n.String()
	case kindFloat:
		s := strconv.FormatFloat(v.f, 'g', -1, 64)
		if !strings.ContainsAny(s, ".eIN") {
			s += ".0"
		}
		return s
	case kindString:
		return v.s
	case kindList:
		var b strings.Builder
		b.WriteByte('[')
		for i, e := range v.list.elems {
			if i > 0 {
				b.WriteString(", ")
			}
			if depth > 4 || b.Len() > maxString {
				b.WriteRune(hole)
				break
			}
			b.WriteString(e.quoted(depth + 1))
		}
		b.WriteByte(']')
		return b.String()
	case kindDict:
		var b strings.Builder
		b.WriteByte('{')
		for i, k := range v.dict.keys {
			if i > 0 {
				b.WriteString(", ")
			}
			if depth > 4 || b.Len() > maxString {
				b.WriteRune(hole)
				break
			}
			b.WriteString(k.quoted(depth+1) + ": " + v.dict.vals[i].quoted(depth+1))
		}
		b.WriteByte('}')
		return b.String()
	}
	return string(hole)
}

func (v *val) quoted(depth int) string {
	if v.kind == kindString {
		return strconv.Quote(v.s)
	}
	return v.text(depth)
}

// join is what a variable is after two paths: one of two known values is kept as a guess, for what either holds is worth a look.
func join(a, b *val, t taint) *val {
	if a == b || a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	both := a.taint | b.taint | t
	if a.known() && b.known() && a.kind != kindList && a.kind != kindDict {
		if a.kind == b.kind && a.key() == b.key() {
			return a
		}
		if b.kind != kindString && (a.isNumber() || a.kind == kindBool) {
			return &val{taint: both, opaque: a.opaque || b.opaque, length: t != 0}
		}
	}
	pick, other := b, a
	if empty, ok := pick.truth(); pick.kind == kindUnknown || ok && !empty && pick.kind != kindBool {
		pick, other = a, b
	}
	if pick.kind == kindUnknown || other.kind == kindUnknown && pick.kind != kindList && pick.kind != kindDict && pick.kind != kindFunc && pick.kind != kindString {
		return &val{taint: both, opaque: a.opaque || b.opaque, length: a.length || b.length}
	}
	out := *pick
	out.guess, out.taint, out.opaque, out.col = true, both, a.opaque || b.opaque, nil
	return &out
}
