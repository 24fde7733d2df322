package token

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Hash is the SHA-256, in hex, of everything that decides ids and text: split,
// tokens in order, merges in order, special tokens. Files that differ in layout
// alone give the same hash.
func (t *Tokenizer) Hash() string { return t.hash }

func (t *Tokenizer) contentHash() string {
	h := sha256.New()
	fmt.Fprintf(h, "bpe 1\nsplit %s\ntokens %d\n", t.split, len(t.tokens))
	for _, s := range t.tokens {
		fmt.Fprintf(h, "%d:%s\n", len(s), s)
	}
	fmt.Fprintf(h, "specials %d\n", len(t.specials))
	for _, id := range t.specials {
		fmt.Fprintf(h, "%d\n", id)
	}
	fmt.Fprintf(h, "merges %d\n", len(t.merges))
	for _, m := range t.merges {
		fmt.Fprintf(h, "%d %d\n", m.left, m.right)
	}
	return hex.EncodeToString(h.Sum(nil))
}
