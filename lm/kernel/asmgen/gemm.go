package main

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

const microSignature = "(k int, a *float32, rs, cs int, b *float32, bs int, c *float32, ldc int, acc bool)"

func (b *builder) microName(rows, vecs int) string {
	return fmt.Sprintf("gemm%dx%d%s", rows, vecs*b.lanes(), b.name)
}

// gemm writes the micro-kernel (kernel.microKernel) of one tile shape. The sums stay in
// registers; a step of k loads the vectors of B once and broadcasts one value of A a row.
func (b *builder) gemm(rows, vecs int) {
	b.begin(b.microName(rows, vecs), microSignature,
		fmt.Sprintf("%s is the micro-kernel of a tile of %d rows and %d columns.", b.microName(rows, vecs), rows, vecs*b.lanes()))
	a, cs := b.arg("a"), b.stride("cs")
	bp, bs := b.arg("b"), b.stride("bs")
	k := b.arg("k")

	var rs, rs3, rs5 reg.GPVirtual
	if rows > 1 {
		rs = b.stride("rs")
	}
	if rows > 3 {
		rs3 = b.GP64()
		b.op(x86.LEAQ(operand.Mem{Base: rs, Index: rs, Scale: 2}, rs3))
	}
	if rows > 5 {
		rs5 = b.GP64()
		b.op(x86.LEAQ(operand.Mem{Base: rs, Index: rs, Scale: 4}, rs5))
	}
	row := func(i int) operand.Mem {
		at := operand.Mem{Base: a}
		switch i {
		case 1, 2, 4:
			at.Index, at.Scale = rs, uint8(i)
		case 3:
			at.Index, at.Scale = rs3, 1
		case 5:
			at.Index, at.Scale = rs5, 1
		}
		return at
	}

	sums := make([][]reg.VecVirtual, rows)
	for i := range sums {
		for range vecs {
			sums[i] = append(sums[i], b.zero())
		}
	}
	loop, done := b.label("loop"), b.label("done")
	b.op(x86.TESTQ(k, k))
	b.op(x86.JZ(to(done)))
	b.place(loop)
	bv := make([]reg.VecVirtual, vecs)
	for v := range bv {
		bv[v] = b.vec()
		b.op(x86.VMOVUPS(operand.Mem{Base: bp, Disp: v * b.bytes}, bv[v]))
	}
	for i := range sums {
		av := b.vec()
		b.op(x86.VBROADCASTSS(row(i), av))
		for v, s := range sums[i] {
			b.op(x86.VFMADD231PS(bv[v], av, s))
		}
	}
	b.op(x86.ADDQ(cs, a))
	b.op(x86.ADDQ(bs, bp))
	b.op(x86.DECQ(k))
	b.op(x86.JNZ(to(loop)))
	b.place(done)
	b.storeTile(sums)
	b.end()
}

func (b *builder) storeTile(sums [][]reg.VecVirtual) {
	c := b.arg("c")
	var ldc reg.GPVirtual
	if len(sums) > 1 {
		ldc = b.stride("ldc")
	}
	acc := b.GP32()
	b.op(x86.MOVBLZX(b.address(b.fn.Signature.Params().Lookup("acc")), acc))
	plain := b.label("store")
	at := func(v int) operand.Mem { return operand.Mem{Base: c, Disp: v * b.bytes} }
	b.op(x86.TESTL(acc, acc))
	b.op(x86.JZ(to(plain)))
	cr := c
	if len(sums) > 1 {
		cr = b.GP64()
		b.op(x86.MOVQ(c, cr))
	}
	for i := range sums {
		for v, s := range sums[i] {
			b.op(x86.VADDPS(operand.Mem{Base: cr, Disp: v * b.bytes}, s, s))
		}
		if i+1 < len(sums) {
			b.op(x86.ADDQ(ldc, cr))
		}
	}
	b.place(plain)
	for i := range sums {
		for v, s := range sums[i] {
			b.op(x86.VMOVUPS(s, at(v)))
		}
		if i+1 < len(sums) {
			b.op(x86.ADDQ(ldc, c))
		}
	}
}

// microTable is the Go source that lists the micro-kernels by rows and vectors.
func (b *builder) microTable() []byte {
	var w strings.Builder
	fmt.Fprintf(&w, "\n// micro%s lists the micro-kernels by rows and vectors of their tiles.\n", b.name)
	fmt.Fprintf(&w, "func micro%s() (t [maxRows + 1][maxVecs + 1]microKernel) {\n", b.name)
	for rows := 1; rows <= b.rows; rows++ {
		for vecs := 1; vecs <= b.vecs; vecs++ {
			fmt.Fprintf(&w, "\tt[%d][%d] = %s\n", rows, vecs, b.microName(rows, vecs))
		}
	}
	w.WriteString("\treturn t\n}\n")
	return []byte(w.String())
}
