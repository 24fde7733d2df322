package lm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// sharded lays a model out as files of per tensors each, with their index.
func sharded(t testing.TB, m *Model, per int) fstest.MapFS {
	t.Helper()
	cfg, err := m.cfg.encode(F32)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{configFile: {Data: cfg}}
	whole := write(t, m, F32, nil)
	at := map[string][]byte{} // each tensor's bytes
	names := []string{}
	for _, ts := range m.Tensors() {
		at[ts.Name] = encodeTensor(ts.Data, F32)
		names = append(names, ts.Name)
	}
	index := map[string]string{}
	for i := 0; len(names) > 0; i++ {
		n := min(per, len(names))
		file := fmt.Sprintf("model-%05d-of-n.safetensors", i+1)
		header, data := map[string]map[string]any{}, []byte{}
		for _, name := range names[:n] {
			index[name] = file
			header[name] = map[string]any{"dtype": "F32", "shape": shapeOf(m, name), "data_offsets": []int{len(data), len(data) + len(at[name])}}
			data = append(data, at[name]...)
		}
		names = names[n:]
		files[file] = &fstest.MapFile{Data: append(repackHeader(t, header), data...)}
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"total_size": len(whole)}, "weight_map": index})
	if err != nil {
		t.Fatal(err)
	}
	files[indexFile] = &fstest.MapFile{Data: text}
	return files
}

func shapeOf(m *Model, name string) []int {
	for _, ts := range m.Tensors() {
		if ts.Name == name {
			return ts.Shape
		}
	}
	return nil
}

// repackHeader is the length and text of a header.
func repackHeader(t testing.TB, header map[string]map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	return repack(t, append([]byte{2, 0, 0, 0, 0, 0, 0, 0}, "{}"...), func(h map[string]map[string]any) {
		if err := json.Unmarshal(text, &h); err != nil {
			t.Fatal(err)
		}
	})
}

func TestShards(t *testing.T) {
	for _, cfg := range familyConfigs() {
		m := newModel(t, cfg, 3)
		for _, per := range []int{1, 5, 100} {
			back, err := LoadFS(sharded(t, m, per))
			if err != nil {
				t.Fatal(err)
			}
			if back.Hash() != m.Hash() || back.cfg != m.cfg {
				t.Errorf("%s, %d tensors a file: got another model", cfg.Family(), per)
			}
		}
	}
}

// familyConfigs are small shapes of each family, with all that it brings.
func familyConfigs() []Config {
	llama, qwen2, qwen3 := tinyConfig(), tinyConfig(), tinyConfig()
	llama.QKNorm, llama.RopeScaling = false, llama3Scaling()
	qwen2.QKNorm, qwen2.QKVBias, qwen2.TieEmbeddings = false, true, true
	return []Config{llama, qwen2, qwen3}
}

