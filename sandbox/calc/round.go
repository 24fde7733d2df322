package calc

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"go.starlark.net/starlark"
)

// roundBuiltin is Python's round: halves go to the even neighbour, and the exact value of a float decides what a half is
// (2.675 is a little less than it looks, so it rounds to 2.67).
func roundBuiltin(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var number, digits starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "number", &number, "ndigits?", &digits); err != nil {
		return nil, err
	}
	n := 0
	whole := digits == nil || digits == starlark.None
	if !whole {
		i, ok := boolToInt(digits).(starlark.Int)
		if !ok {
			return nil, fmt.Errorf("round: ndigits: got %s, want int", digits.Type())
		}
		// Beyond these no float or integer of ours changes any more.
		n = maxBits
		if v, ok := i.Int64(); ok {
			n = int(max(-maxBits, min(maxBits, v)))
		} else if i.Sign() < 0 {
			n = -maxBits
		}
	}
	switch v := boolToInt(number).(type) {
	case starlark.Int:
		if whole || n >= 0 {
			return v, nil
		}
		size := words(bitLen(v))
		if err := m.integer(powCost(size)+divCost(2*size+1, size)+mulCost(size, size), bitLen(v)+4); err != nil {
			return nil, err
		}
		return starlark.MakeBigInt(roundInt(v.BigInt(), -n)), nil
	case starlark.Float:
		cost := uint64(floatText + 4)
		switch {
		case n < 0:
			cost = 100
		case n > 20:
			cost += 200
		}
		if err := m.spend(cost); err != nil {
			return nil, err
		}
		if whole {
			return floatToInt(math.RoundToEven(float64(v)))
		}
		return roundFloat(float64(v), n)
	}
	return nil, fmt.Errorf("round: got %s, want a number", number.Type())
}

func floatToInt(f float64) (starlark.Value, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("cannot convert float %s to integer", pyFloat(f))
	}
	i, _ := big.NewFloat(f).Int(nil)
	return starlark.MakeBigInt(i), nil
}

// roundInt rounds to a multiple of 10^n.
func roundInt(v *big.Int, n int) *big.Int {
	if 3*n > v.BitLen() { // 10^n is more than twice |v|
		return new(big.Int)
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
	q, r := new(big.Int).DivMod(v, unit, new(big.Int)) // r is not negative
	switch c := new(big.Int).Lsh(r, 1).Cmp(unit); {
	case c > 0, c == 0 && q.Bit(0) == 1:
		q.Add(q, big.NewInt(1))
	}
	return q.Mul(q, unit)
}

func roundFloat(f float64, n int) (starlark.Value, error) {
	switch {
	case math.IsInf(f, 0), math.IsNaN(f), n > 323, f == 0:
		return starlark.Float(f), nil
	case n < -308:
		return starlark.Float(math.Copysign(0, f)), nil
	case n >= 0:
		// strconv rounds the exact decimal value, halves to even.
		r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', n, 64), 64)
		if err != nil {
			return nil, errTooLarge
		}
		return starlark.Float(r), nil
	}
	i, r := new(big.Int), new(big.Rat).SetFloat64(f)
	if r == nil {
		return nil, errors.New("round: not a number")
	}
	// A fraction below the point only matters as being more than a half or not: keep it as one sticky digit.
	i.Quo(new(big.Int).Mul(r.Num(), big.NewInt(10)), r.Denom())
	if !r.IsInt() {
		if i.Sign() == 0 || new(big.Int).Rem(i, big.NewInt(10)).Sign() == 0 {
			i.Add(i, big.NewInt(int64(math.Copysign(1, f))))
		}
	}
	scaled := roundInt(i, -n+1)
	out, _ := new(big.Rat).SetFrac(scaled, big.NewInt(10)).Float64()
	if math.IsInf(out, 0) {
		return nil, errTooLarge
	}
	if out == 0 {
		out = math.Copysign(0, f)
	}
	return starlark.Float(out), nil
}
