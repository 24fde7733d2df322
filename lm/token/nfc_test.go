package token

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// marksText draws texts of what normalisation changes: combining marks in any order,
// jamo, composites, invalid bytes, and added tokens between them.
func marksText() *rapid.Generator[string] {
	pieces := []string{
		"a", "e", "é", "e\u0301", "\u0301", "\u0323", "\u0316", "\u0344", "\u1e69", "\u1100", "\u1161", "\u11a8", "각", "가", "\u212b", "\u2126",
		"\u0dd9", "\u0dcf", "\u0dca", "\u2adc", "\U0001d160", " ", "\n", "日", "\xff", "\xcc", "<think>", "<|im_end|>", "[B]", "[L]", "word", "'s", "12",
	}
	piece := rapid.OneOf(rapid.SampledFrom(pieces), rapid.SampledFrom(pieces), rapid.StringN(0, 4, -1))
	return rapid.Map(rapid.SliceOfN(piece, 0, 40), func(s []string) string { return strings.Join(s, "") })
}

func TestNFC(t *testing.T) {
	cases := []struct{ in, want string }{
		{"plain", "plain"}, {"e\u0301", "é"}, {"\u0323e\u0301\u0323", "\u0323\u1eb9\u0301"}, {"\u1100\u1161\u11a8\u11a8", "각\u11a8"},
		{"가\u11a8", "각"}, {"\u212b\u2126", "ÅΩ"}, {"\u0dd9\u0dcf\u0dca", "\u0ddd"}, {"\u0958", "\u0915\u093c"}, {"\xcc\x81e\u0301\xff", "\u0301é\xff"},
		// Younger than Unicode 9.
		{"\U00011935\U00011930 \U00011938", "\U00011935\U00011930 \U00011938"}, {"a\u09fe\u0355", "a\u09fe\u0355"},
		// 40 marks: Go's own package would put a joiner between.
		{"o" + strings.Repeat("\u0308", 40) + "\u0323", "\u1ecd" + strings.Repeat("\u0308", 40)},
	}
	for _, c := range cases {
		if got, _ := toNFC(c.in, false); got != c.want {
			t.Errorf("NFC of %+q is %+q, want %+q", c.in, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := marksText().Draw(t, "text")
		got, at := toNFC(text, true)
		if want := norm.NFC.String(text); !strings.Contains(want, "\u034f") && !young(text) && got != want {
			t.Fatalf("NFC of %+q is %+q, want %+q", text, got, want)
		}
		if again, _ := toNFC(got, false); again != got {
			t.Fatalf("NFC of %+q is %+q, and of that %+q", text, got, again)
		}
		if at == nil {
			if got != text {
				t.Fatalf("%+q changed without offsets", text)
			}
			return
		}
		if len(at) != len(got)+1 || at[0] != 0 || at[len(got)] != len(text) || !slices.IsSorted(at) {
			t.Fatalf("offsets %v of %+q in %+q", at, got, text)
		}
	})
}

// young reports whether text has characters that Unicode 9 knows nothing of.
func young(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.Is(youngMarks, r) || r == youngComposite || r == 0x11935
	})
}

