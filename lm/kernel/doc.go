// Package kernel holds the arithmetic of the embedded language model: matrix
// products and the vector functions that a transformer spends its time in.
//
// # Tour
//
//   - [MatMul] multiplies row-major matrices in the three orders that training
//     needs ([NT] forward, [NN] and [TN] backward). [PackNT] lays a weight
//     matrix out once so that [MatMulPacked] can use it for many products.
//   - [BlockScores] and [BlockSums] are the products of attention over keys and values that
//     lie in blocks (blocks.go).
//   - [Dot], [Axpy], [Scale], [Exp], [Softmax] and [SiLUMul] work on vectors (vec.go).
//   - [RMSNorm], [Rotate], [ExpSum], their gradients and those of the softmax and the gate
//     work on a transformer's rows, [AdamW] on its parameters (rows.go).
//   - A [Pool] spreads a product over a fixed set of goroutines. A [Stopwatch] takes the
//     time in which its users compute.
//   - [Peak] is what benchmarks compare products with.
//   - A [Kernels] value is one variant of all of these: "avx512", "avx2" or "go".
//     The package-level functions use the first of [Variants]; tests reach
//     the others with [ByName].
//
// # How a product is computed
//
// B is cut into panels: blocks of up to kc rows of k and up to nr columns,
// stored so that the nr values of one k lie side by side (pack.go), unless they lie so
// already and storing them again is not repaid. C is cut
// into tiles of up to mr rows and one panel's columns (matmul.go). A micro-kernel
// computes one tile over one block of k, holding all of it in registers, and there
// is one micro-kernel for each tile shape, so that edges cost what they contain.
//
// # The bit guarantee
//
// Within one variant, c[i,j] is a function of row i of A and column j of B
// alone (and of the old c[i,j] when accumulating), to the last bit. It does not
// depend on m, n, the position of the row, the other rows, the pool, or whether B
// was packed before, or lies in blocks. A model can therefore be sampled one row at a
// time, in batches, or scored whole, and give the same numbers. What makes it so: every
// micro-kernel sums an element in one chain over k in ascending order; the cut of k
// into blocks is fixed for the variant; a block's sum is added to C by one
// addition; and padding only ever fills lanes whose results are dropped.
// Variants differ from each other in the last bits.
//
// [Exp], [SiLUMul], [SwiGLUBackward], [ScaleMul], [Scale], [Axpy] and [AdamW] treat each
// element alone, wherever it lies. The sums in [Dot], [Softmax] and the other row functions
// depend on the values and the length alone; trailing elements of -Inf do not change the
// other results of [Softmax].
//
// # Assembly
//
// The avx2_amd64 and avx512_amd64 files are written by the program in asmgen; each
// assembly function has a twin in plain Go, with which the tests compare it.
package kernel

//go:generate go run ./asmgen -out .
