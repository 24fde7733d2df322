package lm

import (
	"math"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// RMSNorm (Zhang and Sennrich, 2019): y = x / sqrt(mean(x²) + eps) * weight.

// rmsScale returns 1 / sqrt(mean(x²) + eps), with the bits of rmsNorm's scale.
func rmsScale(x []float32, eps float32) float32 {
	return 1 / float32(math.Sqrt(float64(kernel.Dot(x, x)/float32(len(x))+eps)))
}

// rmsNorm writes the normalised x to dst (which may be x) and returns the scale
// that it used.
func rmsNorm(dst, x, weight []float32, eps float32) float32 {
	return kernel.RMSNorm(dst, x, weight, eps)
}
