package audit

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/seed-095d5d2b/whale/harness/star/pyre"
)

// outsideMethod runs a method of what is not known: it derives another text, or tests it.
func (m *machine) outsideMethod(n syntax.Node, x *val, name string, args *arguments) *val {
	v := args.get(0, "")
	switch name {
	case "startswith", "endswith":
		kind := testPrefix
		if name == "endswith" {
			kind = testSuffix
		}
		if v == nil {
			break
		}
		if v.kind == kindList {
			for _, e := range v.list.elems[:min(64, len(v.list.elems))] {
				m.test(n, kind, e, x)
			}
		} else {
			m.test(n, kind, v, x)
		}
		return unknown(x.taint)
	case "find", "index", "count", "rfind", "rindex":
		if v != nil && v.isString() {
			m.test(n, testContains, v, x)
		}
		return &val{taint: x.taints() | args.taints(), length: true, col: countColumn(x.col, name, v)}
	case "lower", "upper", "strip", "lstrip", "rstrip", "title", "capitalize", "splitlines", "elems", "codepoints":
		if v == nil {
			return &val{taint: x.taint, opaque: x.opaque, col: textMethodColumn(x.col, name)}
		}
	case "elem_ords", "codepoint_ords":
		return &val{taint: x.taint, opaque: true}
	case "split":
		if v == nil || v.isString() {
			return &val{taint: x.taint, col: splitColumn(x.col, v)}
		}
	case "replace":
		if w := args.get(1, ""); w != nil {
			if v.isString() && w.isString() {
				return &val{taint: x.taint, col: replaceColumn(x.col, v.s, w.s)}
			}
			return unknown(x.taint | args.taints())
		}
	case "group":
		i := 0
		if v != nil {
			i, _ = v.smallInt()
		}
		return &val{taint: x.taint, col: groupColumn(x.col, i)}
	}
	m.callbacks(args)
	return &val{taint: x.taints() | args.taints(), opaque: x.opaque}
}

// module runs a function of the library; nil says that it is not followed.
func (m *machine) module(n syntax.Node, name string, args *arguments) *val {
	x := args.get(0, "")
	switch name {
	case "model.chat", "env.call", "loop.run":
		m.callbacks(args)
		return unknown(taintReply)
	case "model.clip", "env.render":
		return unknown(taintReply | args.taints())
	case "json.decode":
		if s, ok := args.string(0, "s"); ok && m.room(len(s)) {
			return m.fromJSON(n, s)
		}
	case "json.encode":
		if x != nil && x.known() {
			return m.text(n, x.quoted(0), false, x)
		}
	case "text.fill":
		if t := args.get(0, "template"); t != nil && t.kind == kindString {
			values := args.get(1, "values")
			return m.fill(n, t, values)
		}
	case "re.compile":
		if s, ok := args.string(0, "pattern"); ok {
			return &val{kind: kindPattern, s: s}
		}
		return unknown(args.taints())
	case "re.search", "re.match", "re.fullmatch", "re.findall", "re.finditer", "re.split", "re.sub":
		p := args.get(0, "pattern")
		if p == nil {
			return nil
		}
		return m.pattern(n, strings.TrimPrefix(name, "re."), p, args.get(1, "string"), args.get(1, "repl"), args.get(2, "string"))
	case "re.escape":
		if x != nil && x.isString() {
			return m.text(n, pyre.Escape(x.s), false, x)
		}
		return unknown(args.taints())
	case "math.pow":
		if y := args.get(1, ""); y != nil && x != nil && x.isNumber() && y.isNumber() {
			return &val{kind: kindFloat, f: math.Pow(x.float(), y.float())}
		}
	case "math.floor", "math.ceil", "math.round":
		if x != nil && x.isNumber() {
			f := map[string]func(float64) float64{"math.floor": math.Floor, "math.ceil": math.Ceil, "math.round": math.Round}[name](x.float())
			if i, _ := big.NewFloat(f).Int(nil); i != nil && !math.IsNaN(f) && i.BitLen() <= maxIntBits {
				return m.integer(n, i)
			}
		}
	case "text.head", "text.truncate":
		if x != nil && x.kind == kindUnknown {
			if i := args.get(1, ""); i != nil {
				if k, ok := i.smallInt(); ok && name == "text.truncate" {
					return m.derived(x, sliceColumn(x.col, [3]*int{nil, &k, nil}))
				}
			}
		}
		if x != nil && x.isString() {
			return x
		}
	}
	m.callbacks(args)
	return &val{taint: args.taints()}
}

func (m *machine) fill(n syntax.Node, t, values *val) *val {
	s := t.s
	switch {
	case values != nil && values.kind == kindDict:
		for i, k := range values.dict.keys[:min(64, len(values.dict.keys))] {
			with := values.dict.vals[i].text(0)
			if old := "{" + k.s + "}"; len(s)+strings.Count(s, old)*len(with) <= maxString {
				s = strings.ReplaceAll(s, old, with)
			}
		}
	default:
		s = strings.ReplaceAll(s, "{question}", string(hole))
	}
	return m.text(n, s, false, t)
}

