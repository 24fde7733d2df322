package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// product is one case: A and B as [m,k] and [n,k], whatever the order.
type product struct {
	m, n, k int
	a, b, c []float32 // c: what an accumulating product adds to
}

func drawProduct(t *rapid.T) product {
	size := rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(1, 70), rapid.SampledFrom([]int{64, 65, 128, 192}))
	p := product{m: size.Draw(t, "m"), n: size.Draw(t, "n"),
		k: rapid.OneOf(size, rapid.SampledFrom([]int{0, 127, 255, 256, 257, 400})).Draw(t, "k")}
	r := drawRand(t)
	p.a, p.b, p.c = noise(r, p.m*p.k), noise(r, p.n*p.k), noise(r, p.m*p.n)
	return p
}

// run computes the product in the given order and checks that nothing outside C
// was written.
func (p product) run(t interface{ Fatalf(string, ...any) }, ks *Kernels, pool *Pool, o Order, acc bool) []float32 {
	a, b := p.a, p.b
	if o == TN {
		a = transposed(a, p.m, p.k)
	}
	if o != NT {
		b = transposed(b, p.n, p.k)
	}
	guarded := p.guarded()
	ks.MatMul(pool, o, acc, guarded[guard:], a, b, p.m, p.n, p.k)
	return p.unguard(t, guarded)
}

func (p product) runPacked(t interface{ Fatalf(string, ...any) }, ks *Kernels, pool *Pool, acc bool) []float32 {
	guarded := p.guarded()
	ks.MatMulPacked(pool, acc, guarded[guard:], p.a, p.m, ks.PackNT(p.b, p.n, p.k))
	return p.unguard(t, guarded)
}

const (
	guard      = 80
	guardValue = 12345
)

func (p product) guarded() []float32 {
	g := make([]float32, len(p.c)+2*guard)
	for i := range g {
		g[i] = guardValue
	}
	copy(g[guard:], p.c)
	return g
}

func (p product) unguard(t interface{ Fatalf(string, ...any) }, g []float32) []float32 {
	end := guard + len(p.c)
	for i, v := range g {
		if (i < guard || i >= end) && v != guardValue {
			t.Fatalf("c[%d] of %d was written", i-guard, len(p.c))
		}
	}
	return g[guard:end]
}

// check compares with a sum in float64; the bound is the worst case of rounding.
func (p product) check(t interface{ Fatalf(string, ...any) }, what string, got []float32, acc bool) {
	for i := range p.m {
		for j := range p.n {
			var want, size float64
			if acc {
				want = float64(p.c[i*p.n+j])
				size = math.Abs(want)
			}
			for q := range p.k {
				term := float64(p.a[i*p.k+q]) * float64(p.b[j*p.k+q])
				want += term
				size += math.Abs(term)
			}
			if e := math.Abs(float64(got[i*p.n+j]) - want); !(e <= size*float64(p.k+2)*0x1p-24) {
				t.Fatalf("%s: c[%d,%d] of m=%d n=%d k=%d: got %v, want %v", what, i, j, p.m, p.n, p.k, got[i*p.n+j], want)
			}
		}
	}
}

func TestMatMulIsTheProduct(t *testing.T) {
	pool := NewPool(3)
	defer pool.Close()
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		ks = sharingAll(ks)
		rapid.Check(t, func(t *rapid.T) {
			p := drawProduct(t)
			acc := rapid.Bool().Draw(t, "acc")
			for _, o := range []Order{NT, NN, TN} {
				p.check(t, o.String(), p.run(t, ks, pool, o, acc), acc)
			}
			p.check(t, "packed", p.runPacked(t, ks, pool, acc), acc)
		})
	})
}

// One element has the same bits in every order, alone or among others, wherever its row
// and column stand, with any pool, packed before or not.
func TestElementDependsOnItsRowAndColumnAlone(t *testing.T) {
	pools := []*Pool{nil, NewPool(1), NewPool(2), NewPool(5)}
	for _, p := range pools {
		defer p.Close()
	}
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		ks = sharingAll(ks)
		rapid.Check(t, func(t *rapid.T) {
			p := drawProduct(t)
			acc := rapid.Bool().Draw(t, "acc")
			pool := rapid.SampledFrom(pools).Draw(t, "pool")
			whole := p.run(t, ks, nil, NT, acc)
			for _, o := range []Order{NT, NN, TN} {
				if at, ok := sameBits(p.run(t, ks, pool, o, acc), whole); !ok {
					t.Fatalf("order %v on %d goroutines differs from NT on one at %d", o, pool.Size(), at)
				}
			}
			if at, ok := sameBits(p.runPacked(t, ks, pool, acc), whole); !ok {
				t.Fatalf("packed differs from NT at %d", at)
			}
			// A smaller product of some rows and columns in another arrangement.
			rows := rapid.SliceOfN(rapid.IntRange(0, p.m-1), 1, 13).Draw(t, "rows")
			cols := rapid.SliceOfN(rapid.IntRange(0, p.n-1), 1, 40).Draw(t, "cols")
			part := product{m: len(rows), n: len(cols), k: p.k}
			var want []float32
			for _, i := range rows {
				part.a = append(part.a, p.a[i*p.k:(i+1)*p.k]...)
				for _, j := range cols {
					part.c = append(part.c, p.c[i*p.n+j])
					want = append(want, whole[i*p.n+j])
				}
			}
			for _, j := range cols {
				part.b = append(part.b, p.b[j*p.k:(j+1)*p.k]...)
			}
			o := rapid.SampledFrom([]Order{NT, NN, TN}).Draw(t, "order")
			if at, ok := sameBits(part.run(t, ks, pool, o, acc), want); !ok {
				t.Fatalf("order %v of rows %v and cols %v differs from the whole at %d", o, rows, cols, at)
			}
		})
	})
}

