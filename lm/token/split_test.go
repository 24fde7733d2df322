package token

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func wordsOf(s Split, text string) []string {
	var words []string
	s.words(text, func(w string) bool {
		words = append(words, w)
		return true
	})
	return words
}

func TestSplitWords(t *testing.T) {
	cases := []struct {
		text               string
		gpt2, qwen, digits string // words joined by |
	}{
		{"", "", "", ""},
		{"Hello world", "Hello| world", "Hello| world", "Hello| world"},
		{"don't DON'T", "don|'t| DON|'|T", "don|'t| DON|'T", "don|'t| DON|'|T"},
		{"it'll're've'm'd", "it|'ll|'re|'ve|'m|'d", "it|'ll|'re|'ve|'m|'d", "it|'ll|'re|'ve|'m|'d"},
		{"I'ſ", "I|'|ſ", "I|'ſ", "I|'|ſ"},
		{"'x '", "'|x| '", "'x| '", "'|x| '"},
		{" 123 45", " 123| 45", " |1|2|3| |4|5", " |1|2|3| |4|5"},
		{"a  1", "a| | 1", "a| | |1", "a|  |1"},
		{"a12b", "a|12|b", "a|1|2|b", "a|1|2|b"},
		{"3½٣", "3½٣", "3|½|٣", "3|½|٣"},
		{"a   b", "a|  | b", "a|  | b", "a|  | b"},
		{"a  ", "a|  ", "a|  ", "a|  "},
		{"a\n\n b", "a|\n\n| b", "a|\n\n| b", "a|\n\n| b"},
		{"a \n \n  b", "a| \n \n | b", "a| \n \n| | b", "a| \n \n | b"},
		{"x\tb", "x|\t|b", "x|\tb", "x|\t|b"},
		{"(f) != g", "(|f|)| !=| g", "(f|)| !=| g", "(|f|)| !=| g"},
		{"ok!\n\nno", "ok|!|\n|\n|no", "ok|!\n\n|no", "ok|!|\n|\n|no"},
		{"a\u00a0b", "a|\u00a0|b", "a|\u00a0b", "a|\u00a0|b"},
		{"é😀\xff\xfea", "é|😀\xff\xfe|a", "é|😀\xff\xfe|a", "é|😀\xff\xfe|a"},
		{"\xffa", "\xff|a", "\xffa", "\xff|a"},
	}
	for _, c := range cases {
		for split, want := range map[Split]string{GPT2: c.gpt2, Qwen: c.qwen, Digits: c.digits} {
			if got := strings.Join(wordsOf(split, c.text), "|"); got != want {
				t.Errorf("%s: words of %q = %q, want %q", split, c.text, got, want)
			}
		}
	}
}

func TestSplitKeepsEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		for _, s := range Splits() {
			words := wordsOf(s, text)
			if slices.Contains(words, "") {
				t.Fatalf("%s: empty word in %q", s, words)
			}
			if joined := strings.Join(words, ""); joined != text {
				t.Fatalf("%s: words join to %q, want %q", s, joined, text)
			}
		}
	})
}

func TestSplitStopsWhenAsked(t *testing.T) {
	for _, s := range Splits() {
		for stop := 1; stop <= 5; stop++ {
			n := 0
			s.words("a1b2 c", func(string) bool { n++; return n < stop })
			if n > stop {
				t.Errorf("%s: %d words after a stop at %d", s, n, stop)
			}
		}
	}
}

// anyText draws texts of the awkward pieces that splits treat differently,
// arbitrary characters and arbitrary bytes.
func anyText() *rapid.Generator[string] {
	pieces := []string{
		"a", "the", " the", "É", "don't", "'s", "'S", "'ſ", "'re", "'r", "'", " ", "  ", "\n", "\r\n", "\t", "\u00a0",
		"1", "42", "٣", "½", "三", "日本語", "😀", "e\u0301", "!", "?!", "\x00", "<|end|>", "aaaaaaa", "\xe6", "\x97\xa5", "\xff",
	}
	return rapid.Custom(func(t *rapid.T) string {
		piece := rapid.OneOf(
			rapid.SampledFrom(pieces), rapid.SampledFrom(pieces), rapid.StringN(0, 8, -1),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
		)
		return strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces"), "")
	})
}
