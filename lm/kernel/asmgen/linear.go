package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// reduce sums what body adds to sum over n floats and leaves the total in lane 0. Four
// chains of sums hide the latency of the additions; a vector lies disp bytes after the
// pointers. It advances ptrs and uses n up.
func (b *builder) reduce(n reg.GPVirtual, ptrs []reg.GPVirtual, body func(m *mask, disp int, sum reg.VecVirtual)) reg.VecVirtual {
	const chains = 4
	var sums []reg.VecVirtual
	for range chains {
		sums = append(sums, b.zero())
	}
	loop, rest := b.label("loop"), b.label("rest")
	b.op(x86.SUBQ(operand.U8(chains*b.lanes()), n))
	b.op(x86.JB(to(rest)))
	b.place(loop)
	for i, s := range sums {
		body(nil, i*b.bytes, s)
	}
	for _, p := range ptrs {
		b.op(x86.ADDQ(operand.I32(chains*b.bytes), p))
	}
	b.op(x86.SUBQ(operand.U8(chains*b.lanes()), n))
	b.op(x86.JAE(to(loop)))
	b.place(rest)
	b.op(x86.ADDQ(operand.U8(chains*b.lanes()), n))
	b.each(n, ptrs, func(m *mask) { body(m, 0, sums[0]) })
	b.add(sums[1], sums[0], sums[0])
	b.add(sums[3], sums[2], sums[2])
	b.add(sums[2], sums[0], sums[0])
	return b.fold(sums[0], b.add)
}

// dotOf is the sum of x[i]*y[i], in lane 0.
func (b *builder) dotOf(x, y, n reg.GPVirtual) reg.VecVirtual {
	return b.reduce(n, []reg.GPVirtual{x, y}, func(m *mask, disp int, sum reg.VecVirtual) {
		b.op(x86.VFMADD231PS(b.loadAt(x, disp, m), b.loadAt(y, disp, m), sum))
	})
}

func (b *builder) dot() {
	b.begin("dot"+b.name, "(x, y []float32) float32", "dot"+b.name+" is the sum of x[i]*y[i]; its twin is dotGo.")
	total := b.dotOf(b.base("x"), b.base("y"), b.length("x"))
	b.op(x86.VMOVSS(total.AsX(), b.address(b.fn.Signature.Results().At(0))))
	b.end()
}

// scale multiplies in place.
func (b *builder) scaleBy() {
	b.begin("scale"+b.name, "(alpha float32, x []float32)", "scale"+b.name+" multiplies x by alpha; its twin is scaleGo.")
	x, n, alpha := b.base("x"), b.length("x"), b.spread("alpha")
	b.each(n, []reg.GPVirtual{x}, func(m *mask) {
		v := b.load(x, m)
		b.op(x86.VMULPS(alpha, v, v))
		b.store(v, x, m)
	})
	b.end()
}

func (b *builder) axpy() {
	b.begin("axpy"+b.name, "(alpha float32, x, y []float32)", "axpy"+b.name+" adds alpha*x[i] to y[i]; its twin is axpyGo.")
	x, y, n := b.base("x"), b.base("y"), b.length("x")
	alpha := b.spread("alpha")
	b.each(n, []reg.GPVirtual{x, y}, func(m *mask) {
		v := b.load(y, m)
		b.op(x86.VFMADD231PS(b.load(x, m), alpha, v))
		b.store(v, y, m)
	})
	b.end()
}

// transpose turns eight rows into columns, eight by eight, for the packing of B.
func (b *builder) transpose() {
	b.begin("transpose8"+b.name, "(dst *float32, stride int, src *float32, ld, k int)",
		"transpose8"+b.name+" writes dst[p*stride+j] = src[j*ld+p] for j < 8 and p < k, k a multiple of 8;",
		"its twin is transpose8Go.")
	dst, stride := b.arg("dst"), b.stride("stride")
	src, ld, k := b.arg("src"), b.stride("ld"), b.arg("k")
	far, ld3, out, stride3 := b.GP64(), b.GP64(), b.GP64(), b.GP64()
	b.op(x86.LEAQ(operand.Mem{Base: src, Index: ld, Scale: 4}, far))
	b.op(x86.LEAQ(operand.Mem{Base: ld, Index: ld, Scale: 2}, ld3))
	b.op(x86.LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, stride3))
	at := func(i int, low, high, step, step3 reg.GPVirtual) operand.Mem {
		m := operand.Mem{Base: low}
		if i >= 4 {
			m.Base = high
		}
		switch i % 4 {
		case 1, 2:
			m.Index, m.Scale = step, uint8(i%4)
		case 3:
			m.Index, m.Scale = step3, 1
		}
		return m
	}
	loop, done := b.label("loop"), b.label("done")
	b.op(x86.SUBQ(operand.U8(8), k))
	b.op(x86.JB(to(done)))
	b.place(loop)
	var r, t, s [8]reg.VecVirtual
	for i := range r {
		r[i] = b.YMM()
		b.op(x86.VMOVUPS(at(i, src, far, ld, ld3), r[i]))
	}
	for i := 0; i < 8; i += 2 {
		t[i], t[i+1] = b.YMM(), b.YMM()
		b.op(x86.VUNPCKLPS(r[i+1], r[i], t[i]))
		b.op(x86.VUNPCKHPS(r[i+1], r[i], t[i+1]))
	}
	for i := range s {
		lo := i/4*4 + i%4/2 // pairs of t: (0,2), (1,3), (4,6), (5,7)
		s[i] = b.YMM()
		b.op(x86.VSHUFPS(operand.U8([]uint8{0x44, 0xee}[i%2]), t[lo+2], t[lo], s[i]))
	}
	b.op(x86.LEAQ(operand.Mem{Base: dst, Index: stride, Scale: 4}, out))
	for i := range 8 {
		v := b.YMM()
		b.op(x86.VPERM2F128(operand.U8([]uint8{0x20, 0x31}[i/4]), s[i%4+4], s[i%4], v))
		b.op(x86.VMOVUPS(v, at(i, dst, out, stride, stride3)))
	}
	b.op(x86.ADDQ(operand.U8(32), src))
	b.op(x86.ADDQ(operand.U8(32), far))
	b.op(x86.LEAQ(operand.Mem{Base: dst, Index: stride, Scale: 8}, dst))
	b.op(x86.SUBQ(operand.U8(8), k))
	b.op(x86.JAE(to(loop)))
	b.place(done)
	b.end()
}
