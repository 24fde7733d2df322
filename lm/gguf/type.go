package gguf

import (
	"fmt"
	"slices"
	"strings"
)

// Type is how a tensor's values are stored, by ggml's number.
type Type uint32

// The types that this package reads.
const (
	F32  Type = 0
	F16  Type = 1
	Q4_0 Type = 2
	Q4_1 Type = 3
	Q5_0 Type = 6
	Q5_1 Type = 7
	Q8_0 Type = 8
	Q4_K Type = 12
	Q5_K Type = 13
	Q6_K Type = 14
	BF16 Type = 30
)

// Types lists them.
func Types() []Type { return []Type{F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K} }

// typeNames are ggml's names of all types, for errors about those we do not read.
var typeNames = [...]string{
	"F32", "F16", "Q4_0", "Q4_1", "Q4_2", "Q4_3", "Q5_0", "Q5_1", "Q8_0", "Q8_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "Q8_K",
	"IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS", "I8", "I16", "I32", "I64", "F64", "IQ1_M", "BF16",
	"Q4_0_4_4", "Q4_0_4_8", "Q4_0_8_8", "TQ1_0", "TQ2_0", "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4", "NVFP4",
}

// String is ggml's name.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// check refuses types that are not read.
func (t Type) check() error {
	if slices.Contains(Types(), t) {
		return nil
	}
	var names []string
	for _, known := range Types() {
		names = append(names, known.String())
	}
	return fmt.Errorf("got %s, want one of %s", t, strings.Join(names, ", "))
}

// block gives the values in a block and its bytes; zero for types not read.
func (t Type) block() (values, bytes int) {
	switch t {
	case F32:
		return 1, 4
	case F16, BF16:
		return 1, 2
	case Q4_0:
		return 32, 2 + 16
	case Q4_1:
		return 32, 4 + 16
	case Q5_0:
		return 32, 2 + 4 + 16
	case Q5_1:
		return 32, 4 + 4 + 16
	case Q8_0:
		return 32, 2 + 32
	case Q4_K:
		return 256, 4 + 12 + 128
	case Q5_K:
		return 256, 4 + 12 + 32 + 128
	case Q6_K:
		return 256, 128 + 64 + 16 + 2
	}
	return 0, 0
}
