package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// rowOp is a row function over slices of n floats, some of them outputs.
type rowOp struct {
	name string
	f    func(ks *Kernels, n int, v [][]float32)
	// scale bounds what the sums inside may differ by: a multiple of the element's own size.
	tol float64
}

func rowOps() []rowOp {
	return []rowOp{
		{"RMSNorm", func(ks *Kernels, _ int, v [][]float32) { v[3][0] = ks.RMSNorm(v[0], v[1], v[2], 1e-5) }, 1e-5},
		{"ScaleMul", func(ks *Kernels, _ int, v [][]float32) { ks.ScaleMul(v[0], v[1], v[2], 0.7) }, 1e-6},
		{"RMSNormBackward", func(ks *Kernels, _ int, v [][]float32) { ks.RMSNormBackward(v[0], v[1], v[2], v[3], v[4], 0.8) }, 2e-5},
		{"Rotate", func(ks *Kernels, n int, v [][]float32) {
			h := n / 2
			ks.Rotate(v[0][:2*h], v[1][:2*h], v[2][:h], v[3][:h], 0.3)
		}, 1e-5},
		{"RotateBack in place", func(ks *Kernels, n int, v [][]float32) {
			h := n / 2
			ks.RotateBack(v[0][:2*h], v[0][:2*h], v[2][:h], v[3][:h], 0.3)
		}, 1e-5},
		{"SwiGLUBackward", func(ks *Kernels, _ int, v [][]float32) { ks.SwiGLUBackward(v[0], v[1], v[2], v[3], v[4], v[5]) }, 1e-5},
		{"SoftmaxBackward", func(ks *Kernels, _ int, v [][]float32) { ks.SoftmaxBackward(v[0], v[1]) }, 2e-4},
		{"ExpSum", func(ks *Kernels, _ int, v [][]float32) {
			top, sum := ks.ExpSum(v[0], v[1])
			v[2][0], v[3][0] = top, float32(sum)
		}, 1e-6},
		{"Scale", func(ks *Kernels, _ int, v [][]float32) { ks.Scale(-1.3, v[0]) }, 0},
		{"AdamW", func(ks *Kernels, _ int, v [][]float32) {
			for i, x := range v[3] {
				v[3][i] = max(x, -x) // second moments are not negative
			}
			ks.AdamW(v[0], v[1], v[2], v[3], AdamWStep{0.5, 0.9, 0.1, 0.95, 0.05, 1.7, 1e-3, 0.01, 0.999})
		}, 1e-5},
	}
}

// slices6 draws six slices of n floats, with one more on each side to see what is written
// outside.
func slices6(r *rand.Rand, n int) (all, in [][]float32) {
	for range 6 {
		x := noise(r, n+2)
		all, in = append(all, x), append(in, x[1:n+1:n+1])
	}
	return all, in
}

func TestRowsMatchTheirTwins(t *testing.T) {
	twin := goKernels()
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		for _, op := range rowOps() {
			t.Run(op.name, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					n := rapid.OneOf(rapid.IntRange(1, 140), rapid.SampledFrom([]int{512, 576, 1001})).Draw(t, "n")
					seed := rapid.Uint64().Draw(t, "seed")
					got, gotIn := slices6(rand.New(rand.NewPCG(seed, 1)), n)
					want, wantIn := slices6(rand.New(rand.NewPCG(seed, 1)), n)
					op.f(ks, n, gotIn)
					op.f(twin, n, wantIn)
					for s := range got {
						for i, g := range got[s] {
							bound := op.tol * (1 + math.Abs(float64(want[s][i])))
							if i == 0 || i == n+1 {
								bound = 0
							}
							if e := math.Abs(float64(g - want[s][i])); !(e <= bound) {
								t.Fatalf("slice %d, element %d of %d: got %v, want %v", s, i-1, n, g, want[s][i])
							}
						}
					}
				})
			})
		}
	})
}

