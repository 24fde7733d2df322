package token

import (
	"slices"
	"strings"
	"testing"
)

func BenchmarkEncode(b *testing.B) {
	text := strings.Repeat(strings.Join(corpusLines(b), ""), 16)
	for _, split := range Splits() {
		tok := trained(b, split)
		b.Run(string(split), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tok.Encode(text)
			}
		})
	}
}

// A text without spaces: one long word, past the cache.
func BenchmarkEncodeLongWord(b *testing.B) {
	tok := trained(b, GPT2)
	text := strings.Repeat("theanswerthat", 100_000/13)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tok.Encode(text)
	}
}

func BenchmarkTrain(b *testing.B) {
	lines := corpusLines(b)
	n := 0
	for _, l := range lines {
		n += len(l)
	}
	b.SetBytes(int64(n))
	for b.Loop() {
		if _, err := Train(slices.Values(lines), TrainOptions{Vocab: 500, Split: Digits}); err != nil {
			b.Fatal(err)
		}
	}
}