func TestBadShards(t *testing.T) {
	m := newModel(t, tinyConfig(), 3)
	const first, last = "model-00001-of-n.safetensors", "model-00005-of-n.safetensors"
	edit := func(files fstest.MapFS, change func(weightMap map[string]any)) {
		var index map[string]map[string]any
		if err := json.Unmarshal(files[indexFile].Data, &index); err != nil {
			t.Fatal(err)
		}
		change(index["weight_map"])
		text, err := json.Marshal(index)
		if err != nil {
			t.Fatal(err)
		}
		files[indexFile].Data = text
	}
	for _, tt := range []struct {
		name   string
		change func(files fstest.MapFS)
		want   string
	}{
		{"no weights", func(f fstest.MapFS) { delete(f, indexFile) }, "weights: got neither model.safetensors nor model.safetensors.index.json, want one"},
		{"no shard", func(f fstest.MapFS) { delete(f, last) }, "open " + last},
		{"not json", func(f fstest.MapFS) { f[indexFile].Data = []byte("{") }, indexFile + ": unexpected end"},
		{"empty", func(f fstest.MapFS) { f[indexFile].Data = []byte("{}") }, indexFile + ": weight_map: got no tensors, want some"},
		{"large", func(f fstest.MapFS) { f[indexFile].Data = make([]byte, 1<<20) }, indexFile + ": got more than"},
		{"elsewhere", func(f fstest.MapFS) {
			edit(f, func(m map[string]any) { m["lm_head.weight"] = "../../etc/passwd.safetensors" })
		}, `weight_map: tensor "lm_head.weight": got file "../../etc/passwd.safetensors", want the name of a .safetensors file in the same folder`},
		{"long name", func(f fstest.MapFS) {
			edit(f, func(m map[string]any) { m["lm_head.weight"] = strings.Repeat(",", 2000) + ".safetensors" })
		}, `weight_map: tensor "lm_head.weight": got file ",,,,`},
		{"hidden", func(f fstest.MapFS) {
			edit(f, func(m map[string]any) { m["lm_head.weight"] = "..safetensors" })
		}, `got file "..safetensors"`},
		{"other kind", func(f fstest.MapFS) {
			edit(f, func(m map[string]any) { m["lm_head.weight"] = "config.json" })
		}, `got file "config.json"`},
		{"unlisted", func(f fstest.MapFS) {
			edit(f, func(m map[string]any) { delete(m, "lm_head.weight") })
		}, `tensor lm_head.weight: got it in ` + last + `, want it in "" as ` + indexFile + ` says`},
		{"moved", func(f fstest.MapFS) {
			edit(f, func(m map[string]any) { m["lm_head.weight"] = first })
		}, `tensor lm_head.weight: got it in ` + last + `, want it in "` + first + `"`},
		{"twice", func(f fstest.MapFS) { f[last].Data = f[first].Data }, `safetensors: ` + last + `: tensor "model.embed_tokens.weight": is in ` + first + ` too`},
		{"cut", func(f fstest.MapFS) { f[first].Data = f[first].Data[:len(f[first].Data)-1] }, "safetensors: " + first + ": metadata incomplete buffer"},
		{"huge", func(f fstest.MapFS) { f[first].Data = make([]byte, 40<<20) }, first + ": got 41943040 bytes, want at most"},
		{"config", func(f fstest.MapFS) { f[configFile].Data = []byte(`{"model_type": "bert"}`) }, `config.json: model_type: got "bert", want "llama", "qwen2" or "qwen3"`},
	} {
		files := sharded(t, m, 5)
		tt.change(files)
		if _, err := LoadFS(files); err == nil || !strings.HasPrefix(err.Error(), tt.want) && !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got error %v, want %s", tt.name, err, tt.want)
		}
	}
}

// TestOldTable skips the table of angles in old files of Llama.
func TestOldTable(t *testing.T) {
	cfg := familyConfigs()[0]
	m := newModel(t, cfg, 3)
	const name = "model.layers.1.self_attn.rotary_emb.inv_freq"
	data := write(t, m, F32, nil)
	data = append(repack(t, data, func(h map[string]map[string]any) {
		size := 4 * m.NumParams()
		h[name] = map[string]any{"dtype": "F32", "shape": []int{3}, "data_offsets": []int{size, size + 12}}
	}), make([]byte, 12)...)
	back, err := ReadSafetensors(cfg, data)
	if err != nil || back.Hash() != m.Hash() {
		t.Errorf("got %v, want the model without its table", err)
	}
}

// TestLoadingMemory loads a model of 16 MiB and wants little more allocated in all.
func TestLoadingMemory(t *testing.T) {
	cfg := organismConfig()
	cfg.Vocab, cfg.MaxSeq = 1<<14, 64
	dir := t.TempDir()
	m := newModel(t, cfg, 1)
	if err := m.Save(dir, F32); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	back, err := Load(dir)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	got, want := float64(after.TotalAlloc-before.TotalAlloc)/(1<<20), float64(4*m.NumParams())/(1<<20)
	if got > want+2 {
		t.Errorf("allocated to load: got %.1f MiB, want about the %.1f of the weights", got, want)
	}
	if back.Hash() != m.Hash() {
		t.Error("weights changed")
	}
}

func TestNewModel(t *testing.T) {
	for _, cfg := range familyConfigs() {
		m := newModel(t, cfg, 3)
		byName := map[string][]float32{}
		for _, ts := range m.Tensors() {
			byName[ts.Name] = slices.Clone(ts.Data)
		}
		var asked []string
		back, err := NewModel(cfg, func(name string) ([]float32, error) {
			asked = append(asked, name)
			return byName[name], nil
		})
		if err != nil || back.Hash() != m.Hash() || !slices.Equal(slices.Sorted(slices.Values(asked)), slices.Sorted(maps.Keys(byName))) {
			t.Errorf("%s: got error %v or another model after asking for %v", cfg.Family(), err, asked)
		}
		for i, want := range []string{"tensor model.norm.weight: no such tensor", "tensor model.norm.weight: got 1 values, want 12 for shape [12]", "tensor model.norm.weight: value 1: got NaN, want a finite number"} {
			_, err := NewModel(cfg, func(name string) ([]float32, error) {
				if name != "model.norm.weight" {
					return byName[name], nil
				}
				nan := slices.Clone(byName[name])
				nan[1] = float32(0) / (nan[1] - nan[1])
				return [][]float32{nil, {1}, nan}[i], []error{fmt.Errorf("no such tensor"), nil, nil}[i]
			})
			if err == nil || err.Error() != want {
				t.Errorf("got error %v, want %s", err, want)
			}
		}
	}
}

