package gguf

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale/lm/token"
)

const tokenizerPrefix = "tokenizer.ggml."

// preTokenizer is what a name in tokenizer.ggml.pre stands for.
type preTokenizer struct {
	split        token.Split
	nfc          bool // which llama.cpp omits, but Hugging Face's files have
	ignoreMerges bool
	bos          bool // add_bos_token where the file does not say
}

func preTokenizers() map[string]preTokenizer {
	llama3 := preTokenizer{split: token.Llama3, ignoreMerges: true, bos: true}
	qwen := preTokenizer{split: token.Qwen, nfc: true}
	return map[string]preTokenizer{
		"gpt-2": {split: token.GPT2}, "smollm": {split: token.Digits},
		"llama-bpe": llama3, "llama3": llama3, "llama-v3": llama3,
		"qwen2": qwen, "deepseek-r1-qwen": qwen,
	}
}

// Kinds of tokens in tokenizer.ggml.token_type.
const (
	tokenNormal, tokenControl, tokenUser, tokenUnused = 1, 3, 4, 5
)

// Tokenizer takes the embedded tokenizer: a byte-level BPE ("gpt2") whose split
// tokenizer.ggml.pre names. Control tokens become special tokens, user-defined ones
// added tokens that are not special. (llama.cpp's converter counts every <|name|> as
// control, also where Hugging Face's file does not call it special.) A file with the
// pre-tokenizer "default", or none, does not say how texts are split; see
// [File.TokenizerAs].
func (f *File) Tokenizer() (*token.Tokenizer, error) {
	known := preTokenizers()
	name, ok := f.Meta[tokenizerPrefix+"pre"].(string)
	pre, isKnown := known[name]
	if !ok || !isKnown {
		return nil, fmt.Errorf("gguf: %spre: got %s, want one of %s; where the split is known, name one of %v",
			tokenizerPrefix, show(f.Meta[tokenizerPrefix+"pre"]), strings.Join(slices.Sorted(maps.Keys(known)), ", "), token.Splits())
	}
	return f.tokenizer(pre)
}

// TokenizerAs is Tokenizer with a split in the place of tokenizer.ggml.pre; the Qwen
// split comes with normalisation to NFC, Llama 3's with whole words before merges.
func (f *File) TokenizerAs(split token.Split) (*token.Tokenizer, error) {
	return f.tokenizer(preTokenizer{split: split, nfc: split == token.Qwen, ignoreMerges: split == token.Llama3})
}

func (f *File) tokenizer(pre preTokenizer) (*token.Tokenizer, error) {
	fail := func(key string, err error) (*token.Tokenizer, error) {
		return nil, fmt.Errorf("gguf: %s%s: %w", tokenizerPrefix, key, err)
	}
	if model := f.Meta[tokenizerPrefix+"model"]; model != "gpt2" {
		return fail("model", fmt.Errorf(`got %s, want "gpt2" (byte-level BPE)`, show(model)))
	}
	tokens, _ := f.Meta[tokenizerPrefix+"tokens"].([]string)
	kinds, _ := f.Meta[tokenizerPrefix+"token_type"].([]int32)
	merges, ok := f.Meta[tokenizerPrefix+"merges"].([]string)
	switch {
	case len(tokens) == 0:
		return fail("tokens", fmt.Errorf("got %s, want strings", show(f.Meta[tokenizerPrefix+"tokens"])))
	case len(kinds) != len(tokens):
		return fail("token_type", fmt.Errorf("got %d, want one for each of %d tokens", len(kinds), len(tokens)))
	case !ok:
		return fail("merges", fmt.Errorf("got %s, want strings", show(f.Meta[tokenizerPrefix+"merges"])))
	}
	if space, ok := f.Meta[tokenizerPrefix+"add_space_prefix"]; ok && space != false {
		return fail("add_space_prefix", fmt.Errorf("got %s, want false", show(space)))
	}
	// The table of weights is padded to a round size; the tokenizer ends before that.
	for len(tokens) > 0 && kinds[len(tokens)-1] == tokenUnused {
		tokens = tokens[:len(tokens)-1]
	}
	control, err := f.controls(kinds[:len(tokens)])
	if err != nil {
		return nil, err
	}
	p := token.Parts{Split: pre.split, NFC: pre.nfc, IgnoreMerges: pre.ignoreMerges, Tokens: tokens, Merges: merges}
	for id, kind := range kinds[:len(tokens)] {
		switch kind {
		case tokenNormal, tokenControl, tokenUser:
		default:
			return fail("token_type", fmt.Errorf("token %d %q: got %d, want normal (%d), control (%d) or user-defined (%d)",
				id, brief(tokens[id]), kind, tokenNormal, tokenControl, tokenUser))
		}
		if kind != tokenNormal || control[id] {
			p.Added = append(p.Added, token.Added{ID: int32(id), Content: tokens[id], Special: control[id]})
		}
	}
	if p.Prefix, err = f.frame("bos", pre.bos, len(tokens)); err != nil {
		return nil, err
	}
	if p.Suffix, err = f.frame("eos", false, len(tokens)); err != nil {
		return nil, err
	}
	t, err := token.New(p)
	if err != nil {
		return nil, fmt.Errorf("gguf: tokenizer: %w", err)
	}
	return t, nil
}

