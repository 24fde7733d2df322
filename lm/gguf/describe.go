package gguf

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/token"
)

// keyValue is an entry of the metadata.
type keyValue struct {
	key   string
	value any // uint32, float32, bool, string, []string or []int32
}

// fileType is general.file_type, by llama.cpp's numbers.
func fileType(t Type) uint32 {
	switch t {
	case F16:
		return 1
	case BF16:
		return 32
	}
	return 0
}

// describe makes the metadata of a file: shape, tokenizer and template.
func describe(cfg lm.Config, o WriteOptions) ([]keyValue, error) {
	arch := string(cfg.Family())
	var list []keyValue
	add := func(key string, v any) { list = append(list, keyValue{key, v}) }
	add("general.architecture", arch)
	add("general.type", "model")
	add("general.name", o.Name)
	add("general.file_type", fileType(o.Type))
	for _, n := range []struct {
		key   string
		value int
	}{
		{"context_length", cfg.MaxSeq}, {"embedding_length", cfg.Dim}, {"block_count", cfg.Layers}, {"feed_forward_length", cfg.FFN},
		{"attention.head_count", cfg.Heads}, {"attention.head_count_kv", cfg.KVHeads}, {"attention.key_length", cfg.HeadDim},
		{"attention.value_length", cfg.HeadDim}, {"rope.dimension_count", cfg.HeadDim}, {"vocab_size", cfg.Vocab},
	} {
		add(arch+"."+n.key, uint32(n.value))
	}
	add(arch+".attention.layer_norm_rms_epsilon", cfg.NormEps)
	add(arch+".rope.freq_base", cfg.RopeTheta)
	if s := cfg.RopeScaling; s.Kind == lm.RopeLinear {
		add(arch+".rope.scaling.type", "linear")
		add(arch+".rope.scaling.factor", float32(s.Factor))
	}
	tok, err := describeTokenizer(cfg.Vocab, o)
	if err != nil {
		return nil, fmt.Errorf("gguf: tokenizer: %w", err)
	}
	list = append(list, tok...)
	if o.Template != "" {
		add("tokenizer.chat_template", o.Template)
	}
	return list, nil
}

func describeTokenizer(vocab int, o WriteOptions) ([]keyValue, error) {
	if o.Tokenizer == nil {
		return nil, errors.New("got none")
	}
	if n := o.Tokenizer.Vocab(); n > vocab {
		return nil, fmt.Errorf("got %d tokens, want at most %d, the model's vocab_size", n, vocab)
	}
	p := o.Tokenizer.Parts()
	pre, err := preName(p.Split)
	if err != nil {
		return nil, err
	}
	var list []keyValue
	add := func(key string, v any) { list = append(list, keyValue{tokenizerPrefix + key, v}) }
	add("model", "gpt2")
	add("pre", pre)
	kinds := make([]int32, len(p.Tokens), vocab)
	for i := range kinds {
		kinds[i] = tokenNormal
	}
	for _, a := range p.Added {
		kinds[a.ID] = tokenUser
		if a.Special {
			kinds[a.ID] = tokenControl
		}
	}
	tokens := p.Tokens
	for id := len(tokens); id < vocab; id++ { // the table of weights is longer than the vocabulary
		tokens, kinds = append(tokens, fmt.Sprintf("[PAD%d]", id)), append(kinds, tokenUnused)
	}
	add("tokens", tokens)
	add("token_type", kinds)
	add("merges", p.Merges)
	if err := addStops(add, p, o.Stops); err != nil {
		return nil, err
	}
	for _, side := range []struct {
		name string
		ids  []int32
	}{{"bos", p.Prefix}, {"eos", p.Suffix}} {
		if len(side.ids) > 1 || side.name == "eos" && len(side.ids) == 1 && side.ids[0] != o.Stops[0] {
			return nil, fmt.Errorf("got ids %v put around a text, want at most one %s token: the format holds no more", side.ids, side.name)
		}
		if side.name == "bos" && len(side.ids) == 1 {
			add("bos_token_id", uint32(side.ids[0]))
		}
		add("add_"+side.name+"_token", len(side.ids) == 1)
	}
	return list, nil
}

// preName is the pre-tokenizer's name for a split.
func preName(s token.Split) (string, error) {
	for _, name := range []string{"gpt-2", "smollm", "llama-bpe", "qwen2"} { // each split's usual one
		if preTokenizers()[name].split == s {
			return name, nil
		}
	}
	return "", fmt.Errorf("split: got %v, want one that llama.cpp has a name for", s)
}

// addStops names the ids that end a reply: the end of text, of turn and of message. Those that a reader knows by the token's name need no key.
func addStops(add func(string, any), p token.Parts, stops []int32) error {
	if len(stops) == 0 {
		return errors.New("ids that end a reply: got none, want at least one")
	}
	keys := []string{"eos_token_id", "eot_token_id", "eom_token_id"}
	for i, id := range stops {
		if id < 0 || int(id) >= len(p.Tokens) {
			return fmt.Errorf("ids that end a reply: got %d, want 0 to %d", id, len(p.Tokens)-1)
		}
		byName := slices.Contains(ends, p.Tokens[id]) && slices.ContainsFunc(p.Added, func(a token.Added) bool { return a.ID == id && a.Special })
		switch {
		case i > 0 && byName:
		case len(keys) == 0:
			return fmt.Errorf("ids that end a reply: got %v, want at most three that are not named %s", stops, strings.Join(ends, ", "))
		default:
			add(keys[0], uint32(id))
			keys = keys[1:]
		}
	}
	return nil
}

// sameAgain checks that a reader of the metadata finds the shape and the tokenizer that were described.
func sameAgain(cfg lm.Config, tok *token.Tokenizer, meta []keyValue, list []toWrite) error {
	f := &File{Meta: map[string]any{}, byName: map[string]int{}}
	for _, kv := range meta {
		f.Meta[kv.key] = kv.value
	}
	for i, t := range list {
		if t.file != ropeFreqs { // has been compared, and its values are not at hand here
			f.byName[t.file] = i
		}
		f.tensors = append(f.tensors, Tensor{Name: t.file, Shape: t.shape, values: len(t.data)})
	}
	want := cfg
	if want.RopeScaling.Kind == lm.RopeLlama3 {
		want.RopeScaling = lm.RopeScaling{}
	}
	got, err := f.Config()
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("gguf: the format cannot hold the model's shape: got %+v, want %+v", got, want)
	}
	back, err := f.Tokenizer()
	if err != nil {
		return err
	}
	if back.Hash() != tok.Hash() {
		return errors.New("gguf: tokenizer: got one that the format cannot hold exactly (normalisation, whole words before merges, or added tokens with flags of their own)")
	}
	return nil
}
