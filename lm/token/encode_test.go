package token

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// corpusLines is the test corpus cut after each line.
func corpusLines(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/corpus.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(string(data), "\n")
}

func trained(t testing.TB, split Split) *Tokenizer {
	t.Helper()
	tok, err := Train(slices.Values(corpusLines(t)), TrainOptions{Vocab: 500, Special: []string{"<|start|>", "<|end|>"}, Split: split})
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// allPairs is the vocabulary of all bytes and all pairs of bytes. It merges
// whatever touches, so its ids show every edge of a word.
func allPairs(t testing.TB, split Split) *Tokenizer {
	t.Helper()
	order := newByteAlphabet().order
	var tokens []string
	var pairs []pair
	for _, a := range order {
		tokens = append(tokens, string([]byte{a}))
	}
	for i, a := range order {
		for j, b := range order {
			tokens = append(tokens, string([]byte{a, b}))
			pairs = append(pairs, pair{int32(i), int32(j)})
		}
	}
	tok, err := build(content{split: split, tokens: tokens}, pairs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// testTokenizers are both vocabularies under every split.
func testTokenizers(t testing.TB) []*Tokenizer {
	var all []*Tokenizer
	for _, s := range Splits() {
		all = append(all, trained(t, s), allPairs(t, s))
	}
	return all
}

// encodeNaive is the definition: in each word join the leftmost pair of the lowest
// rank until there is none.
func encodeNaive(tok *Tokenizer, text string) []int32 {
	var ids []int32
	tok.split.words(text, func(word string) bool {
		var parts []int32
		for i := range len(word) {
			parts = append(parts, tok.byteID[word[i]])
		}
		for {
			best, at := int32(len(tok.merges)), -1
			for i := range len(parts) - 1 {
				if r, ok := tok.rank[pair{parts[i], parts[i+1]}]; ok && r < best {
					best, at = r, i
				}
			}
			if at < 0 {
				break
			}
			parts = slices.Replace(parts, at, at+2, tok.merges[best].id)
		}
		ids = append(ids, parts...)
		return true
	})
	return ids
}

func TestEncodeIsNaiveEncode(t *testing.T) {
	all := testTokenizers(t)
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		for _, tok := range all {
			if got, want := tok.Encode(text), encodeNaive(tok, text); !slices.Equal(got, want) {
				t.Fatalf("%s: ids %v, want %v", tok.split, got, want)
			}
		}
	})
}

func TestRoundTripAndOffsets(t *testing.T) {
	all := testTokenizers(t)
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		for _, tok := range all {
			ids, ends := tok.Offsets(text)
			if !slices.Equal(ids, tok.Encode(text)) {
				t.Fatalf("Offsets gives ids %v, Encode %v", ids, tok.Encode(text))
			}
			if got := tok.Decode(ids); got != text {
				t.Fatalf("decoded %q, want %q", got, text)
			}
			start := 0
			for i, id := range ids {
				if got := text[start:ends[i]]; got != string(tok.Bytes(id)) {
					t.Fatalf("token %d covers %q, its bytes are %q", i, got, tok.Bytes(id))
				}
				start = ends[i]
			}
			if start != len(text) || len(ends) != len(ids) {
				t.Fatalf("last token ends at %d of %d", start, len(text))
			}
		}
	})
}

func TestClip(t *testing.T) {
	all := testTokenizers(t)
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		n := rapid.IntRange(-1, 40).Draw(t, "n")
		for _, tok := range all {
			got := tok.Clip(text, n)
			if want := clipNaive(tok, text, n); got != want {
				t.Fatalf("%s: Clip(%q, %d) = %q, want %q", tok.split, text, n, got, want)
			}
			if k := len(tok.Encode(got)); k > max(n, 0) {
				t.Fatalf("%s: %q has %d tokens, want at most %d", tok.split, got, k, n)
			}
			if again := tok.Clip(got, n); again != got {
				t.Fatalf("clipped twice: %q, want %q", again, got)
			}
			if utf8.ValidString(text) && !utf8.ValidString(got) {
				t.Fatalf("Clip(%q, %d) = %q cuts a character", text, n, got)
			}
		}
	})
}

// clipNaive tries all prefixes of whole tokens, longest first.
func clipNaive(tok *Tokenizer, text string, n int) string {
	_, ends := tok.Offsets(text)
	if len(ends) <= n {
		return text
	}
	edges := map[int]bool{}
	for i := range text { // ranges over characters, or single invalid bytes
		edges[i] = true
	}
	for k := n; k > 0; k-- {
		if prefix := text[:ends[k-1]]; edges[ends[k-1]] && len(tok.Encode(prefix)) <= n {
			return prefix
		}
	}
	return ""
}