// sharingAll is ks, but sharing even the smallest product among a pool.
func sharingAll(ks *Kernels) *Kernels {
	all := *ks
	all.shareFrom = 0
	return &all
}

// The same guarantee at the sizes of a model, where work is shared and k is blocked.
func TestOneRowEqualsManyAtModelSizes(t *testing.T) {
	pool := NewPool(4)
	defer pool.Close()
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		ks = sharingAll(ks)
		for _, s := range [][3]int{{64, 515, 128}, {300, 384, 128}, {130, 128, 384}, {31, 96, 700}, {300, 576, 130}} {
			m, n, k := s[0], s[1], s[2]
			r := rand.New(rand.NewPCG(1, uint64(n)))
			a, b := noise(r, m*k), noise(r, n*k)
			many := make([]float32, m*n)
			ks.MatMul(pool, NT, false, many, a, b, m, n, k)
			p := product{m: m, n: n, k: k, a: a, b: b, c: make([]float32, m*n)}
			for _, o := range []Order{NN, TN} {
				for _, pool := range []*Pool{nil, pool} {
					if at, ok := sameBits(p.run(t, ks, pool, o, false), many); !ok {
						t.Fatalf("m=%d n=%d k=%d: order %v on %d goroutines differs from NT at %d", m, n, k, o, pool.Size(), at)
					}
				}
			}
			packed := ks.PackNT(b, n, k)
			for i := range m {
				one := make([]float32, n)
				ks.MatMulPacked(nil, false, one, a[i*k:(i+1)*k], 1, packed)
				if at, ok := sameBits(one, many[i*n:(i+1)*n]); !ok {
					t.Fatalf("m=%d n=%d k=%d: row %d alone differs at column %d", m, n, k, i, at)
				}
			}
		}
	})
}

// What stands in one row or column, NaN included, must not leak through padding.
func TestSpecialValuesStayInTheirRowAndColumn(t *testing.T) {
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		const m, n, k = 7, 19, 11
		r := rand.New(rand.NewPCG(2, 2))
		p := product{m: m, n: n, k: k, a: noise(r, m*k), b: noise(r, n*k), c: make([]float32, m*n)}
		p.a[3*k+5] = float32(math.NaN())
		p.b[17*k+2] = float32(math.Inf(1))
		for _, o := range []Order{NT, NN, TN} {
			c := p.run(t, ks, nil, o, false)
			for i := range m {
				for j := range n {
					finite := !math.IsNaN(float64(c[i*n+j])) && !math.IsInf(float64(c[i*n+j]), 0)
					if want := i != 3 && j != 17; finite != want {
						t.Fatalf("order %v: c[%d,%d] = %v, want finite: %v", o, i, j, c[i*n+j], want)
					}
				}
			}
		}
	})
}

func TestEmptyProducts(t *testing.T) {
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		c := []float32{1, 2, 3, 4}
		ks.MatMul(nil, NT, true, c, nil, nil, 2, 2, 0)
		if fmt.Sprint(c) != "[1 2 3 4]" {
			t.Errorf("adding an empty sum: got %v", c)
		}
		ks.MatMul(nil, NT, false, c, nil, nil, 2, 1, 0)
		if fmt.Sprint(c) != "[0 0 3 4]" {
			t.Errorf("setting to an empty sum: got %v", c)
		}
		ks.MatMul(nil, TN, false, nil, nil, []float32{1, 2}, 0, 2, 1)
		ks.MatMulPacked(nil, false, nil, []float32{1}, 1, ks.PackNT(nil, 0, 1))
	})
}

func TestShapesAreChecked(t *testing.T) {
	x := make([]float32, 6)
	mustPanic(t, "kernel.MatMul: got len(c) 6, want at least m*n = 8", func() { MatMul(nil, NT, false, x, x, x, 4, 2, 1) })
	mustPanic(t, "kernel.MatMul: got len(a) 6, want at least m*k = 8", func() { MatMul(nil, NT, false, x, x, x, 2, 1, 4) })
	mustPanic(t, "kernel.MatMul: got len(b) 6, want at least n*k = 8", func() { MatMul(nil, NT, false, x, x, x, 1, 2, 4) })
	mustPanic(t, "kernel.MatMul: got m=-1 n=1 k=1, want no negative size", func() { MatMul(nil, NT, false, x, x, x, -1, 1, 1) })
	mustPanic(t, "kernel.MatMul: got order Order(3), want NT, NN or TN", func() { MatMul(nil, 3, false, x, x, x, 1, 1, 1) })
	mustPanic(t, "kernel.PackNT: got len(b) 6, want at least n*k = 8", func() { PackNT(x, 2, 4) })
	goes, err := ByName("go")
	if err != nil {
		t.Fatal(err)
	}
	if other := best(); other != goes {
		want := fmt.Sprintf("kernel.MatMulPacked: got b packed for %q, want %q", "go", other.name)
		mustPanic(t, want, func() { other.MatMulPacked(nil, false, x, x, 1, goes.PackNT(x, 1, 1)) })
	}
}

func TestVariants(t *testing.T) {
	names := Variants()
	if names[0] != Variant() || names[len(names)-1] != "go" {
		t.Errorf("got %v with %q in use, want the one in use first and go last", names, Variant())
	}
	if _, err := ByName("sse"); err == nil {
		t.Error("got no error for an unknown variant")
	}
}
