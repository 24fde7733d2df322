package calc

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"go.starlark.net/starlark"
)

const (
	maxRange = 10_000_000
	maxCalls = 1000 // depth, as in Python
)

// machine is the state of one evaluation.
type machine struct{ out output }

type builtinFunc = func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

// builtins returns what a program can name beyond Starlark's own.
func (m *machine) builtins() starlark.StringDict {
	env := starlark.StringDict{"math": mathModule()}
	for name, f := range operatorFuncs {
		env[name] = starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return f(args[0], args[1])
		})
	}
	for name, op := range unaryFuncs {
		env[name] = starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return unary(op, args[0])
		})
	}
	for name, f := range map[string]builtinFunc{
		showName: m.show, enterName: enter, updateName: update, formatName: noFormat,
		"print": m.print, "str": strBuiltin, "repr": reprBuiltin, "int": intBuiltin, "float": floatBuiltin, "range": rangeBuiltin,
		"sum": sumBuiltin, "round": roundBuiltin, "pow": powBuiltin, "divmod": divmodBuiltin, "map": mapBuiltin,
		"filter": filterBuiltin, "abs": absBuiltin,
	} {
		env[name] = starlark.NewBuiltin(name, f)
	}
	return env
}

// show prints the value of the last statement. A None is quiet when a call returned it.
func (m *machine) show(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	if args[0] == starlark.None && args[1] == starlark.True {
		return starlark.None, nil
	}
	s, err := pyStr(args[0])
	if err != nil {
		return nil, err
	}
	return starlark.None, m.out.write(s + "\n")
}

func (m *machine) print(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	sep, end := " ", "\n"
	if err := starlark.UnpackArgs(b.Name(), nil, kwargs, "sep?", &sep, "end?", &end); err != nil {
		return nil, err
	}
	for i, v := range args {
		s, err := pyStr(v)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			s = sep + s
		}
		if err := m.out.write(s); err != nil {
			return nil, err
		}
	}
	return starlark.None, m.out.write(end)
}

// enter stands at the beginning of every function: the interpreter alone would let the stack grow to hundreds of megabytes.
func enter(thread *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	if thread.CallStackDepth() > maxCalls {
		return nil, errors.New("maximum recursion depth exceeded")
	}
	return starlark.None, nil
}

// update is container[index] op= value.
func update(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	op := operatorFuncs[string(args[2].(starlark.String))]
	index, value := args[1], args[3]
	switch c := args[0].(type) {
	case *starlark.Dict:
		old, found, err := c.Get(index)
		if err != nil {
			return nil, err
		}
		if !found {
			s, err := pyRepr(index)
			if err != nil {
				s = "that key"
			}
			return nil, fmt.Errorf("%s is not in the dict", s)
		}
		v, err := op(old, value)
		if err != nil {
			return nil, err
		}
		return starlark.None, c.SetKey(index, v)
	case *starlark.List:
		i, err := starlark.AsInt32(index)
		if err != nil {
			return nil, err
		}
		if i < 0 {
			i += c.Len()
		}
		if i < 0 || i >= c.Len() {
			return nil, errors.New("list index out of range")
		}
		v, err := op(c.Index(i), value)
		if err != nil {
			return nil, err
		}
		return starlark.None, c.SetIndex(i, v)
	}
	return nil, fmt.Errorf("%s does not support item assignment", args[0].Type())
}

func noFormat(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return nil, errors.New("format is not available: print the values instead, as in print(\"x =\", x), or use round")
}

func strBuiltin(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value = starlark.String("")
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0, &v); err != nil {
		return nil, err
	}
	s, err := pyStr(v)
	return starlark.String(s), err
}

func reprBuiltin(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &v); err != nil {
		return nil, err
	}
	s, err := pyRepr(v)
	return starlark.String(s), err
}

// intBuiltin and floatBuiltin are Starlark's, with spaces around a number allowed and long ones refused: reading digits
// takes quadratic time and cannot be interrupted.
func intBuiltin(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return parseNumber(thread, "int", args, kwargs)
}

func floatBuiltin(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return parseNumber(thread, "float", args, kwargs)
}

