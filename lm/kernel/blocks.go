package kernel

import (
	"fmt"
	"unsafe"
)

// Products with a matrix that lies in blocks, as a cache of keys and values keeps them:
// attention reads them where they are. (Copying them together first took longer than
// the products, where a step has one query.)

// BlockRows is the number of keys, or values, in a block.
const BlockRows = 16

// BlockScores sets C[m, len(blocks)*BlockRows] to A[m,k]·B[k, len(blocks)*BlockRows], where
// columns BlockRows*i and on lie in blocks[i], row-major [k, BlockRows] from float at on.
// The results have MatMul's bits. It panics if a slice is shorter than its matrix.
func BlockScores(c, a []float32, m, k int, blocks [][]float32, at int) {
	best().BlockScores(c, a, m, k, blocks, at)
}

// BlockSums sets C[m,n] to A[m,k]·B[k,n], where rows BlockRows*i and on of B lie in
// blocks[i], row-major [BlockRows, n] from float at on, and a row of A begins every
// len(blocks)*BlockRows floats. What lies behind the k-th is not read. The results have
// MatMul's bits. It panics if a slice is shorter than its matrix.
func BlockSums(c, a []float32, m, n, k int, blocks [][]float32, at int) {
	best().BlockSums(c, a, m, n, k, blocks, at)
}

// scoresKernel computes rows of C in as many blocks as its place in the table says, over
// k > 0 steps; rs, at and ldc count floats. Its sums are a microKernel's.
type scoresKernel func(k int, a *float32, rs int, blocks *[]float32, at int, c *float32, ldc int, acc bool)

// sumsKernel computes one tile of C over k > 0 rows of B, bs floats apart in their
// blocks, the first of which begins a block. Its sums are a microKernel's.
type sumsKernel func(k int, a *float32, rs int, blocks *[]float32, at, bs int, c *float32, ldc int, acc bool)

// BlockScores is the package's BlockScores in this variant.
func (ks *Kernels) BlockScores(c, a []float32, m, k int, blocks [][]float32, at int) {
	n := len(blocks) * BlockRows
	checkProduct("BlockScores", c, a, m, n, k)
	checkBlocks("BlockScores", blocks, at, k)
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		clear(c[:m*n])
		return
	}
	wide := max(1, ks.vec*ks.nv/BlockRows)
	for p0 := 0; p0 < k; p0 += ks.kc {
		kb := min(ks.kc, k-p0)
		for j := 0; j < len(blocks); j += wide {
			some := min(wide, len(blocks)-j)
			for i := 0; i < m; i += ks.mr {
				rows := min(ks.mr, m-i)
				ks.blockScores[rows][some](kb, &a[i*k+p0], k, &blocks[j], at+p0*BlockRows, &c[i*n+j*BlockRows], n, p0 > 0)
			}
		}
	}
}

// BlockSums is the package's BlockSums in this variant.
func (ks *Kernels) BlockSums(c, a []float32, m, n, k int, blocks [][]float32, at int) {
	room := len(blocks) * BlockRows
	if k < 0 || k > room || k <= room-BlockRows {
		panic(fmt.Sprintf("kernel.BlockSums: got k=%d and %d blocks, want %d blocks", k, len(blocks), ceilDiv(max(k, 0), BlockRows)))
	}
	checkProduct("BlockSums", c, a, m, n, room)
	checkBlocks("BlockSums", blocks, at, n)
	switch {
	case m == 0 || n == 0:
	case k == 0:
		clear(c[:m*n])
	case n%ks.vec != 0:
		ks.gatheredSums(c, a, m, n, k, blocks, at)
	default:
		ks.blockTiles(c, a, m, n, k, blocks, at)
	}
}

func (ks *Kernels) blockTiles(c, a []float32, m, n, k int, blocks [][]float32, at int) {
	room, nr := len(blocks)*BlockRows, ks.nr()
	for p0 := 0; p0 < k; p0 += ks.kc { // whole blocks
		kb := min(ks.kc, k-p0)
		for j := 0; j < n; j += nr {
			vecs := min(nr, n-j) / ks.vec
			for i := 0; i < m; i += ks.mr {
				rows := min(ks.mr, m-i)
				ks.blockSums[rows][vecs](kb, &a[i*room+p0], room, &blocks[p0/BlockRows], at+j, n, &c[i*n+j], n, p0 > 0)
			}
		}
	}
}

// gatheredSums is BlockSums where a row of B is not whole vectors.
func (ks *Kernels) gatheredSums(c, a []float32, m, n, k int, blocks [][]float32, at int) {
	room := len(blocks) * BlockRows
	s := borrow(&packScratch, room*(m+n))
	defer s.giveBack()
	b, rows := s.floats[:room*n], s.floats[room*n:]
	for i, bl := range blocks {
		copy(b[i*BlockRows*n:(i+1)*BlockRows*n], bl[at:])
	}
	for i := range m {
		copy(rows[i*k:(i+1)*k], a[i*room:])
	}
	ks.MatMul(nil, NN, false, c, rows, b, m, n, k)
}

// checkBlocks panics unless each block holds width*BlockRows floats from at on.
func checkBlocks(op string, blocks [][]float32, at, width int) {
	if at < 0 {
		panic(fmt.Sprintf("kernel.%s: got at=%d, want at least 0", op, at))
	}
	for i, b := range blocks {
		if len(b)-at < width*BlockRows {
			panic(fmt.Sprintf("kernel.%s: got len(blocks[%d]) %d, want at least %d", op, i, len(b), at+width*BlockRows))
		}
	}
}

// scoresByTile are scoresKernels of one block that use the variant's micro-kernels, for
// those whose tile is no wider than a block.
func scoresByTile(ks *Kernels) (t [maxRows + 1][maxVecs + 1]scoresKernel) {
	for rows := 1; rows <= ks.mr; rows++ {
		tile := ks.micro[rows][ks.nv]
		t[rows][1] = func(k int, a *float32, rs int, blocks *[]float32, at int, c *float32, ldc int, acc bool) {
			b, to := (*blocks)[at:], floatsAt(c, 0, BlockRows)
			for j := 0; j < BlockRows; j += ks.nr() {
				tile(k, a, rs, 1, &b[j], BlockRows, &to[j], ldc, acc)
			}
		}
	}
	return t
}

// blockSumsGo are the twins of every sumsKernel with tiles up to mr rows by nv vectors.
func blockSumsGo(mr, vec, nv int) (t [maxRows + 1][maxVecs + 1]sumsKernel) {
	for rows := 1; rows <= mr; rows++ {
		for vecs := 1; vecs <= nv; vecs++ {
			t[rows][vecs] = sumsGo(rows, vecs*vec)
		}
	}
	return t
}

func sumsGo(rows, width int) sumsKernel {
	return func(k int, a *float32, rs int, blocks *[]float32, at, bs int, c *float32, ldc int, acc bool) {
		list := unsafe.Slice(blocks, ceilDiv(k, BlockRows))
		for i := range rows {
			var sums [maxVecs * BlockRows]float32
			for p, x := range floatsAt(a, i*rs, k) {
				for j, y := range list[p/BlockRows][at+p%BlockRows*bs:][:width] {
					sums[j] += float32(x * y) // the conversion forbids fusing
				}
			}
			store(floatsAt(c, i*ldc, width), sums[:width], acc)
		}
	}
}
