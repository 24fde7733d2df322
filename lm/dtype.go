package lm

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nlpodyssey/safetensors"
)

// DType is the number format of a weights file. In memory weights are float32.
type DType int

// The formats that weights can be written in.
const (
	F32  DType = iota // exact: what is read back has the same bits
	BF16              // rounded to nearest even; half the size
)

func (d DType) String() string {
	switch d {
	case F32:
		return "F32"
	case BF16:
		return "BF16"
	}
	return fmt.Sprintf("DType(%d)", int(d))
}

// torch is PyTorch's name of the format.
func (d DType) torch() string {
	if d == BF16 {
		return "bfloat16"
	}
	return "float32"
}

func (d DType) check() error {
	if d != F32 && d != BF16 {
		return fmt.Errorf("weights format: got %v, want F32 or BF16", d)
	}
	return nil
}

// encodeTensor returns the little-endian bytes of xs.
func encodeTensor(xs []float32, d DType) []byte {
	if d == BF16 {
		out := make([]byte, 2*len(xs))
		for i, x := range xs {
			binary.LittleEndian.PutUint16(out[2*i:], bfloat16(x))
		}
		return out
	}
	out := make([]byte, 4*len(xs))
	for i, x := range xs {
		binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(x))
	}
	return out
}

// checkWritable reports the first value that d cannot hold.
func checkWritable(xs []float32, d DType) error {
	if d == BF16 {
		const tooLarge = 0x7f7f8000 // from here on rounding gives infinity
		for i, x := range xs {
			if math.Float32bits(x)&math.MaxInt32 >= tooLarge {
				return fmt.Errorf("value %d: got %g, want a finite number in bfloat16", i, x)
			}
		}
	}
	return checkFinite(xs)
}

// bfloat16 rounds to nearest even what checkWritable let through.
func bfloat16(x float32) uint16 {
	b := math.Float32bits(x)
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// float16 widens an IEEE half, exactly.
func float16(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp, frac := uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exp {
	case 0: // zero or subnormal: frac * 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(frac)*0x1p-24))
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// decodeTensor widens raw, which must hold len(dst) values of a readable type.
func decodeTensor(dst []float32, raw []byte, d safetensors.DType) {
	switch d {
	case safetensors.F32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
	case safetensors.BF16:
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw[2*i:])) << 16)
		}
	case safetensors.F16:
		for i := range dst {
			dst[i] = float16(binary.LittleEndian.Uint16(raw[2*i:]))
		}
	default:
		panic(fmt.Sprintf("lm: decode of weights of type %v", d))
	}
}

func checkReadable(d safetensors.DType) error {
	if d != safetensors.F32 && d != safetensors.F16 && d != safetensors.BF16 {
		return fmt.Errorf("got type %v, want F32, F16 or BF16", d)
	}
	return nil
}

func checkFinite(xs []float32) error {
	for i, x := range xs {
		if x-x != 0 { // NaN and both infinities
			return fmt.Errorf("value %d: got %g, want a finite number", i, x)
		}
	}
	return nil
}
