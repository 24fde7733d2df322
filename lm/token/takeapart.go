package token

import "slices"

// Parts takes the tokenizer apart: [New] makes an equal one of them.
func (t *Tokenizer) Parts() Parts {
	alphabet := newByteAlphabet()
	// What merges make is spelled in the byte alphabet; other added tokens are their content.
	spell := func(id int32) string {
		if t.isAdded[id] {
			return t.tokens[id]
		}
		return alphabet.spell(t.tokens[id])
	}
	p := Parts{
		Split: t.split, NFC: t.nfc, IgnoreMerges: t.ignoreMerges, Tokens: make([]string, len(t.tokens)), Merges: make([]string, len(t.merges)),
		Added: slices.Clone(t.added), Prefix: slices.Clone(t.prefix), Suffix: slices.Clone(t.suffix),
	}
	for id := range t.tokens {
		p.Tokens[id] = spell(int32(id))
	}
	for i, m := range t.merges {
		p.Merges[i] = spell(m.left) + " " + spell(m.right)
	}
	return p
}
