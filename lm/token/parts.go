package token

import (
	"fmt"
	"strings"
)

// Parts are a tokenizer taken apart, for files of other forms than tokenizer.json.
type Parts struct {
	Split        Split
	NFC          bool     // normalise texts to NFC before splitting (Qwen)
	IgnoreMerges bool     // a word that is a token is that token, merges or not (Llama 3)
	Tokens       []string // by id, in the byte alphabet; an added token's content as it is
	Merges       []string // "left right" in the byte alphabet, by rank
	Added        []Added
	Prefix       []int32 // what PostProcess puts before a text
	Suffix       []int32 // and after it
}

// New makes a tokenizer of its parts, with the checks of [ReadJSON].
func New(p Parts) (*Tokenizer, error) {
	if len(p.Tokens) > maxVocab {
		return nil, fmt.Errorf("vocabulary: got %d tokens, want at most %d", len(p.Tokens), maxVocab)
	}
	if len(p.Merges) > maxElements {
		return nil, fmt.Errorf("merges: got %d, want at most %d", len(p.Merges), maxElements)
	}
	f := spelled{split: p.Split, nfc: p.NFC, ignoreMerges: p.IgnoreMerges, added: p.Added}
	inMerge := make(map[string]bool)
	for i, m := range p.Merges {
		left, right, ok := strings.Cut(m, " ")
		if !ok || strings.Contains(right, " ") {
			return nil, fmt.Errorf("merges[%d]: got %.60q, want two tokens", i, m)
		}
		f.merges = append(f.merges, [2]string{left, right})
		inMerge[left], inMerge[right], inMerge[left+right] = true, true, true
	}
	isAdded := make(map[int32]bool, len(p.Added))
	for _, a := range p.Added {
		if a.ID < 0 || int(a.ID) >= len(p.Tokens) || p.Tokens[a.ID] != a.Content {
			return nil, fmt.Errorf("added token %.60q: got id %d, want that of the same token", a.Content, a.ID)
		}
		isAdded[a.ID] = true
	}
	seen := make(map[string]int, len(p.Tokens))
	for id, text := range p.Tokens {
		if old, ok := seen[text]; ok {
			return nil, fmt.Errorf("vocabulary: got %.60q as tokens %d and %d, want one", text, old, id)
		}
		seen[text] = id
		// An added token that merges make is ordinary vocabulary as well.
		if !isAdded[int32(id)] || inMerge[text] {
			f.vocab = append(f.vocab, entry{text, int32(id)})
		}
	}
	for _, side := range []struct {
		ids []int32
		to  *[]frameToken
	}{{p.Prefix, &f.frame.prefix}, {p.Suffix, &f.frame.suffix}} {
		for _, id := range side.ids {
			if id < 0 || int(id) >= len(p.Tokens) {
				return nil, fmt.Errorf("post-processing: got id %d, want 0 to %d", id, len(p.Tokens)-1)
			}
			*side.to = append(*side.to, frameToken{p.Tokens[id], []int32{id}})
		}
	}
	return assemble(f)
}

// Merges lists the pairs of tokens that are joined, by rank.
func (t *Tokenizer) Merges() [][2]int32 {
	list := make([][2]int32, len(t.merges))
	for i, m := range t.merges {
		list[i] = [2]int32{m.left, m.right}
	}
	return list
}
