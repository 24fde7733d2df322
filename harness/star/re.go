package star

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"github.com/seed-095d5d2b/whale/harness/star/pyre"
)

// reConstants are the flags of the module re.
func reConstants() starlark.StringDict {
	out := starlark.StringDict{}
	for _, f := range []struct {
		short, long string
		value       pyre.Flags
	}{
		{"I", "IGNORECASE", pyre.IgnoreCase}, {"M", "MULTILINE", pyre.Multiline}, {"S", "DOTALL", pyre.DotAll}, {"A", "ASCII", pyre.ASCII},
	} {
		out[f.short], out[f.long] = starlark.MakeInt(int(f.value)), starlark.MakeInt(int(f.value))
	}
	return out
}

// patternFunctions are the functions that a pattern has as methods; the module's take the pattern as their first argument.
func patternFunctions() []entry {
	s := Param{Name: "string", Type: TypeString, Doc: "the text"}
	match := func(name, doc string, mode pyre.Mode) entry {
		return entry{
			Function: Function{Name: name, Returns: "match or None", Doc: doc, Params: []Param{s}},
			run:      func(c *call) (starlark.Value, error) { return c.find(mode) },
		}
	}
	return []entry{
		match("search", "Finds the first match anywhere in the text.", pyre.Search),
		match("match", "Finds a match at the start of the text.", pyre.Prefix),
		match("fullmatch", "Finds a match of the whole text.", pyre.Full),
		{
			Function: Function{Name: "findall", Returns: TypeList,
				Doc: "Lists all matches: as strings, or as what the pattern's one group matched, or as tuples of what its groups matched.", Params: []Param{s}},
			run: reFindall,
		},
		{
			Function: Function{Name: "finditer", Returns: TypeList, Doc: "Lists all matches as match values.", Params: []Param{s}},
			run:      reFinditer,
		},
		{
			Function: Function{Name: "sub", Returns: TypeString, Doc: "Replaces the matches.", Params: []Param{
				{Name: "repl", Type: TypeAny, Doc: "a string, where `\\1` and `\\g<name>` stand for groups, or a function of the match that gives a string"},
				s, {Name: "count", Type: TypeInt, Default: "0", Doc: "the most replacements; 0 = all"}}},
			run: reSub,
		},
		{
			Function: Function{Name: "split", Returns: TypeList, Doc: "Splits the text at the matches; what groups matched stands between the parts.", Params: []Param{
				s, {Name: "maxsplit", Type: TypeInt, Default: "0", Doc: "the most splits; 0 = all"}}},
			run: reSplit,
		},
	}
}

func reEntries() []entry {
	pattern := Param{Name: "pattern", Type: TypeAny, Doc: "a pattern as text, or one that re.compile made"}
	flags := Param{Name: "flags", Type: TypeInt, Default: "0", Doc: "re.I, re.M, re.S and re.A, joined by |"}
	out := []entry{{
		Function: Function{Module: "re", Name: "compile", Returns: "pattern", Doc: "Compiles a pattern.", Params: []Param{pattern, flags}},
		run:      func(c *call) (starlark.Value, error) { return c.pattern() },
	}, {
		Function: Function{Module: "re", Name: "escape", Returns: TypeString, Doc: "Quotes what is special in a pattern.",
			Params: []Param{{Name: "pattern", Type: TypeString, Doc: "any text"}}},
		run: func(c *call) (starlark.Value, error) {
			s := c.string("pattern")
			return starlark.String(pyre.Escape(s)), c.scanned(s)
		},
	}}
	for _, e := range patternFunctions() {
		e.Module = "re"
		e.Params = append(append([]Param{pattern}, e.Params...), flags)
		out = append(out, e)
	}
	return out
}

// patternCache keeps an episode's compiled patterns: a harness writes re.search(pattern, …) in a loop.
type patternCache map[patternKey]*pattern

type patternKey struct {
	text  string
	flags pyre.Flags
}

// maxPatterns bounds the cache; what exceeds it is compiled each time.
const maxPatterns = 256

// pattern gives the compiled pattern of a call: a method's own, or the argument.
func (c *call) pattern() (*pattern, error) {
	if c.self != nil {
		return c.self.(*pattern), nil
	}
	n, _ := c.int("flags")
	flags := pyre.Flags(n)
	switch v := c.value("pattern").(type) {
	case *pattern:
		if flags != 0 {
			return nil, errors.New("argument flags: got flags for a compiled pattern, want them given to re.compile")
		}
		return v, nil
	case starlark.String:
		return compile(episodeOf(c.thread), string(v), flags)
	default:
		return nil, fmt.Errorf("argument pattern: got %s, want string or pattern", v.Type())
	}
}