// Elementwise row functions give an element the same bits wherever it stands.
func TestElementwiseRowsIgnorePosition(t *testing.T) {
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		for _, op := range rowOps() {
			switch op.name {
			case "ScaleMul", "SwiGLUBackward", "Scale", "AdamW":
			default:
				continue
			}
			rapid.Check(t, func(t *rapid.T) {
				n := rapid.IntRange(1, 100).Draw(t, "n")
				from := rapid.IntRange(0, n-1).Draw(t, "from")
				seed := rapid.Uint64().Draw(t, "seed")
				_, whole := slices6(rand.New(rand.NewPCG(seed, 1)), n)
				_, part := slices6(rand.New(rand.NewPCG(seed, 1)), n)
				for i := range part {
					part[i] = part[i][from:]
				}
				op.f(ks, n, whole)
				op.f(ks, n-from, part)
				for s := range part {
					if at, ok := sameBits(part[s], whole[s][from:]); !ok {
						t.Fatalf("%s of %d from %d: slice %d differs at %d", op.name, n, from, s, at)
					}
				}
			})
		}
	})
}

// Row functions give the same bits wherever in memory their rows begin.
func TestRowsIgnoreAlignment(t *testing.T) {
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		for _, op := range rowOps() {
			rapid.Check(t, func(t *rapid.T) {
				n := rapid.IntRange(1, 150).Draw(t, "n")
				seed := rapid.Uint64().Draw(t, "seed")
				_, there := slices6(rand.New(rand.NewPCG(seed, 1)), n)
				var here [][]float32
				for i, x := range there {
					moved := aligned(n + i + 3)[i:][:n]
					copy(moved, x)
					here = append(here, moved)
				}
				op.f(ks, n, here)
				op.f(ks, n, there)
				for s := range here {
					if at, ok := sameBits(here[s], there[s]); !ok {
						t.Fatalf("%s of %d: slice %d differs at %d", op.name, n, s, at)
					}
				}
			})
		}
	})
}

func TestRMSNormAgainstItsFormula(t *testing.T) {
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		r := rand.New(rand.NewPCG(4, 4))
		for _, n := range []int{1, 7, 16, 64, 65, 128, 576} {
			x, w, dy := noise(r, n), noise(r, n), noise(r, n)
			y, again := make([]float32, n), make([]float32, n)
			const eps = 1e-2
			scale := ks.RMSNorm(y, x, w, eps)
			ks.ScaleMul(again, x, w, scale)
			if at, ok := sameBits(y, again); !ok {
				t.Errorf("n=%d: ScaleMul differs from RMSNorm at %d", n, at)
			}
			// value is Σ dy·RMSNorm(x) in float64.
			value := func(x, w []float64) (sum float64) {
				var squares float64
				for _, v := range x {
					squares += v * v
				}
				s := 1 / math.Sqrt(squares/float64(n)+eps)
				for i, v := range x {
					sum += float64(dy[i]) * v * s * w[i]
				}
				return sum
			}
			x64, w64 := make([]float64, n), make([]float64, n)
			for i := range x {
				x64[i], w64[i] = float64(x[i]), float64(w[i])
			}
			dx, dw := make([]float32, n), make([]float32, n)
			ks.RMSNormBackward(dx, dw, dy, x, w, scale)
			for _, side := range []struct {
				name string
				at   []float64
				got  []float32
			}{{"dx", x64, dx}, {"dw", w64, dw}} {
				for i := range side.at {
					const h = 1e-5
					old := side.at[i]
					side.at[i] = old + h
					up := value(x64, w64)
					side.at[i] = old - h
					want := (up - value(x64, w64)) / (2 * h)
					side.at[i] = old
					if math.Abs(float64(side.got[i])-want) > 1e-4*(1+math.Abs(want)) {
						t.Fatalf("n=%d: %s[%d]: got %v, want %v by differences", n, side.name, i, side.got[i], want)
					}
				}
			}
		}
	})
}

func TestExpSum(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		r := rand.New(rand.NewPCG(3, 3))
		for _, n := range []int{1, 2, 15, 16, 17, 31, 33, 512, 49152} {
			x := noise(r, n)
			for i := range x {
				x[i] = x[i]*10 + 300
			}
			var want float64
			most := x[0]
			for _, v := range x {
				most = max(most, v)
			}
			for _, v := range x {
				want += math.Exp(float64(v - most))
			}
			dst := make([]float32, n)
			top, sum := ks.ExpSum(dst, x)
			if top != most || math.Abs(sum-want) > 1e-6*want {
				t.Errorf("n=%d: got top %v and sum %v, want %v and %v", n, top, sum, most, want)
			}
			for _, bad := range []float32{nan, inf} {
				y := append([]float32(nil), x...)
				y[r.IntN(n)] = bad
				if _, sum := ks.ExpSum(y, y); !math.IsNaN(sum) {
					t.Errorf("n=%d with %v: got sum %v, want NaN", n, bad, sum)
				}
			}
			y := make([]float32, n)
			for i := range y {
				y[i] = -inf
			}
			if _, sum := ks.ExpSum(dst, y); !math.IsNaN(sum) {
				t.Errorf("n=%d of -Inf: got sum %v, want NaN", n, sum)
			}
			if n > 1 { // -Inf beside finite elements counts nothing
				y[n/2] = 5
				if top, sum := ks.ExpSum(y, y); top != 5 || sum != 1 {
					t.Errorf("n=%d, one finite: got %v and %v, want 5 and 1", n, top, sum)
				}
			}
		}
	})
}

