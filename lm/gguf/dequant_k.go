package gguf

// Blocks of 256, the "k-quants": sub-blocks with small integer scales, which share a
// float16 scale.

// expandQ4_K: d, dmin, 8 scales and 8 minima of 6 bits, then 4-bit quants; each 32 bytes
// hold two sub-blocks of 32, low halves first.
func expandQ4_K(dst []float32, src []byte) {
	d, dmin := half(src), half(src[2:])
	scales, q := src[4:16], src[16:144]
	for j := range 4 {
		d1, m1 := scaled(d, dmin, scales, 2*j)
		d2, m2 := scaled(d, dmin, scales, 2*j+1)
		lo, hi := dst[64*j:][:32], dst[64*j+32:][:32]
		for i, b := range q[32*j:][:32] {
			lo[i] = float32(d1*float32(int32(b&15))) - m1
			hi[i] = float32(d2*float32(int32(b>>4))) - m2
		}
	}
}

// expandQ5_K is Q4_K with the fifth bits in 32 bytes before the quants: bit k of byte i
// belongs to value i of sub-block k.
func expandQ5_K(dst []float32, src []byte) {
	d, dmin := half(src), half(src[2:])
	scales, fifth, q := src[4:16], src[16:48], src[48:176]
	for j := range 4 {
		d1, m1 := scaled(d, dmin, scales, 2*j)
		d2, m2 := scaled(d, dmin, scales, 2*j+1)
		lo, hi := dst[64*j:][:32], dst[64*j+32:][:32]
		for i, b := range q[32*j:][:32] {
			h := fifth[i] >> (2 * j)
			lo[i] = float32(d1*float32(int32(b&15|h<<4&16))) - m1
			hi[i] = float32(d2*float32(int32(b>>4|h<<3&16))) - m2
		}
	}
}

// scaled gives the scale and the minimum of sub-block j; the twelve bytes hold the low
// six bits of the first four of each, and spread the others over what is left.
func scaled(d, dmin float32, s []byte, j int) (scale, minimum float32) {
	var a, b byte
	if j < 4 {
		a, b = s[j]&63, s[j+4]&63
	} else {
		a = s[j+4]&15 | s[j-4]>>6<<4
		b = s[j+4]>>4 | s[j]>>6<<4
	}
	return d * float32(a), dmin * float32(b)
}

// expandQ6_K: low four bits, high two bits, 16 signed scales of sub-blocks of 16, d.
func expandQ6_K(dst []float32, src []byte) {
	low, high, scales, d := src[:128], src[128:192], src[192:208], half(src[208:])
	for n := range 2 { // halves of 128 values
		var sc [8]float32
		for k := range sc {
			sc[k] = d * float32(int8(scales[8*n+k]))
		}
		ql, qh := low[64*n:][:64], high[32*n:][:32]
		a, b, c, e := dst[128*n:][:32], dst[128*n+32:][:32], dst[128*n+64:][:32], dst[128*n+96:][:32]
		for i, h := range qh {
			k := i >> 4
			a[i] = sc[k] * float32(int32(ql[i]&15|h<<4&48)-32)
			b[i] = sc[2+k] * float32(int32(ql[i+32]&15|h<<2&48)-32)
			c[i] = sc[4+k] * float32(int32(ql[i]>>4|h&48)-32)
			e[i] = sc[6+k] * float32(int32(ql[i+32]>>4|h>>2&48)-32)
		}
	}
}