// controls marks the control tokens: those of that kind, and those that the file names
// as the start or an end of a text or a turn, whatever kind it gives them.
func (f *File) controls(kinds []int32) (map[int]bool, error) {
	control := make(map[int]bool)
	for id, kind := range kinds {
		if kind == tokenControl {
			control[id] = true
		}
	}
	for _, name := range []string{"bos", "eos", "eot", "eom"} {
		id, ok, err := f.tokenID(name, len(kinds))
		if err != nil {
			return nil, err
		}
		if ok {
			control[id] = true
		}
	}
	return control, nil
}

// tokenID reads tokenizer.ggml.NAME_token_id.
func (f *File) tokenID(name string, vocab int) (id int, ok bool, err error) {
	key := tokenizerPrefix + name + "_token_id"
	v, ok := f.Meta[key]
	if !ok {
		return 0, false, nil
	}
	n, isWhole := whole(v)
	if !isWhole || n >= uint64(vocab) {
		return 0, false, fmt.Errorf("gguf: %s: got %s, want 0 to %d", key, show(v), vocab-1)
	}
	return int(n), true, nil
}

// frame is the token that tokenizer.ggml.add_NAME_token puts on its side of a text.
func (f *File) frame(name string, otherwise bool, vocab int) ([]int32, error) {
	key := tokenizerPrefix + "add_" + name + "_token"
	add := otherwise
	if v, ok := f.Meta[key]; ok {
		if add, ok = v.(bool); !ok {
			return nil, fmt.Errorf("gguf: %s: got %s, want a bool", key, show(v))
		}
	}
	if !add {
		return nil, nil
	}
	id, ok, err := f.tokenID(name, vocab)
	if err == nil && !ok {
		err = fmt.Errorf("gguf: %s: got true without %s%s_token_id", key, tokenizerPrefix, name)
	}
	return []int32{int32(id)}, err
}

// ends are the names of tokens that end a turn or a text in the supported families.
var ends = []string{"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>"}

// EOS lists the ids at which sampling ends, ascending: those that the metadata name as an
// end of text, of turn or of message, and the control tokens that are one by name.
func (f *File) EOS() ([]int32, error) {
	tokens, _ := f.Meta[tokenizerPrefix+"tokens"].([]string)
	kinds, _ := f.Meta[tokenizerPrefix+"token_type"].([]int32)
	var ids []int32
	for _, name := range []string{"eos", "eot", "eom"} {
		id, ok, err := f.tokenID(name, len(tokens))
		if err != nil {
			return nil, err
		}
		if ok {
			ids = append(ids, int32(id))
		}
	}
	for id, text := range tokens {
		if id < len(kinds) && kinds[id] == tokenControl && slices.Contains(ends, text) {
			ids = append(ids, int32(id))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// ChatTemplate is the Jinja template of a conversation, or "" where there is none.
func (f *File) ChatTemplate() string {
	s, _ := f.Meta["tokenizer.chat_template"].(string)
	return s
}
