package gguf

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// quants.json holds what gguf.quants makes of random blocks; see testdata/quants.py.
func TestDequantizeIsTheReference(t *testing.T) {
	var golden map[string]struct{ Src, Dst []byte }
	data, err := os.ReadFile("testdata/quants.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden) != len(Types()) {
		t.Fatalf("got golden blocks of %d types, want %d", len(golden), len(Types()))
	}
	for _, kind := range Types() {
		g := golden[kind.String()]
		per, bytes := kind.block()
		n := len(g.Src) / bytes * per
		if n == 0 || len(g.Dst) != 4*n {
			t.Fatalf("%s: %d golden bytes for %d values", kind, len(g.Dst), n)
		}
		got, want := make([]float32, n), make([]float32, n)
		dequantize(kind, got, g.Src)
		dequantize(F32, want, g.Dst)
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: value %d is %g, want %g", kind, i, got[i], want[i])
				break
			}
		}
	}
}

// All binary16 numbers, against their definition.
func TestHalf(t *testing.T) {
	for h := range 1 << 16 {
		sign, exp, frac := 1-2*float64(h>>15), h>>10&31, float64(h&1023)
		want := sign * math.Ldexp(1+frac/1024, exp-15)
		switch exp {
		case 0:
			want = sign * math.Ldexp(frac/1024, -14)
		case 31:
			want = math.Inf(int(sign))
			if frac != 0 {
				want = math.NaN()
			}
		}
		got := float64(half([]byte{byte(h), byte(h >> 8)}))
		if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("half 0x%04x is %g, want %g", h, got, want)
		}
	}
}

func BenchmarkDequantize(b *testing.B) {
	for _, kind := range Types() {
		b.Run(kind.String(), func(b *testing.B) {
			const n = 1 << 16
			per, bytes := kind.block()
			src, dst := make([]byte, n/per*bytes), make([]float32, n)
			r := rand.New(rand.NewPCG(1, 1))
			for i := range src {
				src[i] = byte(r.Uint32())
			}
			for b.Loop() {
				dequantize(kind, dst, src)
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
		})
	}
}
