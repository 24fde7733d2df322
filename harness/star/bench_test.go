package star_test

import (
	"context"
	"testing"

	"github.com/seed-095d5d2b/whale/harness/harnesstest"
	"github.com/seed-095d5d2b/whale/harness/star"
)

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := star.Load("h.star", []byte(simple)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEpisode(b *testing.B) {
	p := load(b, simple)
	for b.Loop() {
		if _, err := p.Run(context.Background(), harnesstest.Sums()); err != nil {
			b.Fatal(err)
		}
	}
}
