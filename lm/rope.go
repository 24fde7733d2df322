package lm

import "math"

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
		freq := math.Pow(float64(c.RopeTheta), -float64(i)/float64(half))
		for pos := range c.MaxSeq {
			s, co := math.Sincos(float64(pos) * freq)
			t.cos[pos*half+i], t.sin[pos*half+i] = float32(co), float32(s)
		}
	}
	return t
}

// rotate writes scale times the rotated head src to dst; both have headDim
// values and may be the same memory.
func (t *ropeTable) rotate(dst, src []float32, pos int, scale float32) {
	h := t.half
	cos, sin := t.cos[pos*h:][:h], t.sin[pos*h:][:h]
	a, b := src[:h], src[h:][:h]
	da, db := dst[:h], dst[h:][:h]
	for i := range h {
		x, y := a[i]*scale, b[i]*scale
		da[i] = x*cos[i] - y*sin[i]
		db[i] = y*cos[i] + x*sin[i]
	}
}

// rotateBack is the transpose of rotate: it takes the gradient of the rotated
// head to that of the head before.
func (t *ropeTable) rotateBack(dst, src []float32, pos int, scale float32) {
	h := t.half
	cos, sin := t.cos[pos*h:][:h], t.sin[pos*h:][:h]
	a, b := src[:h], src[h:][:h]
	da, db := dst[:h], dst[h:][:h]
	for i := range h {
		x, y := a[i]*scale, b[i]*scale
		da[i] = x*cos[i] + y*sin[i]
		db[i] = y*cos[i] - x*sin[i]
	}
}
