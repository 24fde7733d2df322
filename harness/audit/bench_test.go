package audit

import (
	"os"
	"path/filepath"
	"testing"
)

func BenchmarkOne(b *testing.B) {
	xs := scratchMath(b, 5, 16000, 4000)
	c, _ := NewCorpus(xs, Options{})
	for _, f := range []string{"ordinary/qa-evolve-07", "ordinary/qa-evolve-09", "ordinary/qa-question-types", "cheating/math-base64-1", "ordinary/math-minimal"} {
		src, _ := os.ReadFile("testdata/dev/" + f + ".star")
		b.Run(f, func(b *testing.B) {
			for b.Loop() {
				c.Audit(filepath.Base(f)+".star", src)
			}
		})
	}
}