// compile compiles a pattern, which costs the episode 16 steps a byte.
func compile(e *episode, text string, flags pyre.Flags) (*pattern, error) {
	key := patternKey{text, flags}
	if e != nil {
		if p, ok := e.patterns[key]; ok {
			return p, nil
		}
	}
	if err := e.charge(16 * min(len(text), pyre.MaxPattern)); err != nil {
		return nil, err
	}
	re, err := pyre.Compile(text, flags)
	if err != nil {
		return nil, fmt.Errorf("pattern %s: %w", brief(starlark.String(text)), err)
	}
	p := &pattern{re: re}
	if e != nil && len(e.patterns) < maxPatterns {
		if e.patterns == nil {
			e.patterns = patternCache{}
		}
		e.patterns[key] = p
	}
	return p, nil
}

// budget lets the matcher of a call use the episode's steps: one for eight of the matcher's.
func (c *call) budget() pyre.Budget {
	e, rest := episodeOf(c.thread), 0
	return func(steps int) error {
		rest += steps
		n := rest / 8
		rest %= 8
		return e.charge(n)
	}
}

func (c *call) find(mode pyre.Mode) (starlark.Value, error) {
	p, err := c.pattern()
	if err != nil {
		return nil, err
	}
	s := c.string("string")
	spans, err := p.re.Find(s, 0, mode, c.budget())
	if err != nil || spans == nil {
		return starlark.None, err
	}
	return &match{pattern: p, text: s, spans: spans}, nil
}

// all gives the pattern, the text and the matches of a call.
func (c *call) all(limit int) (*pattern, string, [][]int, error) {
	p, err := c.pattern()
	if err != nil {
		return nil, "", nil, err
	}
	s := c.string("string")
	spans, err := p.re.FindAll(s, limit, c.budget())
	return p, s, spans, err
}

func reFindall(c *call) (starlark.Value, error) {
	p, s, all, err := c.all(0)
	if err != nil {
		return nil, err
	}
	out := make([]starlark.Value, len(all))
	for i, spans := range all {
		m := &match{pattern: p, text: s, spans: spans}
		switch n := p.re.NumGroups(); n {
		case 0, 1:
			out[i] = m.group(n, starlark.String(""))
		default:
			t := make(starlark.Tuple, n)
			for g := range t {
				t[g] = m.group(g+1, starlark.String(""))
			}
			out[i] = t
		}
	}
	return starlark.NewList(out), nil
}

func reFinditer(c *call) (starlark.Value, error) {
	p, s, all, err := c.all(0)
	if err != nil {
		return nil, err
	}
	out := make([]starlark.Value, len(all))
	for i, spans := range all {
		out[i] = &match{pattern: p, text: s, spans: spans}
	}
	return starlark.NewList(out), nil
}

func reSub(c *call) (starlark.Value, error) {
	count, _ := c.int("count")
	if count < 0 {
		return nil, fmt.Errorf("argument count: got %d, want at least 0", count)
	}
	p, s, all, err := c.all(count)
	if err != nil {
		return nil, err
	}
	var replace func(b *strings.Builder, spans []int) error
	switch repl := c.value("repl").(type) {
	case starlark.String:
		t, err := p.re.Template(string(repl))
		if err != nil {
			return nil, fmt.Errorf("argument repl: %w", err)
		}
		replace = func(b *strings.Builder, spans []int) error {
			t.Expand(b, s, spans)
			return nil
		}
	case starlark.Callable:
		replace = func(b *strings.Builder, spans []int) error {
			v, err := starlark.Call(c.thread, repl, starlark.Tuple{&match{pattern: p, text: s, spans: spans}}, nil)
			if err != nil {
				return err
			}
			text, ok := v.(starlark.String)
			if !ok {
				return fmt.Errorf("argument repl: the function gave %s, want a string", article(v.Type()))
			}
			b.WriteString(string(text))
			return nil
		}
	default:
		return nil, fmt.Errorf("argument repl: got %s, want string or function", repl.Type())
	}
	var b strings.Builder
	end := 0
	for _, spans := range all {
		b.WriteString(s[end:spans[0]])
		if err := replace(&b, spans); err != nil {
			return nil, err
		}
		end = spans[1]
		if b.Len() > maxText {
			return nil, fmt.Errorf("the result is longer than %d bytes", maxText)
		}
	}
	b.WriteString(s[end:])
	return starlark.String(b.String()), nil
}

func reSplit(c *call) (starlark.Value, error) {
	limit, _ := c.int("maxsplit")
	if limit < 0 {
		return nil, fmt.Errorf("argument maxsplit: got %d, want at least 0", limit)
	}
	p, s, all, err := c.all(limit)
	if err != nil {
		return nil, err
	}
	var out []starlark.Value
	end := 0
	for _, spans := range all {
		m := &match{pattern: p, text: s, spans: spans}
		out = append(out, starlark.String(s[end:spans[0]]))
		for g := 1; g <= p.re.NumGroups(); g++ {
			out = append(out, m.group(g, starlark.None))
		}
		end = spans[1]
	}
	return starlark.NewList(append(out, starlark.String(s[end:]))), nil
}
