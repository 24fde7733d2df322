package calc

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Bounds of single results. They are far above what a calculation needs and far below what hurts.
const (
	maxBits     = 1 << 18 // of an integer: 79,000 digits
	maxElements = 1 << 20 // of a string, list or tuple that an operator makes
)

var (
	errZero     = errors.New("division by zero")
	errTooLarge = errors.New("the result is too large")
	errNoFloat  = errors.New("the integer is too large to convert to float")
)

// binary is the meaning of an operator.
type binary func(x, y starlark.Value) (starlark.Value, error)

// operatorFuncs are the operators under the names that rewrite gives them.
var operatorFuncs = map[string]binary{
	"__add__": add, "__iadd__": addInPlace, "__sub__": sub, "__mul__": mul, "__div__": div, "__floordiv__": floorDiv,
	"__mod__": mod, "__lshift__": shiftLeft, "__rshift__": shiftRight, powName: pow,
}

// numbers tells how two operands meet: as integers, as floats, or not as numbers at all. Booleans count as integers.
func numbers(x, y starlark.Value) (ints bool, a, b *big.Int, f, g float64, err error) {
	x, y = boolToInt(x), boolToInt(y)
	xi, xInt := x.(starlark.Int)
	yi, yInt := y.(starlark.Int)
	if xInt && yInt {
		return true, xi.BigInt(), yi.BigInt(), 0, 0, nil
	}
	if f, err = toFloat(x); err == nil {
		g, err = toFloat(y)
	}
	return false, nil, nil, f, g, err
}

func isNumber(v starlark.Value) bool {
	switch v.(type) {
	case starlark.Int, starlark.Float, starlark.Bool:
		return true
	}
	return false
}

func boolToInt(v starlark.Value) starlark.Value {
	if b, ok := v.(starlark.Bool); ok {
		if b {
			return starlark.MakeInt(1)
		}
		return starlark.MakeInt(0)
	}
	return v
}

func toFloat(v starlark.Value) (float64, error) {
	switch v := boolToInt(v).(type) {
	case starlark.Float:
		return float64(v), nil
	case starlark.Int:
		f := float64(v.Float())
		if math.IsInf(f, 0) {
			return 0, errNoFloat
		}
		return f, nil
	}
	return 0, fmt.Errorf("got %s, want a number", v.Type())
}

// unknown is the error for operands that an operator does not take.
func unknown(op string, x, y starlark.Value) error {
	return fmt.Errorf("unsupported operand types for %s: %s and %s", op, x.Type(), y.Type())
}

func add(x, y starlark.Value) (starlark.Value, error) {
	if isNumber(x) && isNumber(y) {
		return starlark.Binary(syntax.PLUS, boolToInt(x), boolToInt(y))
	}
	if err := checkLength(x, y); err != nil {
		return nil, err
	}
	v, err := starlark.Binary(syntax.PLUS, x, y)
	if err != nil {
		return nil, unknown("+", x, y)
	}
	return v, nil
}

