package lm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Load reads a model from a Hugging Face folder: config.json, and model.safetensors or
// the shards that model.safetensors.index.json lists, in F32, F16 or BF16. The files
// must hold exactly the tensors of the config, with finite values. Weights are
// streamed: peak memory is the model in float32 and a small buffer.
func Load(dir string) (*Model, error) {
	m, err := LoadFS(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("load model %s: %w", dir, err)
	}
	return m, nil
}

// LoadFS is Load from the root of a file system, such as one embedded in the binary.
func LoadFS(dir fs.FS) (*Model, error) {
	const maxConfig = 1 << 20
	data, err := readBounded(dir, configFile, maxConfig)
	if err != nil {
		return nil, err
	}
	cfg, err := ParseConfig(data)
	if err != nil {
		return nil, err
	}
	return loadWeights(dir, cfg)
}

// loadWeights reads the one weights file, or else the shards.
func loadWeights(dir fs.FS, cfg Config) (m *Model, err error) {
	names, index := []string{weightsFile}, map[string]string(nil)
	if _, err := fs.Stat(dir, weightsFile); errors.Is(err, fs.ErrNotExist) {
		if names, index, err = readIndex(dir, cfg); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("weights: got neither %s nor %s, want one: %w", weightsFile, indexFile, fs.ErrNotExist)
		} else if err != nil {
			return nil, err
		}
	}
	var shards []*shard
	var files []fs.File
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
	}()
	most, total := 4*cfg.numParams()+int64(len(names))<<20, int64(0) // four bytes a weight, and headers
	for _, name := range names {
		f, err := dir.Open(name)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if total += info.Size(); total > most {
			return nil, fmt.Errorf("%s: got %d bytes, want at most %d for this model", name, total, most)
		}
		shards = append(shards, &shard{name: name, in: f, size: uint64(info.Size())})
	}
	return readShards(cfg, shards, index)
}

// ReadSafetensors reads weights in F32, F16 or BF16 from the bytes of a safetensors
// file. The file must hold exactly the tensors of cfg, with cfg's shapes and finite
// values. Work and memory are bounded by cfg and len(data).
func ReadSafetensors(cfg Config, data []byte) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return readShards(cfg, []*shard{{in: bytes.NewReader(data), size: uint64(len(data))}}, nil)
}

// readShards checks all headers, and only then makes the model. index, if there is one,
// names each tensor's shard.
func readShards(cfg Config, shards []*shard, index map[string]string) (*Model, error) {
	specs := cfg.layout()
	fail := func(s *shard, err error) error {
		if s.name == "" || len(shards) == 1 {
			return fmt.Errorf("safetensors: %w", err)
		}
		return fmt.Errorf("safetensors: %s: %w", s.name, err)
	}
	need := uint64(0) // bytes of tensors in each
	if len(shards) == 1 {
		need = 2 * uint64(cfg.numParams())
	}
	where := map[string]*shard{}
	for _, s := range shards {
		if err := s.readHeader(specs, need); err != nil {
			return nil, fail(s, err)
		}
		for _, name := range s.order {
			if other := where[name]; other != nil {
				return nil, fail(s, fmt.Errorf("tensor %q: is in %s too", oneLine(name), other.name))
			}
			where[name] = s
		}
	}
	dst, err := place(cfg, specs, where, index)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	m, err := empty(cfg)
	if err != nil {
		return nil, err
	}
	for _, s := range shards {
		err := s.read(func(name string) []float32 {
			spec, ok := dst[name]
			if !ok {
				return nil
			}
			return m.w.flat[spec.off : spec.off+spec.n]
		})
		if err != nil {
			return nil, fail(s, err)
		}
	}
	return m, nil
}

// place compares what the shards hold with what the model needs, and returns the
// layout by name.
func place(cfg Config, specs []tensorSpec, where map[string]*shard, index map[string]string) (map[string]tensorSpec, error) {
	dst := map[string]tensorSpec{}
	for _, spec := range specs {
		dst[spec.name] = spec
		s := where[spec.name]
		if s == nil {
			return nil, fmt.Errorf("tensor %s: missing", spec.name)
		}
		if in, ok := index[spec.name]; index != nil && (!ok || in != s.name) {
			return nil, fmt.Errorf("tensor %s: got it in %s, want it in %q as %s says", spec.name, s.name, in, indexFile)
		}
		t := s.tensors[spec.name]
		if !slices.Equal(t.Shape, wideShape(spec.shape)) {
			return nil, fmt.Errorf("tensor %s: got shape %s, want %v", spec.name, oneLine(fmt.Sprint(t.Shape)), spec.shape)
		}
		if err := checkReadable(t.DType); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", spec.name, err)
		}
	}
	var extra []string
	for name := range where {
		// Old files of Llama carry a table that follows from the config.
		if _, ok := dst[name]; !ok && !strings.HasSuffix(name, ".self_attn.rotary_emb.inv_freq") {
			extra = append(extra, name)
		}
	}
	if len(extra) > 0 {
		return nil, fmt.Errorf("tensor %q: not part of this model (%d such)", oneLine(slices.Min(extra)), len(extra))
	}
	return dst, nil
}

// readBounded reads a file of at most limit bytes.
func readBounded(dir fs.FS, name string, limit int64) (data []byte, err error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: got more than %d bytes, want at most that", name, limit)
	}
	return data, nil
}
