package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestExpIsClose(t *testing.T) {
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		var src []float32
		for x := float32(-105); x < 90; x += 1.0 / 512 {
			src = append(src, x, x*1e-3)
		}
		dst := make([]float32, len(src))
		ks.Exp(dst, src)
		var worst int64
		for i, x := range src {
			want := float32(math.Exp(float64(x)))
			d := ulps(dst[i], want)
			worst = max(worst, d)
			if d > 2 {
				t.Fatalf("exp(%v): got %v, want %v (%d ulp)", x, dst[i], want, d)
			}
		}
		t.Logf("worst error %d ulp", worst)
	})
}

func TestExpOfSpecialValues(t *testing.T) {
	inf := float32(math.Inf(1))
	src := []float32{0, float32(math.Copysign(0, -1)), -inf, -1e30, -200, -104, inf, 1e30, 88.73, 200, float32(math.NaN())}
	want := []float32{1, 1, 0, 0, 0, 0, inf, inf, inf, inf, float32(math.NaN())}
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		for shift := range 17 { // through the vector loop and through its rest
			x := append(make([]float32, shift), src...)
			ks.Exp(x, x)
			for i, w := range want {
				got := x[shift+i]
				if got != w && !(got != got && w != w) {
					t.Errorf("exp(%v) at %d: got %v, want %v", src[i], shift+i, got, w)
				}
			}
		}
	})
}

// Elementwise kernels give an element the same bits wherever it stands.
func TestElementwiseIgnoresPosition(t *testing.T) {
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(1, 100).Draw(t, "n")
			from := rapid.IntRange(0, n-1).Draw(t, "from")
			r := drawRand(t)
			x, y := noise(r, n), noise(r, n)
			ops := map[string]func(dst, x, y []float32){
				"Exp":     func(dst, x, _ []float32) { ks.Exp(dst, x) },
				"SiLUMul": ks.SiLUMul,
				"Axpy":    func(dst, x, y []float32) { copy(dst, y); ks.Axpy(1.7, x, dst) },
			}
			for name, op := range ops {
				whole, part := make([]float32, n), make([]float32, n-from)
				op(whole, x, y)
				op(part, x[from:], y[from:])
				if at, ok := sameBits(part, whole[from:]); !ok {
					t.Fatalf("%s of %d from %d differs at %d", name, n, from, at)
				}
			}
		})
	})
}

func TestVectorsMatchTheirTwins(t *testing.T) {
	near := func(t *rapid.T, what string, got, want, scale float64) {
		if e := math.Abs(got - want); !(e <= 2e-6*scale) {
			t.Fatalf("%s: got %v, want %v", what, got, want)
		}
	}
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.OneOf(rapid.IntRange(0, 200), rapid.SampledFrom([]int{512, 515, 1000})).Draw(t, "n")
			r := drawRand(t)
			// One float more than used on each side, to see what is written outside.
			x, y := noise(r, n+2), noise(r, n+2)
			in := func(v []float32) []float32 { return v[1 : n+1] }
			clone := func(v []float32) []float32 { return append([]float32(nil), v...) }

			var want, size float64
			for i := range n {
				term := float64(in(x)[i]) * float64(in(y)[i])
				want, size = want+term, size+math.Abs(term)
			}
			near(t, "Dot", float64(ks.Dot(in(x), in(y))), want, size)

			for name, ops := range map[string][2]func(v []float32){
				"Axpy":          {func(v []float32) { ks.Axpy(-0.3, in(x), v) }, func(v []float32) { axpyGo(-0.3, in(x), v) }},
				"Exp":           {func(v []float32) { ks.Exp(v, v) }, func(v []float32) { expGo(v, v) }},
				"Softmax":       {ks.Softmax, func(v []float32) { goKernels().Softmax(v) }},
				"SiLUMul":       {func(v []float32) { ks.SiLUMul(v, in(x), v) }, func(v []float32) { siluMulGo(v, in(x), v) }},
				"SiLUMul, gate": {func(v []float32) { ks.SiLUMul(v, v, in(x)) }, func(v []float32) { siluMulGo(v, v, in(x)) }},
			} {
				got, want := clone(y), clone(y)
				ops[0](in(got))
				ops[1](in(want))
				for i := range got {
					bound := math.Abs(float64(want[i])) + 1e-6
					if i == 0 || i == n+1 {
						bound = 0
					}
					if name == "Axpy" {
						bound += math.Abs(float64(y[i])) + math.Abs(float64(x[i]))
					}
					if i == 0 || i == n+1 {
						bound = 0
					}
					near(t, name, float64(got[i]), float64(want[i]), bound)
				}
			}
		})
	})
}

func TestSoftmax(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		r := rand.New(rand.NewPCG(3, 3))
		for n := 1; n < 70; n++ {
			x := noise(r, n)
			for i := range x {
				x[i] = x[i]*50 + 500 // overflows unless the maximum is subtracted
			}
			padded := append([]float32(nil), x...)
			for range n % 23 {
				padded = append(padded, -inf)
			}
			ks.Softmax(x)
			ks.Softmax(padded)
			var sum float64
			for _, v := range x {
				sum += float64(v)
			}
			if math.Abs(sum-1) > 1e-6 {
				t.Errorf("n=%d: sum %v, want 1", n, sum)
			}
			if at, ok := sameBits(padded[:n], x); !ok {
				t.Errorf("n=%d: elements of -Inf at the end change element %d", n, at)
			}
			for _, v := range padded[n:] {
				if v != 0 {
					t.Errorf("n=%d: got %v for -Inf, want 0", n, v)
				}
			}
			for name, bad := range map[string][]float32{"NaN": {nan}, "+Inf": {inf}, "only -Inf": {-inf}} {
				v := make([]float32, n)
				if name == "only -Inf" {
					for i := range v {
						v[i] = -inf
					}
				}
				v[r.IntN(n)] = bad[0]
				ks.Softmax(v)
				for i, got := range v {
					// A single +Inf or -Inf has no other element to leave finite.
					if !math.IsNaN(float64(got)) {
						t.Errorf("%s among %d: element %d is %v, want NaN", name, n, i, got)
					}
				}
			}
		}
		ks.Softmax(nil)
	})
}

func TestSiLUMulOfLargeValues(t *testing.T) {
	gate := []float32{0, 100, -100, -1000, 1000}
	up := []float32{3, 2, 2, 2, 2}
	want := []float32{0, 200, 0, 0, 2000}
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		got := make([]float32, len(gate))
		ks.SiLUMul(got, gate, up)
		for i := range want {
			if math.Abs(float64(got[i]-want[i])) > 1e-30 {
				t.Errorf("silu(%v)*%v: got %v, want %v", gate[i], up[i], got[i], want[i])
			}
		}
	})
}

func TestLengthsAreChecked(t *testing.T) {
	x, y := make([]float32, 3), make([]float32, 4)
	mustPanic(t, "kernel.Dot: got len(b) 4, want 3", func() { Dot(x, y) })
	mustPanic(t, "kernel.Axpy: got len(y) 3, want 4", func() { Axpy(1, y, x) })
	mustPanic(t, "kernel.Exp: got len(dst) 3, want 4", func() { Exp(x, y) })
	mustPanic(t, "kernel.SiLUMul: got len(up) 4, want 3", func() { SiLUMul(x, x, y) })
}
