package gguf

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale/lm"
)

// Architecture is general.architecture, or "" where the file does not say.
func (f *File) Architecture() string {
	s, _ := f.Meta["general.architecture"].(string)
	return s
}

// family is the architecture as one that package lm computes.
func (f *File) family() (lm.Family, error) {
	family, err := lm.ParseFamily(f.Architecture())
	if err != nil {
		return "", fmt.Errorf("gguf: general.architecture: %w", err)
	}
	return family, nil
}

// harmless are keys of an architecture that do not touch the arithmetic.
var harmless = []string{"vocab_size", "tensor_data_layout"}

// Config reads the shape of the model. An architecture that package lm does not compute
// is an error that names it and those that are; so is a key that would change the
// arithmetic, or that is not known.
func (f *File) Config() (lm.Config, error) {
	c, err := f.config()
	if err != nil {
		return lm.Config{}, err
	}
	if err := c.Validate(); err != nil {
		return lm.Config{}, fmt.Errorf("gguf: %w", err)
	}
	return c, nil
}

func (f *File) config() (lm.Config, error) {
	family, err := f.family()
	if err != nil {
		return lm.Config{}, err
	}
	k := newKeys(f, string(family)+".")
	c := lm.Config{
		Dim: k.count("embedding_length", 0), Layers: k.count("block_count", 0), FFN: k.count("feed_forward_length", 0),
		Heads: k.count("attention.head_count", 0), MaxSeq: k.count("context_length", 0),
		NormEps: float32(k.number("attention.layer_norm_rms_epsilon", 0)), RopeTheta: float32(k.number("rope.freq_base", 10000)),
		QKVBias: family == lm.Qwen2, QKNorm: family == lm.Qwen3,
	}
	c.KVHeads = k.count("attention.head_count_kv", c.Heads)
	width := 0
	if c.Heads > 0 {
		width = c.Dim / c.Heads
	}
	c.HeadDim = k.count("attention.key_length", width)
	k.same("attention.value_length", c.HeadDim)
	k.same("rope.dimension_count", c.HeadDim)
	k.same("expert_count", 0)
	k.same("expert_used_count", 0)
	k.scaling(&c)
	if n := k.count("attention.sliding_window", 0); n > 0 && n < c.MaxSeq {
		k.fail("attention.sliding_window", n, fmt.Sprintf("0 or at least the context length %d", c.MaxSeq))
	}
	if causal, ok := k.take("attention.causal"); ok && causal != true {
		k.fail("attention.causal", causal, "true")
	}
	for _, key := range harmless {
		k.take(key)
	}
	if err := k.close(); err != nil {
		return lm.Config{}, err
	}
	return c, f.fromTensors(&c, family)
}

// fromTensors fills what the tensors tell: the vocabulary, a separate output projection,
// Llama 3's frequencies.
func (f *File) fromTensors(c *lm.Config, family lm.Family) error {
	embed, ok := f.byName[tokenEmbed]
	if !ok || len(f.tensors[embed].Shape) != 2 {
		return fmt.Errorf("gguf: tensor %s: got none of two dimensions", tokenEmbed)
	}
	c.Vocab = f.tensors[embed].Shape[0]
	_, separate := f.byName[output]
	c.TieEmbeddings = !separate
	if _, ok := f.byName[ropeFreqs]; !ok {
		return nil
	}
	if family != lm.Llama || c.RopeScaling != (lm.RopeScaling{}) {
		return fmt.Errorf("gguf: tensor %s: got one, want it with architecture %q and no rope.scaling alone", ropeFreqs, lm.Llama)
	}
	factors, err := f.factors(c.HeadDim / 2)
	if err != nil {
		return err
	}
	scaling, err := llama3Scaling(factors, float64(c.RopeTheta))
	if err != nil {
		return fmt.Errorf("gguf: tensor %s: %w", ropeFreqs, err)
	}
	c.RopeScaling = scaling
	return nil
}

// factors reads the n divisors of the rotary frequencies.
func (f *File) factors(n int) ([]float32, error) {
	t := f.tensors[f.byName[ropeFreqs]]
	if t.values != n {
		return nil, fmt.Errorf("gguf: tensor %s: got %d values, want %d, half a head", ropeFreqs, t.values, n)
	}
	return f.Tensor(ropeFreqs)
}

