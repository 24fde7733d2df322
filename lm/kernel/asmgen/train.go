package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// expSum sums in float64, since a vocabulary has up to some hundred thousand terms. Element
// i falls into the sum of lane i mod lanes.
func (b *builder) expSum() {
	b.begin("expSum"+b.name, "(dst, x []float32) (top float32, sum float64)",
		"expSum"+b.name+" is ExpSum of at least one element; its twin is expSumGo.")
	top := b.largest(b.base("x"), b.length("x"))
	b.op(x86.VMOVSS(top.AsX(), b.address(b.fn.Signature.Results().At(0))))
	low, high := b.zero(), b.zero()
	dst, x := b.base("dst"), b.base("x")
	b.each(b.length("x"), []reg.GPVirtual{dst, x}, func(m *mask) {
		v := b.load(x, m)
		b.op(x86.VSUBPS(top, v, v))
		b.expOf(v)
		b.store(v, dst, m)
		b.keep(v, m)
		d := b.vec()
		if b.masks {
			upper := b.YMM()
			b.op(x86.VEXTRACTF64X4(operand.U8(1), v, upper))
			b.op(x86.VCVTPS2PD(v.AsY(), d))
			b.op(x86.VADDPD(d, low, low))
			b.op(x86.VCVTPS2PD(upper, d))
		} else {
			upper := b.XMM()
			b.op(x86.VEXTRACTF128(operand.U8(1), v, upper))
			b.op(x86.VCVTPS2PD(v.AsX(), d))
			b.op(x86.VADDPD(d, low, low))
			b.op(x86.VCVTPS2PD(upper, d))
		}
		b.op(x86.VADDPD(d, high, high))
	})
	b.op(x86.VADDPD(high, low, low))
	if b.masks {
		upper := b.YMM()
		b.op(x86.VEXTRACTF64X4(operand.U8(1), low, upper))
		b.op(x86.VADDPD(upper, low.AsY(), low.AsY()))
	}
	upper := b.XMM()
	b.op(x86.VEXTRACTF128(operand.U8(1), low.AsY(), upper))
	b.op(x86.VADDPD(upper, low.AsX(), low.AsX()))
	b.op(x86.VUNPCKHPD(low.AsX(), low.AsX(), upper))
	b.op(x86.VADDSD(upper, low.AsX(), low.AsX()))
	b.op(x86.VMOVSD(low.AsX(), b.address(b.fn.Signature.Results().At(1))))
	b.end()
}

// adamW reads its constants in the order of kernel.AdamWStep's fields.
func (b *builder) adamW() {
	b.begin("adamW"+b.name, "(w, g, m1, m2 []float32, c *float32)", "adamW"+b.name+" is AdamW; its twin is adamWGo.")
	c := b.arg("c")
	var consts [9]reg.VecVirtual
	for i := range consts {
		consts[i] = b.vec()
		b.op(x86.VBROADCASTSS(operand.Mem{Base: c, Disp: 4 * i}, consts[i]))
	}
	scale, beta1, rest1, beta2, rest2 := consts[0], consts[1], consts[2], consts[3], consts[4]
	fix2, eps, rate, keep := consts[5], consts[6], consts[7], consts[8]
	w, g, m1, m2 := b.base("w"), b.base("g"), b.base("m1"), b.base("m2")
	b.each(b.length("w"), []reg.GPVirtual{w, g, m1, m2}, func(m *mask) {
		d, t := b.load(g, m), b.vec()
		b.op(x86.VMULPS(scale, d, d))
		first := b.load(m1, m)
		b.op(x86.VMULPS(beta1, first, first))
		b.op(x86.VFMADD231PS(d, rest1, first))
		b.store(first, m1, m)
		second := b.load(m2, m)
		b.op(x86.VMULPS(d, d, d))
		b.op(x86.VMULPS(beta2, second, second))
		b.op(x86.VFMADD231PS(d, rest2, second))
		b.store(second, m2, m)
		b.op(x86.VMULPS(fix2, second, second))
		b.op(x86.VSQRTPS(second, second))
		b.op(x86.VADDPS(eps, second, second))
		b.op(x86.VMULPS(rate, first, first))
		b.op(x86.VDIVPS(second, first, first))
		v := b.load(w, m)
		b.op(x86.VMULPS(keep, v, v))
		b.op(x86.VSUBPS(first, v, v))
		b.store(v, w, m)
		if b.masks {
			b.op(x86.VPXORD(t, t, t))
		} else {
			b.op(x86.VXORPS(t, t, t))
		}
		b.store(t, g, m)
	})
	b.end()
}

// peak keeps the multiply-add units busy with registers alone: as many independent chains
// as the largest tile of a product has.
func (b *builder) peak() {
	b.begin("peak"+b.name, "(rounds int)", "peak"+b.name+" does a multiply-add on every lane of "+
		"as many registers as the largest tile has, rounds times.")
	n := b.arg("rounds")
	x, y := b.zero(), b.zero()
	var sums []reg.VecVirtual
	for range b.rows * b.vecs {
		sums = append(sums, b.zero())
	}
	loop := b.label("loop")
	b.place(loop)
	for _, s := range sums {
		b.op(x86.VFMADD231PS(x, y, s))
	}
	b.op(x86.DECQ(n))
	b.op(x86.JNZ(to(loop)))
	b.end()
}
