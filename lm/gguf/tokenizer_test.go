package gguf

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/token"
)

// letters is GPT-2's byte alphabet in the order of its characters.
func letters() []string {
	var list []string
	for r := '!'; r < 0x100+68; r++ {
		if r <= '~' || r >= 0xA1 && r != 0xAD {
			list = append(list, string(r))
		}
	}
	return list
}

// addTokenizer gives w a tokenizer in the manner of SmolLM2: control tokens first.
func addTokenizer(w *writer) {
	tokens := append([]string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}, letters()...)
	tokens = append(tokens, "Ġa", "Ġab", "<think>", "[PAD262]")
	kinds := make([]int32, len(tokens))
	for i := range kinds {
		kinds[i] = tokenNormal
	}
	kinds[0], kinds[1], kinds[2] = tokenControl, tokenControl, tokenControl
	kinds[len(kinds)-2], kinds[len(kinds)-1] = tokenUser, tokenUnused
	w.set("tokenizer.ggml.model", "gpt2")
	w.set("tokenizer.ggml.pre", "smollm")
	w.set("tokenizer.ggml.tokens", tokens)
	w.set("tokenizer.ggml.token_type", kinds)
	w.set("tokenizer.ggml.merges", []string{"Ġ a", "Ġa b"})
	w.set("tokenizer.ggml.bos_token_id", uint32(1))
	w.set("tokenizer.ggml.eos_token_id", uint32(2))
	w.set("tokenizer.ggml.add_bos_token", false)
	w.set("tokenizer.chat_template", "{% for m in messages %}")
}

func TestTokenizer(t *testing.T) {
	w, _ := fileOf(t, tiny(lm.Llama))
	addTokenizer(w)
	f := mustParse(t, w.bytes())
	tok, err := f.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	if tok.Split() != token.Digits || tok.Vocab() != 262 {
		t.Errorf("split %s, %d tokens, want %s and 262", tok.Split(), tok.Vocab(), token.Digits)
	}
	if got, want := tok.Specials(), []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}; !slices.Equal(got, want) {
		t.Errorf("special tokens %q, want %q", got, want)
	}
	think, ok := tok.Named("<think>")
	if !ok || tok.IsSpecial(think) {
		t.Errorf("<think> is %d, %v, want a token that is not special", think, ok)
	}
	want := []int32{2, 3 + 256 + 1, think}
	if got := tok.EncodeWithSpecials("<|im_end|> ab<think>"); !slices.Equal(got, want) {
		t.Errorf("ids %v, want %v", got, want)
	}
	if got := tok.PostProcess([]int32{7}); !slices.Equal(got, []int32{7}) {
		t.Errorf("framed %v, want nothing added", got)
	}
	if ids, err := f.EOS(); err != nil || !slices.Equal(ids, []int32{0, 2}) {
		t.Errorf("EOS %v, %v, want 0 and 2", ids, err)
	}
	if got := f.ChatTemplate(); got != "{% for m in messages %}" {
		t.Errorf("chat template %q", got)
	}
}

