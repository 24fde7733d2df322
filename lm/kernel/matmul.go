package kernel

import "fmt"

// Order says how the two factors of a product are stored, all row-major.
type Order int

// The orders, with what each computes in a layer y = x·Wᵀ.
const (
	NT Order = iota // A[m,k], B[n,k]: y = x·Wᵀ
	NN              // A[m,k], B[k,n]: dx = dy·W
	TN              // A[k,m], B[k,n]: dW = dyᵀ·x
)

func (o Order) String() string {
	switch o {
	case NT:
		return "NT"
	case NN:
		return "NN"
	case TN:
		return "TN"
	}
	return fmt.Sprintf("Order(%d)", int(o))
}

// MatMul sets C[m,n] to the product of A and B, or adds it if acc, sharing the work
// among p's goroutines. c must not overlap a or b. It panics if a slice is
// shorter than its matrix. See the package comment for what its bits depend on.
func MatMul(p *Pool, o Order, acc bool, c, a, b []float32, m, n, k int) {
	best().MatMul(p, o, acc, c, a, b, m, n, k)
}

// MatMulPacked sets C[m,n] to A[m,k]·Bᵀ, or adds it if acc, where b is B[n,k]
// packed. Its results have the same bits as MatMul's in order NT.
func MatMulPacked(p *Pool, acc bool, c, a []float32, m int, b *Packed) {
	b.ks.MatMulPacked(p, acc, c, a, m, b)
}

// MatMul is the package's MatMul in this variant.
func (ks *Kernels) MatMul(p *Pool, o Order, acc bool, c, a, b []float32, m, n, k int) {
	if o < NT || o > TN {
		panic(fmt.Sprintf("kernel.MatMul: got order %v, want NT, NN or TN", o))
	}
	checkProduct("MatMul", c, a, m, n, k)
	if len(b) < n*k {
		panic(fmt.Sprintf("kernel.MatMul: got len(b) %d, want at least n*k = %d", len(b), n*k))
	}
	g := gemm{ks: ks, acc: acc, c: c, a: a, m: m, n: n, k: k, rs: k, cs: 1}
	if o == TN {
		g.rs, g.cs = 1, m
	}
	if g.trivial() {
		return
	}
	if !g.worthSharing() {
		p = nil
	}
	if ks.readsInPlace(o, m, n) {
		g.b, g.bs = b, n
		g.run(p)
		return
	}
	buf := borrow(&packScratch, ks.packedLen(n, k))
	g.b = buf.floats
	packers := p
	if n*k < 1<<17 {
		packers = nil // some ten microseconds: less than it takes to gather the others
	}
	ks.packAll(packers, g.b, o, b, n, k)
	g.run(p)
	buf.giveBack()
}

// MatMulPacked is the package's MatMulPacked; b must be packed by this variant.
func (ks *Kernels) MatMulPacked(p *Pool, acc bool, c, a []float32, m int, b *Packed) {
	if b.ks != ks {
		panic(fmt.Sprintf("kernel.MatMulPacked: got b packed for %q, want %q", b.ks.name, ks.name))
	}
	checkProduct("MatMulPacked", c, a, m, b.n, b.k)
	g := gemm{ks: ks, acc: acc, c: c, a: a, b: b.data, m: m, n: b.n, k: b.k, rs: b.k, cs: 1}
	if g.trivial() {
		return
	}
	if !g.worthSharing() {
		p = nil
	}
	g.run(p)
}

// readsInPlace says whether a product leaves B unpacked. In orders NN and TN a row of
// B holds the values of one k side by side already; what a panel adds is that its rows are not
// far apart, so that it stays in the nearest cache. A few hundred rows of C do not repay that,
// nor a thousand where B is narrow. (Packed, 128×128×2048 in order TN took 1.1 times as long
// on one core and 1.15 to 1.35 times on two: packing needs all of B before the first tile, and
// each core then reads what the other has just written. 512×1024×1024 in order NN is 6% faster
// packed, 2048×128×512 1%. Packing a block's panels with the block was no faster than packing
// all first, except for 128×384×2048.)
func (ks *Kernels) readsInPlace(o Order, m, n int) bool {
	return o != NT && n%ks.vec == 0 && (m <= 48*ks.mr || m <= 1024 && n <= 512)
}

func checkProduct(op string, c, a []float32, m, n, k int) {
	if m < 0 || n < 0 || k < 0 {
		panic(fmt.Sprintf("kernel.%s: got m=%d n=%d k=%d, want no negative size", op, m, n, k))
	}
	if len(c) < m*n {
		panic(fmt.Sprintf("kernel.%s: got len(c) %d, want at least m*n = %d", op, len(c), m*n))
	}
	if len(a) < m*k {
		panic(fmt.Sprintf("kernel.%s: got len(a) %d, want at least m*k = %d", op, len(a), m*k))
	}
}

// gemm is one product under way: a[i*rs+p*cs] times b, which is packed if bs is 0
// and row-major with rows of bs floats otherwise.
type gemm struct {
	ks      *Kernels
	acc     bool
	c, a, b []float32
	m, n, k int
	rs, cs  int
	bs      int
}

// trivial deals with products that have no terms.
func (g *gemm) trivial() bool {
	if g.m == 0 || g.n == 0 {
		return true
	}
	if g.k == 0 {
		if !g.acc {
			clear(g.c[:g.m*g.n])
		}
		return true
	}
	return false
}

