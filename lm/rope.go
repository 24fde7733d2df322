package lm

import (
	"math"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// ropeTable holds the rotary angles' cosines and sines, each [maxSeq, headDim/2].
// The layout is Hugging Face's Llama: a head's first half is rotated against its
// second half (rotate_half), not neighbour against neighbour.
type ropeTable struct {
	half     int
	cos, sin []float32
}

func newRopeTable(c Config) ropeTable {
	half := c.HeadDim / 2
	t := ropeTable{half: half, cos: make([]float32, c.MaxSeq*half), sin: make([]float32, c.MaxSeq*half)}
	for i := range half {
		freq := c.RopeScaling.stretch(math.Pow(float64(c.RopeTheta), -float64(i)/float64(half)))
		for pos := range c.MaxSeq {
			s, co := math.Sincos(float64(pos) * freq)
			t.cos[pos*half+i], t.sin[pos*half+i] = float32(co), float32(s)
		}
	}
	return t
}

// angles returns the cosines and sines of a position.
func (t *ropeTable) angles(pos int) (cos, sin []float32) {
	h := t.half
	return t.cos[pos*h : (pos+1)*h], t.sin[pos*h : (pos+1)*h]
}

// rotate writes scale times the rotated head src to dst; both have headDim
// values and may be the same memory.
func (t *ropeTable) rotate(dst, src []float32, pos int, scale float32) {
	cos, sin := t.angles(pos)
	kernel.Rotate(dst, src, cos, sin, scale)
}

// rotateBack is the transpose of rotate: it takes the gradient of the rotated
// head to that of the head before.
func (t *ropeTable) rotateBack(dst, src []float32, pos int, scale float32) {
	cos, sin := t.angles(pos)
	kernel.RotateBack(dst, src, cos, sin, scale)
}
