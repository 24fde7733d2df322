package calc

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

const (
	maxRange = 10_000_000
	maxCalls = 1000 // depth, as in Python
)

// builtinFunc is a function that programs call. It charges m before it works.
type builtinFunc func(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)

// builtin makes f one of the program's functions.
func (m *machine) builtin(name string, f builtinFunc) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return f(m, b, args, kwargs)
	})
}

// builtins returns what a program can name: all of it, as Starlark's own functions charge nothing.
func (m *machine) builtins() starlark.StringDict {
	env := starlark.StringDict{"math": m.mathModule(), infName: starlark.Float(math.Inf(1))}
	for name, f := range operatorFuncs {
		env[name] = m.builtin(name, func(m *machine, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return f(m, args[0], args[1])
		})
	}
	for name, op := range comparisons {
		env[name] = m.builtin(name, func(m *machine, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			ok, err := m.compare(op, args[0], args[1])
			return starlark.Bool(ok), err
		})
	}
	for name, op := range unaryFuncs {
		env[name] = m.builtin(name, func(m *machine, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return unary(m, op, args[0])
		})
	}
	for _, table := range []map[string]builtinFunc{innerFuncs, ownFuncs, chargedFuncs} {
		for name, f := range table {
			env[name] = m.builtin(name, f)
		}
	}
	return env
}

// innerFuncs are the functions that rewrite calls, besides the operators.
var innerFuncs = map[string]builtinFunc{
	showName: show, enterName: enter, updateName: update, formatName: noFormat,
	attrName: func(m *machine, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return attr(m, args[0], string(args[1].(starlark.String)))
	},
	methodName: func(m *machine, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return m.method(args[0], string(args[1].(starlark.String)), args[2:], kwargs)
	},
	keyName: func(m *machine, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return args[0], m.entry(args[0])
	},
	setName: func(m *machine, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return starlark.None, setIndex(m, args[0], args[1], args[2])
	},
	sliceName: func(m *machine, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return slice(m, args[0], args[1], args[2], args[3])
	},
	spreadName: func(m *machine, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return args[0], spread(m, args[0])
	},
	dictName: func(m *machine, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return newDict(m, args[0].(starlark.Tuple))
	},
	tableName: func(m *machine, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return args[0], m.make(sizeTable)
	},
}

// show prints the value of the last statement. A None is quiet when a call returned it.
func show(m *machine, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	if args[0] == starlark.None && args[1] == starlark.True {
		return starlark.None, nil
	}
	s, err := m.str(args[0])
	if err != nil {
		return nil, err
	}
	return starlark.None, m.out.write(s + "\n")
}

func printBuiltin(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	sep, end := " ", "\n"
	if err := starlark.UnpackArgs(b.Name(), nil, kwargs, "sep?", &sep, "end?", &end); err != nil {
		return nil, err
	}
	for i, v := range args {
		s, err := m.str(v)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			if err := m.out.write(sep); err != nil {
				return nil, err
			}
		}
		if err := m.out.write(s); err != nil {
			return nil, err
		}
	}
	return starlark.None, m.out.write(end)
}

// enter stands at the beginning of every function: the interpreter alone would let the stack grow to hundreds of megabytes.
func enter(m *machine, _ *starlark.Builtin, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	if m.thread.CallStackDepth() > m.depth {
		return nil, errors.New("maximum recursion depth exceeded")
	}
	return starlark.None, nil
}

// update is container[index] op= value.
func update(m *machine, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	op := operatorFuncs[string(args[2].(starlark.String))]
	index, value := args[1], args[3]
	switch c := args[0].(type) {
	case *starlark.Dict:
		if err := m.key(index); err != nil {
			return nil, err
		}
		old, found, err := c.Get(index)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, m.missing(index)
		}
		v, err := op(m, old, value)
		if err != nil {
			return nil, err
		}
		return starlark.None, c.SetKey(index, v)
	case *starlark.List:
		i, err := position(c, index)
		if err != nil {
			return nil, err
		}
		v, err := op(m, c.Index(i), value)
		if err != nil {
			return nil, err
		}
		return starlark.None, c.SetIndex(i, v)
	}
	return nil, fmt.Errorf("%s does not support item assignment", args[0].Type())
}

func noFormat(*machine, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return nil, errFormat
}

func strBuiltin(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value = starlark.String("")
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0, &v); err != nil {
		return nil, err
	}
	s, err := m.str(v)
	return starlark.String(s), err
}

func reprBuiltin(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &v); err != nil {
		return nil, err
	}
	s, err := m.repr(v)
	return starlark.String(s), err
}

// intBuiltin and floatBuiltin are Starlark's, with spaces around a number allowed and long ones refused: reading digits
// takes quadratic time and cannot be interrupted.
func intBuiltin(m *machine, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return parseNumber(m, "int", args, kwargs)
}

func floatBuiltin(m *machine, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return parseNumber(m, "float", args, kwargs)
}

func parseNumber(m *machine, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 0 && len(kwargs) == 0 {
		args = starlark.Tuple{starlark.MakeInt(0)}
	}
	if len(args) > 0 {
		if s, ok := args[0].(starlark.String); ok {
			if len(s) > maxDigits {
				return nil, fmt.Errorf("the string has more than %d characters", maxDigits)
			}
			if err := m.spend(uint64(len(s)) + digitsCost(uint64(len(s))/19)); err != nil {
				return nil, err
			}
			args = append(starlark.Tuple{starlark.String(strings.TrimSpace(string(s)))}, args[1:]...)
		}
	}
	return starlark.Call(m.thread, starlark.Universe[name], args, kwargs)
}

