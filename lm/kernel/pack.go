package kernel

import (
	"fmt"
	"unsafe"
)

// Packed is a weight matrix B[n,k] laid out for MatMulPacked: the same numbers
// in the order in which the micro-kernels read them. It belongs to the variant that
// packed it and does not change.
//
// Layout: k is cut into blocks of kc rows and n into panels of nr columns, the last panel
// as narrow as whole vectors allow, its missing columns zero. A block
// holds its panels one after another; a panel holds, for each k, the values of its
// columns.
type Packed struct {
	ks   *Kernels
	data []float32
	n, k int
}

// PackNT packs b, a row-major [n,k] matrix. It panics if b is shorter than n*k.
func PackNT(b []float32, n, k int) *Packed { return best().PackNT(b, n, k) }

// PackNT is the package's PackNT in this variant.
func (ks *Kernels) PackNT(b []float32, n, k int) *Packed {
	if n < 0 || k < 0 {
		panic(fmt.Sprintf("kernel.PackNT: got n=%d k=%d, want no negative size", n, k))
	}
	if len(b) < n*k {
		panic(fmt.Sprintf("kernel.PackNT: got len(b) %d, want at least n*k = %d", len(b), n*k))
	}
	pk := &Packed{ks: ks, n: n, k: k, data: aligned(ks.packedLen(n, k))}
	ks.packAll(nil, pk.data, NT, b, n, k)
	return pk
}

// Rows is n, the number of rows of the matrix as given: the columns of a product.
func (pk *Packed) Rows() int { return pk.n }

// Cols is k, the length that a product sums over.
func (pk *Packed) Cols() int { return pk.k }

func (ks *Kernels) panels(n int) int { return ceilDiv(n, ks.nr()) }

// panelVecs is the number of vectors that hold the columns of panel j.
func (ks *Kernels) panelVecs(n, j int) int {
	return ceilDiv(min(n-j*ks.nr(), ks.nr()), ks.vec)
}

func (ks *Kernels) packedLen(n, k int) int { return ceilDiv(n, ks.vec) * ks.vec * k }

// panelAt is where panel j of the block that begins at row p0 begins.
func (ks *Kernels) panelAt(n, k, p0, j int) int {
	kb := min(ks.kc, k-p0)
	return ceilDiv(n, ks.vec)*ks.vec*p0 + j*ks.nr()*kb
}

// packAll writes every panel, on p.
func (ks *Kernels) packAll(p *Pool, dst []float32, o Order, b []float32, n, k int) {
	if p.Size() > 1 {
		p.For(ks.panels(n), func(j int) { ks.packPanel(dst, o, b, n, k, j) })
		return
	}
	for j := range ks.panels(n) { // without a closure, which would be one allocation a product
		ks.packPanel(dst, o, b, n, k, j)
	}
}

// packPanel writes panel j of every block. b is [n,k] in order NT, else [k,n].
func (ks *Kernels) packPanel(dst []float32, o Order, b []float32, n, k, j int) {
	j0 := j * ks.nr()
	cols := min(n-j0, ks.nr())
	width := ks.panelVecs(n, j) * ks.vec
	for p0 := 0; p0 < k; p0 += ks.kc {
		kb := min(ks.kc, k-p0)
		at := ks.panelAt(n, k, p0, j)
		panel := dst[at : at+kb*width]
		if o == NT {
			ks.packTransposed(panel, b[j0*k+p0:], k, cols, kb, width)
			continue
		}
		for p := range kb {
			row := panel[p*width : (p+1)*width]
			clear(row[copy(row, b[(p0+p)*n+j0:][:cols]):])
		}
	}
}

// packTransposed writes panel[p*width+j] = src[j*ld+p] for j < cols and p < kb, and
// zero for the columns from cols to width.
func (ks *Kernels) packTransposed(panel, src []float32, ld, cols, kb, width int) {
	whole, wholeK := cols/8*8, kb/8*8
	if wholeK > 0 {
		for j := 0; j < whole; j += 8 {
			ks.transpose(&panel[j], width, &src[j*ld], ld, wholeK)
		}
	}
	for j := range cols {
		from := 0
		if j < whole {
			from = wholeK
		}
		row := src[j*ld:][:kb]
		for p := from; p < kb; p++ {
			panel[p*width+j] = row[p]
		}
	}
	if cols < width {
		for p := range kb {
			clear(panel[p*width+cols : (p+1)*width])
		}
	}
}

// transpose8Go is the twin of the transposition in assembly.
func transpose8Go(dst *float32, stride int, src *float32, ld, k int) {
	to, from := floatsAt(dst, 0, max(0, (k-1)*stride+8)), floatsAt(src, 0, 7*ld+k)
	for p := range k {
		for j, row := 0, to[p*stride:][:8]; j < 8; j++ {
			row[j] = from[j*ld+p]
		}
	}
}

// aligned allocates n floats that begin on a cache line, since a vector load across
// two lines costs twice. The heap does not move, so it stays so.
func aligned(n int) []float32 {
	const line = 64
	s := make([]float32, n+line/4-1)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(s)))&(line-1)) / 4
	return s[skip : skip+n : skip+n]
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
