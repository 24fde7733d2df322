package calc

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

var errDomain = errors.New("math domain error")

var mathConstants = map[string]float64{
	"pi": math.Pi, "e": math.E, "tau": 2 * math.Pi, "inf": math.Inf(1), "nan": math.NaN(),
}

// floatFuncs take and return one float. A result that is no number for an argument that is one is a domain error, an
// infinite one for a finite argument is too large.
var floatFuncs = map[string]func(float64) float64{
	"sqrt": math.Sqrt, "cbrt": math.Cbrt, "exp": preciseExp, "expm1": math.Expm1, "log2": preciseLogBase(2), "log10": preciseLogBase(10),
	"log1p": math.Log1p, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
	"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "fabs": math.Abs,
	"degrees": func(x float64) float64 { return x * (180 / math.Pi) },
	"radians": func(x float64) float64 { return x * (math.Pi / 180) },
}

// floatCosts are those of the functions that take longer than a step or two.
var floatCosts = map[string]uint64{"exp": preciseCost, "log2": 2 * preciseCost, "log10": 2 * preciseCost}

var float2Funcs = map[string]func(x, y float64) float64{
	"atan2": math.Atan2, "fmod": math.Mod, "copysign": math.Copysign,
}

var otherMath = map[string]builtinFunc{
	"floor": rounding(math.Floor), "ceil": rounding(math.Ceil), "trunc": rounding(math.Trunc), "gcd": gcd, "lcm": lcm, "comb": comb,
	"perm": perm, "factorial": factorial, "isqrt": isqrt, "log": logBuiltin, "pow": floatPow, "prod": prod, "hypot": hypot,
	"isclose": isclose, "isnan": floatTest(math.IsNaN), "isinf": floatTest(func(f float64) bool { return math.IsInf(f, 0) }),
}

func mathNames() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(mathConstants)), maps.Keys(floatFuncs))
	names = slices.AppendSeq(slices.AppendSeq(names, maps.Keys(float2Funcs)), maps.Keys(otherMath))
	slices.Sort(names)
	return names
}

func (m *machine) mathModule() *starlarkstruct.Module {
	members := starlark.StringDict{}
	for name, v := range mathConstants {
		members[name] = starlark.Float(v)
	}
	for name, f := range floatFuncs {
		members[name] = m.builtin(name, floatFunc(f, floatCosts[name]))
	}
	for name, f := range float2Funcs {
		members[name] = m.builtin(name, float2Func(f))
	}
	for name, f := range otherMath {
		members[name] = m.builtin(name, f)
	}
	return &starlarkstruct.Module{Name: "math", Members: members}
}

// floats takes exactly n numbers.
func (m *machine) floats(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple, n int) ([]float64, error) {
	if len(args) != n || len(kwargs) > 0 {
		return nil, fmt.Errorf("%s: got %d arguments, want %d", b.Name(), len(args)+len(kwargs), n)
	}
	out := make([]float64, n)
	for i, a := range args {
		if err := m.chargeFloats(a, starlark.None); err != nil {
			return nil, err
		}
		f, err := toFloat(a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.Name(), err)
		}
		out[i] = f
	}
	return out, nil
}

func floatFunc(f func(float64) float64, cost uint64) builtinFunc {
	return func(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := m.spend(1 + cost); err != nil {
			return nil, err
		}
		x, err := m.floats(b, args, kwargs, 1)
		if err != nil {
			return nil, err
		}
		return checked(f(x[0]), x...)
	}
}

func float2Func(f func(x, y float64) float64) builtinFunc {
	return func(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		x, err := m.floats(b, args, kwargs, 2)
		if err != nil {
			return nil, err
		}
		return checked(f(x[0], x[1]), x...)
	}
}

// checked refuses a result that floats cannot hold.
func checked(y float64, xs ...float64) (starlark.Value, error) {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return starlark.Float(y), nil
		}
	}
	switch {
	case math.IsNaN(y), math.IsInf(y, -1) && len(xs) == 1 && xs[0] <= 0: // log of 0
		return nil, errDomain
	case math.IsInf(y, 0):
		return nil, errTooLarge
	}
	return starlark.Float(y), nil
}

