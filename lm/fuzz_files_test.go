package lm

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func FuzzParseIndex(f *testing.F) {
	m := newModel(f, tinyConfig(), 1)
	f.Add(sharded(f, m, 5)[indexFile].Data)
	f.Add([]byte(`{"weight_map": {"a": "b.safetensors", "c": "../d.safetensors"}}`))
	f.Add([]byte(`{"metadata": {"total_size": -1}, "weight_map": null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		index, err := parseIndex(data)
		if err != nil {
			checkError(t, err)
			return
		}
		for tensor, shard := range index {
			if !fs.ValidPath(shard) || filepath.Base(shard) != shard || strings.ContainsAny(shard, "\\\n") || len(shard) > 200 {
				t.Errorf("tensor %q: got file %q, want a plain name", tensor, shard)
			}
		}
	})
}

// FuzzLoad loads folders whose files are hostile: an index, and bytes for both of its
// shards.
func FuzzLoad(f *testing.F) {
	cfg := tinyConfig()
	cfg.Vocab, cfg.Dim, cfg.FFN, cfg.Layers = 3, 4, 3, 1
	m := newModel(f, cfg, 1)
	good := sharded(f, m, 7)
	const one, two = "model-00001-of-n.safetensors", "model-00002-of-n.safetensors"
	f.Add(good[configFile].Data, good[indexFile].Data, good[one].Data, good[two].Data)
	f.Add(good[configFile].Data, good[indexFile].Data, good[two].Data, good[one].Data)
	f.Add([]byte(`{"model_type": "llama"}`), good[indexFile].Data, good[one].Data[:20], []byte{})
	f.Fuzz(func(t *testing.T, config, index, first, second []byte) {
		if c, err := ParseConfig(config); err == nil && (c.numParams() > 1<<16 || c.MaxSeq*c.HeadDim > 1<<16) {
			return // the work is bounded by the config, but too much for a fuzzer
		}
		got, err := LoadFS(fstest.MapFS{configFile: {Data: config}, indexFile: {Data: index}, one: {Data: first}, two: {Data: second}})
		if err != nil {
			checkError(t, err)
			return
		}
		if err := checkFinite(got.w.flat); err != nil {
			t.Error(err)
		}
	})
}

func FuzzParseGeneration(f *testing.F) {
	f.Add([]byte(`{"eos_token_id": [9, 2], "temperature": 0.6, "top_p": 0.9, "repetition_penalty": 1.1}`))
	f.Add([]byte(`{"eos_token_id": 1e99, "top_k": null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := parseGeneration(data, 10)
		if err != nil {
			checkError(t, err)
			return
		}
		r := Request{Prompt: []int32{1}, MaxTokens: 1, Stop: g.EOS, Temperature: g.Temperature, TopP: g.TopP, TopK: g.TopK}
		gen := Generator{dec: &decoder{m: &Model{cfg: Config{Vocab: 10, MaxSeq: 10}}}}
		if err := gen.check(&r); err != nil {
			t.Errorf("what was read is no good for a request: %v", err)
		}
	})
}
