package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// mask selects the lanes of a last, partial vector; nil selects all.
type mask struct {
	k reg.OpmaskVirtual // AVX-512
	v reg.VecVirtual    // AVX2: sign bits
}

// each runs body over n floats, a vector at a time, then once under a mask for those left
// over. It advances ptrs and uses n up. Since body is the same for both, an element's
// result does not depend on where it lies.
func (b *builder) each(n reg.GPVirtual, ptrs []reg.GPVirtual, body func(m *mask)) {
	loop, rest, done := b.label("loop"), b.label("rest"), b.label("done")
	b.op(x86.SUBQ(operand.U8(b.lanes()), n))
	b.op(x86.JB(to(rest)))
	b.place(loop)
	body(nil)
	for _, p := range ptrs {
		b.op(x86.ADDQ(operand.U8(b.bytes), p))
	}
	b.op(x86.SUBQ(operand.U8(b.lanes()), n))
	b.op(x86.JAE(to(loop)))
	b.place(rest)
	b.op(x86.ADDQ(operand.U8(b.lanes()), n))
	b.op(x86.JZ(to(done)))
	body(b.firstLanes(n))
	b.place(done)
}

// firstLanes is the mask of the first n lanes, 0 < n < lanes.
func (b *builder) firstLanes(n reg.GPVirtual) *mask {
	if b.masks {
		bits, k := b.GP64(), b.K()
		b.op(x86.MOVQ(operand.I32(1), bits))
		b.op(x86.MOVQ(n, reg.RCX))
		b.op(x86.SHLQ(reg.CL, bits))
		b.op(x86.DECQ(bits))
		b.op(x86.KMOVW(bits.As32(), k))
		return &mask{k: k}
	}
	words := make([]uint32, 2*b.lanes())
	for i := range b.lanes() {
		words[i] = 1<<32 - 1
	}
	at, v := b.GP64(), b.vec()
	b.op(x86.LEAQ(b.table("lanes", words).Offset(b.bytes), at))
	left := b.GP64()
	b.op(x86.MOVQ(n, left))
	b.op(x86.NEGQ(left))
	b.op(x86.VMOVUPS(operand.Mem{Base: at, Index: left, Scale: 4}, v))
	return &mask{v: v}
}

// load reads a vector, zero in the lanes not selected.
func (b *builder) load(p reg.GPVirtual, m *mask) reg.VecVirtual { return b.loadAt(p, 0, m) }

// loadAt is load from disp bytes after p.
func (b *builder) loadAt(p reg.GPVirtual, disp int, m *mask) reg.VecVirtual {
	v, from := b.vec(), operand.Mem{Base: p, Disp: disp}
	switch {
	case m == nil:
		b.op(x86.VMOVUPS(from, v))
	case b.masks:
		b.op(x86.VMOVUPS_Z(from, m.k, v))
	default:
		b.op(x86.VMASKMOVPS(from, m.v, v))
	}
	return v
}

// store writes the selected lanes.
func (b *builder) store(v reg.VecVirtual, p reg.GPVirtual, m *mask) {
	dst := operand.Mem{Base: p}
	switch {
	case m == nil:
		b.op(x86.VMOVUPS(v, dst))
	case b.masks:
		b.op(x86.VMOVUPS(v, m.k, dst))
	default:
		b.op(x86.VMASKMOVPS(v, m.v, dst))
	}
}

// keep zeroes the lanes of v that are not selected.
func (b *builder) keep(v reg.VecVirtual, m *mask) {
	switch {
	case m == nil:
	case b.masks:
		b.op(x86.VMOVAPS_Z(v, m.k, v))
	default:
		b.op(x86.VANDPS(m.v, v, v))
	}
}

// fold combines the lanes of v into lane 0 of the result, halving the width each time.
func (b *builder) fold(v reg.VecVirtual, combine func(x, y, dst operand.Op)) reg.VecVirtual {
	if b.masks {
		high := b.YMM()
		b.op(x86.VEXTRACTF64X4(operand.U8(1), v, high))
		low := b.YMM()
		combine(high, v.AsY(), low)
		v = low
	}
	high, low := b.XMM(), b.XMM()
	b.op(x86.VEXTRACTF128(operand.U8(1), v, high))
	combine(high, v.AsX(), low)
	for _, shuffle := range []uint8{0b_01_00_11_10, 0b_10_11_00_01} {
		high = b.XMM()
		b.op(x86.VSHUFPS(operand.U8(shuffle), low, low, high))
		combine(high, low, low)
	}
	return low
}

func (b *builder) add(x, y, dst operand.Op) { b.op(x86.VADDPS(x, y, dst)) }
func (b *builder) max(x, y, dst operand.Op) { b.op(x86.VMAXPS(x, y, dst)) }