// addInPlace is `+=`, which changes a list instead of making another.
func addInPlace(x, y starlark.Value) (starlark.Value, error) {
	list, ok := x.(*starlark.List)
	if !ok {
		return add(x, y)
	}
	items, ok := y.(starlark.Iterable)
	if !ok {
		return nil, unknown("+=", x, y)
	}
	if err := checkLength(x, y); err != nil {
		return nil, err
	}
	// A list may be added to itself: take all before the first is appended.
	var all []starlark.Value
	for v := range starlark.Elements(items) {
		all = append(all, v)
	}
	for _, v := range all {
		if err := list.Append(v); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func checkLength(x, y starlark.Value) error {
	if n, m := max(0, starlark.Len(x)), max(0, starlark.Len(y)); n+m > maxElements {
		return errTooLarge
	}
	return nil
}

func sub(x, y starlark.Value) (starlark.Value, error) {
	v, err := starlark.Binary(syntax.MINUS, boolToInt(x), boolToInt(y))
	if err != nil && !(isNumber(x) && isNumber(y)) {
		return nil, unknown("-", x, y)
	}
	return v, err
}

func mul(x, y starlark.Value) (starlark.Value, error) {
	x, y = boolToInt(x), boolToInt(y)
	if a, ok := x.(starlark.Int); ok {
		if b, ok := y.(starlark.Int); ok {
			if a.BigInt().BitLen()+b.BigInt().BitLen() > maxBits {
				return nil, errTooLarge
			}
			return a.Mul(b), nil
		}
		return mulSequence(y, a, x, y)
	}
	if b, ok := y.(starlark.Int); ok {
		return mulSequence(x, b, x, y)
	}
	v, err := starlark.Binary(syntax.STAR, x, y)
	if err != nil && !(isNumber(x) && isNumber(y)) {
		return nil, unknown("*", x, y)
	}
	return v, err
}

// mulSequence multiplies when one operand is an integer: with a float, or as a repetition of a sequence.
func mulSequence(other starlark.Value, n starlark.Int, x, y starlark.Value) (starlark.Value, error) {
	if length := starlark.Len(other); length > 0 {
		if times, ok := n.Int64(); n.Sign() > 0 && (!ok || times > int64(maxElements/length)) {
			return nil, errTooLarge
		}
		if n.Sign() < 0 {
			x, y = other, starlark.MakeInt(0)
		}
	}
	v, err := starlark.Binary(syntax.STAR, x, y)
	if err != nil && !isNumber(other) {
		return nil, unknown("*", x, y)
	}
	return v, err
}

// div is true division. That of integers is rounded once, also where they are too large for a float.
func div(x, y starlark.Value) (starlark.Value, error) {
	if !isNumber(x) || !isNumber(y) {
		return nil, unknown("/", x, y)
	}
	ints, a, b, f, g, err := numbers(x, y)
	if err != nil {
		return nil, err
	}
	if !ints {
		if g == 0 {
			return nil, errZero
		}
		return starlark.Float(f / g), nil
	}
	if b.Sign() == 0 {
		return nil, errZero
	}
	q, _ := new(big.Rat).SetFrac(a, b).Float64()
	if math.IsInf(q, 0) {
		return nil, errTooLarge
	}
	return starlark.Float(q), nil
}

func floorDiv(x, y starlark.Value) (starlark.Value, error) {
	q, _, err := divMod("//", x, y)
	return q, err
}

func mod(x, y starlark.Value) (starlark.Value, error) {
	if _, ok := x.(starlark.String); ok {
		return nil, errors.New("formatting with % is not available: print the values instead, as in print(\"x =\", x), or use round")
	}
	_, r, err := divMod("%", x, y)
	return r, err
}

// divMod is Python's divmod: the quotient rounded down, and a remainder with the sign of the divisor.
func divMod(op string, x, y starlark.Value) (q, r starlark.Value, err error) {
	if !isNumber(x) || !isNumber(y) {
		return nil, nil, unknown(op, x, y)
	}
	ints, a, b, f, g, err := numbers(x, y)
	switch {
	case err != nil:
		return nil, nil, err
	case ints && b.Sign() == 0, !ints && g == 0:
		return nil, nil, errZero
	case ints:
		q, r := new(big.Int).QuoRem(a, b, new(big.Int)) // rounded towards zero
		if r.Sign() != 0 && r.Sign() != b.Sign() {
			q.Sub(q, big.NewInt(1))
			r.Add(r, b)
		}
		return starlark.MakeBigInt(q), starlark.MakeBigInt(r), nil
	}
	fq, fr := floatDivMod(f, g)
	return starlark.Float(fq), starlark.Float(fr), nil
}

// floatDivMod follows float_divmod of CPython's floatobject.c: 1.0 // 0.1 is 9.0, since 0.1 is a little more than a tenth.
func floatDivMod(f, g float64) (q, r float64) {
	r = math.Mod(f, g)
	q = (f - r) / g
	if r != 0 {
		if (g < 0) != (r < 0) {
			r += g
			q--
		}
	} else {
		r = math.Copysign(0, g)
	}
	if q == 0 {
		return math.Copysign(0, f/g), r
	}
	floor := math.Floor(q)
	if q-floor > 0.5 {
		floor++
	}
	return floor, r
}

func shiftLeft(x, y starlark.Value) (starlark.Value, error) {
	a, n, err := shiftOperands("<<", x, y)
	if err != nil {
		return nil, err
	}
	if a.Sign() == 0 {
		return starlark.MakeInt(0), nil
	}
	if n > maxBits || a.BitLen()+int(n) > maxBits {
		return nil, errTooLarge
	}
	return starlark.MakeBigInt(new(big.Int).Lsh(a, uint(n))), nil
}

func shiftRight(x, y starlark.Value) (starlark.Value, error) {
	a, n, err := shiftOperands(">>", x, y)
	if err != nil {
		return nil, err
	}
	return starlark.MakeBigInt(new(big.Int).Rsh(a, uint(min(n, 2*maxBits)))), nil
}

func shiftOperands(op string, x, y starlark.Value) (a *big.Int, n int64, err error) {
	xi, ok1 := boolToInt(x).(starlark.Int)
	yi, ok2 := boolToInt(y).(starlark.Int)
	if !ok1 || !ok2 {
		return nil, 0, unknown(op, x, y)
	}
	if yi.Sign() < 0 {
		return nil, 0, errors.New("negative shift count")
	}
	n, ok := yi.Int64()
	if !ok {
		n = math.MaxInt64
	}
	return xi.BigInt(), n, nil
}

// unaryFuncs are the signs under the names that rewrite gives them.
var unaryFuncs = map[string]syntax.Token{"__neg__": syntax.MINUS, "__pos__": syntax.PLUS, "__invert__": syntax.TILDE}

func unary(op syntax.Token, x starlark.Value) (starlark.Value, error) {
	v, err := starlark.Unary(op, boolToInt(x))
	if err != nil {
		return nil, fmt.Errorf("unsupported operand type for %s: %s", op, x.Type())
	}
	return v, nil
}

// pow is `**`.
func pow(x, y starlark.Value) (starlark.Value, error) {
	if !isNumber(x) || !isNumber(y) {
		return nil, unknown("**", x, y)
	}
	if ints, a, b, _, _, _ := numbers(x, y); ints && b.Sign() >= 0 {
		return intPow(a, b)
	}
	f, err := toFloat(x)
	if err != nil {
		return nil, err
	}
	g, err := toFloat(y)
	if err != nil {
		return nil, err
	}
	switch {
	case f == 0 && g < 0:
		return nil, errors.New("zero cannot be raised to a negative power")
	case f < 0 && !math.IsInf(f, 0) && g != math.Trunc(g):
		return nil, errors.New("a negative number to a fractional power is complex, and complex numbers are not available")
	}
	p := precisePow(f, g)
	if math.IsInf(p, 0) && !math.IsInf(f, 0) && !math.IsInf(g, 0) {
		return nil, errTooLarge
	}
	return starlark.Float(p), nil
}

func intPow(a, b *big.Int) (starlark.Value, error) {
	if a.BitLen() > 1 { // not -1, 0 or 1
		if !b.IsInt64() || b.Int64() > maxBits || (int64(a.BitLen())-1)*b.Int64() > maxBits {
			return nil, errTooLarge
		}
	} else if a.Sign() < 0 {
		b = new(big.Int).And(b, big.NewInt(1))
	} else if b.Sign() > 0 {
		return starlark.MakeBigInt(a), nil
	}
	return starlark.MakeBigInt(new(big.Int).Exp(a, b, nil)), nil
}