// The split sees a cut contraction differently than a whole one.
func TestClipCountsTokensOfTheResult(t *testing.T) {
	tok := allPairs(t, GPT2)
	if ids := tok.Encode("'re"); len(ids) != 2 {
		t.Fatalf("'re has %d tokens, want 2: 'r and e", len(ids))
	}
	if got := tok.Clip("'re", 1); got != "" {
		t.Errorf("Clip = %q, want nothing: 'r alone encodes to two tokens", got)
	}
}

func TestSpecialsInTextStayText(t *testing.T) {
	for _, split := range Splits() {
		tok := trained(t, split)
		for _, name := range tok.Specials() {
			ids := tok.Encode("a" + name + name + "b")
			if slices.ContainsFunc(ids, tok.IsSpecial) {
				t.Errorf("%s: Encode made a special token of %s", split, name)
			}
			if got := tok.Decode(ids); got != "a"+name+name+"b" {
				t.Errorf("%s: decoded %q", split, got)
			}
		}
	}
}

func TestDecode(t *testing.T) {
	tok := trained(t, Digits)
	start, ok := tok.Special("<|start|>")
	if !ok || !tok.IsSpecial(start) || tok.Bytes(start) != nil {
		t.Fatalf("Special = %d, %v; IsSpecial %v; Bytes %q", start, ok, tok.IsSpecial(start), tok.Bytes(start))
	}
	if end, _ := tok.Special("<|end|>"); int(start) != tok.Vocab()-2 || int(end) != tok.Vocab()-1 {
		t.Errorf("special tokens have ids %d, %d of %d, want the last two", start, end, tok.Vocab())
	}
	if _, ok := tok.Special("a"); ok {
		t.Error("an ordinary token passes for a special one")
	}
	ids := append([]int32{start}, tok.Encode("hé")...)
	if got := tok.Decode(ids); got != "hé" {
		t.Errorf("Decode = %q, want the text alone", got)
	}
	if got := tok.DecodeAll(ids); got != "<|start|>hé" {
		t.Errorf("DecodeAll = %q, want the special token by name", got)
	}
	if got := tok.Decode([]int32{-1, int32(tok.Vocab()), 1 << 30}); got != "\ufffd\ufffd\ufffd" {
		t.Errorf("ids outside of the vocabulary decode to %q", got)
	}
	if tok.Bytes(-1) != nil || tok.Bytes(int32(tok.Vocab())) != nil || tok.IsSpecial(-1) {
		t.Error("an id outside of the vocabulary has bytes or is special")
	}
}

func TestDigitsAreTokens(t *testing.T) {
	tok := trained(t, Digits)
	ids := tok.Encode("1000 12")
	if got := len(ids); got != 7 {
		t.Errorf("1000 12 has %d tokens, want one a character", got)
	}
	if tok.Split() != Digits {
		t.Errorf("split is %s", tok.Split())
	}
}

// Quadratic merging would take minutes here.
func TestLongWords(t *testing.T) {
	tok := trained(t, GPT2)
	r := rand.New(rand.NewPCG(1, 1))
	b := make([]byte, 1<<20)
	for i := range b {
		b[i] = "aeht"[r.IntN(4)]
	}
	for _, text := range []string{strings.Repeat("a", 1<<20), string(b), strings.Repeat("日本", 1<<17)} {
		if got := tok.Decode(tok.Encode(text)); got != text {
			t.Errorf("%.8q…: not the same after a round trip", text)
		}
	}
	if got := tok.Clip(strings.Repeat("a", 1<<20), 3); got == "" || len(tok.Encode(got)) > 3 {
		t.Errorf("clipped a long word to %.40q", got)
	}
}

func TestCacheIsBounded(t *testing.T) {
	tok := trained(t, GPT2)
	var b strings.Builder
	for i := range 100_000 {
		b.WriteString(" ")
		for k := i + 17; k > 0; k /= 26 {
			b.WriteByte(byte('a' + k%26))
		}
	}
	text := b.String()
	want := encodeNaive(tok, text)
	for range 2 {
		if !slices.Equal(tok.Encode(text), want) {
			t.Fatal("ids differ from the naive ones")
		}
	}
	filled := 0
	for i := range tok.cache.shards {
		n := len(tok.cache.shards[i].words)
		if n > shardWords {
			t.Errorf("shard %d holds %d words, want at most %d", i, n, shardWords)
		}
		filled += n
	}
	if filled < shardWords {
		t.Errorf("the cache holds %d words after 100,000", filled)
	}
}

func TestEncodeConcurrently(t *testing.T) {
	tok := trained(t, Digits)
	lines := corpusLines(t)
	want := make([][]int32, len(lines))
	for i, l := range lines {
		want[i] = encodeNaive(tok, l)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i, l := range lines {
				if !slices.Equal(tok.Encode(l), want[i]) {
					t.Errorf("line %d: ids differ", i)
				}
			}
		})
	}
	wg.Wait()
}
