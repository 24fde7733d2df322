package star

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// call is one call of a library function, with its arguments bound and checked by the function's table.
type call struct {
	f        *Function
	self     starlark.Value // of a method: the value that it belongs to; else nil
	thread   *starlark.Thread
	args     []starlark.Value // one for each parameter; nil where an optional one was left out
	keywords []starlark.Tuple // what f.Keywords collects
}

// builtin makes the Starlark value that runs an entry.
func (e entry) builtin() *starlark.Builtin { return e.method(nil) }

// method makes the Starlark value that runs an entry on a value of its own.
func (e entry) method(self starlark.Value) *starlark.Builtin {
	defaults := make([]starlark.Value, len(e.Params))
	for i, p := range e.Params {
		defaults[i] = defaultValue(p)
	}
	return starlark.NewBuiltin(e.FullName(),
		func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			c := &call{f: &e.Function, self: self, thread: thread, args: make([]starlark.Value, len(e.Params))}
			if err := c.bind(args, kwargs, defaults); err != nil {
				return nil, fmt.Errorf("%s: %w", e.FullName(), err)
			}
			v, err := e.run(c)
			var inside *starlark.EvalError // raised by a function that was called in turn: it says itself where
			if err != nil && !errors.As(err, &inside) && !strings.HasPrefix(err.Error(), e.FullName()+":") && episodeOf(thread).stopped() == nil {
				err = fmt.Errorf("%s: %w", e.FullName(), err)
			}
			return v, err
		})
}

// defaultValue is the value of a parameter's default, which is a literal, or nil.
func defaultValue(p Param) starlark.Value {
	if p.Default == "" || p.Optional {
		return nil
	}
	switch p.Default {
	case "None":
		return starlark.None
	case `""`:
		return starlark.String("")
	case "0":
		return starlark.MakeInt(0)
	}
	v, err := starlark.EvalOptions(&syntax.FileOptions{}, new(starlark.Thread), p.Name, p.Default, nil)
	if err != nil {
		panic(fmt.Sprintf("star: default of %s: %v", p.Name, err)) // the tables are ours: a mistake in them is a defect
	}
	v.Freeze()
	return v
}

// bind spreads the arguments over the parameters and checks them.
func (c *call) bind(args starlark.Tuple, kwargs []starlark.Tuple, defaults []starlark.Value) error {
	params := c.f.Params
	if len(args) > len(params) {
		return fmt.Errorf("got %d positional arguments, want at most %d (%s)", len(args), len(params), paramNames(params))
	}
	copy(c.args, args)
	for _, kw := range kwargs {
		name := string(kw[0].(starlark.String))
		i := paramIndex(params, name)
		switch {
		case i < 0 && c.f.Keywords != "":
			c.keywords = append(c.keywords, kw)
		case i < 0:
			return fmt.Errorf("got an argument %s, want %s", name, paramNames(params))
		case i < len(args) && c.f.Keywords != "":
			// A tool may have a parameter of our own parameter's name.
			c.keywords = append(c.keywords, kw)
		case c.args[i] != nil:
			return fmt.Errorf("argument %s: got it twice", name)
		default:
			c.args[i] = kw[1]
		}
	}
	for i, p := range params {
		if c.args[i] == nil {
			if p.Default == "" && !p.Optional {
				return fmt.Errorf("argument %s is missing: want (%s)", p.Name, paramNames(params))
			}
			c.args[i] = defaults[i]
			continue
		}
		if err := p.check(c.args[i]); err != nil {
			return fmt.Errorf("argument %s: %w", p.Name, err)
		}
	}
	return nil
}

// check says whether a value may be given for the parameter.
func (p *Param) check(v starlark.Value) error {
	if v == starlark.None && p.Default == "None" {
		return nil
	}
	ok := true
	switch p.Type {
	case TypeString:
		_, ok = v.(starlark.String)
	case TypeBool:
		_, ok = v.(starlark.Bool)
	case TypeNumber:
		switch v.(type) {
		case starlark.Int, starlark.Float:
		default:
			ok = false
		}
	case TypeList:
		switch v.(type) {
		case *starlark.List, starlark.Tuple:
		default:
			ok = false
		}
	case TypeDict:
		_, ok = v.(*starlark.Dict)
	case TypeChoice:
		s, isString := v.(starlark.String)
		if isString {
			for _, c := range p.Choices {
				if c == string(s) {
					return nil
				}
			}
		}
		return fmt.Errorf("got %s, want %s", brief(v), quoted(p.Choices))
	case TypeInt:
		var n starlark.Int
		if n, ok = v.(starlark.Int); ok {
			i, fits := n.Int64()
			if !fits || i > math.MaxInt32 || i < math.MinInt32 {
				return fmt.Errorf("got %s, want an int of 32 bits", brief(v))
			}
			if p.High != 0 && i < int64(p.Low) {
				return fmt.Errorf("got %d, want at least %d", i, p.Low)
			}
		}
	case TypeAny:
	default:
		if strings.HasPrefix(p.Type, TypeFunction) {
			_, ok = v.(starlark.Callable)
		}
	}
	if !ok {
		want := p.Type
		if p.Default == "None" {
			want += " or None"
		}
		return fmt.Errorf("got %s, want %s", v.Type(), want)
	}
	return nil
}

func paramIndex(params []Param, name string) int {
	for i, p := range params {
		if p.Name == name {
			return i
		}
	}
	return -1
}

func paramNames(params []Param) string {
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}

func quoted(choices []string) string {
	out := make([]string, len(choices))
	for i, c := range choices {
		out[i] = fmt.Sprintf("%q", c)
	}
	return strings.Join(out, " or ")
}

// brief writes a value for a message: short, whatever it holds.
func brief(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.String:
		s := string(v)
		if len(s) > 40 {
			s = clean(s[:40]) + "…"
		}
		return fmt.Sprintf("%q", s)
	case starlark.Int:
		if i, ok := v.Int64(); ok {
			return fmt.Sprint(i)
		}
		return "a huge int"
	case starlark.Float, starlark.Bool, starlark.NoneType:
		return v.String()
	}
	return v.Type()
}

// The arguments by name. A wrong name or type here is a defect of a table, and panics.

func (c *call) value(name string) starlark.Value { return c.args[paramIndex(c.f.Params, name)] }

func (c *call) string(name string) string { return string(c.value(name).(starlark.String)) }

// int gives an argument of type int; absent where it is None.
func (c *call) int(name string) (n int, absent bool) {
	i, ok := c.value(name).(starlark.Int)
	if !ok {
		return 0, true
	}
	n64, _ := i.Int64() // check has seen to its size
	return int(n64), false
}

// list gives the elements of an argument of type list.
func (c *call) list(name string) []starlark.Value {
	switch v := c.value(name).(type) {
	case *starlark.List:
		out := make([]starlark.Value, v.Len())
		for i := range out {
			out[i] = v.Index(i)
		}
		return out
	case starlark.Tuple:
		return v
	}
	return nil
}

// strings gives the elements of an argument that is a list of strings.
func (c *call) strings(name string) ([]string, error) {
	var out []string
	for i, v := range c.list(name) {
		s, ok := v.(starlark.String)
		if !ok {
			return nil, fmt.Errorf("%s[%d]: got %s, want string", name, i, v.Type())
		}
		out = append(out, clean(string(s)))
	}
	return out, nil
}
