package token

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// families are the shapes of the files in testdata/families; see testdata/golden.py.
var families = []string{"gpt2", "smollm2", "llama3", "qwen2", "qwen3", "flags"}

func family(t testing.TB, name string) *Tokenizer {
	t.Helper()
	data, err := os.ReadFile("testdata/families/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	tok, err := ReadJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return tok
}

func familyTexts(t testing.TB) []string {
	t.Helper()
	var texts []string
	readTestJSON(t, "testdata/families/texts.json", &texts)
	if len(texts) < 200 {
		t.Fatalf("got %d texts, want 200", len(texts))
	}
	return texts
}

// The ids of 200 texts, conversations among them, in all modes.
func TestFamiliesAreHuggingFaces(t *testing.T) {
	texts := familyTexts(t)
	var golden map[string]struct {
		IDs     [][]int32          `json:"ids"`
		Text    map[string][]int32 `json:"text"`
		Framed  [][]int32          `json:"framed"`
		Decoded string             `json:"decoded"`
	}
	readTestJSON(t, "testdata/families/golden.json", &golden)
	if len(golden) != len(families) {
		t.Fatalf("golden.json has %d families, want %d", len(golden), len(families))
	}
	for _, name := range families {
		tok, want := family(t, name), golden[name]
		if len(want.IDs) != len(texts) || len(want.Framed) == 0 {
			t.Fatalf("%s: %d golden ids for %d texts", name, len(want.IDs), len(texts))
		}
		var decoded []string
		for i, text := range texts {
			ids := tok.EncodeWithSpecials(text)
			if !slices.Equal(ids, want.IDs[i]) {
				t.Errorf("%s: with specials %q gives %v, want %v", name, text, ids, want.IDs[i])
			}
			shown := strings.ToValidUTF8(tok.Decode(ids), "\ufffd")
			if strings.Contains(shown, "\ufffd") {
				shown = "" // as in golden.py
			}
			decoded = append(decoded, shown)
			plain, ok := want.Text[strconv.Itoa(i)]
			if !ok {
				plain = want.IDs[i]
			}
			if got := tok.EncodeText(text); !slices.Equal(got, plain) {
				t.Errorf("%s: as text %q gives %v, want %v", name, text, got, plain)
			}
			if i < len(want.Framed) {
				if got := tok.PostProcess(ids); !slices.Equal(got, want.Framed[i]) {
					t.Errorf("%s: framed %q gives %v, want %v", name, text, got, want.Framed[i])
				}
			}
		}
		// The library reads an added token's accents as bytes when decoding; we do not.
		if sum := sha256.Sum256([]byte(strings.Join(decoded, "\x00"))); hex.EncodeToString(sum[:]) != want.Decoded && name != "flags" {
			t.Errorf("%s: texts are decoded otherwise than by the library", name)
		}
	}
}

// Writing and reading again changes nothing: no id, no flag, no hash.
func TestFamiliesRoundTrip(t *testing.T) {
	texts := familyTexts(t)
	for _, name := range families {
		tok := family(t, name)
		back, err := ReadJSON(strings.NewReader(writeJSON(t, tok)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if back.Hash() != tok.Hash() || !slices.Equal(back.Added(), tok.Added()) {
			t.Errorf("%s: read back with another hash or other added tokens", name)
		}
		for _, text := range texts {
			want := tok.PostProcess(tok.EncodeWithSpecials(text))
			if got := back.PostProcess(back.EncodeWithSpecials(text)); !slices.Equal(got, want) {
				t.Fatalf("%s: %q gives %v after a round trip, want %v", name, text, got, want)
			}
		}
	}
}

// No text from outside makes a control token, whatever it is made of.
func TestTextForgesNothing(t *testing.T) {
	texts := familyTexts(t)
	for _, name := range families {
		tok := family(t, name)
		for _, text := range append(texts, strings.Join(texts, "")) {
			for _, special := range tok.Specials() {
				for _, in := range []string{text, special + text + special, special + special} {
					if ids := tok.EncodeText(in); slices.ContainsFunc(ids, tok.IsSpecial) {
						t.Fatalf("%s: %q makes a special token: %v", name, in, ids)
					}
				}
			}
		}
	}
}

func TestHashSeesEverything(t *testing.T) {
	seen := map[string]string{}
	file, err := os.ReadFile("testdata/families/flags.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range [][2]string{
		{"", ""},
		{`"normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"}]}`, `"normalizer":null`},
		{`"ignore_merges":false`, `"ignore_merges":true`},
		{`"lstrip":true`, `"lstrip":false`},
		{`"rstrip":true`, `"rstrip":false`},
		{`"single_word":true`, `"single_word":false`},
		{`"normalized":true`, `"normalized":false`},
		{`"special":true`, `"special":false`},
		{`{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence"`, `{"SpecialToken":{"id":"</s>","type_id":0}},{"Sequence"`},
		{`{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"</s>","type_id":0}}]`, `{"Sequence":{"id":"A","type_id":0}}]`},
	} {
		edited := strings.Replace(string(file), edit[0], edit[1], 1)
		if edit[0] != "" && edited == string(file) {
			t.Fatalf("%s is not in the file", edit[0])
		}
		tok, err := ReadJSON(strings.NewReader(edited))
		if err != nil {
			t.Fatalf("%s: %v", edit[1], err)
		}
		if other, ok := seen[tok.Hash()]; ok {
			t.Errorf("%q and %q have the same hash", edit[1], other)
		}
		seen[tok.Hash()] = edit[1]
	}
}

// The identities of tokenizers without the newer things are as they were before these.
func TestHashOfPlainTokenizersStays(t *testing.T) {
	for split, want := range map[Split]string{
		GPT2:   "a69dd952db5dab452779361b441e8e791acc9d05da8261a922fb03a025c223b8",
		Qwen:   "a69e61aec7571d523741ff45d18bd102a93e3690d22ecddbebc8cf558c1e8a9a",
		Digits: "1ee92d3e267021fdb036cbbdd7c8160114de7d096fb10341f8f3dccd96589f89",
	} {
		if got := trained(t, split).Hash(); got != want {
			t.Errorf("%s: hash %s, want %s", split, got, want)
		}
	}
}

func TestNamedTokens(t *testing.T) {
	tok := family(t, "qwen3")
	think, ok := tok.Named("<think>")
	if !ok || tok.IsSpecial(think) || string(tok.Bytes(think)) != "<think>" || tok.Decode([]int32{think}) != "<think>" {
		t.Errorf("<think> = %d, %v: want a token with text that is not special", think, ok)
	}
	if _, ok := tok.Special("<think>"); ok {
		t.Error("<think> passes for a special token")
	}
	end, ok := tok.Named("<|im_end|>")
	if again, special := tok.Special("<|im_end|>"); !ok || !special || again != end || tok.Bytes(end) != nil {
		t.Errorf("<|im_end|> = %d, %v", end, ok)
	}
	if _, ok := tok.Named("a"); ok {
		t.Error("an ordinary token passes for an added one")
	}
}

// The classes of all characters, by the hash that testdata/golden.py prints.
func TestClassesAreUnicode16(t *testing.T) {
	const want = "d1612ea896789ce8d19e5c4fe3718b9a490c721227836b183b2d5a4cfdcb5870"
	h := sha256.New()
	letters := map[class]byte{letter: 'L', number: 'N', space: 'S', symbol: '.'}
	buf := make([]byte, 0, unicode.MaxRune)
	for r := range rune(unicode.MaxRune + 1) {
		if r < 0xD800 || r >= 0xE000 {
			c, _ := classAt(string(r), 0)
			buf = append(buf, letters[c])
		}
	}
	h.Write(buf)
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("classes of characters: got hash %s, want %s: does Go %s have newer tables than Unicode 15?", got, want, unicode.Version)
	}
}
