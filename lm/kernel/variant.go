package kernel

import (
	"fmt"
	"strings"
	"sync"
)

// Kernels is one variant of every kernel: the same operations computed with one
// instruction set. It is immutable and safe for use from several goroutines.
type Kernels struct {
	name string

	// The shape of a tile of C: up to mr rows and up to nv vectors of vec floats.
	mr, vec, nv int
	kc          int // k is summed in blocks of kc; part of what fixes the bits
	shareFrom   int // m*n*k of the least product that a pool shares: some 60 µs of work
	micro       [maxRows + 1][maxVecs + 1]microKernel
	blockScores [maxRows + 1][maxVecs + 1]scoresKernel // by rows and blocks
	blockSums   [maxRows + 1][maxVecs + 1]sumsKernel   // by rows and vectors

	// transpose writes dst[p*stride+j] = src[j*ld+p] for j < 8 and p < k, k a
	// multiple of 8.
	transpose func(dst *float32, stride int, src *float32, ld, k int)

	dot     func(a, b []float32) float32
	axpy    func(alpha float32, x, y []float32)
	exp     func(dst, src []float32)
	softmax func(x []float32)
	siluMul func(dst, gate, up []float32)

	scale           func(alpha float32, x []float32)
	scaleMul        func(dst, x, weight []float32, scale float32)
	rmsNorm         func(dst, x, weight []float32, eps float32) float32
	rmsNormBackward func(dx, dw, dy, x, weight []float32, scale float32)
	rotate          func(dst, src, cos, sin []float32, scale float32)
	rotateBack      func(dst, src, cos, sin []float32, scale float32)
	swigluBackward  func(act, dgate, dup, dact, gate, up []float32)
	softmaxBackward func(dp, p []float32)
	expSum          func(dst, x []float32) (top float32, sum float64)
	adamW           func(w, g, m1, m2 []float32, c *float32) // c points to the nine numbers of an AdamWStep
	peak            func(rounds int)
}

const (
	maxRows = 6
	maxVecs = 4
)

// A microKernel computes one tile of C over k steps: the sum over p < k of
// a[i*rs+p*cs] * b[p*bs+j], added to c[i*ldc+j] if acc and stored there
// otherwise. All strides count floats. Each element is one chain of additions in
// ascending p that starts from zero.
type microKernel func(k int, a *float32, rs, cs int, b *float32, bs int, c *float32, ldc int, acc bool)

func (ks *Kernels) nr() int { return ks.vec * ks.nv }

// Variant names this variant: "avx512", "avx2" or "go".
func (ks *Kernels) Variant() string { return ks.name }

// supported lists the variants that this process can run, best first.
var supported = sync.OnceValue(func() []*Kernels { return append(native(), goKernels()) })

func best() *Kernels { return supported()[0] }

// Variant names the variant that the package-level functions use in this process:
// "avx512", "avx2" or "go". It decides the last bits of every result.
func Variant() string { return best().name }

// Variants names every variant that this CPU can run, the one in use first and
// "go" last.
func Variants() []string {
	var names []string
	for _, ks := range supported() {
		names = append(names, ks.name)
	}
	return names
}

// ByName returns a variant, or an error if this CPU (or this build) lacks it.
func ByName(name string) (*Kernels, error) {
	for _, ks := range supported() {
		if ks.name == name {
			return ks, nil
		}
	}
	return nil, fmt.Errorf("kernel variant: got %q, want one of %s", name, strings.Join(Variants(), ", "))
}
