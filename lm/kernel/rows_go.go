package kernel

import "math"

// The twins of the row functions in assembly. The conversions of products to float32 forbid
// fusing them with sums, so that the results are the same on every architecture.

func rmsNormGo(dst, x, weight []float32, eps float32) float32 {
	scale := 1 / float32(math.Sqrt(float64(dotGo(x, x)/float32(len(x))+eps)))
	scaleMulGo(dst, x, weight, scale)
	return scale
}

func scaleMulGo(dst, x, weight []float32, scale float32) {
	dst, weight = dst[:len(x)], weight[:len(x)]
	for i, v := range x {
		dst[i] = float32(v*scale) * weight[i]
	}
}

func rmsNormBackwardGo(dx, dw, dy, x, weight []float32, scale float32) {
	n := len(x)
	dx, dw, dy, weight = dx[:n], dw[:n], dy[:n], weight[:n]
	var s [4]float32 // four chains, for the adder's latency
	for i, v := range x {
		s[i%4] += float32(float32(dy[i]*weight[i]) * v)
	}
	mean := ((s[0] + s[1]) + (s[2] + s[3])) * scale / float32(n)
	for i, v := range x {
		xhat := v * scale
		dw[i] += float32(dy[i] * xhat)
		t := float32(dy[i]*weight[i]) - float32(xhat*mean)
		dx[i] += float32(scale * t)
	}
}

func rotateGo(dst, src, cos, sin []float32, scale float32) {
	h := len(cos)
	a, b, da, db, sin := src[:h], src[h:][:h], dst[:h], dst[h:][:h], sin[:h]
	for i, c := range cos {
		x, y := a[i]*scale, b[i]*scale
		da[i] = float32(x*c) - float32(y*sin[i])
		db[i] = float32(y*c) + float32(x*sin[i])
	}
}

func rotateBackGo(dst, src, cos, sin []float32, scale float32) {
	h := len(cos)
	a, b, da, db, sin := src[:h], src[h:][:h], dst[:h], dst[h:][:h], sin[:h]
	for i, c := range cos {
		x, y := a[i]*scale, b[i]*scale
		da[i] = float32(x*c) + float32(y*sin[i])
		db[i] = float32(y*c) - float32(x*sin[i])
	}
}

func swigluBackwardGo(act, dgate, dup, dact, gate, up []float32) {
	n := len(gate)
	act, dgate, dup, dact, up = act[:n], dgate[:n], dup[:n], dact[:n], up[:n]
	for i, g := range gate {
		s := 1 / (1 + float32(math.Exp(float64(-g))))
		silu, d, u := g*s, dact[i], up[i]
		act[i] = silu * u
		dup[i] = d * silu
		dgate[i] = float32(d*u) * (s + float32(silu*(1-s)))
	}
}

func softmaxBackwardGo(dp, p []float32) {
	mean := dotGo(dp, p)
	p = p[:len(dp)]
	for i, v := range dp {
		dp[i] = p[i] * (v - mean)
	}
}

func expSumGo(dst, x []float32) (top float32, sum float64) {
	dst = dst[:len(x)]
	top = x[0]
	for _, v := range x[1:] {
		top = max(top, v)
	}
	for i, v := range x {
		e := float32(math.Exp(float64(v - top)))
		dst[i] = e
		sum += float64(e)
	}
	return top, sum
}

func scaleGo(alpha float32, x []float32) {
	for i := range x {
		x[i] *= alpha
	}
}

func adamWGo(w, g, m1, m2 []float32, c *float32) {
	k := floatsAt(c, 0, 9)
	s := AdamWStep{k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7], k[8]}
	g, m1, m2 = g[:len(w)], m1[:len(w)], m2[:len(w)]
	for i := range w {
		d := g[i] * s.Scale
		first := float32(s.Beta1*m1[i]) + float32(s.Rest1*d)
		second := float32(s.Beta2*m2[i]) + float32(s.Rest2*float32(d*d))
		root := float32(math.Sqrt(float64(second * s.Fix2)))
		m1[i], m2[i], g[i] = first, second, 0
		w[i] = float32(w[i]*s.Keep) - float32(s.Rate*first)/(root+s.Eps)
	}
}

// peakGo has as many chains as the twin's largest tile.
func peakGo(rounds int) {
	var s [16]float32
	for range rounds {
		for i := range s {
			s[i] += float32(s[i] * s[i])
		}
	}
}