func rangeBuiltin(m *machine, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := m.make(sizeBox); err != nil {
		return nil, err
	}
	v, err := starlark.Call(m.thread, starlark.Universe["range"], args, kwargs)
	if err == nil && starlark.Len(v) > maxRange {
		return nil, fmt.Errorf("the range has more than %d elements", maxRange)
	}
	return v, err
}

func absBuiltin(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &v); err != nil {
		return nil, err
	}
	switch v := boolToInt(v).(type) {
	case starlark.Int:
		if v.Sign() < 0 {
			return unary(m, syntax.MINUS, v)
		}
		return v, nil
	case starlark.Float:
		return starlark.Float(math.Abs(float64(v))), nil
	}
	return nil, fmt.Errorf("abs: got %s, want a number", v.Type())
}

// sumBuiltin adds up floats with Neumaier's compensation, as Python does since 3.12: ten times 0.1 is 1.0.
func sumBuiltin(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var items starlark.Iterable
	var total starlark.Value = starlark.MakeInt(0)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "iterable", &items, "start?", &total); err != nil {
		return nil, err
	}
	if _, ok := total.(starlark.String); ok {
		return nil, errors.New("sum: cannot add strings: use \"\".join(...)")
	}
	lost := 0.0 // what the float total lacks
	for v := range starlark.Elements(items) {
		if err := m.spend(1); err != nil {
			return nil, err
		}
		sum, err := add(m, total, v)
		if err != nil {
			return nil, fmt.Errorf("sum: %w", err)
		}
		if after, ok := sum.(starlark.Float); ok {
			s, err1 := toFloat(total)
			x, err2 := toFloat(v)
			if err := errors.Join(err1, err2); err != nil {
				return nil, err
			}
			if math.Abs(s) >= math.Abs(x) {
				lost += (s - float64(after)) + x
			} else {
				lost += (x - float64(after)) + s
			}
		}
		total = sum
	}
	if f, ok := total.(starlark.Float); ok && !math.IsInf(lost, 0) && !math.IsNaN(lost) {
		return f + starlark.Float(lost), nil
	}
	return total, nil
}

func powBuiltin(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x, y, mod starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "base", &x, "exp", &y, "mod?", &mod); err != nil {
		return nil, err
	}
	if mod == nil || mod == starlark.None {
		return pow(m, x, y)
	}
	base, ok1 := boolToInt(x).(starlark.Int)
	exp, ok2 := boolToInt(y).(starlark.Int)
	modulus, ok3 := boolToInt(mod).(starlark.Int)
	if !ok1 || !ok2 || !ok3 {
		return nil, errors.New("pow: with a modulus all arguments must be integers")
	}
	return modPow(m, base.BigInt(), exp.BigInt(), modulus.BigInt())
}

func modPow(m *machine, base, exp, modulus *big.Int) (starlark.Value, error) {
	if modulus.Sign() == 0 {
		return nil, errors.New("pow: the modulus is zero")
	}
	n := words(modulus.BitLen())
	if err := m.integer(modPowCost(words(base.BitLen()), uint64(exp.BitLen()), n), modulus.BitLen()); err != nil {
		return nil, err
	}
	abs := new(big.Int).Abs(modulus)
	if exp.Sign() < 0 {
		if err := m.spend(4 * gcdCost(n, n)); err != nil {
			return nil, err
		}
		inverse := new(big.Int).ModInverse(new(big.Int).Mod(base, abs), abs)
		if inverse == nil {
			return nil, errors.New("pow: the base has no inverse for the modulus")
		}
		base, exp = inverse, new(big.Int).Neg(exp)
	}
	_, r, err := divMod(m, "%", starlark.MakeBigInt(new(big.Int).Exp(base, exp, abs)), starlark.MakeBigInt(modulus))
	return r, err
}

func divmodBuiltin(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x, y starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &x, &y); err != nil {
		return nil, err
	}
	q, r, err := divMod(m, "divmod", x, y)
	if err != nil {
		return nil, err
	}
	return starlark.Tuple{q, r}, nil
}

// mapBuiltin returns a list where Python returns an iterator.
func mapBuiltin(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) < 2 || len(kwargs) > 0 {
		return nil, errors.New("map: want a function and at least one iterable")
	}
	rows, err := zip(m, b, args[1:], nil)
	if err != nil {
		return nil, err
	}
	out := starlark.NewList(nil)
	for row := range starlark.Elements(rows.(starlark.Iterable)) {
		v, err := starlark.Call(m.thread, args[0], row.(starlark.Tuple), nil)
		if err != nil {
			return nil, err
		}
		if err := m.make(sizeGrown); err != nil {
			return nil, err
		}
		if err := out.Append(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func filterBuiltin(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var f starlark.Value
	var items starlark.Iterable
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &f, &items); err != nil {
		return nil, err
	}
	out := starlark.NewList(nil)
	for v := range starlark.Elements(items) {
		if err := m.make(sizeGrown); err != nil {
			return nil, err
		}
		if err := m.spend(1); err != nil {
			return nil, err
		}
		keep := v
		if f != starlark.None {
			var err error
			if keep, err = starlark.Call(m.thread, f, starlark.Tuple{v}, nil); err != nil {
				return nil, err
			}
		}
		if keep.Truth() {
			if err := out.Append(v); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
