package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// The functions of a transformer's rows: norms, rotary positions, gates.

// scaleRow writes x*scale*weight to dst.
func (b *builder) scaleRow(dst, x, weight, n reg.GPVirtual, scale reg.VecVirtual) {
	b.each(n, []reg.GPVirtual{dst, x, weight}, func(m *mask) {
		v, w := b.load(x, m), b.load(weight, m)
		b.op(x86.VMULPS(scale, v, v))
		b.op(x86.VMULPS(w, v, v))
		b.store(v, dst, m)
	})
}

func (b *builder) scaleMul() {
	b.begin("scaleMul"+b.name, "(dst, x, weight []float32, scale float32)",
		"scaleMul"+b.name+" stores x[i]*scale*weight[i] in dst[i]; its twin is scaleMulGo.")
	b.scaleRow(b.base("dst"), b.base("x"), b.base("weight"), b.length("x"), b.spread("scale"))
	b.end()
}

// floatLen is the length of a slice parameter as a float in lane 0.
func (b *builder) floatLen(name string) reg.VecVirtual {
	v := b.XMM()
	b.op(x86.VXORPS(v, v, v))
	b.op(x86.VCVTSI2SSQ(b.length(name), v, v))
	return v
}

func (b *builder) rmsNorm() {
	b.begin("rmsNorm"+b.name, "(dst, x, weight []float32, eps float32) float32",
		"rmsNorm"+b.name+" is RMSNorm of at least one element; its twin is rmsNormGo.")
	sum := b.dotOf(b.base("x"), b.base("x"), b.length("x")).AsX()
	b.op(x86.VDIVSS(b.floatLen("x"), sum, sum))
	b.op(x86.VADDSS(b.address(b.fn.Signature.Params().Lookup("eps")), sum, sum))
	b.op(x86.VSQRTSS(sum, sum, sum))
	one := b.XMM()
	b.op(x86.VMOVSS(b.splat(1), one))
	b.op(x86.VDIVSS(sum, one, sum))
	b.op(x86.VMOVSS(sum, b.address(b.fn.Signature.Results().At(0))))
	scale := b.vec()
	b.op(x86.VBROADCASTSS(sum, scale))
	b.scaleRow(b.base("dst"), b.base("x"), b.base("weight"), b.length("x"), scale)
	b.end()
}

func (b *builder) rmsNormBackward() {
	b.begin("rmsNormBackward"+b.name, "(dx, dw, dy, x, weight []float32, scale float32)",
		"rmsNormBackward"+b.name+" is RMSNormBackward of at least one element; its twin is rmsNormBackwardGo.")
	dy, x, weight := b.base("dy"), b.base("x"), b.base("weight")
	total := b.reduce(b.length("x"), []reg.GPVirtual{dy, x, weight}, func(m *mask, disp int, sum reg.VecVirtual) {
		t := b.loadAt(dy, disp, m)
		b.op(x86.VMULPS(b.loadAt(weight, disp, m), t, t))
		b.op(x86.VFMADD231PS(b.loadAt(x, disp, m), t, sum))
	}).AsX()
	b.op(x86.VMULSS(b.address(b.fn.Signature.Params().Lookup("scale")), total, total))
	b.op(x86.VDIVSS(b.floatLen("x"), total, total))
	mean, scale := b.vec(), b.spread("scale")
	b.op(x86.VBROADCASTSS(total, mean))

	dy, x, weight = b.base("dy"), b.base("x"), b.base("weight")
	dx, dw := b.base("dx"), b.base("dw")
	b.each(b.length("x"), []reg.GPVirtual{dy, x, weight, dx, dw}, func(m *mask) {
		xhat, t, g := b.load(x, m), b.load(dy, m), b.load(dw, m)
		b.op(x86.VMULPS(scale, xhat, xhat))
		b.op(x86.VFMADD231PS(t, xhat, g))
		b.store(g, dw, m)
		b.op(x86.VMULPS(b.load(weight, m), t, t))
		b.op(x86.VFNMADD231PS(mean, xhat, t))
		v := b.load(dx, m)
		b.op(x86.VFMADD231PS(t, scale, v))
		b.store(v, dx, m)
	})
	b.end()
}