func rounding(f func(float64) float64) builtinFunc {
	return func(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) == 1 {
			if i, ok := boolToInt(args[0]).(starlark.Int); ok {
				return i, nil
			}
		}
		x, err := m.floats(b, args, kwargs, 1)
		if err != nil {
			return nil, err
		}
		if err := m.spend(4); err != nil {
			return nil, err
		}
		return floatToInt(f(x[0]))
	}
}

func floatTest(f func(float64) bool) builtinFunc {
	return func(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		x, err := m.floats(b, args, kwargs, 1)
		if err != nil {
			return nil, err
		}
		return starlark.Bool(f(x[0])), nil
	}
}

// ints takes between low and high integers; high < 0 means any number.
func (m *machine) ints(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple, low, high int) ([]*big.Int, error) {
	if len(args) < low || high >= 0 && len(args) > high || len(kwargs) > 0 {
		return nil, fmt.Errorf("%s: got %d arguments, want %d", b.Name(), len(args)+len(kwargs), low)
	}
	out := make([]*big.Int, len(args))
	for i, a := range args {
		v, ok := boolToInt(a).(starlark.Int)
		if !ok {
			return nil, fmt.Errorf("%s: got %s, want int", b.Name(), a.Type())
		}
		if err := m.integer(1+linearCost(words(bitLen(v))), bitLen(v)); err != nil {
			return nil, err
		}
		out[i] = v.BigInt()
	}
	return out, nil
}

func gcd(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	xs, err := m.ints(b, args, kwargs, 0, -1)
	if err != nil {
		return nil, err
	}
	g := new(big.Int)
	for _, x := range xs {
		if err := m.spend(gcdCost(words(g.BitLen()), words(x.BitLen()))); err != nil {
			return nil, err
		}
		g.GCD(nil, nil, g, new(big.Int).Abs(x))
	}
	return starlark.MakeBigInt(g), nil
}

func lcm(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	xs, err := m.ints(b, args, kwargs, 0, -1)
	if err != nil {
		return nil, err
	}
	l := big.NewInt(1)
	for _, x := range xs {
		if x.Sign() == 0 {
			return starlark.MakeInt(0), nil
		}
		n, k := words(l.BitLen()), words(x.BitLen())
		if err := m.integer(gcdCost(n, k)+divCost(k, n)+divCost(k, 1)+mulCost(n, k), l.BitLen()+x.BitLen()); err != nil {
			return nil, err
		}
		abs := new(big.Int).Abs(x)
		g := new(big.Int).GCD(nil, nil, l, abs)
		l.Mul(l, abs.Quo(abs, g))
	}
	return starlark.MakeBigInt(l), nil
}

func factorial(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	xs, err := m.ints(b, args, kwargs, 1, 1)
	if err != nil {
		return nil, err
	}
	if xs[0].Sign() < 0 {
		return nil, errors.New("factorial: got a negative number")
	}
	return product(m, xs[0], xs[0])
}

func perm(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	xs, err := m.ints(b, args, kwargs, 1, 2)
	if err != nil {
		return nil, err
	}
	n, k := xs[0], xs[len(xs)-1]
	if n.Sign() < 0 || k.Sign() < 0 {
		return nil, errors.New("perm: got a negative number")
	}
	if k.Cmp(n) > 0 {
		return starlark.MakeInt(0), nil
	}
	return product(m, n, k)
}

// product is n·(n-1)·…, k factors, bounded.
func product(m *machine, n, k *big.Int) (starlark.Value, error) {
	const most = 20_000
	if !k.IsInt64() || k.Int64() > most || k.Int64()*int64(n.BitLen()) > 2*maxBits {
		return nil, errTooLarge
	}
	factors := uint64(k.Int64())
	size := min(int(factors)*n.BitLen(), maxBits)
	if err := m.integer(factors*(2+words(size)*words(n.BitLen())/128), size); err != nil {
		return nil, err
	}
	p := big.NewInt(1)
	f := new(big.Int).Set(n)
	for range k.Int64() {
		p.Mul(p, f)
		f.Sub(f, big.NewInt(1))
	}
	return starlark.MakeBigInt(p), nil
}

