package kernel

import "golang.org/x/sys/cpu"

// native lists the variants in assembly that the CPU and the operating system
// support, best first.
func native() []*Kernels {
	var found []*Kernels
	x := &cpu.X86
	avx2 := x.HasAVX2 && x.HasFMA
	if avx2 && x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL {
		found = append(found, &Kernels{
			name: "avx512",
			mr:   6, vec: 16, nv: 4,
			kc:              128,
			shareFrom:       1 << 23,
			micro:           microAVX512(),
			blockScores:     blockScoresAVX512(),
			blockSums:       blockSumsAVX512(),
			transpose:       transpose8AVX2,
			dot:             dotAVX512,
			axpy:            axpyAVX512,
			exp:             expAVX512,
			softmax:         softmaxAVX512,
			siluMul:         siluMulAVX512,
			scale:           scaleAVX512,
			scaleMul:        scaleMulAVX512,
			rmsNorm:         rmsNormAVX512,
			rmsNormBackward: rmsNormBackwardAVX512,
			rotate:          rotateAVX512,
			rotateBack:      rotateBackAVX512,
			swigluBackward:  swigluBackwardAVX512,
			softmaxBackward: softmaxBackwardAVX512,
			expSum:          expSumAVX512,
			adamW:           adamWAVX512,
			peak:            peakAVX512,
		})
	}
	if avx2 {
		ks := &Kernels{
			name: "avx2",
			mr:   6, vec: 8, nv: 2,
			kc:              256,
			shareFrom:       1 << 22,
			micro:           microAVX2(),
			blockSums:       blockSumsAVX2(),
			transpose:       transpose8AVX2,
			dot:             dotAVX2,
			axpy:            axpyAVX2,
			exp:             expAVX2,
			softmax:         softmaxAVX2,
			siluMul:         siluMulAVX2,
			scale:           scaleAVX2,
			scaleMul:        scaleMulAVX2,
			rmsNorm:         rmsNormAVX2,
			rmsNormBackward: rmsNormBackwardAVX2,
			rotate:          rotateAVX2,
			rotateBack:      rotateBackAVX2,
			swigluBackward:  swigluBackwardAVX2,
			softmaxBackward: softmaxBackwardAVX2,
			expSum:          expSumAVX2,
			adamW:           adamWAVX2,
			peak:            peakAVX2,
		}
		ks.blockScores = scoresByTile(ks)
		found = append(found, ks)
	}
	return found
}
