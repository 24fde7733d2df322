package kernel

import "fmt"

// The functions of a transformer's rows and their gradients. A result depends on the
// values and lengths of the row alone.

// RMSNorm stores x * scale * weight in dst, which may be x, where
// scale = 1/sqrt(mean(x²) + eps), and returns scale (Zhang and Sennrich, 2019). It panics if
// the lengths differ.
func RMSNorm(dst, x, weight []float32, eps float32) float32 {
	return best().RMSNorm(dst, x, weight, eps)
}

// ScaleMul stores x * scale * weight in dst, which may be x: RMSNorm with its scale
// known, to the same bits. It panics if the lengths differ.
func ScaleMul(dst, x, weight []float32, scale float32) { best().ScaleMul(dst, x, weight, scale) }

// RMSNormBackward adds the gradient of x to dx and that of weight to dw, given dy and the
// scale that RMSNorm returned. It panics if the lengths differ.
//
//	dx = scale * (dy*w - x̂ * mean(dy*w*x̂)),  dw = dy * x̂,  x̂ = x * scale
func RMSNormBackward(dx, dw, dy, x, weight []float32, scale float32) {
	best().RMSNormBackward(dx, dw, dy, x, weight, scale)
}

// Rotate stores scale*src, its first half turned against its second by the angles of which
// cos and sin are given, in dst, which may be src: rotary positions in the layout of
// Hugging Face's rotate_half. It panics unless dst and src are twice as long as cos and sin.
func Rotate(dst, src, cos, sin []float32, scale float32) { best().Rotate(dst, src, cos, sin, scale) }

// RotateBack is Rotate by the opposite angles: its transpose, which takes the gradient of
// the rotated row to that of the row before.
func RotateBack(dst, src, cos, sin []float32, scale float32) {
	best().RotateBack(dst, src, cos, sin, scale)
}

// SwiGLUBackward stores act = silu(gate)*up, and from dact, its gradient, those of gate and
// up. It panics if the lengths differ. With s = 1/(1+e^-gate):
//
//	dgate = dact * up * s * (1 + gate*(1-s)),  dup = dact * gate * s
func SwiGLUBackward(act, dgate, dup, dact, gate, up []float32) {
	best().SwiGLUBackward(act, dgate, dup, dact, gate, up)
}

// SoftmaxBackward turns dp, the gradient of the probabilities p, into that of the scores:
// dp_i = p_i * (dp_i - Σ p_j dp_j). It panics if the lengths differ.
func SoftmaxBackward(dp, p []float32) { best().SoftmaxBackward(dp, p) }

// ExpSum stores e^(x - top) in dst, which may be x, and returns top, the largest x, and the
// sum of what it stored; log Σ e^x = top + log(sum). With a NaN or +Inf in x, or nothing but
// -Inf, the sum is NaN. It panics if x is empty or the lengths differ.
func ExpSum(dst, x []float32) (top float32, sum float64) { return best().ExpSum(dst, x) }

// Scale multiplies x by alpha.
func Scale(alpha float32, x []float32) { best().Scale(alpha, x) }

// AdamWStep holds the numbers of one step of AdamW (Loshchilov and Hutter, 2019).
type AdamWStep struct {
	Scale        float32 // what the gradients are multiplied by
	Beta1, Rest1 float32 // decay of the first moment, and 1 minus it
	Beta2, Rest2 float32
	Fix2         float32 // 1/(1-beta2^steps)
	Eps          float32
	Rate         float32 // learning rate / (1-beta1^steps)
	Keep         float32 // 1 - learning rate * weight decay
}

// AdamW updates the weights w and the moments m1 and m2 with gradients g, and zeroes g. It
// panics if the lengths differ. With g' = g*Scale:
//
//	m1 = Beta1*m1 + Rest1*g',  m2 = Beta2*m2 + Rest2*g'²
//	w = w*Keep - Rate*m1 / (sqrt(m2*Fix2) + Eps)
func AdamW(w, g, m1, m2 []float32, s AdamWStep) { best().AdamW(w, g, m1, m2, s) }

// Peak does rounds multiply-adds on every lane of as many registers as the largest tile
// of a product has, and returns how many floating-point operations that is. Benchmarks time
// it for the speed that no product can exceed.
func Peak(rounds int) (flops float64) { return best().Peak(rounds) }

