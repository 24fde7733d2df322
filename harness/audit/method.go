package audit

import (
	"math/big"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// method runs a method; nil says that it is not followed.
func (m *machine) method(n syntax.Node, x *val, name string, args *arguments) *val {
	switch x.kind {
	case kindString:
		return m.stringMethod(n, x, name, args)
	case kindList:
		return m.listMethod(n, x, name, args)
	case kindDict:
		return m.dictMethod(n, x, name, args)
	case kindUnknown:
		return m.outsideMethod(n, x, name, args)
	case kindPattern:
		return m.pattern(n, name, x, args.get(0, "string"), args.get(0, "repl"), args.get(1, "string"))
	}
	return nil
}

// first gives an argument as a string, where it is one.
func (a *arguments) string(i int, name string) (string, bool) {
	v := a.get(i, name)
	if v == nil || !v.isString() {
		return "", false
	}
	return v.s, true
}

func (m *machine) strings(n syntax.Node, x *val, list []string) *val {
	out := &val{kind: kindList, list: &sequence{}, taint: x.taint}
	size := 0
	for _, s := range list {
		size += len(s)
	}
	if len(list) > maxElements || !m.room(len(list)) || !m.room(size) {
		return unknown(x.taint)
	}
	for _, s := range list {
		e := str(s)
		e.spelled, e.taint, e.guess = x.spelled, x.taint, x.guess
		out.list.elems = append(out.list.elems, e)
	}
	return m.keep(n, out)
}

func (m *machine) stringMethod(n syntax.Node, x *val, name string, args *arguments) *val {
	if x.holes() {
		switch name {
		case "format", "join", "replace", "upper", "lower", "strip", "title", "capitalize":
		default:
			return m.outsideMethod(n, m.derived(x, nil), name, args)
		}
	}
	s := x.s
	switch name {
	case "join":
		return m.join(n, x, args.get(0, ""))
	case "format":
		return m.format(n, x, args)
	case "replace":
		return m.replace(n, x, args)
	case "upper":
		return m.text(n, strings.ToUpper(s), true, x)
	case "lower":
		return m.text(n, strings.ToLower(s), true, x)
	case "title", "capitalize":
		return m.text(n, titled(s, name == "title"), true, x)
	case "strip", "lstrip", "rstrip":
		cut, ok := args.string(0, "")
		if !ok {
			cut = " \t\r\n\v\f"
		}
		switch name {
		case "strip":
			s = strings.Trim(s, cut)
		case "lstrip":
			s = strings.TrimLeft(s, cut)
		default:
			s = strings.TrimRight(s, cut)
		}
		return m.text(n, s, false, x)
	case "removeprefix", "removesuffix":
		if cut, ok := args.string(0, ""); ok {
			if name == "removeprefix" {
				return m.text(n, strings.TrimPrefix(s, cut), true, x)
			}
			return m.text(n, strings.TrimSuffix(s, cut), true, x)
		}
	case "splitlines":
		return m.strings(n, x, strings.Split(strings.TrimSuffix(s, "\n"), "\n"))
	case "elems", "codepoints":
		if name == "elems" {
			out := make([]string, 0, len(s))
			for i := range len(s) {
				out = append(out, s[i:i+1])
			}
			return m.pieces(n, x, out)
		}
		return m.pieces(n, x, strings.Split(s, ""))
	case "elem_ords", "codepoint_ords":
		out := &val{kind: kindList, list: &sequence{}}
		if !m.room(len(s)) {
			return unknown(x.taint)
		}
		if name == "elem_ords" {
			for i := range len(s) {
				out.list.elems = append(out.list.elems, smallInt(int(s[i])))
			}
		} else {
			for _, r := range s {
				out.list.elems = append(out.list.elems, smallInt(int(r)))
			}
		}
		return out
	case "split", "rsplit", "partition", "rpartition", "find", "rfind", "index", "rindex", "count", "startswith", "endswith":
		return m.search(n, x, name, args)
	case "isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower", "istitle":
		return unknown(x.taint)
	}
	m.callbacks(args)
	return unknown(x.taints() | args.taints())
}

// pieces gives the characters of a text.
func (m *machine) pieces(n syntax.Node, x *val, list []string) *val {
	if len(list) > maxElements || !m.room(len(list)) {
		return unknown(x.taint)
	}
	out := &val{kind: kindList, list: &sequence{}, taint: x.taint}
	for _, s := range list {
		e := str(s)
		e.spelled, e.guess, e.taint = true, x.guess, x.taint
		out.list.elems = append(out.list.elems, e)
	}
	return out
}

// search runs the methods that look for one text in another.
func (m *machine) search(n syntax.Node, x *val, name string, args *arguments) *val {
	needle := args.get(0, "sep")
	if needle == nil || needle.kind == kindNone {
		return m.strings(n, x, strings.Fields(x.s))
	}
	if !needle.known() {
		if needle.taints() != 0 {
			m.out.addLookup(lookup{at: at(syntax.Start(n)), of: needle, text: x.s})
		}
		return unknown(needle.taints())
	}
	if needle.kind == kindList {
		return unknown(x.taint)
	}
	sep := needle.s
	m.made += len(x.s) / 64
	switch name {
	case "startswith":
		return boolean(strings.HasPrefix(x.s, sep))
	case "endswith":
		return boolean(strings.HasSuffix(x.s, sep))
	case "count":
		return smallInt(strings.Count(x.s, sep))
	case "find", "index":
		return smallInt(strings.Index(x.s, sep))
	case "rfind", "rindex":
		return smallInt(strings.LastIndex(x.s, sep))
	}
	if sep == "" {
		return unknown(0)
	}
	most := -1
	if v := args.get(1, "maxsplit"); v != nil {
		if k, ok := v.smallInt(); ok && k >= 0 && name == "split" {
			most = k + 1
		}
	}
	switch name {
	case "partition":
		before, after, ok := strings.Cut(x.s, sep)
		if !ok {
			sep = ""
		}
		return m.strings(n, x, []string{before, sep, after})
	case "rpartition":
		i := strings.LastIndex(x.s, sep)
		if i < 0 {
			return m.strings(n, x, []string{"", "", x.s})
		}
		return m.strings(n, x, []string{x.s[:i], sep, x.s[i+len(sep):]})
	}
	return m.strings(n, x, strings.SplitN(x.s, sep, most))
}

func (m *machine) join(n syntax.Node, x, over *val) *val {
	if over == nil {
		return nil
	}
	if over.kind != kindList {
		return unknown(over.taints())
	}
	var parts []string
	from := []*val{x}
	size := 0
	for i, e := range over.list.elems {
		if i > 0 {
			parts = append(parts, x.s)
		}
		if e.kind == kindString {
			parts = append(parts, e.s)
		} else {
			parts = append(parts, string(hole))
		}
		from = append(from, e)
		if size += len(e.s) + len(x.s); size > maxString {
			return unknown(over.taints())
		}
	}
	if over.list.open {
		parts = append(parts, string(hole))
	}
	return m.text(n, strings.Join(parts, ""), crosses(parts...), from...)
}

// format fills {} and {name}; what is not known becomes a hole.
func (m *machine) format(n syntax.Node, x *val, args *arguments) *val {
	var parts []string
	from := []*val{x}
	s, next, size := x.s, 0, 0
	for s != "" && size <= maxString {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			break
		}
		size += i + 1
		if i+1 < len(s) && s[i+1] == s[i] {
			parts = append(parts, s[:i+1])
			s = s[i+2:]
			continue
		}
		name, rest, ok := strings.Cut(s[i+1:], "}")
		if s[i] == '}' || !ok {
			parts = append(parts, s[:i+1])
			s = s[i+1:]
			continue
		}
		parts = append(parts, s[:i])
		s = rest
		name, _, _ = strings.Cut(name, ":")
		name, _, _ = strings.Cut(name, "!")
		v := args.get(-1, name)
		if v == nil {
			at := next
			if name == "" {
				next++
			} else if k, ok := new(big.Int).SetString(name, 10); ok && k.IsInt64() {
				at = int(min(max(k.Int64(), 0), 1<<20))
			}
			v = args.get(at, "")
		}
		if v == nil {
			v = unknown(0)
		}
		from = append(from, v)
		part := v.text(0)
		size += len(part)
		parts = append(parts, part)
	}
	parts = append(parts, s)
	return m.text(n, strings.Join(parts, ""), crosses(parts...), from...)
}

