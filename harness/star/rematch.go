package star

import (
	"errors"
	"fmt"
	"hash/fnv"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/seed-095d5d2b/whale/harness/star/pyre"
)

// pattern is a compiled regular expression.
type pattern struct{ re *pyre.Regexp }

var (
	_ starlark.HasAttrs   = (*pattern)(nil)
	_ starlark.Comparable = (*pattern)(nil)
)

var patternNames = []string{"findall", "finditer", "flags", "fullmatch", "groupindex", "groups", "match", "pattern", "search", "split", "sub"}

// Attr implements starlark.HasAttrs.
func (p *pattern) Attr(name string) (starlark.Value, error) {
	switch name {
	case "pattern":
		return starlark.String(p.re.Pattern()), nil
	case "flags":
		return starlark.MakeInt(int(p.re.Flags())), nil
	case "groups":
		return starlark.MakeInt(p.re.NumGroups()), nil
	case "groupindex":
		d := starlark.NewDict(0)
		for _, n := range p.re.GroupNames() {
			i, _ := p.re.GroupIndex(n)
			if err := d.SetKey(starlark.String(n), starlark.MakeInt(i)); err != nil {
				return nil, err
			}
		}
		return d, nil
	}
	for _, e := range patternFunctions() {
		if e.Name == name {
			e.Module = "pattern"
			return e.method(p), nil
		}
	}
	return nil, noAttr("pattern", name, patternNames)
}

// AttrNames implements starlark.HasAttrs.
func (p *pattern) AttrNames() []string { return patternNames }

// Freeze implements starlark.Value.
func (p *pattern) Freeze() {}

// Truth implements starlark.Value.
func (p *pattern) Truth() starlark.Bool { return true }

// Type implements starlark.Value.
func (p *pattern) Type() string { return "pattern" }

// Hash implements starlark.Value.
func (p *pattern) Hash() (uint32, error) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(p.re.Pattern())) // never fails
	return h.Sum32(), nil
}

// CompareSameType implements starlark.Comparable.
func (p *pattern) CompareSameType(op syntax.Token, y starlark.Value, _ int) (bool, error) {
	q := y.(*pattern)
	same := p.re.Pattern() == q.re.Pattern() && p.re.Flags() == q.re.Flags()
	switch op {
	case syntax.EQL:
		return same, nil
	case syntax.NEQ:
		return !same, nil
	}
	return false, fmt.Errorf("pattern %s pattern: patterns have no order", op)
}

func (p *pattern) String() string { return fmt.Sprintf("re.compile(%q)", p.re.Pattern()) }

// match is a match of a pattern in a text. Positions are byte offsets, as all string indices of Starlark's are.
type match struct {
	pattern *pattern
	text    string
	spans   []int
}

var (
	_ starlark.HasAttrs = (*match)(nil)
	_ starlark.Mapping  = (*match)(nil)
)

var matchNames = []string{"end", "group", "groupdict", "groups", "re", "span", "start", "string"}

// matchFunctions are the methods of a match.
func matchFunctions() []entry {
	group := Param{Name: "group", Type: TypeAny, Default: "0", Doc: "a group's number or name; 0 = the whole match"}
	def := Param{Name: "default", Type: TypeAny, Default: "None", Doc: "what stands for a group that took no part"}
	position := func(name, returns, doc string, of func(start, end int) starlark.Value) entry {
		return entry{
			Function: Function{Name: name, Returns: returns, Doc: doc, Params: []Param{group}},
			run: func(c *call) (starlark.Value, error) {
				m := c.self.(*match)
				g, err := m.index(c.value("group"))
				if err != nil {
					return nil, err
				}
				return of(m.spans[2*g], m.spans[2*g+1]), nil
			},
		}
	}
	return []entry{
		{
			Function: Function{Name: "groups", Returns: "tuple", Doc: "Gives what the groups matched.", Params: []Param{def}},
			run: func(c *call) (starlark.Value, error) {
				m := c.self.(*match)
				t := make(starlark.Tuple, m.pattern.re.NumGroups())
				for i := range t {
					t[i] = m.group(i+1, c.value("default"))
				}
				return t, nil
			},
		},
		{
			Function: Function{Name: "groupdict", Returns: TypeDict, Doc: "Gives what the named groups matched.", Params: []Param{def}},
			run: func(c *call) (starlark.Value, error) {
				m, d := c.self.(*match), starlark.NewDict(0)
				for _, name := range m.pattern.re.GroupNames() {
					i, _ := m.pattern.re.GroupIndex(name)
					if err := d.SetKey(starlark.String(name), m.group(i, c.value("default"))); err != nil {
						return nil, err
					}
				}
				return d, nil
			},
		},
		position("start", TypeInt, "Gives where a group starts, -1 where it took no part.", func(s, _ int) starlark.Value { return starlark.MakeInt(s) }),
		position("end", TypeInt, "Gives where a group ends, -1 where it took no part.", func(_, e int) starlark.Value { return starlark.MakeInt(e) }),
		position("span", "tuple", "Gives where a group starts and ends.", func(s, e int) starlark.Value {
			return starlark.Tuple{starlark.MakeInt(s), starlark.MakeInt(e)}
		}),
	}
}