// TestFamilies saves and loads each family, and trains and samples it.
func TestFamilies(t *testing.T) {
	for i, cfg := range familyConfigs() {
		if got := cfg.Family(); got != Families()[i] {
			t.Errorf("family: got %s, want %s", got, Families()[i])
		}
		m := newModel(t, cfg, 3)
		for _, ts := range m.Tensors() { // biases off zero
			if strings.HasSuffix(ts.Name, ".bias") {
				copy(ts.Data, counterTensor(ts.Name, len(ts.Data)))
			}
		}
		dir := t.TempDir()
		if err := m.Save(dir, F32); err != nil {
			t.Fatal(err)
		}
		back, err := Load(dir)
		if err != nil || back.Hash() != m.Hash() || back.Config() != cfg {
			t.Fatalf("%s: loaded: got %v, want what was saved", cfg.Family(), err)
		}
		text, err := os.ReadFile(filepath.Join(dir, configFile))
		if err != nil || !bytes.Contains(text, []byte(cfg.Family().architecture())) {
			t.Errorf("%s: config.json lacks its architecture: %s", cfg.Family(), text)
		}
		g := newGenerator(t, back, GeneratorOptions{CacheTokens: 1 << 10})
		for seed := range uint64(3) {
			r := Request{Prompt: randomSequences(seed, cfg.Vocab, 40)[0].Tokens, MaxTokens: 30, Temperature: 1, Seed: seed}
			res := generate(t, g, r)
			lps, err := m.LogProbs(nil, slices.Concat(r.Prompt, res.Tokens))
			if err != nil || !slices.Equal(res.LogProbs, lps[40:]) {
				t.Errorf("%s: sampled log-probabilities: got %v, want %v (%v)", cfg.Family(), res.LogProbs, lps[40:], err)
			}
		}
	}
}

func TestGeneration(t *testing.T) {
	for _, tt := range []struct {
		file, text string
		want       string
	}{
		{generationFile, `{"eos_token_id": [9, 2, 9], "bos_token_id": 1, "do_sample": true, "temperature": 0.6, "top_p": 0.9, "top_k": 20}`, "{[2 9] [1] true 0.6 0.9 20 []}"},
		{generationFile, `{"eos_token_id": 3, "bos_token_id": null, "repetition_penalty": 1.05, "min_p": 0.1, "typical_p": 1.0, "num_beams": 1, "pad_token_id": 4}`, "{[3] [] false 0 0 0 [min_p repetition_penalty]}"},
		{configFile, `{"eos_token_id": [5], "bos_token_id": 0, "model_type": "llama"}`, "{[5] [0] false 0 0 0 []}"},
		{generationFile, `{}`, "{[] [] false 0 0 0 []}"},
		{generationFile, `{"eos_token_id": 10}`, "generation_config.json: eos_token_id: got 10, want 0 to 9"},
		{generationFile, `{"eos_token_id": -1}`, "generation_config.json: eos_token_id: got -1, want 0 to 9"},
		{generationFile, `{"eos_token_id": "x"}`, `generation_config.json: eos_token_id: got "x", want an id or a list of ids`},
		{generationFile, `{"temperature": -1}`, "generation_config.json: temperature: got -1, want at least 0"},
		{generationFile, `{"top_p": 2}`, "generation_config.json: top_p: got 2, want a number in (0, 1]"},
		{generationFile, `{"top_k": -3}`, "generation_config.json: top_k: got -3, want at least 0"},
		{generationFile, `[]`, "generation_config.json: json: cannot unmarshal array"},
		{"other.json", `{}`, "open config.json: file does not exist"},
	} {
		got, err := ReadGeneration(fstest.MapFS{tt.file: {Data: []byte(tt.text)}}, 10)
		if said := fmt.Sprint(got); err != nil {
			if !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%s: got error %v, want %s", tt.text, err, tt.want)
			}
		} else if said != tt.want {
			t.Errorf("%s: got %s, want %s", tt.text, said, tt.want)
		}
	}
}
