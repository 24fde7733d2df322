//go:build !race

package kernel

import "testing"

// Sampling runs many small products: they allocate nothing.
func TestSmallProductsAllocateNothing(t *testing.T) {
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		const m, n, k = 4, 48, 32
		p := NewPool(2)
		defer p.Close()
		a, b, c := make([]float32, m*64), make([]float32, n*k), make([]float32, m*64)
		blocks := [][]float32{make([]float32, 16*k), make([]float32, 16*k)}
		packed := ks.PackNT(b, n, k)
		for name, f := range map[string]func(){
			"NT":     func() { ks.MatMul(p, NT, false, c, a, b, m, n, k) },
			"NN":     func() { ks.MatMul(nil, NN, false, c, a, b, m, n, k) },
			"packed": func() { ks.MatMulPacked(p, false, c, a, m, packed) },
			"scores": func() { ks.BlockScores(c, a, m, k, blocks, 0) },
			"sums":   func() { ks.BlockSums(c, a, m, k, 30, blocks, 0) },
		} {
			// Scratch comes from a free list, which the race detector empties at random.
			if got := testing.AllocsPerRun(100, f); got > 0 {
				t.Errorf("%s: got %v allocations, want 0", name, got)
			}
		}
	})
}
