package gguf

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/token"
)

// words is a tokenizer of the 256 bytes, one merge and the given added tokens.
func words(t testing.TB, split token.Split, added ...token.Added) *token.Tokenizer {
	t.Helper()
	p := token.Parts{Split: split, NFC: split == token.Qwen, IgnoreMerges: split == token.Llama3}
	base, err := token.Train(slices.Values([]string{"aa"}), token.TrainOptions{Vocab: 257, Split: token.GPT2})
	if err != nil {
		t.Fatal(err)
	}
	from := base.Parts()
	p.Tokens, p.Merges = from.Tokens, from.Merges
	for _, a := range added {
		a.ID = int32(len(p.Tokens))
		p.Tokens = append(p.Tokens, a.Content)
		p.Added = append(p.Added, a)
	}
	tok, err := token.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

var ended = token.Added{Content: "<|stop|>", Special: true}

// random is a model none of whose vectors are all alike.
func random(t testing.TB, cfg lm.Config) *lm.Model {
	t.Helper()
	_, m := fileOf(t, cfg)
	return m
}

// A model of each family comes back from a file that Write made: shape, tokenizer and template as they were, weights to the last bit of the type.
func TestWriteReadsBack(t *testing.T) {
	splits := map[lm.Family]token.Split{lm.Llama: token.Digits, lm.Qwen2: token.Qwen, lm.Qwen3: token.GPT2}
	for _, family := range lm.Families() {
		for _, kind := range WriteTypes() {
			cfg := tiny(family)
			cfg.TieEmbeddings = kind == F32
			m := random(t, cfg)
			tok := words(t, splits[family], ended)
			var out bytes.Buffer
			if err := Write(&out, m, WriteOptions{Type: kind, Name: "it", Tokenizer: tok, Template: "{{ x }}", Stops: []int32{257}}); err != nil {
				t.Fatalf("%s %s: %v", family, kind, err)
			}
			f := mustParse(t, out.Bytes())
			if got, err := f.Config(); err != nil || got != cfg {
				t.Errorf("%s %s: config %+v, %v, want %+v", family, kind, got, err, cfg)
			}
			back, err := f.Tokenizer()
			if err != nil || back.Hash() != tok.Hash() {
				t.Errorf("%s %s: the tokenizer changed: %v", family, kind, err)
			}
			if eos, err := f.EOS(); err != nil || !slices.Equal(eos, []int32{257}) || f.ChatTemplate() != "{{ x }}" || f.Meta["general.name"] != "it" {
				t.Errorf("%s %s: got stops %v (%v), template %q", family, kind, eos, err, f.ChatTemplate())
			}
			got, err := f.Model()
			if err != nil {
				t.Fatalf("%s %s: %v", family, kind, err)
			}
			was := m.Tensors()
			for i, tensor := range got.Tensors() {
				for j, x := range tensor.Data {
					want := was[i].Data[j]
					if len(tensor.Shape) == 2 {
						want = rounded(kind, want)
					}
					if x != want {
						t.Fatalf("%s %s: %s[%d]: got %g, want %g", family, kind, tensor.Name, j, x, want)
					}
				}
			}
			if kind == F32 && got.Hash() != m.Hash() {
				t.Errorf("%s: the weights changed", family)
			}
		}
	}
}

// rounded is the value of the type nearest to x, by the definition: ties go to the even one.
func rounded(kind Type, x float32) float32 {
	bits := map[Type]int{F16: 10, BF16: 7}[kind]
	if kind == F32 || x == 0 {
		return x
	}
	_, exp := math.Frexp(float64(x)) // |x| in [2^(exp-1), 2^exp)
	least := -133
	if kind == F16 {
		least = -24
	}
	unit := math.Ldexp(1, max(exp-1-bits, least))
	return float32(math.RoundToEven(float64(x)/unit) * unit)
}

func TestHalves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
		if x-x != 0 {
			return
		}
		for _, kind := range []Type{F16, BF16} {
			round := map[Type]func(float32) (uint16, bool){F16: toFloat16, BF16: toBFloat16}[kind]
			h, finite := round(x)
			var got [1]float32
			dequantize(kind, got[:], []byte{byte(h), byte(h >> 8)})
			want := rounded(kind, x)
			top := float32(65504)
			if kind == BF16 {
				top = math.Float32frombits(0x7f7f0000)
			}
			if tooLarge := float32(math.Abs(float64(want))) > top; finite == tooLarge {
				t.Fatalf("%s of %g: finite %v", kind, x, finite)
			} else if finite && (got[0] != want || math.Signbit(float64(got[0])) != math.Signbit(float64(x))) {
				t.Fatalf("%s of %g: got %g, want %g", kind, x, got[0], want)
			}
		}
	})
}

