package calc

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

var (
	errZero    = errors.New("division by zero")
	errNoFloat = errors.New("the integer is too large to convert to float")
)

// binary is the meaning of an operator. It charges m before it works.
type binary func(m *machine, x, y starlark.Value) (starlark.Value, error)

// operatorFuncs are the operators under the names that rewrite gives them, without the comparisons.
var operatorFuncs = map[string]binary{
	"__add__": add, "__iadd__": addInPlace, "__sub__": sub, "__mul__": mul, "__div__": div, "__floordiv__": floorDiv,
	"__mod__": mod, "__lshift__": shiftLeft, "__rshift__": shiftRight, powName: pow, "__and__": bitwise(syntax.AMP),
	"__or__": bitwise(syntax.PIPE), "__xor__": bitwise(syntax.CIRCUMFLEX), "__ior__": unite, "__in__": contains, "__notin__": containsNot,
	"__index__": index,
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

// twoInts gives both operands as integers, booleans included, and their sizes in bits.
func twoInts(x, y starlark.Value) (a, b starlark.Int, n, k int, ok bool) {
	if a, ok = boolToInt(x).(starlark.Int); !ok {
		return a, b, 0, 0, false
	}
	if b, ok = boolToInt(y).(starlark.Int); !ok {
		return a, b, 0, 0, false
	}
	return a, b, bitLen(a), bitLen(b), true
}

// chargeLinear is for operations on numbers that take time in proportion to their length.
func (m *machine) chargeLinear(x, y starlark.Value) error {
	if _, _, n, k, ok := twoInts(x, y); ok {
		return m.integer(linearCost(words(n)+words(k)), max(n, k)+1)
	}
	return m.chargeFloats(x, y)
}

// chargeFloats is for an integer that becomes a float.
func (m *machine) chargeFloats(x, y starlark.Value) error {
	for _, v := range [...]starlark.Value{x, y} {
		if i, ok := v.(starlark.Int); ok {
			if err := m.spend(linearCost(words(bitLen(i)))); err != nil {
				return err
			}
		}
	}
	return nil
}

func add(m *machine, x, y starlark.Value) (starlark.Value, error) {
	if isNumber(x) && isNumber(y) {
		if err := m.chargeLinear(x, y); err != nil {
			return nil, err
		}
		return starlark.Binary(syntax.PLUS, boolToInt(x), boolToInt(y))
	}
	n, k := max(0, starlark.Len(x)), max(0, starlark.Len(y))
	if n+k > maxElements {
		return nil, errTooLarge
	}
	if err := m.makeSequence(x, n+k); err != nil {
		return nil, err
	}
	v, err := starlark.Binary(syntax.PLUS, x, y)
	if err != nil {
		return nil, unknown("+", x, y)
	}
	return v, nil
}

// makeSequence charges for n elements of x's kind.
func (m *machine) makeSequence(x starlark.Value, n int) error {
	if _, isText := text(x); !isText {
		n *= sizePointer
	}
	return m.make(n + sizeBox/4)
}

// addInPlace is `+=`, which changes a list instead of making another.
func addInPlace(m *machine, x, y starlark.Value) (starlark.Value, error) {
	list, ok := x.(*starlark.List)
	if !ok {
		return add(m, x, y)
	}
	items, ok := y.(starlark.Iterable)
	if !ok {
		return nil, unknown("+=", x, y)
	}
	if err := extended(m, x, starlark.Tuple{y}); err != nil {
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

func sub(m *machine, x, y starlark.Value) (starlark.Value, error) {
	var err error
	if _, ok := x.(*starlark.Set); ok {
		err = combined(m, x, starlark.Tuple{y})
	} else {
		err = m.chargeLinear(x, y)
	}
	if err != nil {
		return nil, err
	}
	v, err := starlark.Binary(syntax.MINUS, boolToInt(x), boolToInt(y))
	if err != nil && !(isNumber(x) && isNumber(y)) {
		return nil, unknown("-", x, y)
	}
	return v, err
}

func mul(m *machine, x, y starlark.Value) (starlark.Value, error) {
	x, y = boolToInt(x), boolToInt(y)
	if a, b, n, k, ok := twoInts(x, y); ok {
		if err := m.integer(mulCost(words(n), words(k)), n+k); err != nil {
			return nil, err
		}
		return a.Mul(b), nil
	}
	if n, ok := x.(starlark.Int); ok {
		return mulSequence(m, y, n, x, y)
	}
	if n, ok := y.(starlark.Int); ok {
		return mulSequence(m, x, n, x, y)
	}
	v, err := starlark.Binary(syntax.STAR, x, y)
	if err != nil && !(isNumber(x) && isNumber(y)) {
		return nil, unknown("*", x, y)
	}
	return v, err
}

// mulSequence multiplies when one operand is an integer: with a float, or as a repetition of a sequence.
func mulSequence(m *machine, other starlark.Value, n starlark.Int, x, y starlark.Value) (starlark.Value, error) {
	if length := starlark.Len(other); length > 0 {
		times, ok := n.Int64()
		if n.Sign() > 0 && (!ok || times > int64(maxElements/length)) {
			return nil, errTooLarge
		}
		if n.Sign() < 0 {
			x, y, times = other, starlark.MakeInt(0), 0
		}
		if err := m.makeSequence(other, length*int(times)); err != nil {
			return nil, err
		}
	} else if err := m.chargeFloats(x, y); err != nil {
		return nil, err
	}
	v, err := starlark.Binary(syntax.STAR, x, y)
	if err != nil && !isNumber(other) {
		return nil, unknown("*", x, y)
	}
	return v, err
}

// bitwise is an operator on the bits of integers, or on sets (and `|` on dicts).
func bitwise(op syntax.Token) binary {
	return func(m *machine, x, y starlark.Value) (starlark.Value, error) {
		_, bool1 := x.(starlark.Bool)
		_, bool2 := y.(starlark.Bool)
		var err error
		switch x.(type) {
		case *starlark.Set, *starlark.Dict:
			err = combined(m, x, starlark.Tuple{y})
		default:
			err = m.chargeLinear(x, y)
		}
		if err != nil {
			return nil, err
		}
		v, err := starlark.Binary(op, boolToInt(x), boolToInt(y))
		if err != nil {
			return nil, unknown(op.String(), x, y)
		}
		if i, ok := v.(starlark.Int); ok && bool1 && bool2 {
			return starlark.Bool(i.Sign() != 0), nil
		}
		return v, nil
	}
}

// unite is `|=`, which changes a dict or set instead of making another.
func unite(m *machine, x, y starlark.Value) (starlark.Value, error) {
	switch x.(type) {
	case *starlark.Dict, *starlark.Set:
		if x.Type() != y.Type() {
			return nil, unknown("|=", x, y)
		}
		_, err := m.method(x, "update", starlark.Tuple{y}, nil)
		return x, err
	}
	return bitwise(syntax.PIPE)(m, x, y)
}

// div is true division. That of integers is rounded once, also where they are too large for a float.
func div(m *machine, x, y starlark.Value) (starlark.Value, error) {
	if !isNumber(x) || !isNumber(y) {
		return nil, unknown("/", x, y)
	}
	if _, _, n, k, ok := twoInts(x, y); ok {
		if err := m.integer(8+linearCost(words(n)+words(k)), 0); err != nil {
			return nil, err
		}
	} else if err := m.chargeFloats(x, y); err != nil {
		return nil, err
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
	q := quotient(a, b)
	if math.IsInf(q, 0) {
		return nil, errTooLarge
	}
	return starlark.Float(q), nil
}

// quotient is a/b rounded once: a quotient of more bits than a float has, whose last bit stands for all that follow. As in CPython
// the sign is that of both, also of zero: 0/-5 is -0.0.
func quotient(a, b *big.Int) float64 {
	const bits = 66
	shift := a.BitLen() - b.BitLen() - bits
	n, d := new(big.Int).Abs(a), new(big.Int).Abs(b)
	if shift > 0 {
		d.Lsh(d, uint(shift))
	} else {
		n.Lsh(n, uint(-shift))
	}
	q, rest := n.QuoRem(n, d, new(big.Int))
	if rest.Sign() != 0 {
		q.SetBit(q, 0, 1)
	}
	v := new(big.Float).SetInt(q)
	f, _ := v.SetMantExp(v, shift).Float64()
	if (a.Sign() < 0) != (b.Sign() < 0) {
		return math.Copysign(f, -1)
	}
	return f
}

func floorDiv(m *machine, x, y starlark.Value) (starlark.Value, error) {
	q, _, err := divMod(m, "//", x, y)
	return q, err
}

func mod(m *machine, x, y starlark.Value) (starlark.Value, error) {
	if _, ok := x.(starlark.String); ok {
		return nil, errors.New("formatting with % is not available: print the values instead, as in print(\"x =\", x), or use round")
	}
	_, r, err := divMod(m, "%", x, y)
	return r, err
}

// divMod is Python's divmod: the quotient rounded down, and a remainder with the sign of the divisor.
func divMod(m *machine, op string, x, y starlark.Value) (q, r starlark.Value, err error) {
	if !isNumber(x) || !isNumber(y) {
		return nil, nil, unknown(op, x, y)
	}
	if _, _, n, k, ok := twoInts(x, y); ok {
		err = m.integer(divCost(words(n), words(k)), max(n, k)+1)
	} else {
		err = m.chargeFloats(x, y)
	}
	if err != nil {
		return nil, nil, err
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

func shiftLeft(m *machine, x, y starlark.Value) (starlark.Value, error) {
	if err := m.chargeLinear(x, y); err != nil {
		return nil, err
	}
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
	if err := m.integer(linearCost(words(a.BitLen()+int(n))), a.BitLen()+int(n)); err != nil {
		return nil, err
	}
	return starlark.MakeBigInt(new(big.Int).Lsh(a, uint(n))), nil
}

func shiftRight(m *machine, x, y starlark.Value) (starlark.Value, error) {
	if err := m.chargeLinear(x, y); err != nil {
		return nil, err
	}
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

func unary(m *machine, op syntax.Token, x starlark.Value) (starlark.Value, error) {
	if err := m.chargeLinear(x, starlark.MakeInt(0)); err != nil {
		return nil, err
	}
	v, err := starlark.Unary(op, boolToInt(x))
	if err != nil {
		return nil, fmt.Errorf("unsupported operand type for %s: %s", op, x.Type())
	}
	return v, nil
}

// pow is `**`.
func pow(m *machine, x, y starlark.Value) (starlark.Value, error) {
	if !isNumber(x) || !isNumber(y) {
		return nil, unknown("**", x, y)
	}
	if err := m.chargeLinear(x, y); err != nil {
		return nil, err
	}
	if ints, a, b, _, _, _ := numbers(x, y); ints && b.Sign() >= 0 {
		return intPow(m, a, b)
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
	if err := m.spend(powSteps(f, g)); err != nil {
		return nil, err
	}
	p := precisePow(f, g)
	if math.IsInf(p, 0) && !math.IsInf(f, 0) && !math.IsInf(g, 0) {
		return nil, errTooLarge
	}
	return starlark.Float(p), nil
}

func intPow(m *machine, a, b *big.Int) (starlark.Value, error) {
	if a.BitLen() > 1 { // not -1, 0 or 1
		if !b.IsInt64() || b.Int64() > maxBits || (int64(a.BitLen())-1)*b.Int64() > maxBits {
			return nil, errTooLarge
		}
		n := a.BitLen() * int(b.Int64()) // up to twice the result
		if err := m.integer(powCost(words(n)), min(n, maxBits)); err != nil {
			return nil, err
		}
	} else if a.Sign() < 0 {
		b = new(big.Int).And(b, big.NewInt(1))
	} else if b.Sign() > 0 {
		return starlark.MakeBigInt(a), nil
	}
	return starlark.MakeBigInt(new(big.Int).Exp(a, b, nil)), nil
}
