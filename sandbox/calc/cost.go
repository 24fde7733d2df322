package calc

import (
	"math/bits"

	"go.starlark.net/starlark"
)

// The costs of integers beyond the machine's word, in steps, by their sizes in words of 64 bits. They follow what math/big
// does: schoolbook methods below 40 words, Karatsuba's above.

const (
	wordBits   = 64
	schoolbook = 40 // words
)

func words(bitLen int) uint64 { return uint64(bitLen+wordBits-1) / wordBits }

// bitLen is that of |i|, without a copy where i is small.
func bitLen(i starlark.Int) int {
	if v, ok := i.Int64(); ok {
		if v < 0 {
			v = -v // the least one stays, and its bits are right as unsigned ones
		}
		return bits.Len64(uint64(v))
	}
	return i.BigInt().BitLen()
}

func linearCost(n uint64) uint64 { return n / 16 }

func mulCost(a, b uint64) uint64 {
	low, high := min(a, b), max(a, b)
	if low == 0 {
		return 0
	}
	if low <= schoolbook {
		return low*high/48 + linearCost(a+b)
	}
	return (high+low-1)/low*squareCost(low) + linearCost(a+b)
}

func squareCost(n uint64) uint64 {
	factor := uint64(1)
	for n > schoolbook {
		n, factor = (n+1)/2, factor*3
	}
	return factor * n * n / 48
}

// divCost is that of quotient and remainder.
func divCost(a, b uint64) uint64 {
	if a < b || a <= 1 {
		return linearCost(a)
	}
	return 1 + 3*mulCost(a-b+1, b) + linearCost(a+b)
}

func powCost(result uint64) uint64 { return 3*squareCost(result/2+1) + linearCost(result) }

// modPowCost is that of a power with an exponent of so many bits.
func modPowCost(base, exponent, modulus uint64) uint64 {
	return divCost(base, modulus) + exponent*(1+modulus*modulus/12)
}

// gcdCost is Lehmer's algorithm, which is quadratic at all sizes.
func gcdCost(a, b uint64) uint64 {
	low := min(a, b)
	return divCost(max(a, b), low) + low + low*low/3
}

// digitsCost is that of writing or reading decimal digits.
func digitsCost(n uint64) uint64 { return n + n*n/24 }

func sqrtCost(n uint64) uint64 {
	return uint64(bits.Len64(n)+5) * (4 + divCost(n, n/2+1))
}

// The costs of what takes more than a few steps whatever the operands.
const (
	preciseCost = 300 // of an exponential or a logarithm with 256 bits
	floatText   = 6   // of writing a float
	mixedCost   = 40  // of comparing a large integer with a float
)

// integer charges for an operation on integers and for its result.
func (m *machine) integer(steps uint64, resultBits int) error {
	if resultBits > maxBits {
		return errTooLarge
	}
	if resultBits > 4*wordBits {
		if err := m.make(resultBits / 8); err != nil {
			return err
		}
		steps += words(resultBits) / 8 // of the copies that the interpreter makes of its operands
	}
	return m.spend(steps)
}