// The families of package token, written in the manner of llama.cpp's converter, give
// the tokenizer of their tokenizer.json.
func TestTokenizerOfFamilies(t *testing.T) {
	for name, pre := range map[string]string{"gpt2": "gpt-2", "smollm2": "smollm", "llama3": "llama-bpe", "qwen2": "qwen2", "qwen3": "qwen2"} {
		data, err := os.ReadFile("../token/testdata/families/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		want, err := token.ReadJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		w := &writer{version: 3}
		w.set("tokenizer.ggml.model", "gpt2")
		w.set("tokenizer.ggml.pre", pre)
		spelled, merges := spellings(t, want)
		kinds := make([]int32, len(spelled))
		for i := range kinds {
			kinds[i] = tokenNormal
		}
		for _, a := range want.Added() {
			kinds[a.ID] = tokenUser
			if a.Special {
				kinds[a.ID] = tokenControl
			}
		}
		w.set("tokenizer.ggml.tokens", spelled)
		w.set("tokenizer.ggml.token_type", kinds)
		w.set("tokenizer.ggml.merges", merges)
		if bos, ok := want.Special("<|begin_of_text|>"); ok {
			w.set("tokenizer.ggml.bos_token_id", uint32(bos))
		}
		f := mustParse(t, w.bytes())
		got, err := f.Tokenizer()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Hash() != want.Hash() {
			t.Errorf("%s: another tokenizer than that of tokenizer.json", name)
		}
		as, err := f.TokenizerAs(want.Split())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if text := "It's 1234 e\u0301 apples"; !slices.Equal(as.Encode(text), want.Encode(text)) {
			t.Errorf("%s: as %s: other ids", name, want.Split())
		}
	}
}

// spellings takes tokens and merges out of what WriteJSON writes.
func spellings(t *testing.T, tok *token.Tokenizer) (tokens, merges []string) {
	t.Helper()
	alphabet := letters()
	letter := map[byte]string{}
	for b, i := 0, 0; b < 256; b++ {
		if b >= '!' && b <= '~' || b >= 0xA1 && b != 0xAD {
			letter[byte(b)] = string(rune(b))
		} else {
			letter[byte(b)] = alphabet[188+i]
			i++
		}
	}
	spell := func(s []byte) string {
		var b strings.Builder
		for _, c := range s {
			b.WriteString(letter[c])
		}
		return b.String()
	}
	added := map[int32]string{}
	for _, a := range tok.Added() {
		added[a.ID] = a.Content
	}
	for id := range int32(tok.Vocab()) {
		if content, ok := added[id]; ok {
			tokens = append(tokens, content)
		} else {
			tokens = append(tokens, spell(tok.Bytes(id)))
		}
	}
	for _, m := range tok.Merges() {
		merges = append(merges, tokens[m[0]]+" "+tokens[m[1]])
	}
	return tokens, merges
}

func TestTokenizerRefuses(t *testing.T) {
	cases := []struct {
		key   string
		value any
		want  string
	}{
		{"model", "llama", `tokenizer.ggml.model: got "llama", want "gpt2"`},
		{"pre", "default", `tokenizer.ggml.pre: got "default", want one of deepseek-r1-qwen, gpt-2, llama-bpe`},
		{"pre", uint32(1), `tokenizer.ggml.pre: got 1, want one of`},
		{"tokens", []int32{1}, "tokenizer.ggml.tokens: got an array, want strings"},
		{"tokens", []string{"a"}, "tokenizer.ggml.token_type: got 263, want one for each of 1 tokens"},
		{"token_type", []int32{1}, "tokenizer.ggml.token_type: got 1, want one for each of 263"},
		{"merges", "Ġ a", `tokenizer.ggml.merges: got "Ġ a", want strings`},
		{"merges", []string{"Ġa"}, "tokenizer: merges[0]: got"},
		{"merges", []string{"zz z"}, "want a token of the vocabulary"},
		{"add_space_prefix", true, "tokenizer.ggml.add_space_prefix: got true, want false"},
		{"eos_token_id", uint32(262), "tokenizer.ggml.eos_token_id: got 262, want 0 to 261"},
		{"eos_token_id", int32(-1), "tokenizer.ggml.eos_token_id: got -1"},
		{"add_bos_token", "yes", `tokenizer.ggml.add_bos_token: got "yes", want a bool`},
		{"add_eos_token", true, ""},
	}
	for _, c := range cases {
		w := &writer{version: 3}
		addTokenizer(w)
		w.set("tokenizer.ggml."+c.key, c.value)
		tok, err := mustParse(t, w.bytes()).Tokenizer()
		if c.want == "" {
			if err != nil || !slices.Equal(tok.PostProcess(nil), []int32{2}) {
				t.Errorf("%s = %v: got error %v, want a frame", c.key, c.value, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %v: got error %v, want %s", c.key, c.value, err, c.want)
		}
	}
	w := &writer{version: 3}
	addTokenizer(w)
	kinds := make([]int32, 263)
	for i := range kinds {
		kinds[i] = tokenUnused
	}
	w.set("tokenizer.ggml.token_type", kinds)
	if _, err := mustParse(t, w.bytes()).Tokenizer(); err == nil {
		t.Error("a vocabulary of unused tokens was taken")
	}
	kinds[262], kinds[3] = tokenNormal, 6
	w.set("tokenizer.ggml.token_type", kinds)
	if _, err := mustParse(t, w.bytes()).Tokenizer(); err == nil || !strings.Contains(err.Error(), "token 0 ") {
		t.Errorf("unused tokens among others: got error %v", fmt.Sprint(err))
	}
}

// An end of text that the file calls an ordinary token is a control token all the same.
func TestEndOfTextIsControl(t *testing.T) {
	w := &writer{version: 3}
	addTokenizer(w)
	kinds := make([]int32, 262)
	for i := range kinds {
		kinds[i] = tokenNormal
	}
	kinds = append(kinds, tokenUnused)
	w.set("tokenizer.ggml.token_type", kinds)
	tok, err := mustParse(t, w.bytes()).Tokenizer()
	if err != nil {
		t.Fatal("tokens of an unusual kind:", err)
	}
	if !tok.IsSpecial(2) || !tok.IsSpecial(1) || tok.IsSpecial(260) {
		t.Errorf("special tokens %q, want <|im_start|> and <|im_end|>", tok.Specials())
	}
}
