package kernel

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// scattered cuts rows of width floats into blocks of BlockRows rows, or if turned each
// block transposed, among other floats at at; what follows the last row is noise.
func scattered(r *rand.Rand, b []float32, width, at int, turned bool) [][]float32 {
	var blocks [][]float32
	for size := BlockRows * width; len(b) > 0; {
		rows := noise(r, size)
		b = b[copy(rows, b):]
		if turned {
			rows = transposed(rows, BlockRows, width)
		}
		blocks = append(blocks, append(noise(r, at), append(rows, noise(r, r.IntN(3))...)...))
	}
	return blocks
}

// The sums over blocks have the bits of the products of whole matrices, whatever lies
// around the blocks.
func TestBlocksGiveTheBitsOfMatMul(t *testing.T) {
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		rapid.Check(t, func(t *rapid.T) {
			r := drawRand(t)
			m, keys := rapid.IntRange(1, 14).Draw(t, "m"), rapid.IntRange(1, 300).Draw(t, "keys")
			dim := rapid.OneOf(rapid.SampledFrom([]int{16, 32, 64, 80, 128, 192}), rapid.IntRange(1, 300)).Draw(t, "dim")
			at := rapid.IntRange(0, 40).Draw(t, "at")
			q, k, v := noise(r, m*dim), noise(r, keys*dim), noise(r, keys*dim)

			want := make([]float32, m*keys)
			ks.MatMul(nil, NT, false, want, q, k, m, keys, dim)
			blocks := scattered(r, k, dim, at, true)
			room := len(blocks) * BlockRows
			scores := noise(r, m*room+3)
			after := append([]float32(nil), scores[m*room:]...)
			ks.BlockScores(scores, q, m, dim, blocks, at)
			for i := range m {
				if at, ok := sameBits(scores[i*room:][:keys], want[i*keys:][:keys]); !ok {
					t.Fatalf("score %d of row %d: got %v, want %v", at, i, scores[i*room+at], want[i*keys+at])
				}
			}
			if _, ok := sameBits(scores[m*room:], after); !ok {
				t.Fatal("BlockScores wrote behind its matrix")
			}

			sums := make([]float32, m*dim)
			ks.MatMul(nil, NN, false, sums, want, v, m, dim, keys)
			got := noise(r, m*dim+3)
			after = append(after[:0], got[m*dim:]...)
			ks.BlockSums(got, scores, m, dim, keys, scattered(r, v, dim, at, false), at)
			if at, ok := sameBits(got[:m*dim], sums); !ok {
				t.Fatalf("sum %d: got %v, want %v", at, got[at], sums[at])
			}
			if _, ok := sameBits(got[m*dim:], after); !ok {
				t.Fatal("BlockSums wrote behind its matrix")
			}
		})
	})
}

// Every micro-kernel in assembly against its twin.
func TestBlockKernelsMatchTheirTwins(t *testing.T) {
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		for rows := 1; rows <= ks.mr; rows++ {
			for vecs := 1; vecs <= ks.nv; vecs++ {
				width := vecs * ks.vec
				rapid.Check(t, func(t *rapid.T) {
					r := drawRand(t)
					k, acc := rapid.IntRange(1, 70).Draw(t, "k"), rapid.Bool().Draw(t, "acc")
					at, ldc := rapid.IntRange(0, 5).Draw(t, "at"), width+rapid.IntRange(0, 3).Draw(t, "gap")
					bs := width + rapid.IntRange(0, 3).Draw(t, "bgap")
					a, blocks := noise(r, rows*k), scattered(r, noise(r, k*bs), bs, at, false)
					got := noise(r, rows*ldc)
					want := append([]float32(nil), got...)
					ks.blockSums[rows][vecs](k, &a[0], k, &blocks[0], at, bs, &got[0], ldc, acc)
					sumsGo(rows, width)(k, &a[0], k, &blocks[0], at, bs, &want[0], ldc, acc)
					for i := range got {
						bound := 0.0 // beside the tile
						if i%ldc < width {
							bound = 1e-4
						}
						if d := float64(got[i] - want[i]); !(max(d, -d) <= bound) {
							t.Fatalf("tile %dx%d k=%d: c[%d]: got %v, want %v", rows, width, k, i, got[i], want[i])
						}
					}
				})
			}
		}
	})
}

func TestBlockProductsWithoutTerms(t *testing.T) {
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		c := []float32{1, 2}
		ks.BlockSums(c, nil, 1, 2, 0, nil, 0)
		if c[0] != 0 || c[1] != 0 {
			t.Errorf("a sum of nothing: got %v, want zeros", c)
		}
		c = noise(rand.New(rand.NewPCG(1, 1)), BlockRows)
		ks.BlockScores(c, nil, 1, 0, [][]float32{nil}, 0)
		for _, x := range c {
			if x != 0 {
				t.Fatalf("a score of nothing: got %v, want zeros", c)
			}
		}
		ks.BlockScores(nil, nil, 0, 4, nil, 0)
		ks.BlockSums(nil, nil, 0, 4, 0, nil, 0)
	})
}

func TestBlockProductsCheckSizes(t *testing.T) {
	f := func(n int) []float32 { return make([]float32, n) }
	mustPanic(t, "kernel.BlockScores: got len(blocks[1]) 66, want at least 67", func() {
		BlockScores(f(32), f(4), 1, 4, [][]float32{f(67), f(66)}, 3)
	})
	mustPanic(t, "kernel.BlockScores: got len(c) 31, want at least m*n = 32", func() {
		BlockScores(f(31), f(4), 1, 4, [][]float32{f(64), f(64)}, 0)
	})
	mustPanic(t, "kernel.BlockScores: got at=-1, want at least 0", func() {
		BlockScores(f(32), f(4), 1, 4, [][]float32{f(64), f(64)}, -1)
	})
	mustPanic(t, "kernel.BlockSums: got k=16 and 2 blocks, want 1 blocks", func() {
		BlockSums(f(4), f(32), 1, 4, 16, [][]float32{f(64), f(64)}, 0)
	})
	mustPanic(t, "kernel.BlockSums: got k=17 and 1 blocks, want 2 blocks", func() {
		BlockSums(f(4), f(32), 1, 4, 17, [][]float32{f(64)}, 0)
	})
	mustPanic(t, "kernel.BlockSums: got len(a) 31, want at least m*k = 32", func() {
		BlockSums(f(4), f(31), 1, 4, 20, [][]float32{f(64), f(64)}, 0)
	})
	mustPanic(t, "kernel.BlockSums: got len(blocks[0]) 63, want at least 64", func() {
		BlockSums(f(4), f(32), 1, 4, 20, [][]float32{f(63), f(64)}, 0)
	})
}
