package token

import "unicode/utf8"

// Encode gives the ids of text (any bytes, less than 2 GiB). Special tokens are
// not recognised: their names are ordinary text here.
func (t *Tokenizer) Encode(text string) []int32 {
	ids := make([]int32, 0, len(text)/3+1)
	m := merger{t: t}
	t.split.words(text, func(word string) bool {
		ids = t.appendWord(ids, word, &m)
		return true
	})
	return ids
}

// appendWord adds the ids of one word, from the cache where possible.
func (t *Tokenizer) appendWord(ids []int32, word string, m *merger) []int32 {
	switch {
	case len(word) == 1:
		return append(ids, t.byteID[word[0]])
	case len(word) > maxCachedWord:
		return m.append(ids, word)
	}
	if known, ok := t.cache.get(word); ok {
		return append(ids, known...)
	}
	start := len(ids)
	ids = m.append(ids, word)
	t.cache.put(word, ids[start:])
	return ids
}

// Offsets is Encode with the byte offset in text at which each token ends.
func (t *Tokenizer) Offsets(text string) (ids []int32, ends []int) {
	ids = t.Encode(text)
	return ids, t.ends(ids)
}

// ends gives the running length in bytes of ordinary tokens.
func (t *Tokenizer) ends(ids []int32) []int {
	ends := make([]int, len(ids))
	end := 0
	for i, id := range ids {
		end += len(t.tokens[id])
		ends[i] = end
	}
	return ends
}

// Clip returns text if it has at most n tokens, else its longest prefix of at most
// n of its tokens that ends at the edge of a UTF-8 character and encodes to at most
// n tokens itself; so clipping twice changes nothing. The cost depends on n and
// the longest word rather than on the length of the text.
func (t *Tokenizer) Clip(text string, n int) string {
	if n <= 0 {
		return ""
	}
	var ids []int32
	m := merger{t: t}
	t.split.words(text, func(word string) bool {
		ids = t.appendWord(ids, word, &m)
		return len(ids) <= n
	})
	if len(ids) <= n {
		return text
	}
	ends := t.ends(ids[:n])
	for k := n - 1; k >= 0; k-- {
		prefix := text[:ends[k]]
		// Cutting a word where one of its tokens ends leaves the tokens before as
		// they are, but the split may see the cut word differently: "'re" cut
		// after a token "'r" is the two words "'" and "r".
		if atRuneEdge(text, ends[k]) && len(t.Encode(prefix)) <= n {
			return prefix
		}
	}
	return ""
}

// atRuneEdge reports whether offset i does not lie inside a valid character.
func atRuneEdge(s string, i int) bool {
	for start := max(0, i-utf8.UTFMax+1); start < i; start++ {
		if _, size := utf8.DecodeRuneInString(s[start:]); start+size > i {
			return false
		}
	}
	return true
}