func parseNumber(thread *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 0 && len(kwargs) == 0 {
		args = starlark.Tuple{starlark.MakeInt(0)}
	}
	if len(args) > 0 {
		if s, ok := args[0].(starlark.String); ok {
			if len(s) > maxDigits {
				return nil, fmt.Errorf("the string has more than %d characters", maxDigits)
			}
			args = append(starlark.Tuple{starlark.String(strings.TrimSpace(string(s)))}, args[1:]...)
		}
	}
	return starlark.Call(thread, starlark.Universe[name], args, kwargs)
}

func rangeBuiltin(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	v, err := starlark.Call(thread, starlark.Universe["range"], args, kwargs)
	if err == nil && starlark.Len(v) > maxRange {
		return nil, fmt.Errorf("the range has more than %d elements", maxRange)
	}
	return v, err
}

func absBuiltin(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &v); err != nil {
		return nil, err
	}
	switch v := boolToInt(v).(type) {
	case starlark.Int:
		return starlark.MakeBigInt(new(big.Int).Abs(v.BigInt())), nil
	case starlark.Float:
		return starlark.Float(math.Abs(float64(v))), nil
	}
	return nil, fmt.Errorf("abs: got %s, want a number", v.Type())
}

// sumBuiltin adds up floats with Neumaier's compensation, as Python does since 3.12: ten times 0.1 is 1.0.
func sumBuiltin(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
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
		sum, err := add(total, v)
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

func powBuiltin(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x, y, m starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "base", &x, "exp", &y, "mod?", &m); err != nil {
		return nil, err
	}
	if m == nil || m == starlark.None {
		return pow(x, y)
	}
	base, ok1 := boolToInt(x).(starlark.Int)
	exp, ok2 := boolToInt(y).(starlark.Int)
	modulus, ok3 := boolToInt(m).(starlark.Int)
	if !ok1 || !ok2 || !ok3 {
		return nil, errors.New("pow: with a modulus all arguments must be integers")
	}
	return modPow(base.BigInt(), exp.BigInt(), modulus.BigInt())
}

func modPow(base, exp, m *big.Int) (starlark.Value, error) {
	if m.Sign() == 0 {
		return nil, errors.New("pow: the modulus is zero")
	}
	// The time grows with the cube of the length; this many bits take a fraction of a second.
	if base.BitLen() > 1<<13 || exp.BitLen() > 1<<13 || m.BitLen() > 1<<13 {
		return nil, errTooLarge
	}
	abs := new(big.Int).Abs(m)
	if exp.Sign() < 0 {
		inverse := new(big.Int).ModInverse(new(big.Int).Mod(base, abs), abs)
		if inverse == nil {
			return nil, errors.New("pow: the base has no inverse for the modulus")
		}
		base, exp = inverse, new(big.Int).Neg(exp)
	}
	_, r, err := divMod("%", starlark.MakeBigInt(new(big.Int).Exp(base, exp, abs)), starlark.MakeBigInt(m))
	return r, err
}

func divmodBuiltin(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x, y starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &x, &y); err != nil {
		return nil, err
	}
	q, r, err := divMod("divmod", x, y)
	if err != nil {
		return nil, err
	}
	return starlark.Tuple{q, r}, nil
}

// mapBuiltin returns a list where Python returns an iterator.
func mapBuiltin(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) < 2 || len(kwargs) > 0 {
		return nil, errors.New("map: want a function and at least one iterable")
	}
	rows, err := starlark.Call(thread, starlark.Universe["zip"], args[1:], nil)
	if err != nil {
		return nil, err
	}
	out := starlark.NewList(nil)
	for row := range starlark.Elements(rows.(starlark.Iterable)) {
		v, err := starlark.Call(thread, args[0], row.(starlark.Tuple), nil)
		if err != nil {
			return nil, err
		}
		if err := out.Append(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func filterBuiltin(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var f starlark.Value
	var items starlark.Iterable
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &f, &items); err != nil {
		return nil, err
	}
	out := starlark.NewList(nil)
	for v := range starlark.Elements(items) {
		keep := v
		if f != starlark.None {
			var err error
			if keep, err = starlark.Call(thread, f, starlark.Tuple{v}, nil); err != nil {
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
