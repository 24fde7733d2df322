package lm

import (
	"math"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// RMSNorm (Zhang and Sennrich, 2019): y = x / sqrt(mean(x²) + eps) * weight.

// rmsScale returns 1 / sqrt(mean(x²) + eps).
func rmsScale(x []float32, eps float32) float32 {
	return 1 / float32(math.Sqrt(float64(kernel.Dot(x, x)/float32(len(x))+eps)))
}

// rmsNorm writes the normalised x to dst (which may be x) and returns the scale
// that it used.
func rmsNorm(dst, x, weight []float32, eps float32) float32 {
	scale := rmsScale(x, eps)
	scaleMul(dst, x, weight, scale)
	return scale
}

// scaleMul writes x * scale * weight to dst.
func scaleMul(dst, x, weight []float32, scale float32) {
	dst, weight = dst[:len(x)], weight[:len(x)]
	for i, v := range x {
		dst[i] = v * scale * weight[i]
	}
}

// rmsNormBackward adds the gradient of x to dx and that of weight to dw, given dy
// and the scale of the forward pass:
//
//	dx = scale * (dy*w - x̂ * mean(dy*w*x̂)),  x̂ = x * scale
func rmsNormBackward(dx, dw, dy, x, weight []float32, scale float32) {
	n := len(x)
	dx, dw, dy, weight = dx[:n], dw[:n], dy[:n], weight[:n]
	var s0, s1, s2, s3 float32 // four chains, for the adder's latency
	i := 0
	for ; i+4 <= n; i += 4 {
		s0 += dy[i] * weight[i] * x[i]
		s1 += dy[i+1] * weight[i+1] * x[i+1]
		s2 += dy[i+2] * weight[i+2] * x[i+2]
		s3 += dy[i+3] * weight[i+3] * x[i+3]
	}
	for ; i < n; i++ {
		s0 += dy[i] * weight[i] * x[i]
	}
	mean := (s0 + s1 + s2 + s3) * scale / float32(n)
	for i, v := range x {
		xhat := v * scale
		dw[i] += dy[i] * xhat
		dx[i] += scale * (dy[i]*weight[i] - xhat*mean)
	}
}
