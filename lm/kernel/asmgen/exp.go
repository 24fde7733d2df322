package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// expOf computes e^x in place: x = n·ln2 + r with |r| ≤ ln2/2, a polynomial of degree 7
// for e^r (the coefficients of Cephes' expf), then a scaling by 2^n.
func (b *builder) expOf(x reg.VecVirtual) {
	// The bounds give n = 128 and -150, which scale to +Inf and 0. As the second source, a
	// NaN passes through both.
	b.op(x86.VMINPS(x, b.constant(89), x))
	b.op(x86.VMAXPS(x, b.constant(-104), x))
	n, p, rr := b.vec(), b.vec(), b.vec()
	b.op(x86.VMULPS(b.splat(math.Log2E), x, n))
	const nearestEven = 8
	if b.masks {
		b.op(x86.VRNDSCALEPS(operand.U8(nearestEven), n, n))
	} else {
		b.op(x86.VROUNDPS(operand.U8(nearestEven), n, n))
	}
	b.op(x86.VFNMADD231PS(b.splat(0.693359375), n, x)) // exact in n·hi
	b.op(x86.VFNMADD231PS(b.splat(-2.12194440e-4), n, x))
	b.op(x86.VMOVUPS(b.splat(1.9875691500e-4), p))
	for _, c := range []float32{1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1} {
		b.op(x86.VFMADD213PS(b.splat(c), x, p))
	}
	b.op(x86.VMULPS(x, x, rr))
	b.op(x86.VFMADD213PS(x, rr, p)) // p = p·r² + r
	b.op(x86.VADDPS(b.splat(1), p, p))
	if b.masks {
		b.op(x86.VSCALEFPS(n, p, x))
		return
	}
	b.scale(p, n, x)
}

// scale sets dst to p·2^n in two factors, so that results below the normal range
// and the step to +Inf come out right.
func (b *builder) scale(p, n, dst reg.VecVirtual) {
	whole, half := b.vec(), b.vec()
	b.op(x86.VCVTPS2DQ(n, whole))
	b.op(x86.VPSRAD(operand.U8(1), whole, half))
	b.op(x86.VPSUBD(half, whole, whole))
	for _, e := range []reg.VecVirtual{half, whole} {
		b.op(x86.VPADDD(b.splatBits(127), e, e))
		b.op(x86.VPSLLD(operand.U8(23), e, e))
		b.op(x86.VMULPS(e, p, p))
	}
	b.op(x86.VMOVAPS(p, dst))
}

// constant is a constant in a register, for an operand that cannot be in memory.
func (b *builder) constant(v float32) reg.VecVirtual {
	r := b.vec()
	b.op(x86.VMOVUPS(b.splat(v), r))
	return r
}

func (b *builder) exp() {
	b.begin("exp"+b.name, "(dst, src []float32)", "exp"+b.name+" stores e^src[i] in dst[i]; its twin is expGo.")
	src, dst, n := b.base("src"), b.base("dst"), b.length("src")
	b.each(n, []reg.GPVirtual{src, dst}, func(m *mask) {
		x := b.load(src, m)
		b.expOf(x)
		b.store(x, dst, m)
	})
	b.end()
}

func (b *builder) siluMul() {
	b.begin("siluMul"+b.name, "(dst, gate, up []float32)",
		"siluMul"+b.name+" stores silu(gate[i])*up[i] in dst[i]; its twin is siluMulGo.")
	dst, gate, up, n := b.base("dst"), b.base("gate"), b.base("up"), b.length("gate")
	b.each(n, []reg.GPVirtual{dst, gate, up}, func(m *mask) {
		g, u := b.load(gate, m), b.load(up, m)
		e := b.vec()
		b.op(x86.VSUBPS(g, b.zero(), e))
		b.expOf(e)
		b.op(x86.VADDPS(b.splat(1), e, e))
		b.op(x86.VDIVPS(e, g, e))
		b.op(x86.VMULPS(u, e, e))
		b.store(e, dst, m)
	})
	b.end()
}

// largest is the greatest of n floats in every lane. Which of the two is kept where one
// is NaN does not matter to its callers, whose sums will be NaN.
func (b *builder) largest(x, n reg.GPVirtual) reg.VecVirtual {
	top := b.vec()
	low := b.splat(float32(math.Inf(-1)))
	b.op(x86.VMOVUPS(low, top))
	b.each(n, []reg.GPVirtual{x}, func(m *mask) {
		v := b.load(x, m)
		switch {
		case m == nil:
			b.op(x86.VMAXPS(v, top, top))
		case b.masks:
			b.op(x86.VMAXPS(v, top, m.k, top))
		default:
			padded := b.vec()
			b.op(x86.VMOVUPS(low, padded))
			b.op(x86.VBLENDVPS(m.v, v, padded, v))
			b.op(x86.VMAXPS(v, top, top))
		}
	})
	most := b.vec()
	b.op(x86.VBROADCASTSS(b.fold(top, b.max).AsX(), most))
	return most
}

func (b *builder) softmax() {
	b.begin("softmax"+b.name, "(x []float32)", "softmax"+b.name+" is Softmax of at least one element; its twin is softmaxGo.")
	most := b.largest(b.base("x"), b.length("x"))

	// One vector of sums: element i falls into lane i mod lanes, so that zeros at the
	// end change nothing.
	sum := b.zero()
	x, n := b.base("x"), b.length("x")
	b.each(n, []reg.GPVirtual{x}, func(m *mask) {
		v := b.load(x, m)
		b.op(x86.VSUBPS(most, v, v))
		b.expOf(v)
		b.store(v, x, m)
		b.keep(v, m)
		b.op(x86.VADDPS(v, sum, sum))
	})
	total, inverse := b.vec(), b.vec()
	b.op(x86.VBROADCASTSS(b.fold(sum, b.add).AsX(), total))
	b.op(x86.VDIVPS(total, b.constant(1), inverse))
	x, n = b.base("x"), b.length("x")
	b.each(n, []reg.GPVirtual{x}, func(m *mask) {
		v := b.load(x, m)
		b.op(x86.VMULPS(inverse, v, v))
		b.store(v, x, m)
	})
	b.end()
}