// RMSNorm is the package's RMSNorm in this variant.
func (ks *Kernels) RMSNorm(dst, x, weight []float32, eps float32) float32 {
	sameLen("RMSNorm", "dst", len(dst), len(x))
	sameLen("RMSNorm", "weight", len(weight), len(x))
	if len(x) == 0 {
		return 0
	}
	return ks.rmsNorm(dst, x, weight, eps)
}

// ScaleMul is the package's ScaleMul in this variant.
func (ks *Kernels) ScaleMul(dst, x, weight []float32, scale float32) {
	sameLen("ScaleMul", "dst", len(dst), len(x))
	sameLen("ScaleMul", "weight", len(weight), len(x))
	ks.scaleMul(dst, x, weight, scale)
}

// RMSNormBackward is the package's RMSNormBackward in this variant.
func (ks *Kernels) RMSNormBackward(dx, dw, dy, x, weight []float32, scale float32) {
	sameLen("RMSNormBackward", "dx", len(dx), len(x))
	sameLen("RMSNormBackward", "dw", len(dw), len(x))
	sameLen("RMSNormBackward", "dy", len(dy), len(x))
	sameLen("RMSNormBackward", "weight", len(weight), len(x))
	if len(x) > 0 {
		ks.rmsNormBackward(dx, dw, dy, x, weight, scale)
	}
}

// Rotate is the package's Rotate in this variant.
func (ks *Kernels) Rotate(dst, src, cos, sin []float32, scale float32) {
	checkHalves("Rotate", dst, src, cos, sin)
	ks.rotate(dst, src, cos, sin, scale)
}

// RotateBack is the package's RotateBack in this variant.
func (ks *Kernels) RotateBack(dst, src, cos, sin []float32, scale float32) {
	checkHalves("RotateBack", dst, src, cos, sin)
	ks.rotateBack(dst, src, cos, sin, scale)
}

func checkHalves(op string, dst, src, cos, sin []float32) {
	sameLen(op, "dst", len(dst), 2*len(cos))
	sameLen(op, "src", len(src), 2*len(cos))
	sameLen(op, "sin", len(sin), len(cos))
}

// SwiGLUBackward is the package's SwiGLUBackward in this variant.
func (ks *Kernels) SwiGLUBackward(act, dgate, dup, dact, gate, up []float32) {
	sameLen("SwiGLUBackward", "act", len(act), len(gate))
	sameLen("SwiGLUBackward", "dgate", len(dgate), len(gate))
	sameLen("SwiGLUBackward", "dup", len(dup), len(gate))
	sameLen("SwiGLUBackward", "dact", len(dact), len(gate))
	sameLen("SwiGLUBackward", "up", len(up), len(gate))
	ks.swigluBackward(act, dgate, dup, dact, gate, up)
}

// SoftmaxBackward is the package's SoftmaxBackward in this variant.
func (ks *Kernels) SoftmaxBackward(dp, p []float32) {
	sameLen("SoftmaxBackward", "dp", len(dp), len(p))
	ks.softmaxBackward(dp, p)
}

// ExpSum is the package's ExpSum in this variant.
func (ks *Kernels) ExpSum(dst, x []float32) (top float32, sum float64) {
	sameLen("ExpSum", "dst", len(dst), len(x))
	if len(x) == 0 {
		panic("kernel.ExpSum: got len(x) 0, want at least 1")
	}
	return ks.expSum(dst, x)
}

// Scale is the package's Scale in this variant.
func (ks *Kernels) Scale(alpha float32, x []float32) { ks.scale(alpha, x) }

// AdamW is the package's AdamW in this variant.
func (ks *Kernels) AdamW(w, g, m1, m2 []float32, s AdamWStep) {
	sameLen("AdamW", "g", len(g), len(w))
	sameLen("AdamW", "m1", len(m1), len(w))
	sameLen("AdamW", "m2", len(m2), len(w))
	c := [...]float32{s.Scale, s.Beta1, s.Rest1, s.Beta2, s.Rest2, s.Fix2, s.Eps, s.Rate, s.Keep}
	ks.adamW(w, g, m1, m2, &c[0])
}

// Peak is the package's Peak in this variant.
func (ks *Kernels) Peak(rounds int) (flops float64) {
	if rounds < 1 {
		panic(fmt.Sprintf("kernel.Peak: got rounds %d, want at least 1", rounds))
	}
	ks.peak(rounds)
	return 2 * float64(rounds) * float64(ks.mr*ks.nr())
}
