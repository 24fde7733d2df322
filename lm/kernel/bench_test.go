package kernel

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// BenchmarkPeak is the floor: the largest micro-kernel with all its operands in the
// nearest cache, which is as fast as the multiply-add units go.
func BenchmarkPeak(b *testing.B) {
	for _, ks := range supported() {
		b.Run(ks.name, func(b *testing.B) {
			const k = 1 << 14
			tile := ks.micro[ks.mr][ks.nv]
			x := aligned(ks.mr * ks.nr())
			for b.Loop() {
				tile(k, &x[0], 0, 0, &x[0], 0, &x[0], ks.nr(), false)
			}
			gflops(b, ks.mr, ks.nr(), k)
		})
	}
}

func gflops(b *testing.B, m, n, k int) {
	b.ReportMetric(2*float64(m)*float64(n)*float64(k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func BenchmarkMatMul(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, s := range []struct {
		o       Order
		m, n, k int
	}{
		{NT, 1024, 1024, 1024}, {NN, 1024, 1024, 1024}, {TN, 1024, 1024, 1024},
		{NT, 2048, 384, 128}, {NT, 2048, 128, 384}, {NT, 2048, 512, 128}, {NN, 2048, 128, 384}, {TN, 384, 128, 2048},
		{TN, 512, 128, 2048}, {NT, 128, 128, 32}, {NN, 128, 32, 128}, {NT, 64, 384, 128}, {NT, 256, 384, 128},
	} {
		x, y, z := noise(r, s.m*s.k), noise(r, s.n*s.k), make([]float32, s.m*s.n)
		for _, ks := range supported() {
			if ks.name == "go" && s.m*s.n*s.k > 1<<27 {
				continue
			}
			for _, workers := range []int{1, runtime.GOMAXPROCS(0)} {
				b.Run(fmt.Sprintf("%v/%dx%dx%d/%s/%d", s.o, s.m, s.n, s.k, ks.name, workers), func(b *testing.B) {
					pool := NewPool(workers)
					defer pool.Close()
					for b.Loop() {
						ks.MatMul(pool, s.o, false, z, x, y, s.m, s.n, s.k)
					}
					gflops(b, s.m, s.n, s.k)
				})
			}
		}
	}
}

func BenchmarkMatMulPacked(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][2]int{{384, 128}, {128, 384}, {128, 128}, {512, 128}} {
		n, k := s[0], s[1]
		w := noise(r, n*k)
		for _, m := range []int{1, 2, 4, 8, 16, 64} {
			x, z := noise(r, m*k), make([]float32, m*n)
			for _, ks := range supported() {
				b.Run(fmt.Sprintf("%dx%dx%d/%s", m, n, k, ks.name), func(b *testing.B) {
					packed := ks.PackNT(w, n, k)
					for b.Loop() {
						ks.MatMulPacked(nil, false, z, x, m, packed)
					}
					gflops(b, m, n, k)
				})
			}
		}
	}
}

func BenchmarkPackNT(b *testing.B) {
	const n, k = 512, 128
	w := noise(rand.New(rand.NewPCG(1, 1)), n*k)
	for _, ks := range supported() {
		b.Run(ks.name, func(b *testing.B) {
			b.SetBytes(4 * n * k)
			for b.Loop() {
				ks.PackNT(w, n, k)
			}
		})
	}
}

func BenchmarkVector(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{128, 512} {
		x, y, z := noise(r, n), noise(r, n), make([]float32, n)
		for _, ks := range supported() {
			for _, op := range []struct {
				name string
				f    func()
			}{
				{"Dot", func() { ks.Dot(x, y) }},
				{"Axpy", func() { ks.Axpy(1e-9, x, y) }},
				{"Exp", func() { ks.Exp(z, x) }},
				{"Softmax", func() { copy(z, x); ks.Softmax(z) }},
				{"SiLUMul", func() { ks.SiLUMul(z, x, y) }},
			} {
				b.Run(fmt.Sprintf("%s/%d/%s", op.name, n, ks.name), func(b *testing.B) {
					b.SetBytes(int64(4 * n))
					for b.Loop() {
						op.f()
					}
				})
			}
		}
	}
}
