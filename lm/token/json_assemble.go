package token

import (
	"cmp"
	"fmt"
	"slices"
)

// spelled is a tokenizer as files spell it.
type spelled struct {
	split        Split
	nfc          bool
	ignoreMerges bool
	vocab        []entry // in the byte alphabet
	merges       [][2]string
	unknown      string // the unk_token, or none
	added        []Added
	frame        frame
}

// entry is a token by its spelling in the file.
type entry struct {
	text string
	id   int32
}

// assemble turns spellings into bytes and ids.
func assemble(f spelled) (*Tokenizer, error) {
	added := make(map[string]Added, len(f.added))
	for _, a := range f.added {
		if _, ok := added[a.Content]; ok {
			return nil, fmt.Errorf("added_tokens: got %.60q twice, want it once", a.Content)
		}
		added[a.Content] = a
	}
	ids := make(map[string]int32, len(f.vocab))
	learned := make(map[int32]bool)
	alphabet := newByteAlphabet()
	var entries []entry
	for _, v := range f.vocab {
		a, isAdded := added[v.text]
		if isAdded && a.ID != v.id { // some files list added tokens in both places
			return nil, fmt.Errorf("added_tokens: %.60q: got id %d, want %d as in the vocabulary", v.text, a.ID, v.id)
		}
		if isAdded && a.Special {
			continue
		}
		s, bad, ok := alphabet.read(v.text)
		switch {
		case !ok && isAdded:
			continue
		case !ok:
			return nil, fmt.Errorf("model.vocab: %.60q: got %q, want characters of the byte alphabet", v.text, bad)
		case isAdded:
			learned[v.id] = true
		}
		ids[v.text] = v.id
		entries = append(entries, entry{s, v.id})
	}
	for _, a := range f.added {
		if !learned[a.ID] {
			entries = append(entries, entry{a.Content, a.ID})
		}
	}
	if _, ok := added[f.unknown]; f.unknown != "" && !ok {
		// With a token for every byte it is never used, but it must be something.
		if _, ok := ids[f.unknown]; !ok {
			return nil, fmt.Errorf("model: unsupported unk_token: got %.60q, want null or a token", f.unknown)
		}
	}
	tokens, err := place(entries)
	if err != nil {
		return nil, err
	}
	pairs := make([]pair, len(f.merges))
	for i, m := range f.merges {
		for _, part := range m {
			if _, ok := ids[part]; !ok {
				return nil, fmt.Errorf("model.merges[%d]: got %.60q, want a token of the vocabulary", i, part)
			}
		}
		pairs[i] = pair{ids[m[0]], ids[m[1]]}
	}
	c := content{split: f.split, nfc: f.nfc, ignoreMerges: f.ignoreMerges, tokens: tokens, added: slices.Clone(f.added)}
	slices.SortFunc(c.added, func(a, b Added) int { return cmp.Compare(a.ID, b.ID) })
	if c.prefix, c.suffix, err = f.frame.resolve(added, ids); err != nil {
		return nil, err
	}
	t, err := build(c, pairs, learned)
	if err == nil && t.gaps && f.unknown != "" {
		return nil, fmt.Errorf("model: unsupported unk_token: got %.60q and no token for byte 0x%02x, want null or all bytes", f.unknown, t.MissingBytes()[0])
	}
	return t, err
}

// place orders the tokens by id and checks that the ids are 0 to n-1.
func place(entries []entry) ([]string, error) {
	tokens := make([]string, len(entries))
	taken := make([]bool, len(entries))
	for _, e := range entries {
		if e.id < 0 || int(e.id) >= len(entries) {
			return nil, fmt.Errorf("vocabulary: got id %d among %d tokens, want ids without holes", e.id, len(entries))
		}
		if taken[e.id] {
			return nil, fmt.Errorf("vocabulary: got id %d for %.60q and %.60q, want one token", e.id, tokens[e.id], e.text)
		}
		tokens[e.id], taken[e.id] = e.text, true
	}
	return tokens, nil
}
