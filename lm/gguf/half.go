package gguf

import "math"

// toBFloat16 rounds to nearest even; finite is false where that gives infinity.
func toBFloat16(x float32) (h uint16, finite bool) {
	b := math.Float32bits(x)
	h = uint16((b + 0x7fff + b>>16&1) >> 16)
	return h, h&0x7f80 != 0x7f80
}

// toFloat16 rounds to the nearest IEEE half, ties to even; finite is false where that gives infinity.
func toFloat16(x float32) (h uint16, finite bool) {
	b := math.Float32bits(x)
	sign, exp, frac := uint16(b>>16)&0x8000, int(b>>23&0xff)-127, b&0x7fffff
	switch {
	case exp > 15:
		return sign | 0x7c00, false
	case exp >= -14:
		// A carry of the rounding goes on into the exponent, as it should.
		h = uint16(exp+15)<<10 | uint16(frac>>13)
		h = nearest(h, frac&0x1fff, 0x1000)
		return sign | h, h < 0x7c00
	case exp >= -25: // subnormal: frac·2^(exp-23) in units of 2^-24
		frac |= 0x800000
		shift := uint(-exp - 1)
		h = nearest(uint16(frac>>shift), frac&(1<<shift-1), 1<<(shift-1))
		return sign | h, true
	}
	return sign, true
}

// nearest rounds h up where what was cut off is more than half, or half and h odd.
func nearest(h uint16, cut, half uint32) uint16 {
	if cut > half || cut == half && h&1 == 1 {
		h++
	}
	return h
}
