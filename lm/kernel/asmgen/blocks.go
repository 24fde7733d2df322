package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// The micro-kernels of products whose B lies in blocks (kernel.BlockScores and
// kernel.BlockSums). They are those of gemm.go but for where they find B, and add in the
// same order.

const (
	blockRows  = 16 // kernel.BlockRows
	sliceBytes = 24 // of a slice's pointer, length and capacity
)

// blockName is the name of a micro-kernel whose tile is vecs vectors wide.
func (b *builder) blockName(kind string, rows, vecs int) string {
	return fmt.Sprintf("%s%dx%d%s", kind, rows, vecs*b.lanes(), b.name)
}

// addresses are those of up to six rows, from strides in registers.
func (b *builder) addresses(a reg.GPVirtual, rows int) []operand.Mem {
	at := []operand.Mem{{Base: a}}
	if rows == 1 {
		return at
	}
	rs := b.stride("rs")
	at = append(at, operand.Mem{Base: a, Index: rs, Scale: 1}, operand.Mem{Base: a, Index: rs, Scale: 2})
	if rows > 3 {
		rs3 := b.GP64()
		b.op(x86.LEAQ(operand.Mem{Base: rs, Index: rs, Scale: 2}, rs3))
		at = append(at, operand.Mem{Base: a, Index: rs3, Scale: 1}, operand.Mem{Base: a, Index: rs, Scale: 4})
	}
	if rows > 5 {
		rs5 := b.GP64()
		b.op(x86.LEAQ(operand.Mem{Base: rs, Index: rs, Scale: 4}, rs5))
		at = append(at, operand.Mem{Base: a, Index: rs5, Scale: 1})
	}
	return at[:rows]
}

func (b *builder) zeros(rows, vecs int) [][]reg.VecVirtual {
	sums := make([][]reg.VecVirtual, rows)
	for i := range sums {
		for range vecs {
			sums[i] = append(sums[i], b.zero())
		}
	}
	return sums
}

// multiply adds one step of k to the sums: a value of each row times vectors of B.
func (b *builder) multiply(sums [][]reg.VecVirtual, a, from []operand.Mem) {
	bv := make([]reg.VecVirtual, len(from))
	for v, m := range from {
		bv[v] = b.vec()
		b.op(x86.VMOVUPS(m, bv[v]))
	}
	for i, row := range sums {
		av := b.vec()
		b.op(x86.VBROADCASTSS(a[i], av))
		for v, s := range row {
			b.op(x86.VFMADD231PS(bv[v], av, s))
		}
	}
}

// blockScores writes the micro-kernel of rows by as many blocks as vecs says, each a
// vector wide: one block alone would wait for its own additions.
func (b *builder) blockScores(rows, vecs int) {
	name := b.blockName("scores", rows, vecs)
	b.begin(name, "(k int, a *float32, rs int, blocks *[]float32, at int, c *float32, ldc int, acc bool)",
		fmt.Sprintf("%s is the micro-kernel of BlockScores for %d rows and %d blocks.", name, rows, vecs))
	a, blocks, at, k := b.arg("a"), b.arg("blocks"), b.stride("at"), b.arg("k")
	rowAt := b.addresses(a, rows)
	var from []operand.Mem
	for v := range vecs {
		p := b.GP64()
		b.op(x86.MOVQ(operand.Mem{Base: blocks, Disp: v * sliceBytes}, p))
		from = append(from, operand.Mem{Base: p, Index: at, Scale: 1})
	}
	sums := b.zeros(rows, vecs)
	loop := b.label("loop")
	b.place(loop)
	b.multiply(sums, rowAt, from)
	b.op(x86.ADDQ(operand.U8(4), a))
	b.op(x86.ADDQ(operand.U8(4*blockRows), at))
	b.op(x86.DECQ(k))
	b.op(x86.JNZ(to(loop)))
	b.storeTile(sums)
	b.end()
}

// blockSums writes the micro-kernel of rows by vecs vectors that goes from block to block
// with its sums in registers.
func (b *builder) blockSums(rows, vecs int) {
	name := b.blockName("sums", rows, vecs)
	b.begin(name, "(k int, a *float32, rs int, blocks *[]float32, at, bs int, c *float32, ldc int, acc bool)",
		fmt.Sprintf("%s is the micro-kernel of BlockSums for %d rows and %d columns.", name, rows, vecs*b.lanes()))
	a, blocks, at, bs, k := b.arg("a"), b.arg("blocks"), b.stride("at"), b.stride("bs"), b.arg("k")
	rowAt := b.addresses(a, rows)
	sums := b.zeros(rows, vecs)
	block, loop := b.label("block"), b.label("loop")
	p, n := b.GP64(), b.GP64()
	b.place(block)
	b.op(x86.MOVQ(operand.Mem{Base: blocks}, p))
	b.op(x86.ADDQ(at, p))
	b.op(x86.ADDQ(operand.U8(sliceBytes), blocks))
	b.op(x86.MOVQ(operand.I32(blockRows), n))
	b.op(x86.CMPQ(k, n))
	b.op(x86.CMOVQLT(k, n))
	b.op(x86.SUBQ(n, k))
	b.place(loop)
	var from []operand.Mem
	for v := range vecs {
		from = append(from, operand.Mem{Base: p, Disp: v * b.bytes})
	}
	b.multiply(sums, rowAt, from)
	b.op(x86.ADDQ(operand.U8(4), a))
	b.op(x86.ADDQ(bs, p))
	b.op(x86.DECQ(n))
	b.op(x86.JNZ(to(loop)))
	b.op(x86.TESTQ(k, k))
	b.op(x86.JNZ(to(block)))
	b.storeTile(sums)
	b.end()
}

// blockKernels writes all of them. Where a block is two vectors wide the micro-kernels
// of gemm.go serve for its scores.
func (b *builder) blockKernels() {
	for rows := 1; rows <= b.rows; rows++ {
		for vecs := 1; vecs <= b.vecs; vecs++ {
			if b.lanes() == blockRows {
				b.blockScores(rows, vecs)
			}
			b.blockSums(rows, vecs)
		}
	}
}

// blockTables is the Go source that lists them.
func (b *builder) blockTables() string {
	if b.lanes() == blockRows {
		return b.listOf("blockScores", "scoresKernel", "scores", "blocks") + b.listOf("blockSums", "sumsKernel", "sums", "vectors")
	}
	return b.listOf("blockSums", "sumsKernel", "sums", "vectors")
}

func (b *builder) listOf(list, kernel, kind, width string) string {
	text := fmt.Sprintf("\n// %s%s lists the micro-kernels by rows and %s.\n", list, b.name, width)
	text += fmt.Sprintf("func %s%s() (t [maxRows + 1][maxVecs + 1]%s) {\n", list, b.name, kernel)
	for rows := 1; rows <= b.rows; rows++ {
		for vecs := 1; vecs <= b.vecs; vecs++ {
			text += fmt.Sprintf("\tt[%d][%d] = %s\n", rows, vecs, b.blockName(kind, rows, vecs))
		}
	}
	return text + "\treturn t\n}\n"
}
