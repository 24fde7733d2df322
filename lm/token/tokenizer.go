package token

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits on a vocabulary, wherever it comes from.
const (
	maxVocab       = 1 << 20 // tokens
	maxTokenBytes  = 4096    // bytes of one token
	maxSpecialName = 256     // bytes of a special token's name
	byteTokens     = 256     // tokens of a single byte
)

// Tokenizer turns text into token ids and back. It is immutable and safe for
// concurrent use; make one with [Train] or [ReadJSON].
type Tokenizer struct {
	split    Split
	tokens   []string         // id → its bytes; for a special token its name
	specials []int32          // ids of the special tokens, ascending
	named    map[string]int32 // special token's name → id
	byteID   [256]int32       // byte → id of its token
	merges   []merge          // by rank
	rank     map[pair]int32   // pair → index into merges
	hash     string
	cache    *cache
}

// pair is two neighbouring tokens.
type pair struct{ left, right int32 }

// merge replaces a pair by one token.
type merge struct {
	pair
	id int32
}

// build assembles a tokenizer and checks everything the other methods rely on.
// tokens holds bytes by id, or names for the ids in specials (ascending).
func build(split Split, tokens []string, pairs []pair, specials []int32) (*Tokenizer, error) {
	if err := split.check(); err != nil {
		return nil, err
	}
	if len(tokens) > maxVocab {
		return nil, fmt.Errorf("vocabulary: got %d tokens, want at most %d", len(tokens), maxVocab)
	}
	t := &Tokenizer{
		split: split, tokens: tokens, specials: specials,
		named: make(map[string]int32, len(specials)),
		rank:  make(map[pair]int32, len(pairs)), merges: make([]merge, 0, len(pairs)),
		cache: newCache(),
	}
	for _, id := range specials {
		if err := checkSpecial(tokens[id]); err != nil {
			return nil, err
		}
		if _, ok := t.named[tokens[id]]; ok {
			return nil, fmt.Errorf("special token %.40q: got two, want one", tokens[id])
		}
		t.named[tokens[id]] = id
	}
	ids, err := t.indexTokens()
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		if err := t.addMerge(p, ids); err != nil {
			return nil, err
		}
	}
	t.hash = t.contentHash()
	return t, nil
}

// indexTokens maps the bytes of every ordinary token to its id and fills byteID.
func (t *Tokenizer) indexTokens() (map[string]int32, error) {
	alphabet := newByteAlphabet()
	ids := make(map[string]int32, len(t.tokens))
	for i, s := range t.tokens {
		id := int32(i)
		if t.IsSpecial(id) {
			continue
		}
		if s == "" || len(s) > maxTokenBytes {
			return nil, fmt.Errorf("token %d: got %d bytes, want 1 to %d", id, len(s), maxTokenBytes)
		}
		if old, ok := ids[s]; ok {
			return nil, fmt.Errorf("token %d: got the bytes %.40q of token %d, want its own", id, s, old)
		}
		// In a file both would be the same key.
		if _, ok := t.named[alphabet.spell(s)]; ok {
			return nil, fmt.Errorf("special token %.40q: got the spelling of token %d, want a name of its own", alphabet.spell(s), id)
		}
		ids[s] = id
	}
	for b := range byteTokens {
		id, ok := ids[string([]byte{byte(b)})]
		if !ok {
			return nil, fmt.Errorf("vocabulary: got no token for byte 0x%02x, want all 256", b)
		}
		t.byteID[b] = id
	}
	return ids, nil
}

// addMerge appends the next merge; ids maps bytes to ordinary tokens.
func (t *Tokenizer) addMerge(p pair, ids map[string]int32) error {
	k := len(t.merges)
	for _, id := range []int32{p.left, p.right} {
		if id < 0 || int(id) >= len(t.tokens) || t.IsSpecial(id) {
			return fmt.Errorf("merge %d: got token %d, want an ordinary token", k, id)
		}
	}
	whole := t.tokens[p.left] + t.tokens[p.right]
	id, ok := ids[whole]
	if !ok {
		return fmt.Errorf("merge %d: got %.40q + %.40q, want a result that is in the vocabulary", k, t.tokens[p.left], t.tokens[p.right])
	}
	if old, ok := t.rank[p]; ok {
		return fmt.Errorf("merge %d: got the pair of merge %d again, want each once", k, old)
	}
	t.rank[p] = int32(k)
	t.merges = append(t.merges, merge{p, id})
	return nil
}

func checkSpecial(name string) error {
	switch {
	case name == "" || len(name) > maxSpecialName:
		return fmt.Errorf("special token %.40q: got a name of %d bytes, want 1 to %d", name, len(name), maxSpecialName)
	case !utf8.ValidString(name) || strings.ContainsRune(name, utf8.RuneError):
		return fmt.Errorf("special token %.40q: got invalid UTF-8, want text", name)
	}
	return nil
}

// Vocab is the number of tokens; ids run from 0 to Vocab()-1.
func (t *Tokenizer) Vocab() int { return len(t.tokens) }

// Split is how texts are cut into words.
func (t *Tokenizer) Split() Split { return t.split }

// Special gives the id of the special token of that name.
func (t *Tokenizer) Special(name string) (int32, bool) {
	id, ok := t.named[name]
	return id, ok
}

// Specials lists the names of the special tokens in the order of their ids.
func (t *Tokenizer) Specials() []string {
	names := make([]string, len(t.specials))
	for i, id := range t.specials {
		names[i] = t.tokens[id]
	}
	return names
}

// IsSpecial reports whether id is a special token.
func (t *Tokenizer) IsSpecial(id int32) bool {
	_, ok := slices.BinarySearch(t.specials, id)
	return ok
}

// Bytes gives the bytes that a token stands for: none for a special token and for
// an id outside of the vocabulary.
func (t *Tokenizer) Bytes(id int32) []byte {
	if id < 0 || int(id) >= len(t.tokens) || t.IsSpecial(id) {
		return nil
	}
	return []byte(t.tokens[id])
}