func comb(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	xs, err := m.ints(b, args, kwargs, 2, 2)
	if err != nil {
		return nil, err
	}
	n, k := xs[0], xs[1]
	if n.Sign() < 0 || k.Sign() < 0 {
		return nil, errors.New("comb: got a negative number")
	}
	rest := new(big.Int).Sub(n, k)
	if rest.Sign() < 0 {
		return starlark.MakeInt(0), nil
	}
	if rest.Cmp(k) < 0 {
		k = rest
	}
	above, err := product(m, n, k)
	if err != nil {
		return nil, err
	}
	below, err := product(m, k, k)
	if err != nil {
		return nil, err
	}
	return floorDiv(m, above, below)
}

func isqrt(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	xs, err := m.ints(b, args, kwargs, 1, 1)
	if err != nil {
		return nil, err
	}
	if xs[0].Sign() < 0 {
		return nil, errors.New("isqrt: got a negative number")
	}
	if err := m.spend(sqrtCost(words(xs[0].BitLen()))); err != nil {
		return nil, err
	}
	return starlark.MakeBigInt(new(big.Int).Sqrt(xs[0])), nil
}

func logBuiltin(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	x, err := m.floats(b, args, kwargs, max(1, min(2, len(args))))
	if err != nil {
		return nil, err
	}
	for _, v := range x {
		if v <= 0 {
			return nil, errDomain
		}
	}
	if err := m.spend(uint64(len(x)) * preciseCost); err != nil {
		return nil, err
	}
	if len(x) == 1 {
		return checked(preciseLog(x[0]), x...)
	}
	if x[1] == 1 {
		return nil, errZero
	}
	return checked(preciseLog(x[0])/preciseLog(x[1]), x...)
}

func floatPow(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	x, err := m.floats(b, args, kwargs, 2)
	if err != nil {
		return nil, err
	}
	if x[0] == 0 && x[1] < 0 {
		return nil, errDomain
	}
	if err := m.spend(powSteps(x[0], x[1])); err != nil {
		return nil, err
	}
	return checked(precisePow(x[0], x[1]), x...)
}

func prod(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var items starlark.Iterable
	var p starlark.Value = starlark.MakeInt(1)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "iterable", &items, "start?", &p); err != nil {
		return nil, err
	}
	for v := range starlark.Elements(items) {
		if err := m.spend(1); err != nil {
			return nil, err
		}
		if !isNumber(v) {
			return nil, fmt.Errorf("prod: got %s, want numbers", v.Type())
		}
		var err error
		if p, err = mul(m, p, v); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func hypot(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	x, err := m.floats(b, args, kwargs, len(args))
	if err != nil {
		return nil, err
	}
	if err := m.spend(uint64(len(x))); err != nil {
		return nil, err
	}
	h := 0.0
	for _, v := range x {
		h = math.Hypot(h, v)
	}
	return checked(h, x...)
}

func isclose(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var a, c starlark.Value
	var rel, abs starlark.Value = starlark.Float(1e-9), starlark.Float(0)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "a", &a, "b", &c, "rel_tol?", &rel, "abs_tol?", &abs); err != nil {
		return nil, err
	}
	x, err := m.floats(b, starlark.Tuple{a, c, rel, abs}, nil, 4)
	if err != nil {
		return nil, err
	}
	if x[0] == x[1] {
		return starlark.True, nil
	}
	if math.IsInf(x[0], 0) || math.IsInf(x[1], 0) {
		return starlark.False, nil
	}
	diff := math.Abs(x[0] - x[1])
	return starlark.Bool(diff <= math.Max(x[2]*math.Max(math.Abs(x[0]), math.Abs(x[1])), x[3])), nil
}
