package token

import (
	"strings"
	"unicode/utf8"
)

// Decode joins the bytes of the ids and leaves special tokens out. The result is
// exactly the encoded text where the ids come from [Tokenizer.Encode] (but for what
// normalisation, tokens that swallow white space and missing bytes changed); of other
// ids it may hold invalid UTF-8, as a token can be part of a character. An id
// outside of the vocabulary shows as U+FFFD.
func (t *Tokenizer) Decode(ids []int32) string { return t.decode(ids, false) }

// DecodeAll is Decode with special tokens shown by name. For people's eyes: an
// ordinary text can spell the same name.
func (t *Tokenizer) DecodeAll(ids []int32) string { return t.decode(ids, true) }

func (t *Tokenizer) decode(ids []int32, specials bool) string {
	var b strings.Builder
	for _, id := range ids {
		switch {
		case id < 0 || int(id) >= len(t.tokens):
			b.WriteRune(utf8.RuneError)
		case specials || !t.IsSpecial(id):
			b.WriteString(t.tokens[id])
		}
	}
	return b.String()
}