func TestSwiGLUBackwardOfLargeValues(t *testing.T) {
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		gate := []float32{100, -100, 1000, -1000, 0}
		up, dact := []float32{2, 2, 2, 2, 2}, []float32{3, 3, 3, 3, 3}
		act, dgate, dup := make([]float32, 5), make([]float32, 5), make([]float32, 5)
		ks.SwiGLUBackward(act, dgate, dup, dact, gate, up)
		for i, want := range [][3]float32{{200, 6, 300}, {0, 0, 0}, {2000, 6, 3000}, {0, 0, 0}, {0, 3, 0}} {
			got := [3]float32{act[i], dgate[i], dup[i]}
			for j := range got {
				if math.Abs(float64(got[j]-want[j])) > 1e-4 {
					t.Errorf("gate %v: got %v, want %v", gate[i], got, want)
				}
			}
		}
	})
}

func TestRotateBackUndoesRotate(t *testing.T) {
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		r := rand.New(rand.NewPCG(8, 8))
		for _, h := range []int{1, 3, 16, 32, 33} {
			x, cos, sin := noise(r, 2*h), make([]float32, h), make([]float32, h)
			for i := range h {
				s, c := math.Sincos(r.Float64() * 6)
				cos[i], sin[i] = float32(c), float32(s)
			}
			y := make([]float32, 2*h)
			ks.Rotate(y, x, cos, sin, 2)
			ks.RotateBack(y, y, cos, sin, 0.5)
			for i := range y {
				if math.Abs(float64(y[i]-x[i])) > 1e-5 {
					t.Fatalf("h=%d: element %d: got %v, want %v", h, i, y[i], x[i])
				}
			}
		}
	})
}

func TestPeakCountsItsOperations(t *testing.T) {
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		if got, want := ks.Peak(10), float64(10*2*ks.mr*ks.nr()); got != want {
			t.Errorf("got %v operations, want %v", got, want)
		}
	})
}

func TestRowLengthsAreChecked(t *testing.T) {
	x, y := make([]float32, 3), make([]float32, 4)
	mustPanic(t, "kernel.RMSNorm: got len(weight) 4, want 3", func() { RMSNorm(x, x, y, 1) })
	mustPanic(t, "kernel.ScaleMul: got len(dst) 4, want 3", func() { ScaleMul(y, x, x, 1) })
	mustPanic(t, "kernel.RMSNormBackward: got len(dy) 4, want 3", func() { RMSNormBackward(x, x, y, x, x, 1) })
	mustPanic(t, "kernel.Rotate: got len(src) 3, want 4", func() { Rotate(y, x, x[:2], x[:2], 1) })
	mustPanic(t, "kernel.RotateBack: got len(sin) 3, want 2", func() { RotateBack(y, y, x[:2], x, 1) })
	mustPanic(t, "kernel.SwiGLUBackward: got len(up) 4, want 3", func() { SwiGLUBackward(x, x, x, x, x, y) })
	mustPanic(t, "kernel.SoftmaxBackward: got len(dp) 3, want 4", func() { SoftmaxBackward(x, y) })
	mustPanic(t, "kernel.ExpSum: got len(x) 0, want at least 1", func() { ExpSum(nil, nil) })
	mustPanic(t, "kernel.AdamW: got len(m2) 4, want 3", func() { AdamW(x, x, x, y, AdamWStep{}) })
	mustPanic(t, "kernel.Peak: got rounds 0, want at least 1", func() { Peak(0) })
}

func BenchmarkRows(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{32, 128, 576} {
		for _, ks := range supported() {
			for _, op := range rowOps() {
				_, v := slices6(r, n)
				b.Run(fmt.Sprintf("%s/%d/%s", op.name, n, ks.name), func(b *testing.B) {
					for b.Loop() {
						op.f(ks, n, v)
					}
				})
			}
		}
	}
}
