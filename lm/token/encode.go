package token

import (
	"math"
	"unicode/utf8"
)

// EncodeText gives the ids of text from outside (any bytes, less than 2 GiB): of a
// message, a document, a tool's result. Special tokens are not recognised, their
// names are ordinary text, so no text can forge a control token. Added tokens that
// are not special, such as Qwen's <think> or <tool_call>, are recognised: they are
// vocabulary that the model writes itself. (Hugging Face's library does the same
// with encode_special_tokens set.)
func (t *Tokenizer) EncodeText(text string) []int32 {
	s := sink{t: t, m: merger{t: t}, ids: make([]int32, 0, len(text)/3+1), most: math.MaxInt}
	t.encode(&s, text, false)
	return s.ids
}

// Encode is EncodeText.
func (t *Tokenizer) Encode(text string) []int32 { return t.EncodeText(text) }

// EncodeWithSpecials is EncodeText that recognises special tokens too, as Hugging
// Face's library does by default (with add_special_tokens=False; [Tokenizer.PostProcess]
// adds what True adds). It is for text that we wrote, a rendered chat template say,
// and for comparison; never for text from outside.
func (t *Tokenizer) EncodeWithSpecials(text string) []int32 {
	s := sink{t: t, m: merger{t: t}, ids: make([]int32, 0, len(text)/3+1), most: math.MaxInt}
	t.encode(&s, text, true)
	return s.ids
}

// PostProcess adds the tokens that the tokenizer's file puts around a text, such as
// Llama's <|begin_of_text|>, and returns a new slice. Most have none.
func (t *Tokenizer) PostProcess(ids []int32) []int32 {
	out := make([]int32, 0, len(t.prefix)+len(ids)+len(t.suffix))
	out = append(out, t.prefix...)
	out = append(out, ids...)
	return append(out, t.suffix...)
}

// Offsets is EncodeText with the byte offset in text at which each token ends.
// Where normalisation changed a character, a token that ends inside of it ends at
// its start. Bytes without a token ([Tokenizer.MissingBytes]) lie before the token
// that follows them.
func (t *Tokenizer) Offsets(text string) (ids []int32, ends []int) {
	s := sink{t: t, m: merger{t: t}, most: math.MaxInt, track: true, ends: []int{}}
	t.encode(&s, text, false)
	return s.ids, s.ends
}

// sink collects tokens.
type sink struct {
	t     *Tokenizer
	m     merger
	ids   []int32
	most  int   // a hint to stop: more ids are of no use
	track bool  // fill ends
	ends  []int // of each token in the text
}

// encode feeds the tokens of text to s.
func (t *Tokenizer) encode(s *sink, text string, specials bool) {
	t.raw.pieces(text, specials, func(a *Added, start, end int) bool {
		if a != nil {
			return s.add(a.ID, end)
		}
		return t.encodeBetween(s, text[start:end], start, specials)
	})
}

// encodeBetween feeds the tokens of a text between added tokens; base is its offset.
func (t *Tokenizer) encodeBetween(s *sink, text string, base int, specials bool) bool {
	var at []int // offset in the normalised text → in text
	if t.nfc {
		text, at = toNFC(text, s.track)
	}
	place := func(i int) int {
		if at != nil {
			i = at[i]
		}
		return base + i
	}
	return t.normalized.pieces(text, specials, func(a *Added, start, end int) bool {
		if a != nil {
			return s.add(a.ID, place(end))
		}
		goOn := true
		pos := start
		t.split.words(text[start:end], func(word string) bool {
			n := len(s.ids)
			s.ids = t.appendWord(s.ids, word, &s.m)
			if s.track {
				at := 0
				for _, id := range s.ids[n:] {
					at = t.after(word, at, id)
					s.ends = append(s.ends, place(pos+at))
				}
				pos += len(word)
			}
			goOn = len(s.ids) <= s.most
			return goOn
		})
		return goOn
	})
}

// after is where the token ends whose bytes start at word[at:], if need be after bytes
// that have no token.
func (t *Tokenizer) after(word string, at int, id int32) int {
	n := len(t.tokens[id])
	if !t.gaps {
		return at + n
	}
	for ; n > 0; at++ {
		if t.byteID[word[at]] != noToken {
			n--
		}
	}
	return at
}

func (s *sink) add(id int32, end int) bool {
	s.ids = append(s.ids, id)
	if s.track {
		s.ends = append(s.ends, end)
	}
	return len(s.ids) <= s.most
}

// appendWord adds the ids of one word, from the cache where possible.
func (t *Tokenizer) appendWord(ids []int32, word string, m *merger) []int32 {
	if len(word) == 1 && t.byteID[word[0]] != noToken {
		return append(ids, t.byteID[word[0]])
	}
	if t.whole != nil {
		if id, ok := t.whole[word]; ok {
			return append(ids, id)
		}
	}
	if len(word) > maxCachedWord {
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

// Clip returns text if it has at most n tokens ([Tokenizer.EncodeText]), else its
// longest prefix of at most n of its tokens that ends at the edge of a UTF-8
// character and encodes to at most n tokens itself; so clipping twice changes
// nothing. The words looked at depend on n rather than on the length of the text
// (which is scanned for added tokens and for normalisation, where there are such).
func (t *Tokenizer) Clip(text string, n int) string {
	if n <= 0 {
		return ""
	}
	s := sink{t: t, m: merger{t: t}, most: n, track: true}
	t.encode(&s, text, false)
	if len(s.ids) <= n {
		return text
	}
	for k := n - 1; k >= 0; k-- {
		prefix := text[:s.ends[k]]
		// Cutting a word where one of its tokens ends leaves the tokens before as
		// they are, but the split may see the cut word differently: "'re" cut
		// after a token "'r" is the two words "'" and "r".
		if atRuneEdge(text, s.ends[k]) && len(t.Encode(prefix)) <= n {
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