// llama3Scaling finds the settings of Llama 3.1's rotary scaling from the divisors that
// converters make of them: the file has no other trace of them. The largest divisor is
// the factor; the others must follow with the settings of all of Meta's models.
func llama3Scaling(factors []float32, theta float64) (lm.RopeScaling, error) {
	const low, high, original = 1, 4, 8192
	s := lm.RopeScaling{Kind: lm.RopeLlama3, Factor: 1, LowFreq: low, HighFreq: high, OriginalMaxSeq: original}
	plain := true
	for _, x := range factors {
		s.Factor = max(s.Factor, float64(x))
		plain = plain && x == 1
	}
	if plain {
		return lm.RopeScaling{}, nil
	}
	for i, got := range factors {
		freq := math.Pow(theta, -float64(i)/float64(len(factors)))
		turns := original * freq / (2 * math.Pi)
		want := 1.0
		switch {
		case turns < low:
			want = s.Factor
		case turns <= high:
			smooth := (turns - low) / (high - low)
			want = 1 / ((1-smooth)/s.Factor + smooth)
		}
		if !(math.Abs(float64(got)-want) <= 1e-4*want) {
			return lm.RopeScaling{}, fmt.Errorf("factor %d: got %g, want %g as in Llama 3's scaling with factor %g", i, got, want, s.Factor)
		}
	}
	return s, nil
}

// keys are the metadata under a prefix; each must be taken. The first fault is kept.
type keys struct {
	prefix string
	left   map[string]any
	err    error
}

func newKeys(f *File, prefix string) *keys {
	k := &keys{prefix: prefix, left: make(map[string]any)}
	for key, v := range f.Meta {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			k.left[rest] = v
		}
	}
	return k
}

func (k *keys) fail(key string, got any, want string) {
	if k.err == nil {
		k.err = fmt.Errorf("gguf: %s%s: got %s, want %s", k.prefix, key, show(got), want)
	}
}

func (k *keys) take(key string) (any, bool) {
	v, ok := k.left[key]
	delete(k.left, key)
	return v, ok
}

// count takes a whole number that fits 31 bits; absent, it is otherwise.
func (k *keys) count(key string, otherwise int) int {
	v, ok := k.take(key)
	if !ok {
		return otherwise
	}
	n, ok := whole(v)
	if !ok || n > math.MaxInt32 {
		k.fail(key, v, "a whole number")
		return 0
	}
	return int(n)
}

// whole reads an integer of any kind that is not negative.
func whole(v any) (uint64, bool) {
	signed := func(n int64) (uint64, bool) { return uint64(n), n >= 0 }
	switch v := v.(type) {
	case uint8:
		return uint64(v), true
	case uint16:
		return uint64(v), true
	case uint32:
		return uint64(v), true
	case uint64:
		return v, true
	case int8:
		return signed(int64(v))
	case int16:
		return signed(int64(v))
	case int32:
		return signed(int64(v))
	case int64:
		return signed(v)
	}
	return 0, false
}

// number takes a number with a fraction.
func (k *keys) number(key string, otherwise float64) float64 {
	v, ok := k.take(key)
	if !ok {
		return otherwise
	}
	switch v := v.(type) {
	case float32:
		return float64(v)
	case float64:
		return v
	}
	k.fail(key, v, "a number")
	return 0
}

// same takes a key that may only have one value.
func (k *keys) same(key string, want int) {
	if v, ok := k.left[key]; ok && k.count(key, want) != want {
		k.fail(key, v, fmt.Sprint(want))
	}
}

// scaling takes the rotary scaling.
func (k *keys) scaling(c *lm.Config) {
	kind, ok := k.take("rope.scaling.type")
	factor := k.number("rope.scaling.factor", 0)
	k.count("rope.scaling.original_context_length", 0) // goes with the factor; the linear kind does not use it
	k.take("rope.scaling.finetuned")
	switch {
	case (!ok || kind == "none") && factor == 0:
	case kind == "linear":
		c.RopeScaling = lm.RopeScaling{Kind: lm.RopeLinear, Factor: factor}
	default:
		k.fail("rope.scaling.type", kind, `"none" or "linear"`)
	}
	if old := k.number("rope.scale_linear", 1); old != 1 {
		k.fail("rope.scale_linear", old, "rope.scaling.type and rope.scaling.factor")
	}
}

// close refuses keys that nobody took.
func (k *keys) close() error {
	if k.err == nil && len(k.left) > 0 {
		key := slices.Min(slices.Collect(maps.Keys(k.left)))
		k.fail(brief(key), k.left[key], "no such key: what it changes is not known here")
	}
	return k.err
}
