package kernel

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Every micro-kernel against its twin, with strides of A and B of both kinds.
func TestMicroKernelsMatchTheirTwin(t *testing.T) {
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		for rows := 1; rows <= ks.mr; rows++ {
			for vecs := 1; vecs <= ks.nv; vecs++ {
				width := vecs * ks.vec
				twin := microGo(rows, width)
				rapid.Check(t, func(t *rapid.T) {
					k := rapid.IntRange(0, 40).Draw(t, "k")
					rs, cs := k+1, 1
					if rapid.Bool().Draw(t, "transposed") {
						rs, cs = 1, rows+rapid.IntRange(0, 3).Draw(t, "gap")
					}
					bs := width + rapid.IntRange(0, 3).Draw(t, "bgap")
					ldc := width + rapid.IntRange(0, 3).Draw(t, "cgap")
					acc := rapid.Bool().Draw(t, "acc")
					r := drawRand(t)
					a, b := noise(r, rows*(k+4)+k*8+8), noise(r, k*bs+width)
					got := noise(r, rows*ldc)
					want := append([]float32(nil), got...)
					ks.micro[rows][vecs](k, &a[0], rs, cs, &b[0], bs, &got[0], ldc, acc)
					twin(k, &a[0], rs, cs, &b[0], bs, &want[0], ldc, acc)
					for i := range got {
						// The gaps beside the tile must be equal to the bit.
						bound := 0.0
						if i%ldc < width {
							bound = 1e-4
						}
						if e := math.Abs(float64(got[i] - want[i])); !(e <= bound) {
							t.Fatalf("tile %dx%d k=%d: c[%d]: got %v, want %v", rows, width, k, i, got[i], want[i])
						}
					}
				})
			}
		}
	})
}

func TestTransposeMatchesItsTwin(t *testing.T) {
	eachVariant(t, func(t *testing.T, ks *Kernels) {
		rapid.Check(t, func(t *rapid.T) {
			k := 8 * rapid.IntRange(0, 6).Draw(t, "k/8")
			stride, ld := rapid.IntRange(8, 70).Draw(t, "stride"), k+rapid.IntRange(0, 9).Draw(t, "gap")
			r := drawRand(t)
			src, got := noise(r, 8*ld+k+1), noise(r, (k+1)*stride)
			want := append([]float32(nil), got...)
			ks.transpose(&got[0], stride, &src[0], ld, k)
			for p := range k {
				for j := range 8 {
					want[p*stride+j] = src[j*ld+p]
				}
			}
			if at, ok := sameBits(got, want); !ok {
				t.Fatalf("k=%d stride=%d ld=%d differs at %d", k, stride, ld, at)
			}
		})
	})
}
