package lm

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func write(t testing.TB, m *Model, d DType, meta map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := m.WriteSafetensors(&buf, d, meta); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestNew(t *testing.T) {
	cfg := organismConfig()
	m := newModel(t, cfg, 1)
	if got, want := m.NumParams(), 512*128+4*(2*128+2*32+128*(128+64+64)+128*128+3*128*384)+128; got != want {
		t.Errorf("parameters: got %d, want %d", got, want)
	}
	if m.Hash() != newModel(t, cfg, 1).Hash() || m.Hash() == newModel(t, cfg, 2).Hash() {
		t.Error("weights must follow the seed")
	}
	n := 0
	for _, ts := range m.Tensors() {
		n += len(ts.Data)
		if size := ts.Shape[0] * append(slices.Clone(ts.Shape), 1)[1]; size != len(ts.Data) {
			t.Errorf("%s: got %d values for shape %v", ts.Name, len(ts.Data), ts.Shape)
		}
	}
	if n != m.NumParams() {
		t.Errorf("tensors hold %d values, want %d", n, m.NumParams())
	}
	c := m.Clone()
	c.Tensors()[0].Data[0]++
	if c.Hash() == m.Hash() {
		t.Error("a clone shares memory, or the hash misses a change")
	}
	other := cfg
	other.RopeTheta++
	moved, err := ReadSafetensors(other, write(t, m, F32, nil))
	if err != nil {
		t.Fatal(err)
	}
	if moved.Hash() == m.Hash() {
		t.Error("the hash misses the config")
	}
}

// TestViewMatchesLayout writes through the named tensors and reads through the view.
func TestViewMatchesLayout(t *testing.T) {
	cfg := tinyConfig()
	m := newModel(t, cfg, 1)
	named := map[string][]float32{}
	for i, ts := range m.Tensors() {
		for j := range ts.Data {
			ts.Data[j] = float32(i)
		}
		named[ts.Name] = ts.Data
	}
	l := m.w.layers[1]
	p := "model.layers.1."
	for name, view := range map[string][]float32{
		"model.embed_tokens.weight": m.w.embed, "model.norm.weight": m.w.norm, "lm_head.weight": m.w.head,
		p + "input_layernorm.weight": l.norm1, p + "post_attention_layernorm.weight": l.norm2,
		p + "self_attn.q_norm.weight": l.qNorm, p + "self_attn.k_norm.weight": l.kNorm,
		p + "self_attn.o_proj.weight": l.out, p + "mlp.down_proj.weight": l.down,
	} {
		if !slices.Equal(view, named[name]) {
			t.Errorf("%s: view and layout differ", name)
		}
	}
	qkv := slices.Concat(named[p+"self_attn.q_proj.weight"], named[p+"self_attn.k_proj.weight"], named[p+"self_attn.v_proj.weight"])
	if !slices.Equal(l.qkv, qkv) || !slices.Equal(l.gateUp, slices.Concat(named[p+"mlp.gate_proj.weight"], named[p+"mlp.up_proj.weight"])) {
		t.Error("fused projections: view and layout differ")
	}
}

func TestSafetensorsRoundTrip(t *testing.T) {
	for _, tied := range []bool{false, true} {
		cfg := tinyConfig()
		cfg.TieEmbeddings = tied
		m := newModel(t, cfg, 3)
		data := write(t, m, F32, map[string]string{"format": "pt"})
		if !bytes.Equal(data, write(t, m, F32, map[string]string{"format": "pt"})) {
			t.Error("the same weights gave different bytes")
		}
		back, err := ReadSafetensors(cfg, data)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(back.w.flat, m.w.flat) || back.Hash() != m.Hash() {
			t.Error("F32: weights changed")
		}
		half, err := ReadSafetensors(cfg, write(t, m, BF16, nil))
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range m.w.flat {
			if got := half.w.flat[i]; math.Abs(float64(got-w)) > math.Abs(float64(w))/256 {
				t.Fatalf("BF16: weight %d: got %g, want about %g", i, got, w)
			}
		}
		again, err := ReadSafetensors(cfg, write(t, half, BF16, nil))
		if err != nil || again.Hash() != half.Hash() {
			t.Errorf("BF16 twice: got %v, want no further change", err)
		}
	}
}

func TestUnwritable(t *testing.T) {
	m := newModel(t, tinyConfig(), 3)
	m.w.norm[2] = math.MaxFloat32
	write(t, m, F32, nil)
	err := m.WriteSafetensors(io.Discard, BF16, nil)
	if err == nil || err.Error() != "write safetensors: tensor model.norm.weight: value 2: got 3.4028235e+38, want a finite number in bfloat16" {
		t.Errorf("too large for BF16: got error %v", err)
	}
	m.w.norm[2] = float32(math.NaN())
	err = m.WriteSafetensors(io.Discard, F32, nil)
	if err == nil || err.Error() != "write safetensors: tensor model.norm.weight: value 2: got NaN, want a finite number" {
		t.Errorf("NaN: got error %v", err)
	}
}

func TestNumberFormats(t *testing.T) {
	for _, tt := range []struct {
		half uint16
		want float32
	}{
		{0x3c00, 1}, {0xc000, -2}, {0x7bff, 65504}, {0x0400, 0x1p-14}, {0x0001, 0x1p-24}, {0x83ff, -1023 * 0x1p-24},
		{0x3555, 0.333251953125}, {0x0000, 0}, {0x7c00, float32(math.Inf(1))},
	} {
		if got := float16(tt.half); got != tt.want {
			t.Errorf("half %#04x: got %g, want %g", tt.half, got, tt.want)
		}
	}
	for _, tt := range []struct {
		x    float32
		want uint16
	}{
		{1, 0x3f80}, {-2, 0xc000},
		{math.Float32frombits(0x3f808000), 0x3f80}, // halfway, even below
		{math.Float32frombits(0x3f818000), 0x3f82}, // halfway, even above
		{math.Float32frombits(0x3f808001), 0x3f81},
	} {
		if got := bfloat16(tt.x); got != tt.want {
			t.Errorf("bfloat16 of %x: got %#04x, want %#04x", math.Float32bits(tt.x), got, tt.want)
		}
	}
}

// repack writes a safetensors file with an edited header.
func repack(t testing.TB, data []byte, edit func(map[string]map[string]any)) []byte {
	t.Helper()
	n := binary.LittleEndian.Uint64(data)
	var header map[string]map[string]any
	if err := json.Unmarshal(data[8:8+n], &header); err != nil {
		t.Fatal(err)
	}
	edit(header)
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, data[8+n:])
}

