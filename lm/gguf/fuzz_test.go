package gguf

import (
	"testing"

	"github.com/seed-095d5d2b/whale/lm"
)

func FuzzParse(f *testing.F) {
	for _, family := range lm.Families() {
		cfg := tiny(family)
		cfg.Vocab, cfg.Dim, cfg.Layers, cfg.Heads, cfg.KVHeads, cfg.HeadDim, cfg.FFN = 8, 4, 1, 2, 1, 2, 4
		w, _ := fileOf(f, cfg)
		f.Add(w.bytes())
	}
	w := &writer{version: 2}
	addTokenizer(w)
	w.add("t", Q6_K, []int{256}, make([]byte, 210))
	f.Add(w.bytes())
	f.Add(header(1, 1))
	f.Fuzz(func(_ *testing.T, data []byte) { use(data) })
}