// rotate turns the first half of a head against its second half, by the angles or back.
func (b *builder) rotate(back bool) {
	name := "rotate"
	if back {
		name = "rotateBack"
	}
	b.begin(name+b.name, "(dst, src, cos, sin []float32, scale float32)",
		name+b.name+" rotates the halves of scale*src, each as long as cos; its twin is "+name+"Go.")
	n, scale := b.length("cos"), b.spread("scale")
	cos, sin := b.base("cos"), b.base("sin")
	lo, dlo := b.base("src"), b.base("dst")
	hi, dhi := b.GP64(), b.GP64()
	b.op(x86.LEAQ(operand.Mem{Base: lo, Index: n, Scale: 4}, hi))
	b.op(x86.LEAQ(operand.Mem{Base: dlo, Index: n, Scale: 4}, dhi))
	b.each(n, []reg.GPVirtual{cos, sin, lo, hi, dlo, dhi}, func(m *mask) {
		x, y, c, s := b.load(lo, m), b.load(hi, m), b.load(cos, m), b.load(sin, m)
		b.op(x86.VMULPS(scale, x, x))
		b.op(x86.VMULPS(scale, y, y))
		u, v := b.vec(), b.vec()
		b.op(x86.VMULPS(c, x, u))
		b.op(x86.VMULPS(c, y, v))
		if back {
			b.op(x86.VFMADD231PS(s, y, u))
			b.op(x86.VFNMADD231PS(s, x, v))
		} else {
			b.op(x86.VFNMADD231PS(s, y, u))
			b.op(x86.VFMADD231PS(s, x, v))
		}
		b.store(u, dlo, m)
		b.store(v, dhi, m)
	})
	b.end()
}

func (b *builder) swigluBackward() {
	b.begin("swigluBackward"+b.name, "(act, dgate, dup, dact, gate, up []float32)",
		"swigluBackward"+b.name+" is SwiGLUBackward; its twin is swigluBackwardGo.")
	act, dgate, dup := b.base("act"), b.base("dgate"), b.base("dup")
	dact, gate, up := b.base("dact"), b.base("gate"), b.base("up")
	b.each(b.length("gate"), []reg.GPVirtual{act, dgate, dup, dact, gate, up}, func(m *mask) {
		g, s, one := b.load(gate, m), b.vec(), b.constant(1)
		b.op(x86.VSUBPS(g, b.zero(), s))
		b.expOf(s)
		b.op(x86.VADDPS(one, s, s))
		b.op(x86.VDIVPS(s, one, s)) // sigmoid
		b.op(x86.VMULPS(s, g, g))   // silu
		u, d, v := b.load(up, m), b.load(dact, m), b.vec()
		b.op(x86.VMULPS(u, g, v))
		b.store(v, act, m)
		b.op(x86.VMULPS(g, d, v))
		b.store(v, dup, m)
		b.op(x86.VSUBPS(s, one, one))
		b.op(x86.VFMADD231PS(one, g, s))
		b.op(x86.VMULPS(u, d, d))
		b.op(x86.VMULPS(s, d, d))
		b.store(d, dgate, m)
	})
	b.end()
}

func (b *builder) softmaxBackward() {
	b.begin("softmaxBackward"+b.name, "(dp, p []float32)",
		"softmaxBackward"+b.name+" is SoftmaxBackward; its twin is softmaxBackwardGo.")
	mean := b.vec()
	b.op(x86.VBROADCASTSS(b.dotOf(b.base("dp"), b.base("p"), b.length("p")).AsX(), mean))
	dp, p := b.base("dp"), b.base("p")
	b.each(b.length("p"), []reg.GPVirtual{dp, p}, func(m *mask) {
		d := b.load(dp, m)
		b.op(x86.VSUBPS(mean, d, d))
		b.op(x86.VMULPS(b.load(p, m), d, d))
		b.store(d, dp, m)
	})
	b.end()
}
