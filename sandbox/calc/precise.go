package calc

import (
	"math"
	"math/big"
)

// Powers, exponentials and logarithms are computed with workBits of precision and rounded once. The standard library's
// are off in the last digits often enough to show in printed results (1.05**10 among them), and differ between
// processors.
const workBits = 256

// ln2Digits is the natural logarithm of 2 to 90 digits.
const ln2Digits = "0.693147180559945309417232121458176568075500134360255254120680009493393621969694715605863326996"

func work() *big.Float { return new(big.Float).SetPrec(workBits) }

func bigOf(f float64) *big.Float { return work().SetFloat64(f) }

func ln2() *big.Float {
	v, _, err := big.ParseFloat(ln2Digits, 10, workBits, big.ToNearestEven)
	if err != nil {
		panic(err) // a constant
	}
	return v
}

func rounded(v *big.Float) float64 {
	f, _ := v.Float64()
	return f
}

// bigLog is the natural logarithm of a finite x > 0: with x = m·2^e and m near 1, e·ln 2 + 2·artanh((m-1)/(m+1)).
func bigLog(x float64) *big.Float {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = m*2, e-1
	}
	one := bigOf(1)
	z := work().Quo(work().Sub(bigOf(m), one), work().Add(bigOf(m), one)) // |z| < 0.172
	square := work().Mul(z, z)
	sum, power := work(), work().Set(z)
	for k := 1; power.Sign() != 0 && power.MantExp(nil) > -workBits-8; k += 2 {
		sum.Add(sum, work().Quo(power, bigOf(float64(k))))
		power.Mul(power, square)
	}
	sum.Add(sum, sum)
	return sum.Add(sum, work().Mul(ln2(), bigOf(float64(e))))
}

// bigExp is e^t for |t| below some thousands: a Taylor series of a small remainder, squared up again.
func bigExp(t *big.Float) *big.Float {
	const halvings = 8
	q, _ := work().Quo(t, ln2()).Float64()
	k := math.Round(q)
	r := work().Sub(t, work().Mul(ln2(), bigOf(k)))
	r.SetMantExp(r, -halvings)
	sum, term := bigOf(1), bigOf(1)
	for n := 1; n < 60 && term.Sign() != 0; n++ {
		term.Quo(term.Mul(term, r), bigOf(float64(n)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(k))
}

func preciseExp(x float64) float64 {
	if math.IsNaN(x) || math.Abs(x) > 800 { // infinite or zero
		return math.Exp(x)
	}
	return rounded(bigExp(bigOf(x)))
}

func preciseLog(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return math.Log(x)
	}
	return rounded(bigLog(x))
}

// preciseLogBase returns a function for the logarithm to a base.
func preciseLogBase(base float64) func(float64) float64 {
	return func(x float64) float64 {
		if !(x > 0) || math.IsInf(x, 0) {
			return math.Log(x)
		}
		return rounded(work().Quo(bigLog(x), bigLog(base)))
	}
}

// mostMultiplied is the largest power that is computed by multiplying.
const mostMultiplied = 1 << 16

// powSteps is the cost of precisePow.
func powSteps(x, y float64) uint64 {
	switch {
	case y == 0.5, math.IsNaN(y), math.IsInf(y, 0):
		return 2
	case y == math.Trunc(y) && math.Abs(y) <= mostMultiplied:
		return 4 + 4*uint64(math.Ilogb(math.Abs(y)+1))
	}
	return 2 * preciseCost
}

// precisePow is x**y. The special cases (zeros, infinities, no numbers) are those of the standard library, which follow C.
func precisePow(x, y float64) float64 {
	switch {
	case x == 0, x == 1, y == 0, math.IsNaN(x), math.IsNaN(y), math.IsInf(x, 0), math.IsInf(y, 0):
		return math.Pow(x, y)
	case x < 0 && y != math.Trunc(y):
		return math.NaN()
	}
	sign := 1.0
	if x < 0 && math.Mod(y, 2) != 0 {
		sign = -1
	}
	x = math.Abs(x)
	if size := y * math.Log2(x); size > 1100 {
		return math.Inf(int(sign))
	} else if size < -1200 {
		return math.Copysign(0, sign)
	}
	if y == 0.5 {
		return math.Sqrt(x) // which is rounded once, too
	}
	if y == math.Trunc(y) && math.Abs(y) <= mostMultiplied {
		return sign * rounded(intPower(x, y))
	}
	return sign * rounded(bigExp(work().Mul(bigOf(y), bigLog(x))))
}

// intPower multiplies; unlike the logarithm it is exact where the result is, which decides ties.
func intPower(x, y float64) *big.Float {
	result, base := bigOf(1), bigOf(x)
	for n := uint64(math.Abs(y)); n > 0; n >>= 1 {
		if n&1 == 1 {
			result.Mul(result, base)
		}
		base.Mul(base, base)
	}
	if y < 0 {
		return work().Quo(bigOf(1), result)
	}
	return result
}
