package gguf

import (
	"encoding/binary"
	"math"
)

// dequantize expands src, whole blocks of type t, to dst: one value each. Products and
// sums are rounded one by one (the conversions forbid fused instructions), so that
// the values are those of ggml's reference and of Python's gguf.quants, bit for bit.
func dequantize(t Type, dst []float32, src []byte) {
	switch t {
	case F32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	case F16:
		for i := range dst {
			dst[i] = half(src[2*i:])
		}
	case BF16:
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
		}
	default:
		values, bytes := t.block()
		expand := blockExpander(t)
		for len(dst) > 0 {
			expand(dst[:values], src[:bytes])
			dst, src = dst[values:], src[bytes:]
		}
	}
}

func blockExpander(t Type) func(dst []float32, src []byte) {
	switch t {
	case Q8_0:
		return expandQ8_0
	case Q4_0:
		return expandQ4_0
	case Q4_1:
		return expandQ4_1
	case Q5_0:
		return expandQ5_0
	case Q5_1:
		return expandQ5_1
	case Q4_K:
		return expandQ4_K
	case Q5_K:
		return expandQ5_K
	case Q6_K:
		return expandQ6_K
	}
	panic("gguf: dequantize of " + t.String()) // types are checked when a header is read
}

// half reads an IEEE 754 binary16 number.
func half(b []byte) float32 {
	h := uint32(binary.LittleEndian.Uint16(b))
	sign, exp, frac := h>>15<<31, h>>10&0x1F, h&0x3FF
	switch {
	case exp == 0x1F: // infinity, or a NaN that keeps its payload
		return math.Float32frombits(sign | 0xFF<<23 | frac<<13)
	case exp != 0:
		return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
	}
	f := float32(frac) / (1 << 24) // subnormal: exact
	return math.Float32frombits(sign | math.Float32bits(f))
}

// Blocks of 32: a scale d, in some a minimum m, the quants q. In 4-bit types byte j
// holds q[j] low and q[j+16] high; 5-bit types keep the fifth bits apart.

func expandQ8_0(dst []float32, src []byte) {
	d := half(src)
	q := src[2:34]
	dst = dst[:32]
	for i, b := range q {
		dst[i] = d * float32(int8(b))
	}
}

func expandQ4_0(dst []float32, src []byte) {
	d := half(src)
	lo, hi := dst[:16], dst[16:32]
	for i, b := range src[2:18] {
		lo[i] = d * float32(int32(b&15)-8)
		hi[i] = d * float32(int32(b>>4)-8)
	}
}

func expandQ4_1(dst []float32, src []byte) {
	d, m := half(src), half(src[2:])
	lo, hi := dst[:16], dst[16:32]
	for i, b := range src[4:20] {
		lo[i] = float32(d*float32(int32(b&15))) + m
		hi[i] = float32(d*float32(int32(b>>4))) + m
	}
}

func expandQ5_0(dst []float32, src []byte) {
	d := half(src)
	fifth := binary.LittleEndian.Uint32(src[2:])
	lo, hi := dst[:16], dst[16:32]
	for i, b := range src[6:22] {
		lo[i] = d * float32(int32(uint32(b&15)|fifth>>i<<4&16)-16)
		hi[i] = d * float32(int32(uint32(b>>4)|fifth>>(i+16)<<4&16)-16)
	}
}

func expandQ5_1(dst []float32, src []byte) {
	d, m := half(src), half(src[2:])
	fifth := binary.LittleEndian.Uint32(src[4:])
	lo, hi := dst[:16], dst[16:32]
	for i, b := range src[8:24] {
		lo[i] = float32(d*float32(int32(uint32(b&15)|fifth>>i<<4&16))) + m
		hi[i] = float32(d*float32(int32(uint32(b>>4)|fifth>>(i+16)<<4&16))) + m
	}
}