func TestBadSafetensors(t *testing.T) {
	cfg := tinyConfig()
	good := write(t, newModel(t, cfg, 3), F32, nil)
	n := binary.LittleEndian.Uint64(good)
	const norm = "model.norm.weight"
	withLen := func(l uint64) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, l), good[8:]...)
	}
	other := cfg
	other.TieEmbeddings = true
	untied := cfg
	nan := slices.Clone(good)
	binary.LittleEndian.PutUint32(nan[len(nan)-4:], 0x7fc00000)
	for _, tt := range []struct {
		name string
		cfg  Config
		data []byte
		want string
	}{
		{"empty", cfg, nil, "got 0 bytes, want at least the 8 of the header's length"},
		{"huge header", cfg, withLen(math.MaxUint64), "header: got length 18446744073709551615, want at most"},
		{"long header", cfg, withLen(99_000_000), "header: got length 99000000, want at most"},
		{"cut in header", cfg, good[:200], "header: got length"},
		{"truncated", cfg, good[:len(good)-4], "metadata incomplete buffer"},
		{"very short", cfg, good[:n+8+100], "got 100 bytes of tensors, want at least"},
		{"trailing", cfg, append(slices.Clone(good), 1), "metadata incomplete buffer"},
		{"not json", cfg, slices.Concat(good[:8], bytes.Repeat([]byte("["), int(n)), good[8+n:]), "invalid header deserialization"},
		{"extra", other, good, `tensor "lm_head.weight": not part of this model (1 such)`},
		{"missing", untied, write(t, newModel(t, other, 3), F32, nil), "tensor lm_head.weight: missing"},
		{"shape", cfg, repack(t, good, func(h map[string]map[string]any) { h[norm]["shape"] = []int{3, 4} }), "tensor model.norm.weight: got shape [3 4], want [12]"},
		{"overflow", cfg, repack(t, good, func(h map[string]map[string]any) { h[norm]["shape"] = []uint64{1 << 63, 4} }), "metadata validation error"},
		{"negative", cfg, repack(t, good, func(h map[string]map[string]any) { h[norm]["shape"] = []int{-1} }), "invalid header deserialization"},
		{"overlap", cfg, repack(t, good, func(h map[string]map[string]any) { h[norm]["data_offsets"] = []int{0, 48} }), "invalid metadata offset"},
		{"dtype", cfg, repack(t, good, func(h map[string]map[string]any) { h[norm]["dtype"] = "I32" }), "tensor model.norm.weight: got type I32, want F32, F16 or BF16"},
		{"unknown dtype", cfg, repack(t, good, func(h map[string]map[string]any) { h[norm]["dtype"] = "F8_E4M3" }), "invalid header deserialization"},
		{"null", cfg, repack(t, good, func(h map[string]map[string]any) { h[norm] = nil }), "invalid header deserialization"},
		{"nan", cfg, nan, "got NaN, want a finite number"},
	} {
		_, err := ReadSafetensors(tt.cfg, tt.data)
		if err == nil || !strings.HasPrefix(err.Error(), "safetensors: ") || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got error %v, want %s", tt.name, err, tt.want)
		}
	}
}