func (m *machine) replace(n syntax.Node, x *val, args *arguments) *val {
	old, with := args.get(0, ""), args.get(1, "")
	if old == nil || with == nil {
		return nil
	}
	if !old.isString() {
		if old.taints() != 0 && x.isString() {
			m.out.addLookup(lookup{at: at(syntax.Start(n)), of: old, text: x.s})
		}
		return m.derived(x, nil)
	}
	to := with.text(0)
	if count := strings.Count(x.s, old.s); count > 0 && len(x.s)+count*len(to) > maxString || old.s == "" {
		return unknown(x.taints() | with.taints())
	}
	spells := len(old.s) <= 2 || len(to) == 0
	return m.text(n, strings.ReplaceAll(x.s, old.s, to), spells, x, with)
}

// percent fills %s and the like, and gives the parts.
func percent(s string, y *val) []string {
	args := []*val{y}
	if y.kind == kindList {
		args = y.list.elems
	}
	var parts []string
	size := 0
	for s != "" && size <= maxString {
		before, rest, ok := strings.Cut(s, "%")
		parts = append(parts, before)
		if !ok || rest == "" {
			break
		}
		size += len(before) + 1
		verb := rest[0]
		s = rest[1:]
		switch {
		case verb == '%':
			parts[len(parts)-1] += "%"
		case verb == '(' && y.kind == kindDict:
			name, after, ok := strings.Cut(s, ")")
			if !ok || after == "" {
				return parts
			}
			s = after[1:]
			if v, ok := y.dict.get(str(name)); ok {
				parts = append(parts, v.text(0))
			} else {
				parts = append(parts, string(hole))
			}
		case len(args) > 0:
			parts = append(parts, verbText(verb, args[0]))
			args = args[1:]
		default:
			parts = append(parts, string(hole))
		}
		size += len(parts[len(parts)-1])
	}
	return parts
}

