package token

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Added is a token that is found in the text itself, before any splitting, rather
// than made by merges. The flags have the meanings of Hugging Face's AddedToken.
type Added struct {
	ID      int32
	Content string
	// Special marks a control token: it has no text, and [Tokenizer.EncodeText]
	// never makes one. Added tokens without the mark (<think>, <tool_call>) are
	// ordinary vocabulary that happens not to be learned.
	Special bool
	// SingleWord finds the token only where no word character touches it.
	SingleWord bool
	// LStrip and RStrip let the token swallow the white space before and after it.
	LStrip, RStrip bool
	// Normalized looks for the token in the normalised text instead of the raw one.
	Normalized bool
}

// plain reports whether a is a special token without further flags, which is all
// that tokenizers made by [Train] have.
func (a Added) plain() bool {
	return a.Special && !a.SingleWord && !a.LStrip && !a.RStrip && !a.Normalized
}

func (a Added) check() error {
	what := "added token"
	if a.Special {
		what = "special token"
	}
	switch {
	case a.Content == "" || len(a.Content) > maxSpecialName:
		return fmt.Errorf("%s %.40q: got a name of %d bytes, want 1 to %d", what, a.Content, len(a.Content), maxSpecialName)
	case !utf8.ValidString(a.Content) || strings.ContainsRune(a.Content, utf8.RuneError):
		return fmt.Errorf("%s %.40q: got invalid UTF-8, want text", what, a.Content)
	}
	return nil
}

// finder finds added tokens in a text: the leftmost, of these the longest. It is a
// trie over bytes, so that a byte of text costs at most as many steps as the longest
// token has bytes, however many tokens there are.
type finder struct {
	tokens []Added
	first  [256]bool // bytes with which a token starts
	next   map[edge]int32
	token  []int32 // node → index into tokens, or -1; node 0 is the root
}

type edge struct {
	node int32
	by   byte
}

// newFinder makes a finder of tokens by the texts they are found as.
func newFinder(tokens []Added, texts []string) *finder {
	f := &finder{tokens: tokens, next: make(map[edge]int32), token: []int32{-1}}
	for i, text := range texts {
		if text == "" {
			continue
		}
		f.first[text[0]] = true
		node := int32(0)
		for j := range len(text) {
			to, ok := f.next[edge{node, text[j]}]
			if !ok {
				to = int32(len(f.token))
				f.token = append(f.token, -1)
				f.next[edge{node, text[j]}] = to
			}
			node = to
		}
		if f.token[node] < 0 { // of two that normalise to the same text the first wins
			f.token[node] = int32(i)
		}
	}
	return f
}

// at is the longest token that starts at text[i:], as an index, and its end.
func (f *finder) at(text string, i int) (token, end int) {
	token = -1
	node := int32(0)
	for j := i; j < len(text); j++ {
		to, ok := f.next[edge{node, text[j]}]
		if !ok {
			break
		}
		node = to
		if f.token[node] >= 0 {
			token, end = int(f.token[node]), j+1
		}
	}
	return token, end
}

// pieces cuts text into added tokens and what lies between them, and calls yield
// for each in order until it returns false; a is nil for text. Without specials,
// a special token is left as text: all of it, as a name may hold another's.
func (f *finder) pieces(text string, specials bool, yield func(a *Added, start, end int) bool) bool {
	done := 0 // everything before it has been yielded
	if len(f.tokens) > 0 {
		for i := 0; i < len(text); {
			if !f.first[text[i]] {
				i++
				continue
			}
			token, stop := f.at(text, i)
			if token < 0 {
				i++
				continue
			}
			a, start := &f.tokens[token], i
			i = stop
			if a.Special && !specials || a.SingleWord && !standsAlone(text, start, stop) {
				continue
			}
			if a.LStrip {
				start = max(done, len(strings.TrimRightFunc(text[:start], unicode.IsSpace)))
			}
			if a.RStrip {
				stop = len(text) - len(strings.TrimLeftFunc(text[stop:], unicode.IsSpace))
			}
			if done < start && !yield(nil, done, start) {
				return false
			}
			if !yield(a, start, stop) {
				return false
			}
			done = stop
		}
	}
	return done >= len(text) || yield(nil, done, len(text))
}

// standsAlone reports whether no word character touches text[start:end].
func standsAlone(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return (start == 0 || !isWord(before)) && (end == len(text) || !isWord(after))
}

// isWord is \w of Unicode's regular expressions (UTS 18, annex C).
func isWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.Nl, unicode.Other_Alphabetic, unicode.M, unicode.Nd, unicode.Pc, unicode.Join_Control)
}

// normalizedTexts are the texts by which tokens are found after normalising.
func normalizedTexts(tokens []Added, nfc bool) []string {
	texts := make([]string, len(tokens))
	for i, a := range tokens {
		texts[i] = a.Content
		if nfc {
			texts[i], _ = toNFC(a.Content, false)
		}
	}
	return texts
}

// splitAdded parts the tokens that are found in the raw text from those found in
// the normalised text; special ones first, which matters between equals.
func splitAdded(added []Added) (raw, normalized []Added) {
	ordered := slices.Clone(added)
	slices.SortStableFunc(ordered, func(a, b Added) int {
		switch {
		case a.Special == b.Special:
			return 0
		case a.Special:
			return -1
		}
		return 1
	})
	for _, a := range ordered {
		if a.Normalized {
			normalized = append(normalized, a)
		} else {
			raw = append(raw, a)
		}
	}
	return raw, normalized
}