func (m *machine) fromJSON(n syntax.Node, s string) *val {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return unknown(0)
	}
	return m.convert(n, v, 32)
}

func (m *machine) convert(n syntax.Node, v any, depth int) *val {
	if !m.room(1) || depth == 0 {
		return unknown(0)
	}
	switch v := v.(type) {
	case string:
		return str(v)
	case bool:
		return boolean(v)
	case json.Number:
		if i, ok := new(big.Int).SetString(v.String(), 10); ok && len(v) < maxIntBits/4 {
			return integer(i)
		}
		f, _ := v.Float64()
		return &val{kind: kindFloat, f: f}
	case []any:
		out := listOf()
		for _, e := range v {
			out.list.elems = append(out.list.elems, m.convert(n, e, depth-1))
		}
		return m.keep(n, out)
	case map[string]any:
		out := &val{kind: kindDict, dict: newDict()}
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			out.dict.set(str(k), m.convert(n, v[k], depth-1))
		}
		return m.keep(n, out)
	}
	return none()
}

// patternSteps bounds the matcher for one pattern over constants.
const patternSteps = 100_000

// pattern runs a regular expression: over constants it is evaluated; over what is tainted it is a test or takes a part out.
func (m *machine) pattern(n syntax.Node, name string, p, s, repl, subject *val) *val {
	if name == "sub" {
		s = subject
	}
	if s == nil {
		return unknown(p.taints())
	}
	if p.kind != kindPattern && !p.isString() {
		if p.taints() != 0 && s.isString() {
			m.out.addLookup(lookup{at: at(syntax.Start(n)), of: p, text: s.s})
		}
		return unknown(p.taints() | s.taints())
	}
	if s.outside() {
		if repl != nil && repl.kind == kindFunc && name == "sub" {
			m.callbacks(&arguments{list: []*val{repl}})
		}
		switch name {
		case "search", "match", "fullmatch":
			m.test(n, testPattern, str(anchored(p.s, name)), s)
			return &val{taint: s.taints(), col: matchColumn(s.col, anchored(p.s, name))}
		case "findall":
			return &val{taint: s.taints(), col: findallColumn(s.col, p.s)}
		}
		return unknown(s.taints())
	}
	if !s.isString() {
		return unknown(s.taints())
	}
	return m.patternOverConstant(n, name, p.s, s, repl)
}

func anchored(p, name string) string {
	switch name {
	case "match":
		return `\A(?:` + p + `)`
	case "fullmatch":
		return `\A(?:` + p + `)\Z`
	}
	return p
}

func (m *machine) patternOverConstant(n syntax.Node, name, p string, s, repl *val) *val {
	re, err := pyre.Compile(p, 0)
	if err != nil || len(s.s) > maxString {
		return unknown(0)
	}
	m.made += len(p) + len(s.s)/16
	left := patternSteps
	all, err := re.FindAll(s.s, 4096, func(steps int) error {
		left -= steps
		m.made += steps / 64
		if left < 0 {
			return errBudget
		}
		return nil
	})
	if err != nil {
		return unknown(0)
	}
	group := func(spans []int, g int) string {
		if 2*g+1 < len(spans) && spans[2*g] >= 0 {
			return s.s[spans[2*g]:spans[2*g+1]]
		}
		return ""
	}
	switch name {
	case "findall":
		var flat []string
		out := listOf()
		for _, spans := range all {
			if k := re.NumGroups(); k <= 1 {
				flat = append(flat, group(spans, k))
			} else {
				r := listOf()
				for g := 1; g <= k; g++ {
					r.list.elems = append(r.list.elems, str(group(spans, g)))
				}
				out.list.elems = append(out.list.elems, r)
			}
		}
		if re.NumGroups() <= 1 {
			return m.strings(n, s, flat)
		}
		return m.keep(n, out)
	case "split":
		var parts []string
		end := 0
		for _, spans := range all {
			parts = append(parts, s.s[end:spans[0]])
			end = spans[1]
		}
		return m.strings(n, s, append(parts, s.s[end:]))
	case "sub":
		var b strings.Builder
		end := 0
		for _, spans := range all {
			b.WriteString(s.s[end:spans[0]])
			switch {
			case repl != nil && repl.kind == kindString:
				b.WriteString(repl.s)
			case repl != nil && repl.kind == kindFunc && m.calls < maxDepth:
				groups := listOf()
				for g := 0; g <= re.NumGroups(); g++ {
					groups.list.elems = append(groups.list.elems, str(group(spans, g)))
				}
				b.WriteString(m.apply(repl.fn, []*val{matchOf(groups)}, nil).text(0))
			default:
				b.WriteRune(hole)
			}
			end = spans[1]
			if b.Len() > maxString {
				return unknown(0)
			}
		}
		b.WriteString(s.s[end:])
		return m.text(n, b.String(), true, s)
	case "search", "match", "fullmatch":
		if len(all) == 0 {
			return unknown(0)
		}
		groups := listOf()
		for g := 0; g <= re.NumGroups(); g++ {
			groups.list.elems = append(groups.list.elems, str(group(all[0], g)))
		}
		return matchOf(groups)
	}
	return unknown(0)
}
