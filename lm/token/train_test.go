package token

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Worked by hand; each line is one merge and why it is next.
func TestTrainByHand(t *testing.T) {
	want := []string{
		"a+a",          // 4 times, overlaps counted
		"a+b",          // 2 times, as aa+a is, but a is older than aa
		"aa+ab",        // 2 times
		"a+c",          // from here on all once, so the oldest left token: a,
		"d+aaab",       // d,
		"z+z",          // z in a word of its own,
		"aaab+daaab",   // aaab,
		"aaabdaaab+ac", // and the rest; never across words
	}
	tok, err := Train(slices.Values([]string{"aaabdaaabac", "1zz"}), TrainOptions{Vocab: 300, Split: GPT2})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range tok.merges {
		got = append(got, tok.tokens[m.left]+"+"+tok.tokens[m.right])
	}
	if !slices.Equal(got, want) {
		t.Errorf("merges %q, want %q", got, want)
	}
	if tok.Vocab() != 256+len(want) {
		t.Errorf("vocabulary of %d, want 256 bytes and %d merges", tok.Vocab(), len(want))
	}
	if ids := tok.Encode("aaabdaaabac"); len(ids) != 1 {
		t.Errorf("the word has %d tokens, want 1", len(ids))
	}
	if ids := tok.Encode("aaaab"); !slices.Equal(ids, []int32{256, 256, 'b' - '!'}) {
		t.Errorf("aaaab is %v, want aa, aa, b", ids)
	}
}

func TestTrainIsDeterministic(t *testing.T) {
	lines := corpusLines(t)
	r := rand.New(rand.NewPCG(3, 4))
	for _, split := range Splits() {
		opt := TrainOptions{Vocab: 500, Special: []string{"<s>"}, Split: split}
		first, err := Train(slices.Values(lines), opt)
		if err != nil {
			t.Fatal(err)
		}
		if first.Vocab() != opt.Vocab {
			t.Errorf("vocabulary of %d, want %d", first.Vocab(), opt.Vocab)
		}
		for range 3 {
			r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			again, err := Train(slices.Values(lines), opt)
			if err != nil {
				t.Fatal(err)
			}
			if again.Hash() != first.Hash() {
				t.Errorf("%s: hash %s of the same texts in another order, want %s", split, again.Hash(), first.Hash())
			}
		}
	}
}

func TestHashTellsApart(t *testing.T) {
	seen := map[string]string{}
	for name, opt := range map[string]TrainOptions{
		"base":    {Vocab: 300, Special: []string{"<s>"}, Split: GPT2},
		"size":    {Vocab: 260, Special: []string{"<s>"}, Split: GPT2},
		"split":   {Vocab: 300, Special: []string{"<s>"}, Split: Digits},
		"name":    {Vocab: 300, Special: []string{"<t>"}, Split: GPT2},
		"special": {Vocab: 300, Split: GPT2},
	} {
		tok, err := Train(slices.Values([]string{strings.Repeat("abcdefgh ijklmnop ", 3)}), opt)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[tok.Hash()]; ok {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[tok.Hash()] = name
	}
}

// A learned token must not spell a special token: in a file they would be one.
func TestTrainNeverLearnsASpecial(t *testing.T) {
	text := []string{strings.Repeat("stop ", 50)}
	tok, err := Train(slices.Values(text), TrainOptions{Vocab: 300, Special: []string{"stop", "Ġstop"}, Split: GPT2})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range tok.Encode("stop stop") {
		if tok.IsSpecial(id) || string(tok.Bytes(id)) == "stop" || string(tok.Bytes(id)) == " stop" {
			t.Errorf("text gives the token %q", tok.DecodeAll([]int32{id}))
		}
	}
}

func TestTrainOfNothing(t *testing.T) {
	tok, err := Train(slices.Values([]string{"", "a", ""}), TrainOptions{Vocab: 1000, Split: Digits})
	if err != nil {
		t.Fatal(err)
	}
	if tok.Vocab() != 256 {
		t.Errorf("vocabulary of %d, want the 256 bytes", tok.Vocab())
	}
	if got := tok.Decode(tok.Encode("é\xff")); got != "é\xff" {
		t.Errorf("decoded %q", got)
	}
}

func TestTrainRefuses(t *testing.T) {
	cases := []struct {
		opt  TrainOptions
		want string
	}{
		{TrainOptions{Vocab: 300}, `split: got "", want one of gpt2, qwen, llama3, digits`},
		{TrainOptions{Vocab: 300, Split: "GPT2"}, `split: got "GPT2", want one of`},
		{TrainOptions{Vocab: 255, Split: GPT2}, "vocabulary: got 255 tokens, want 256"},
		{TrainOptions{Vocab: 257, Special: []string{"<a>", "<b>"}, Split: GPT2}, "vocabulary: got 257 tokens, want 258"},
		{TrainOptions{Vocab: maxVocab + 1, Split: GPT2}, "vocabulary: got 1048577 tokens"},
		{TrainOptions{Vocab: 300, Special: []string{"<a>", "<a>"}, Split: GPT2}, `special token "<a>": got two`},
		{TrainOptions{Vocab: 300, Special: []string{""}, Split: GPT2}, "got a name of 0 bytes"},
		{TrainOptions{Vocab: 300, Special: []string{strings.Repeat("x", 257)}, Split: GPT2}, "got a name of 257 bytes"},
		{TrainOptions{Vocab: 300, Special: []string{"\xff"}, Split: GPT2}, "got invalid UTF-8"},
		{TrainOptions{Vocab: 300, Special: []string{"a"}, Split: GPT2}, `special token "a": got the spelling of token 64`},
		{TrainOptions{Vocab: 300, Special: []string{"Ġ"}, Split: GPT2}, `special token "Ġ": got the spelling of token 220`},
	}
	for _, c := range cases {
		_, err := Train(slices.Values([]string{"aa"}), c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got error %v, want %q", c.opt, err, c.want)
		}
	}
}