// The library's NFC of all characters, alone and beside other marks, by the hash that
// testdata/golden.py prints.
func TestNFCOfAllCharacters(t *testing.T) {
	const want = "92b8a0fb0a041d01f40a5f652b4d42a8e7659c57de0f555f15048c673185417d"
	h := sha256.New()
	for r := range rune(unicode.MaxRune + 1) {
		if r >= 0xD800 && r < 0xE000 {
			continue
		}
		for _, text := range []string{string(r), "\u0345" + string(r), string(r) + "\u0334"} {
			if got, _ := toNFC(text, false); got != text {
				io.WriteString(h, text+"="+got+";")
			}
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("NFC of all characters: got hash %s, want %s: does golang.org/x/text have newer tables than Unicode 15 (%s)?", got, want, norm.Version)
	}
}

// checkNormalizing holds Offsets and Clip to what they promise where texts change.
func checkNormalizing(t interface{ Fatalf(string, ...any) }, tok *Tokenizer, text string, n int) {
	ids, ends := tok.Offsets(text)
	if !slices.Equal(ids, tok.EncodeText(text)) || len(ends) != len(ids) || !slices.IsSorted(ends) {
		t.Fatalf("offsets %v of %v for %+q", ends, ids, text)
	}
	if len(ends) > 0 && ends[len(ends)-1] != len(text) {
		t.Fatalf("tokens of %+q end at %d of %d", text, ends[len(ends)-1], len(text))
	}
	if want, _ := toNFC(text, false); !strips(tok) && !strings.Contains(text, "<") && tok.Decode(ids) != want {
		t.Fatalf("%+q decodes to %+q, want %+q", text, tok.Decode(ids), want)
	}
	clipped := tok.Clip(text, n)
	if !strings.HasPrefix(text, clipped) || len(tok.Encode(clipped)) > max(n, 0) || tok.Clip(clipped, n) != clipped {
		t.Fatalf("Clip(%+q, %d) = %+q", text, n, clipped)
	}
	if len(ids) <= n && clipped != text {
		t.Fatalf("Clip(%+q, %d) = %+q, want all %d tokens", text, n, clipped, len(ids))
	}
	if utf8.ValidString(text) && !utf8.ValidString(clipped) {
		t.Fatalf("Clip(%+q, %d) = %+q cuts a character", text, n, clipped)
	}
}

func TestOffsetsAndClipWhenNormalizing(t *testing.T) {
	for _, name := range []string{"qwen3", "flags", "llama3"} {
		tok := family(t, name)
		if !tok.nfc {
			tok.nfc = true // as if
		}
		rapid.Check(t, func(t *rapid.T) {
			checkNormalizing(t, tok, marksText().Draw(t, "text"), rapid.IntRange(-1, 20).Draw(t, "n"))
		})
	}
}

// SmolLM2's vocabulary lacks bytes: they vanish, and their neighbours may merge.
func TestMissingBytes(t *testing.T) {
	tok := family(t, "smollm2")
	if got := tok.MissingBytes(); len(got) != 22 || got[0] != 1 || len(family(t, "qwen3").MissingBytes()) != 0 {
		t.Errorf("missing bytes: got %x", got)
	}
	text := "\x01t\x01he\x01 \x01x\x01"
	ids, ends := tok.Offsets(text)
	if got := tok.Decode(ids); got != "the x" || !slices.Equal(ids, tok.Encode(text)) {
		t.Errorf("%q decodes to %q", text, got)
	}
	start := 0
	for i, end := range ends {
		if got := strings.ReplaceAll(text[start:end], "\x01", ""); got != string(tok.Bytes(ids[i])) {
			t.Errorf("token %d of %q covers %q, want %q", i, text, text[start:end], tok.Bytes(ids[i]))
		}
		start = end
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"\x01", "\xf1", "t", "he", " the", "1", "\x04", "é"}), 0, 30).Draw(t, "text"), "")
		n := rapid.IntRange(0, 12).Draw(t, "n")
		clipped := tok.Clip(text, n)
		if !strings.HasPrefix(text, clipped) || len(tok.Encode(clipped)) > n || tok.Clip(clipped, n) != clipped {
			t.Fatalf("Clip(%q, %d) = %q", text, n, clipped)
		}
	})
	file := strings.Replace(writeJSON(t, tok), `"unk_token": null`, `"unk_token": "a"`, 1)
	if _, err := ReadJSON(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), `unsupported unk_token: got "a" and no token for byte 0x01`) {
		t.Errorf("a token for unknown bytes: got error %v", err)
	}
}

func TestOffsetsPointIntoTheText(t *testing.T) {
	tok := family(t, "qwen3")
	text := "e\u0301<think> 12"
	ids, ends := tok.Offsets(text)
	think, _ := tok.Named("<think>")
	i := slices.Index(ids, think)
	if i < 0 || text[ends[i-1]:ends[i]] != "<think>" || ends[i-1] != len("e\u0301") {
		t.Errorf("<think> of %q lies at token %d of %v, ends %v", text, i, ids, ends)
	}
}

func TestNewOfParts(t *testing.T) {
	for _, name := range families {
		tok := family(t, name)
		alphabet := newByteAlphabet()
		p := Parts{Split: tok.split, NFC: tok.nfc, IgnoreMerges: tok.ignoreMerges, Added: tok.Added(), Prefix: tok.prefix, Suffix: tok.suffix}
		for id, s := range tok.tokens {
			if !tok.isAdded[int32(id)] {
				s = alphabet.spell(s)
			}
			p.Tokens = append(p.Tokens, s)
		}
		for _, m := range tok.merges {
			p.Merges = append(p.Merges, alphabet.spell(tok.tokens[m.left])+" "+alphabet.spell(tok.tokens[m.right]))
		}
		back, err := New(p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if back.Hash() != tok.Hash() {
			t.Errorf("%s: another hash when made of its parts", name)
		}
		p.Merges = append(p.Merges, "three parts here")
		if _, err := New(p); err == nil || !strings.Contains(err.Error(), "want two tokens") {
			t.Errorf("%s: a merge of three parts: got error %v", name, err)
		}
	}
	for want, p := range map[string]Parts{
		`added token "x": got id 3`:       {Split: GPT2, Tokens: []string{"a"}, Added: []Added{{ID: 3, Content: "x"}}},
		`got "a" as tokens 0 and 1`:       {Split: GPT2, Tokens: []string{"a", "a"}},
		`post-processing: got id 9`:       {Split: GPT2, Tokens: []string{"a"}, Prefix: []int32{9}},
		`got no token for byte 0x20`:      {Split: GPT2, Tokens: []string{"a"}},
		`split: got "", want one of gpt2`: {Tokens: []string{"a"}},
	} {
		if _, err := New(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}