// Stops that are known by their names need no key, so that any number of them can be said.
func TestWriteStops(t *testing.T) {
	special := func(name string) token.Added { return token.Added{Content: name, Special: true} }
	tok := words(t, token.Llama3, special("<|end_of_text|>"), special("<|eom_id|>"), special("<|eot_id|>"), ended, special("<|other|>"))
	for _, stops := range [][]int32{{259, 257, 258}, {260, 257, 258, 259, 261}} {
		var out bytes.Buffer
		if err := Write(&out, random(t, tinyOf(262)), WriteOptions{Tokenizer: tok, Stops: stops}); err != nil {
			t.Fatal(err)
		}
		f := mustParse(t, out.Bytes())
		want := slices.Sorted(slices.Values(stops))
		if got, err := f.EOS(); err != nil || !slices.Equal(got, want) || f.Meta["tokenizer.ggml.eos_token_id"] != uint32(stops[0]) {
			t.Errorf("got stops %v, %v, first %v, want %v, first %d", got, err, f.Meta["tokenizer.ggml.eos_token_id"], want, stops[0])
		}
	}
}

// tinyOf is a small Llama with that many tokens.
func tinyOf(vocab int) lm.Config {
	c := tiny(lm.Llama)
	c.Vocab = vocab
	return c
}

func TestWriteRopeScaling(t *testing.T) {
	for _, s := range []lm.RopeScaling{
		{Kind: lm.RopeLinear, Factor: 4},
		{Kind: lm.RopeLlama3, Factor: 32, LowFreq: 1, HighFreq: 4, OriginalMaxSeq: 8192},
	} {
		cfg := tiny(lm.Llama)
		cfg.HeadDim, cfg.RopeTheta, cfg.RopeScaling = 64, 500000, s
		m := random(t, cfg)
		var out bytes.Buffer
		if err := Write(&out, m, WriteOptions{Tokenizer: words(t, token.GPT2, ended), Stops: []int32{257}}); err != nil {
			t.Fatal(err)
		}
		got, err := mustParse(t, out.Bytes()).Model()
		if err != nil || got.Hash() != m.Hash() || got.Config() != cfg {
			t.Errorf("%+v: the model changed: %v", s, err)
		}
	}
}

// full fails after some bytes, as a full disk does.
type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

var errFull = errors.New("no space")

func TestWriteRefuses(t *testing.T) {
	good := func() WriteOptions { return WriteOptions{Tokenizer: words(t, token.GPT2, ended), Stops: []int32{257}} }
	for _, tc := range []struct {
		what  string
		cfg   func(*lm.Config)
		model func(*lm.Model)
		opt   func(*WriteOptions)
		want  string
	}{
		{"a quantised type", nil, nil, func(o *WriteOptions) { o.Type = Q8_0 }, "type to write: got Q8_0, want one of"},
		{"no tokenizer", nil, nil, func(o *WriteOptions) { o.Tokenizer = nil }, "tokenizer: got none"},
		{"nothing ends a reply", nil, nil, func(o *WriteOptions) { o.Stops = nil }, "ids that end a reply: got none"},
		{"a foreign end", nil, nil, func(o *WriteOptions) { o.Stops = []int32{900} }, "got 900, want 0 to 257"},
		{"too many ends", func(c *lm.Config) { c.Vocab = 270 }, nil, func(o *WriteOptions) {
			var list []token.Added
			for _, name := range []string{"<1>", "<2>", "<3>", "<4>"} {
				list = append(list, token.Added{Content: name, Special: true})
			}
			o.Tokenizer, o.Stops = words(t, token.GPT2, list...), []int32{257, 258, 259, 260}
		}, "want at most three"},
		{"an end that is plain text", nil, nil, func(o *WriteOptions) { o.Stops = []int32{256} }, "gguf: tokenizer: "},
		{"a token with flags", nil, nil, func(o *WriteOptions) {
			o.Tokenizer = words(t, token.GPT2, token.Added{Content: "<|stop|>", Special: true, LStrip: true})
		}, "the format cannot hold exactly"},
		{"a scaling of its own", func(c *lm.Config) {
			c.HeadDim, c.RopeTheta = 64, 500000
			c.RopeScaling = lm.RopeScaling{Kind: lm.RopeLlama3, Factor: 8, LowFreq: 2, HighFreq: 4, OriginalMaxSeq: 8192}
		}, nil, nil, "rope_scaling: got"},
		{"a weight too large", nil, func(m *lm.Model) { m.Tensors()[0].Data[3] = 7e4 }, func(o *WriteOptions) { o.Type = F16 }, "token_embd.weight: value 3: got 70000, which F16 cannot hold"},
		{"no number", nil, func(m *lm.Model) { m.Tensors()[0].Data[3] = float32(math.NaN()) }, nil, "value 3: got NaN, want a finite number"},
		{"too many tokens", func(c *lm.Config) { c.Vocab = 257 }, nil, nil, "got 258 tokens, want at most 257"},
	} {
		cfg, o := tiny(lm.Llama), good()
		if tc.cfg != nil {
			tc.cfg(&cfg)
		}
		m := random(t, cfg)
		if tc.model != nil {
			tc.model(m)
		}
		if tc.opt != nil {
			tc.opt(&o)
		}
		err := Write(&bytes.Buffer{}, m, o)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want %s", tc.what, err, tc.want)
		}
	}
	for _, room := range []int{0, 10, 20_000} {
		if err := Write(&full{room}, random(t, tiny(lm.Llama)), good()); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: got %v, want what the writer said", room, err)
		}
	}
}
