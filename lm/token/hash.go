package token

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Hash is the SHA-256, in hex, of everything that decides ids and text: split,
// normalisation, tokens in order, merges in order, added tokens, post-processing.
// Files that differ in layout alone give the same hash.
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
	// What follows is written only where it is not the plain case, so that the
	// hashes of tokenizers that lack these things are as they were before them.
	if t.nfc {
		fmt.Fprint(h, "nfc\n")
	}
	if t.ignoreMerges {
		fmt.Fprint(h, "ignore merges\n")
	}
	for _, a := range t.added {
		if !a.plain() {
			fmt.Fprintf(h, "added %d %t %t %t %t %t %t\n", a.ID, a.Special, a.SingleWord, a.LStrip, a.RStrip, a.Normalized, t.isAdded[a.ID])
		}
	}
	if len(t.prefix)+len(t.suffix) > 0 {
		fmt.Fprintf(h, "frame %d %d\n", t.prefix, t.suffix)
	}
	return hex.EncodeToString(h.Sum(nil))
}
