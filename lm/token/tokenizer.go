package token

import (
	"fmt"
	"slices"
)

// Limits on a vocabulary, wherever it comes from.
const (
	maxVocab       = 1 << 20 // tokens
	maxTokenBytes  = 4096    // bytes of one token
	maxSpecialName = 256     // bytes of an added token's content
	maxAddedBytes  = 1 << 20 // bytes of the contents of all added tokens
	maxFrame       = 64      // tokens that post-processing adds on a side
	byteTokens     = 256     // tokens of a single byte
)

// Tokenizer turns text into token ids and back. It is immutable and safe for
// concurrent use; make one with [Train], [ReadJSON] or [New].
type Tokenizer struct {
	content
	isAdded    map[int32]bool // not an ordinary token: made by no merge
	specials   []int32        // ids of the special tokens, ascending
	named      map[string]int32
	byteID     [256]int32     // byte → id of its token, or noToken
	gaps       bool           // some bytes have none
	merges     []merge        // by rank
	rank       map[pair]int32 // pair → index into merges
	whole      map[string]int32
	raw        *finder // added tokens found before normalising
	normalized *finder // and after
	hash       string
	cache      *cache
}

// content is what a tokenizer is made of.
type content struct {
	split          Split
	nfc            bool     // normalise first
	ignoreMerges   bool     // a word that is a token is that token
	tokens         []string // id → its bytes; for an added token its content
	added          []Added  // ascending by id
	prefix, suffix []int32  // what PostProcess adds
}

// pair is two neighbouring tokens.
type pair struct{ left, right int32 }

// merge replaces a pair by one token.
type merge struct {
	pair
	id int32
}

// build assembles a tokenizer and checks everything the other methods rely on.
// Added tokens are no ordinary tokens, except for those in learned, which merges
// may make as well.
func build(c content, pairs []pair, learned map[int32]bool) (*Tokenizer, error) {
	if err := c.split.check(); err != nil {
		return nil, err
	}
	if len(c.tokens) > maxVocab {
		return nil, fmt.Errorf("vocabulary: got %d tokens, want at most %d", len(c.tokens), maxVocab)
	}
	t := &Tokenizer{
		content: c, named: make(map[string]int32, len(c.added)), isAdded: make(map[int32]bool, len(c.added)),
		rank: make(map[pair]int32, len(pairs)), merges: make([]merge, 0, len(pairs)),
		cache: newCache(),
	}
	if err := t.indexAdded(learned); err != nil {
		return nil, err
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
	if t.ignoreMerges {
		t.whole = ids
	}
	t.hash = t.contentHash()
	return t, nil
}

// indexAdded fills what is known of added tokens.
func (t *Tokenizer) indexAdded(learned map[int32]bool) error {
	total := 0
	for _, a := range t.added {
		if err := a.check(); err != nil {
			return err
		}
		if total += len(a.Content); total > maxAddedBytes {
			return fmt.Errorf("added tokens: got more than %d bytes in all", maxAddedBytes)
		}
		if _, ok := t.named[a.Content]; ok {
			return fmt.Errorf("added token %.40q: got two, want one", a.Content)
		}
		t.named[a.Content] = a.ID
		if a.Special {
			t.specials = append(t.specials, a.ID)
		}
		if a.Special || !learned[a.ID] {
			t.isAdded[a.ID] = true
		}
	}
	raw, normalized := splitAdded(t.added)
	t.raw = newFinder(raw, normalizedTexts(raw, false))
	t.normalized = newFinder(normalized, normalizedTexts(normalized, t.nfc))
	for _, side := range [][]int32{t.prefix, t.suffix} {
		if len(side) > maxFrame {
			return fmt.Errorf("post-processing: got %d tokens on a side, want at most %d", len(side), maxFrame)
		}
		for _, id := range side {
			if id < 0 || int(id) >= len(t.tokens) {
				return fmt.Errorf("post-processing: got id %d, want 0 to %d", id, len(t.tokens)-1)
			}
		}
	}
	return nil
}

// indexTokens maps the bytes of every ordinary token to its id and fills byteID.
func (t *Tokenizer) indexTokens() (map[string]int32, error) {
	alphabet := newByteAlphabet()
	ids := make(map[string]int32, len(t.tokens))
	for i, s := range t.tokens {
		id := int32(i)
		if t.isAdded[id] {
			continue
		}
		if s == "" || len(s) > maxTokenBytes {
			return nil, fmt.Errorf("token %d: got %d bytes, want 1 to %d", id, len(s), maxTokenBytes)
		}
		if old, ok := ids[s]; ok {
			return nil, fmt.Errorf("token %d: got the bytes %.40q of token %d, want its own", id, s, old)
		}
		// In a file both would be the same key.
		if added, ok := t.named[alphabet.spell(s)]; ok && added != id {
			return nil, fmt.Errorf("special token %.40q: got the spelling of token %d, want a name of its own", alphabet.spell(s), id)
		}
		ids[s] = id
	}
	for b := range byteTokens {
		id, ok := ids[string([]byte{byte(b)})]
		if !ok {
			if b >= ' ' && b <= '~' {
				return nil, fmt.Errorf("vocabulary: got no token for byte 0x%02x, want all 256, or at least those of printable ASCII", b)
			}
			id, t.gaps = noToken, true
		}
		t.byteID[b] = id
	}
	return ids, nil
}

// noToken stands for a byte without a token. Vocabularies that were learned without the
// whole alphabet have gaps: SmolLM2's lacks 21 bytes, eight of which occur in UTF-8.
// Such a byte is dropped from a text before merging, as Hugging Face's library does.
const noToken = -1

// MissingBytes lists the bytes that have no token, and are dropped from texts. It is
// empty for most tokenizers: then encoding loses nothing.
func (t *Tokenizer) MissingBytes() []byte {
	var missing []byte
	for b, id := range t.byteID {
		if id == noToken {
			missing = append(missing, byte(b))
		}
	}
	return missing
}

// addMerge appends the next merge; ids maps bytes to ordinary tokens.
func (t *Tokenizer) addMerge(p pair, ids map[string]int32) error {
	k := len(t.merges)
	for _, id := range []int32{p.left, p.right} {
		if id < 0 || int(id) >= len(t.tokens) || t.isAdded[id] {
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

// Vocab is the number of tokens; ids run from 0 to Vocab()-1.
func (t *Tokenizer) Vocab() int { return len(t.tokens) }

// Split is how texts are cut into words.
func (t *Tokenizer) Split() Split { return t.split }

// Added lists the added tokens in the order of their ids.
func (t *Tokenizer) Added() []Added { return slices.Clone(t.added) }

// Named gives the id of the added token of that content, special or not.
func (t *Tokenizer) Named(content string) (int32, bool) {
	id, ok := t.named[content]
	return id, ok
}

// Special gives the id of the special token of that name.
func (t *Tokenizer) Special(name string) (int32, bool) {
	if id, ok := t.named[name]; ok && t.IsSpecial(id) {
		return id, true
	}
	return 0, false
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