// TestMixedFormats reads a file whose tensors have three formats.
func TestMixedFormats(t *testing.T) {
	cfg := tinyConfig()
	m := newModel(t, cfg, 3)
	for i := range m.w.flat { // values that halves hold exactly
		m.w.flat[i] = float32(i%7) * 0.25
	}
	header, data := map[string]any{}, []byte{}
	for i, s := range cfg.layout() {
		start := len(data)
		kind := []string{"F32", "BF16", "F16"}[i%3]
		for _, x := range m.w.flat[s.off : s.off+s.n] {
			switch bits := math.Float32bits(x); kind {
			case "F32":
				data = binary.LittleEndian.AppendUint32(data, bits)
			case "BF16":
				data = binary.LittleEndian.AppendUint16(data, uint16(bits>>16))
			default:
				h := uint16(0)
				if x != 0 {
					h = uint16(bits>>23-112)<<10 | uint16(bits>>13&0x3ff)
				}
				data = binary.LittleEndian.AppendUint16(data, h)
			}
		}
		header[s.name] = map[string]any{"dtype": kind, "shape": s.shape, "data_offsets": []int{start, len(data)}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ReadSafetensors(cfg, slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, data))
	if err != nil {
		t.Fatal(err)
	}
	if back.Hash() != m.Hash() {
		t.Error("weights changed")
	}
}

func TestSaveLoad(t *testing.T) {
	for _, qkNorm := range []bool{false, true} {
		cfg := tinyConfig()
		cfg.QKNorm = qkNorm
		m := newModel(t, cfg, 3)
		dir := filepath.Join(t.TempDir(), "new", "dir")
		for range 2 { // the second time over the first
			if err := m.Save(dir, F32); err != nil {
				t.Fatal(err)
			}
		}
		back, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if back.Hash() != m.Hash() || back.Config() != cfg {
			t.Errorf("got %+v, want %+v and the same weights", back.Config(), cfg)
		}
		seqs := randomSequences(1, cfg.Vocab, 50, 20)
		want := accumulate(t, NewTrainer(m, nil, DefaultAdamW()), seqs)
		if got := accumulate(t, NewTrainer(back, nil, DefaultAdamW()), seqs); got != want {
			t.Errorf("loss after loading: got %v, want %v", got, want)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 2 {
			t.Errorf("files: got %v, want the two of a model", entries)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	m := newModel(t, tinyConfig(), 3)
	if err := m.Save(dir, BF16); err != nil {
		t.Fatal(err)
	}
	if err := m.Save(dir, DType(9)); err == nil || err.Error() != "save model: weights format: got DType(9), want F32 or BF16" {
		t.Errorf("bad format: got error %v", err)
	}
	if _, err := Load(dir); err != nil {
		t.Fatalf("a failed save must leave the old files: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, weightsFile), make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "model.safetensors: got 3145728 bytes, want at most") {
		t.Errorf("oversized weights: got error %v", err)
	}
	if _, err := Load(filepath.Join(dir, "nowhere")); err == nil || !os.IsNotExist(unwrapAll(err)) {
		t.Errorf("no directory: got error %v", err)
	}
}

func unwrapAll(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		if _, ok := err.(*os.PathError); ok {
			return err
		}
		err = u.Unwrap()
	}
}

// TestAnyShape runs every path once on random small shapes: they agree with each other
// whatever the sizes.
func TestAnyShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group := rapid.IntRange(1, 3).Draw(t, "group")
		kv := rapid.IntRange(1, 3).Draw(t, "kv")
		cfg := Config{
			Vocab: rapid.IntRange(2, 40).Draw(t, "vocab"), Dim: rapid.IntRange(1, 40).Draw(t, "dim"), Layers: rapid.IntRange(1, 3).Draw(t, "layers"),
			Heads: group * kv, KVHeads: kv, HeadDim: 2 * rapid.IntRange(1, 9).Draw(t, "half"), FFN: rapid.IntRange(1, 50).Draw(t, "ffn"), MaxSeq: 100,
			RopeTheta: 50, NormEps: 1e-5, TieEmbeddings: rapid.Bool().Draw(t, "tied"), QKNorm: rapid.Bool().Draw(t, "qkNorm"),
		}
		cfg.QKVBias = !cfg.QKNorm && rapid.Bool().Draw(t, "qkvBias")
		m, err := New(cfg, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		seq := randomSequences(1, cfg.Vocab, rapid.IntRange(2, 100).Draw(t, "length"))[0]
		lps, err := m.LogProbs(nil, seq.Tokens)
		if err != nil {
			t.Fatal(err)
		}
		var want float64
		for i, lp := range lps {
			want -= float64(seq.Weights[i]) * float64(lp)
		}
		loss, err := NewTrainer(m, nil, DefaultAdamW()).Accumulate(t.Context(), []Sequence{seq})
		if err != nil || math.Abs(loss.NLL-want) > 1e-9*(1+want) {
			t.Fatalf("loss: got %v, %v, want %g", loss, err, want)
		}
		g := NewGenerator(m, GeneratorOptions{CacheTokens: 64})
		defer g.Close()
		cut := rapid.IntRange(1, len(seq.Tokens)).Draw(t, "cut")
		res, err := g.Generate(t.Context(), Request{Prompt: seq.Tokens[:cut], MaxTokens: 20, Temperature: 1, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		if lps, err = m.LogProbs(nil, slices.Concat(seq.Tokens[:cut], res.Tokens)); err != nil || !slices.Equal(res.LogProbs, lps[cut:]) {
			t.Fatalf("sampled log-probabilities: got %v, want %v (%v)", res.LogProbs, lps[cut:], err)
		}
	})
}
