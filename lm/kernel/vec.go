package kernel

import "fmt"

// Dot is the sum of a[i]*b[i]. It panics if the lengths differ.
func Dot(a, b []float32) float32 { return best().Dot(a, b) }

// Axpy adds alpha*x to y. It panics if the lengths differ.
func Axpy(alpha float32, x, y []float32) { best().Axpy(alpha, x, y) }

// Exp stores e^src[i] in dst[i], within 2 units in the last place: 0 below about
// -104, +Inf above about 88.7, NaN for NaN. dst may be src. It panics if the lengths
// differ.
func Exp(dst, src []float32) { best().Exp(dst, src) }

// Softmax replaces x by e^x[i] / Σ e^x[j], subtracting the maximum first. Elements
// of -Inf become 0; if all are -Inf, or any is +Inf or NaN, all become NaN.
func Softmax(x []float32) { best().Softmax(x) }

// SiLUMul stores silu(gate[i])*up[i] in dst[i], where silu(g) = g/(1+e^-g): the
// gate of a SwiGLU layer. dst may be gate or up. It panics if the lengths differ.
func SiLUMul(dst, gate, up []float32) { best().SiLUMul(dst, gate, up) }

// Dot is the package's Dot in this variant.
func (ks *Kernels) Dot(a, b []float32) float32 {
	sameLen("Dot", "b", len(b), len(a))
	return ks.dot(a, b)
}

// Axpy is the package's Axpy in this variant.
func (ks *Kernels) Axpy(alpha float32, x, y []float32) {
	sameLen("Axpy", "y", len(y), len(x))
	ks.axpy(alpha, x, y)
}

// Exp is the package's Exp in this variant.
func (ks *Kernels) Exp(dst, src []float32) {
	sameLen("Exp", "dst", len(dst), len(src))
	ks.exp(dst, src)
}

// Softmax is the package's Softmax in this variant.
func (ks *Kernels) Softmax(x []float32) {
	if len(x) > 0 {
		ks.softmax(x)
	}
}

// SiLUMul is the package's SiLUMul in this variant.
func (ks *Kernels) SiLUMul(dst, gate, up []float32) {
	sameLen("SiLUMul", "dst", len(dst), len(gate))
	sameLen("SiLUMul", "up", len(up), len(gate))
	ks.siluMul(dst, gate, up)
}

func sameLen(op, name string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("kernel.%s: got len(%s) %d, want %d", op, name, got, want))
	}
}