// worthSharing says whether waking other goroutines is repaid.
func (g *gemm) worthSharing() bool { return g.m*g.n*g.k >= g.ks.shareFrom }

// run cuts C into blocks of whole tiles and computes them on p.
func (g *gemm) run(p *Pool) {
	if p.Size() > 1 {
		g.share(p)
		return
	}
	rows, panels := g.blocks(1)
	for j := 0; j < g.ks.panels(g.n); j += panels {
		for i := 0; i < g.m; i += rows {
			g.block(i, min(i+rows, g.m), j, min(j+panels, g.ks.panels(g.n)))
		}
	}
}

// share is run on several goroutines. The copy of g that they see is the only one in the
// heap.
func (g gemm) share(p *Pool) {
	rows, panels := g.blocks(p.Size())
	rowBlocks := ceilDiv(g.m, rows)
	p.For(rowBlocks*ceilDiv(g.ks.panels(g.n), panels), func(t int) {
		i0, j0 := t%rowBlocks*rows, t/rowBlocks*panels
		g.block(i0, min(i0+rows, g.m), j0, min(j0+panels, g.ks.panels(g.n)))
	})
}

// blocks picks how many rows and panels of C one call of block computes: enough
// rows to reuse a panel of B from the nearest cache, and enough blocks to occupy
// size goroutines evenly.
func (g *gemm) blocks(size int) (rows, panels int) {
	rows, panels = 16*g.ks.mr, min(g.ks.panels(g.n), 8)
	if size == 1 {
		return rows, panels
	}
	count := func() int { return ceilDiv(g.m, rows) * ceilDiv(g.ks.panels(g.n), panels) }
	for panels > 1 && count() < 4*size {
		panels = ceilDiv(panels, 2)
	}
	for rows > g.ks.mr && count() < 2*size {
		rows = ceilDiv(rows/g.ks.mr, 2) * g.ks.mr
	}
	// As many blocks, but alike: 66 and 62 rows rather than 96 and 32.
	return ceilDiv(ceilDiv(g.m, g.ks.mr), ceilDiv(g.m, rows)) * g.ks.mr, panels
}

// block computes rows i0…i1 of the columns of panels j0…j1.
func (g *gemm) block(i0, i1, j0, j1 int) {
	ks := g.ks
	nr := ks.nr()
	s := borrow(&tileScratch, ks.mr*nr+g.packedALen(i1-i0, j1-j0))
	defer s.giveBack()
	edge, packed := s.floats[:ks.mr*nr], s.floats[ks.mr*nr:]
	for p0 := 0; p0 < g.k; p0 += ks.kc {
		kb := min(ks.kc, g.k-p0)
		acc := g.acc || p0 > 0
		a, rs, cs, tileStep := g.a[i0*g.rs+p0*g.cs:], g.rs, g.cs, ks.mr*g.rs
		if len(packed) > 0 {
			g.packA(packed, i0, i1, p0, kb)
			a, rs, cs, tileStep = packed, 1, i1-i0, ks.mr
		}
		for j := j0; j < j1; j++ {
			vecs := ks.panelVecs(g.n, j)
			b, bs := g.panel(p0, j, vecs)
			cols := min(g.n-j*nr, nr)
			for i, at := i0, 0; i < i1; i, at = i+ks.mr, at+tileStep {
				rows := min(ks.mr, i1-i)
				tile := ks.micro[rows][vecs]
				ct := g.c[i*g.n+j*nr:]
				if cols == vecs*ks.vec {
					tile(kb, &a[at], rs, cs, b, bs, &ct[0], g.n, acc)
					continue
				}
				// The tile is wider than what is left of C.
				tile(kb, &a[at], rs, cs, b, bs, &edge[0], nr, false)
				for r := range rows {
					store(ct[r*g.n:][:cols], edge[r*nr:][:cols], acc)
				}
			}
		}
	}
}

// panel is panel j of the block that begins at row p0, and the stride of its rows.
func (g *gemm) panel(p0, j, vecs int) (b *float32, bs int) {
	if g.bs > 0 {
		return &g.b[p0*g.bs+j*g.ks.nr()], g.bs
	}
	return &g.b[g.ks.panelAt(g.n, g.k, p0, j)], vecs * g.ks.vec
}

// packedALen is the size of the copy of A that block makes, 0 for none. Where A's rows
// lie as they are read there is no need. In order TN a tile's values of successive
// k are a row of A apart, often a power of two, which falls into few sets of the
// cache; a copy is repaid by four panels (measured: 129 against 92 GFLOP/s with AVX2
// at 1024³, but 240 against 257 with AVX-512 at 384×128×2048, which has two).
func (g *gemm) packedALen(rows, panels int) int {
	if g.cs == 1 || panels < 4 {
		return 0
	}
	return rows * min(g.ks.kc, g.k)
}

// packA copies rows i0…i1 and kb columns from p0 of A, as it is stored in order TN:
// [kb][i1-i0]. Laying each tile's values together costs more than it gains.
func (g *gemm) packA(dst []float32, i0, i1, p0, kb int) {
	rows := i1 - i0
	for p := range kb {
		copy(dst[p*rows:(p+1)*rows], g.a[(p0+p)*g.cs+i0:])
	}
}

func store(c, sum []float32, acc bool) {
	if !acc {
		copy(c, sum)
		return
	}
	for j, s := range sum {
		c[j] = s + c[j]
	}
}