// Attr implements starlark.HasAttrs.
func (m *match) Attr(name string) (starlark.Value, error) {
	switch name {
	case "group": // the one function with any number of positional arguments
		return starlark.NewBuiltin("match.group", matchGroup).BindReceiver(m), nil
	case "string":
		return starlark.String(m.text), nil
	case "re":
		return m.pattern, nil
	}
	for _, e := range matchFunctions() {
		if e.Name == name {
			e.Module = "match"
			return e.method(m), nil
		}
	}
	return nil, noAttr("match", name, matchNames)
}

// AttrNames implements starlark.HasAttrs.
func (m *match) AttrNames() []string { return matchNames }

// Get implements starlark.Mapping: m[1] and m["name"].
func (m *match) Get(k starlark.Value) (starlark.Value, bool, error) {
	g, err := m.index(k)
	if err != nil {
		return nil, false, err
	}
	return m.group(g, starlark.None), true, nil
}

// index gives the number of a group that is given by number or name.
func (m *match) index(v starlark.Value) (int, error) {
	re := m.pattern.re
	switch v := v.(type) {
	case starlark.Int:
		if i, ok := v.Int64(); ok && i >= 0 && i <= int64(re.NumGroups()) {
			return int(i), nil
		}
		return 0, fmt.Errorf("no such group: got %s, want 0 to %d", brief(v), re.NumGroups())
	case starlark.String:
		if i, ok := re.GroupIndex(string(v)); ok {
			return i, nil
		}
		return 0, fmt.Errorf("no such group: got %s, want one of %s", brief(v), quoted(re.GroupNames()))
	}
	return 0, fmt.Errorf("no such group: got %s, want int or string", v.Type())
}

// group gives what a group matched, or def.
func (m *match) group(g int, def starlark.Value) starlark.Value {
	if m.spans[2*g] < 0 {
		return def
	}
	return starlark.String(m.text[m.spans[2*g]:m.spans[2*g+1]])
}

func matchGroup(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(kwargs) > 0 {
		return nil, errors.New("match.group: got keyword arguments, want group numbers or names")
	}
	m := b.Receiver().(*match)
	if len(args) == 0 {
		return m.group(0, starlark.None), nil
	}
	out := make(starlark.Tuple, len(args))
	for i, a := range args {
		g, err := m.index(a)
		if err != nil {
			return nil, fmt.Errorf("match.group: %w", err)
		}
		out[i] = m.group(g, starlark.None)
	}
	if len(out) == 1 {
		return out[0], nil
	}
	return out, nil
}

// Freeze implements starlark.Value.
func (m *match) Freeze() {}

// Truth implements starlark.Value.
func (m *match) Truth() starlark.Bool { return true }

// Type implements starlark.Value.
func (m *match) Type() string { return "match" }

// Hash implements starlark.Value.
func (m *match) Hash() (uint32, error) { return 0, errors.New("unhashable: match") }

func (m *match) String() string {
	return fmt.Sprintf("<match %d..%d %q>", m.spans[0], m.spans[1], m.text[m.spans[0]:m.spans[1]])
}
