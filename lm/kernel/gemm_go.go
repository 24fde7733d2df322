package kernel

import "unsafe"

// goKernels is the variant in plain Go: the only one on other architectures, and the
// twin that the assembly is compared with.
func goKernels() *Kernels {
	ks := &Kernels{
		name: "go",
		mr:   4, vec: 4, nv: 1,
		kc:              128,
		shareFrom:       1 << 18,
		transpose:       transpose8Go,
		dot:             dotGo,
		axpy:            axpyGo,
		exp:             expGo,
		softmax:         softmaxGo,
		siluMul:         siluMulGo,
		scale:           scaleGo,
		scaleMul:        scaleMulGo,
		rmsNorm:         rmsNormGo,
		rmsNormBackward: rmsNormBackwardGo,
		rotate:          rotateGo,
		rotateBack:      rotateBackGo,
		swigluBackward:  swigluBackwardGo,
		softmaxBackward: softmaxBackwardGo,
		expSum:          expSumGo,
		adamW:           adamWGo,
		peak:            peakGo,
	}
	for rows := 1; rows <= ks.mr; rows++ {
		ks.micro[rows][1] = microGo(rows, ks.vec)
	}
	ks.micro[4][1] = micro4x4Go
	ks.blockScores = scoresByTile(ks)
	ks.blockSums = blockSumsGo(ks.mr, ks.vec, ks.nv)
	return ks
}

// microGo is the twin of every micro-kernel: a tile of rows by width.
func microGo(rows, width int) microKernel {
	return func(k int, a *float32, rs, cs int, b *float32, bs int, c *float32, ldc int, acc bool) {
		for i := range rows {
			ai := floatsAt(a, i*rs, max(0, (k-1)*cs+1))
			ci := floatsAt(c, i*ldc, width)
			for j := range width {
				bj := floatsAt(b, j, max(0, (k-1)*bs+1))
				var s float32
				for p := range k {
					s += float32(ai[p*cs] * bj[p*bs]) // the conversion forbids fusing
				}
				if acc {
					s += ci[j]
				}
				ci[j] = s
			}
		}
	}
}

// micro4x4Go is microGo(4, 4) with its sums in registers.
func micro4x4Go(k int, a *float32, rs, cs int, b *float32, bs int, c *float32, ldc int, acc bool) {
	var s0, s1, s2, s3 [4]float32
	if k > 0 {
		span := (k-1)*cs + 1
		a0, a1 := floatsAt(a, 0, span), floatsAt(a, rs, span)
		a2, a3 := floatsAt(a, 2*rs, span), floatsAt(a, 3*rs, span)
		bb := floatsAt(b, 0, (k-1)*bs+4)
		// Two rows at a time: sixteen sums at once overflow amd64's registers.
		mul2x4(k, a0, a1, cs, bb, bs, &s0, &s1)
		mul2x4(k, a2, a3, cs, bb, bs, &s2, &s3)
	}
	for i, s := range [4]*[4]float32{&s0, &s1, &s2, &s3} {
		ci := floatsAt(c, i*ldc, 4)
		for j := range s {
			if acc {
				ci[j] = s[j] + ci[j]
			} else {
				ci[j] = s[j]
			}
		}
	}
}

func mul2x4(k int, a0, a1 []float32, cs int, b []float32, bs int, s0, s1 *[4]float32) {
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	for p, ia, ib := 0, 0, 0; p < k; p, ia, ib = p+1, ia+cs, ib+bs {
		r := b[ib : ib+4 : ib+4]
		x, y := a0[ia], a1[ia]
		s00 += float32(x * r[0])
		s01 += float32(x * r[1])
		s02 += float32(x * r[2])
		s03 += float32(x * r[3])
		s10 += float32(y * r[0])
		s11 += float32(y * r[1])
		s12 += float32(y * r[2])
		s13 += float32(y * r[3])
	}
	*s0 = [4]float32{s00, s01, s02, s03}
	*s1 = [4]float32{s10, s11, s12, s13}
}

// floatsAt is the n floats that begin off floats after p.
func floatsAt(p *float32, off, n int) []float32 {
	return unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(p), off*4)), n)
}
