package token

import (
	"fmt"
	"slices"
)

// assemble turns spellings into bytes and ids.
func assemble(split Split, vocab []entry, merges [][2]string, added []entry) (*Tokenizer, error) {
	special := make(map[string]int32, len(added))
	for _, a := range added {
		if _, ok := special[a.text]; ok {
			return nil, fmt.Errorf("added_tokens: got %.60q twice, want it once", a.text)
		}
		special[a.text] = a.id
	}
	ids := make(map[string]int32, len(vocab))
	alphabet := newByteAlphabet()
	entries := slices.Clone(added)
	for _, v := range vocab {
		if id, ok := special[v.text]; ok { // some files list special tokens in both places
			if id != v.id {
				return nil, fmt.Errorf("added_tokens: %.60q: got id %d, want %d as in the vocabulary", v.text, id, v.id)
			}
			continue
		}
		s, bad, ok := alphabet.read(v.text)
		if !ok {
			return nil, fmt.Errorf("model.vocab: %.60q: got %q, want characters of the byte alphabet", v.text, bad)
		}
		ids[v.text] = v.id
		entries = append(entries, entry{s, v.id})
	}
	tokens, err := place(entries)
	if err != nil {
		return nil, err
	}
	pairs := make([]pair, len(merges))
	for i, m := range merges {
		for _, part := range m {
			if _, ok := ids[part]; !ok {
				return nil, fmt.Errorf("model.merges[%d]: got %.60q, want a token of the vocabulary", i, part)
			}
		}
		pairs[i] = pair{ids[m[0]], ids[m[1]]}
	}
	specials := make([]int32, 0, len(added))
	for _, a := range added {
		specials = append(specials, a.id)
	}
	slices.Sort(specials)
	return build(split, tokens, pairs, specials)
}

// place orders the tokens by id and checks that the ids are 0 to n-1.
func place(entries []entry) ([]string, error) {
	tokens := make([]string, len(entries))
	taken := make([]bool, len(entries))
	for _, e := range entries {
		if int(e.id) >= len(entries) {
			return nil, fmt.Errorf("vocabulary: got id %d among %d tokens, want ids without holes", e.id, len(entries))
		}
		if taken[e.id] {
			return nil, fmt.Errorf("vocabulary: got id %d for %.60q and %.60q, want one token", e.id, tokens[e.id], e.text)
		}
		tokens[e.id], taken[e.id] = e.text, true
	}
	return tokens, nil
}
