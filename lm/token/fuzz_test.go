package token

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzEncode(f *testing.F) {
	for _, s := range []string{"", "Hello world", "it's 12  \n x", "日本語\xff\x00", "<|end|>", "'re", strings.Repeat("ab", 40)} {
		f.Add(s, 3)
	}
	for _, s := range []string{"é<|im_end|>e\u0301 [B] x", "a\u0316\u0301\u0323", "\u1100\u1161\u11a8 <think>"} {
		f.Add(s, 2)
	}
	all := testTokenizers(f)
	qwen, flags := family(f, "qwen3"), family(f, "flags")
	f.Fuzz(func(t *testing.T, text string, n int) {
		checkNormalizing(t, qwen, text, n)
		checkNormalizing(t, flags, text, n)
		for _, tok := range all {
			ids, ends := tok.Offsets(text)
			if got := tok.Decode(ids); got != text {
				t.Fatalf("%s: decoded %q, want %q", tok.split, got, text)
			}
			if len(ends) > 0 && ends[len(ends)-1] != len(text) {
				t.Fatalf("%s: tokens end at %d of %d", tok.split, ends[len(ends)-1], len(text))
			}
			if len(text) < 200 && !slices.Equal(ids, encodeNaive(tok, text)) {
				t.Fatalf("%s: ids of %q differ from the naive ones", tok.split, text)
			}
			clipped := tok.Clip(text, n)
			if !strings.HasPrefix(text, clipped) || len(tok.Encode(clipped)) > max(n, 0) {
				t.Fatalf("%s: Clip(%q, %d) = %q", tok.split, text, n, clipped)
			}
			if utf8.ValidString(text) && !utf8.ValidString(clipped) {
				t.Fatalf("%s: Clip(%q, %d) = %q cuts a character", tok.split, text, n, clipped)
			}
		}
	})
}

func FuzzReadJSON(f *testing.F) {
	for _, split := range Splits() {
		opt := TrainOptions{Vocab: 262, Special: []string{"<s>"}, Split: split}
		tok, err := Train(slices.Values([]string{"abab abcabc 12"}), opt)
		if err != nil {
			f.Fatal(err)
		}
		file := writeJSON(f, tok)
		f.Add(file)
		f.Add(strings.Replace(file, `"a b"`, `["a", "b"]`, 1))
		f.Add(strings.Replace(file, `"a": 64`, `"<s>": 64`, 1))
		f.Add(file[:len(file)-20])
	}
	for _, name := range families {
		f.Add(writeJSON(f, family(f, name)))
	}
	f.Add(`{"model": {"vocab": {"a": 4294967295}}}`)
	f.Add("null")
	f.Fuzz(func(t *testing.T, file string) {
		tok, err := ReadJSON(strings.NewReader(file))
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("error has several lines: %q", err)
			}
			return
		}
		back, err := ReadJSON(strings.NewReader(writeJSON(t, tok)))
		if err != nil || back.Hash() != tok.Hash() {
			t.Fatalf("not the same after writing: %v", err)
		}
		ids := tok.Encode(file)
		if !tok.nfc && !strips(tok) && tok.Decode(ids) != file || slices.ContainsFunc(ids, tok.IsSpecial) {
			t.Fatal("no round trip")
		}
	})
}

// strips reports whether a token swallows white space, which is then lost.
func strips(tok *Tokenizer) bool {
	return slices.ContainsFunc(tok.added, func(a Added) bool { return a.LStrip || a.RStrip })
}
