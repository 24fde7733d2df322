package gguf

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed-095d5d2b/whale/lm"
)

// Model reads the weights, expanded to float32: peak memory is the model and its largest
// tensor. The file must hold exactly the tensors of its Config, with its shapes.
func (f *File) Model() (*lm.Model, error) {
	cfg, err := f.Config()
	if err != nil {
		return nil, err
	}
	// All of them before any memory is asked for: the config alone may promise anything.
	need, err := f.match(cfg)
	if err != nil {
		return nil, err
	}
	var buf, turned []float32
	return lm.NewModel(cfg, func(name string) ([]float32, error) {
		n, ok := need[name]
		if !ok {
			return nil, fmt.Errorf("gguf: got no name for it in the file")
		}
		t := &f.tensors[f.byName[n.file]]
		buf = grow(buf, t.values)
		if err := f.readInto(buf, t); err != nil {
			return nil, err
		}
		if n.heads == 0 {
			return buf, nil
		}
		turned = grow(turned, t.values)
		unpermute(turned, buf, n.heads, n.shape[0], n.shape[1])
		return turned, nil
	})
}

// match compares the tensors of the file with those of the model, and returns the
// latter by Hugging Face's name.
func (f *File) match(cfg lm.Config) (map[string]named, error) {
	// Before the list of names is made: each layer has several tensors.
	if cfg.Layers > len(f.tensors) {
		return nil, fmt.Errorf("gguf: got %d tensors, want those of %d layers", len(f.tensors), cfg.Layers)
	}
	need := make(map[string]named)
	extra := maps.Clone(f.byName)
	delete(extra, ropeFreqs) // has gone into the config
	for _, n := range tensorNames(cfg) {
		i, ok := f.byName[n.file]
		if !ok {
			return nil, fmt.Errorf("gguf: tensor %s: missing", n.file)
		}
		if got := f.tensors[i].Shape; !slices.Equal(got, n.shape) {
			return nil, fmt.Errorf("gguf: tensor %s: got shape %v, want %v", n.file, got, n.shape)
		}
		need[n.hf] = n
		delete(extra, n.file)
	}
	if len(extra) > 0 {
		name := slices.Min(slices.Collect(maps.Keys(extra)))
		return nil, fmt.Errorf("gguf: tensor %q: not part of this model (%d such)", brief(name), len(extra))
	}
	return need, nil
}

func grow(buf []float32, n int) []float32 {
	if cap(buf) < n {
		return make([]float32, n)
	}
	return buf[:n]
}

// unpermute brings Llama's query or key rows from llama.cpp's order, in which rotation
// pairs neighbouring rows of a head, to Hugging Face's, in which it pairs row j with row
// j + half a head. src and dst are [rows, cols].
func unpermute(dst, src []float32, heads, rows, cols int) {
	size := rows / heads
	half := size / 2
	for h := range heads {
		for j := range half {
			for s := range 2 {
				from, to := h*size+2*j+s, h*size+s*half+j
				copy(dst[to*cols:(to+1)*cols], src[from*cols:(from+1)*cols])
			}
		}
	}
}