func verbText(verb byte, v *val) string {
	switch {
	case verb == 'c' && v.kind == kindInt && v.n.IsInt64():
		return string(rune(v.n.Int64()))
	case verb == 'x' && v.kind == kindInt:
		return v.n.Text(16)
	case verb == 'o' && v.kind == kindInt:
		return v.n.Text(8)
	case verb == 'r':
		return v.quoted(0)
	}
	return v.text(0)
}

func titled(s string, all bool) string {
	out := []rune(strings.ToLower(s))
	start := true
	for i, r := range out {
		if start && (i == 0 || all) {
			out[i] = []rune(strings.ToUpper(string(r)))[0]
		}
		start = r == ' ' || r == '\n' || r == '-'
	}
	return string(out)
}

func (m *machine) listMethod(n syntax.Node, x *val, name string, args *arguments) *val {
	v := args.get(0, "")
	switch name {
	case "append", "insert", "extend":
		if v == nil {
			return nil
		}
		if name == "insert" {
			if w := args.get(1, ""); w != nil && len(x.list.elems) < maxElements && m.room(1) {
				i, ok := v.smallInt()
				x.list.open = x.list.open || !ok || m.unsure > 0
				x.list.elems = slices.Insert(x.list.elems, min(max(i, 0), len(x.list.elems)), w)
			}
			return none()
		}
		if name == "extend" {
			if v.kind == kindList {
				m.extend(x, v)
			} else {
				x.list.open = true
				x.taint |= v.taints()
			}
			return none()
		}
		m.extend(x, listOf(v))
		if m.unsure == 0 && len(x.list.elems)%64 == 0 {
			m.keep(n, x)
		}
		return none()
	case "pop":
		i := len(x.list.elems) - 1
		if v != nil {
			i, _ = v.smallInt()
		}
		if m.unsure > 0 || i < 0 || i >= len(x.list.elems) {
			x.list.open = true
			return m.anyOf(x.list.elems, x.taints())
		}
		out := x.list.elems[i]
		x.list.elems = slices.Delete(slices.Clone(x.list.elems), i, i+1)
		m.made += len(x.list.elems)
		return out
	case "index":
		if v == nil {
			return nil
		}
		if v.known() && !v.guess {
			key := v.key()
			if i := slices.IndexFunc(x.list.elems, func(e *val) bool { return e.key() == key }); i >= 0 {
				return smallInt(i)
			}
			return unknown(0)
		}
		if v.taints() != 0 {
			m.out.addLookup(lookup{at: at(syntax.Start(n)), of: v, keys: x.list.elems})
		}
		return &val{taint: v.taints()}
	case "clear":
		x.list.elems = nil
		return none()
	case "group": // of a match over constants, which is kept as the list of its groups
		i := 0
		if v != nil {
			i, _ = v.smallInt()
		}
		if i >= 0 && i < len(x.list.elems) {
			return x.list.elems[i]
		}
		return unknown(x.taints())
	case "groups":
		if len(x.list.elems) > 0 {
			return listOf(x.list.elems[1:]...)
		}
	}
	return nil
}

func (m *machine) dictMethod(n syntax.Node, x *val, name string, args *arguments) *val {
	switch name {
	case "get", "pop", "setdefault":
		key := args.get(0, "")
		if key == nil {
			return nil
		}
		if key.known() && !key.guess {
			v, ok := x.dict.get(key)
			if ok && name == "pop" && m.unsure == 0 {
				x.dict.remove(key)
			}
			if ok {
				return v
			}
			if d := args.get(1, "default"); d != nil {
				if name == "setdefault" && len(x.dict.keys) < maxElements && m.room(1) {
					x.dict.set(key, d)
				}
				return d
			}
			return none()
		}
		m.lookupDict(n, x, key)
		return m.anyOf(x.dict.vals, x.taints()|key.taints())
	case "keys", "values", "items":
		out := &val{kind: kindList, list: &sequence{open: x.dict.open}, taint: x.taint}
		if !m.room(2 * len(x.dict.keys)) {
			return unknown(x.taint)
		}
		for i, k := range x.dict.keys {
			switch name {
			case "keys":
				out.list.elems = append(out.list.elems, k)
			case "values":
				out.list.elems = append(out.list.elems, x.dict.vals[i])
			default:
				out.list.elems = append(out.list.elems, listOf(k, x.dict.vals[i]))
			}
		}
		return out
	case "update":
		if v := args.get(0, ""); v != nil {
			d := m.dictOf(n, args)
			if d.kind == kindDict {
				for i, k := range d.dict.keys {
					x.dict.set(k, d.dict.vals[i])
				}
			} else {
				x.dict.open = true
			}
		}
		return none()
	}
	return nil
}
