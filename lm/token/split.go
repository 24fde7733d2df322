package token

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Split names a way to cut a text into words before merging. Words are never
// empty and joined in order they are the text, whatever bytes it holds; a byte
// that is no valid UTF-8 counts as a symbol. Letters, numbers and spaces are those of
// Unicode 16, as in Hugging Face's library (0.23); only 13 numbers that Unicode 17 added
// (U+11DE0 to 11DE9, U+16FF4 to 16FF6) are symbols to us and numbers to its Digits step.
type Split string

const (
	// GPT2 is the pattern of GPT-2:
	//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
	GPT2 Split = "gpt2"
	// Qwen is the pattern of Qwen2 and Qwen3 (whose tokenizers also normalise to NFC):
	//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
	Qwen Split = "qwen"
	// Llama3 is the pattern of Llama 3:
	//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
	Llama3 Split = "llama3"
	// Digits first makes every numeric character a word of its own and cuts what
	// lies between by GPT2, so that numbers are copied digit by digit.
	Digits Split = "digits"
)

// Splits lists the known splits.
func Splits() []Split { return []Split{GPT2, Qwen, Llama3, Digits} }

// check refuses unknown names.
func (s Split) check() error {
	var names []string
	for _, known := range Splits() {
		if s == known {
			return nil
		}
		names = append(names, string(known))
	}
	return fmt.Errorf("split: got %q, want one of %s", string(s), strings.Join(names, ", "))
}

// words calls yield for each word of text in order until it returns false.
func (s Split) words(text string, yield func(word string) bool) {
	switch s {
	case Digits:
		digitWords(text, yield)
	case Qwen:
		scan(text, qwenNext, yield)
	case Llama3:
		scan(text, llama3Next, yield)
	default:
		scan(text, gpt2Next, yield)
	}
}

// scan cuts text with next, which returns the end of the word that starts at i;
// it reports whether it reached the end of the text.
func scan(text string, next func(s string, i int) int, yield func(string) bool) bool {
	for i := 0; i < len(text); {
		j := next(text, i)
		if !yield(text[i:j]) {
			return false
		}
		i = j
	}
	return true
}

// digitWords is the Digits split. What lies between two numbers is cut as a text
// of its own: the lookahead of the GPT-2 pattern does not see the number.
func digitWords(text string, yield func(string) bool) {
	start := 0 // of the piece without numbers
	for i := 0; i < len(text); {
		c, size := classAt(text, i)
		if c == number {
			if !scan(text[start:i], gpt2Next, yield) || !yield(text[i:i+size]) {
				return
			}
			start = i + size
		}
		i += size
	}
	scan(text[start:], gpt2Next, yield)
}

// class is what the patterns tell apart in a character.
type class uint8

const (
	symbol class = iota // [^\s\p{L}\p{N}]
	letter              // \p{L}
	number              // \p{N}
	space               // \s
)

// classAt gives the class and the length in bytes of the character at i < len(s).
func classAt(s string, i int) (class, int) {
	b := s[i]
	if b < utf8.RuneSelf {
		switch {
		case b|0x20 >= 'a' && b|0x20 <= 'z':
			return letter, 1
		case b >= '0' && b <= '9':
			return number, 1
		case b == ' ' || b >= '\t' && b <= '\r':
			return space, 1
		}
		return symbol, 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case unicode.IsLetter(r):
		return letter, size
	case unicode.IsNumber(r):
		return number, size
	case unicode.IsSpace(r):
		return space, size
	case unicode.Is(letters16, r):
		return letter, size
	case unicode.Is(numbers16, r):
		return number, size
	}
	return symbol, size // utf8.RuneError is a symbol too
}

// classEnd is the end of the run of characters of class c that starts at i.
func classEnd(s string, i int, c class) int {
	for i < len(s) {
		got, size := classAt(s, i)
		if got != c {
			break
		}
		i += size
	}
	return i
}

// spaceEnd is the end of the word at i, where a run of white space starts:
// \s+(?!\S)|\s+. Before a word the last space is left to it, if it is not the only one.
func spaceEnd(s string, i int) int {
	last, end := i, i // start of the last space seen; end of the run
	for end < len(s) {
		c, size := classAt(s, end)
		if c != space {
			break
		}
		last, end = end, end+size
	}
	if end == len(s) || last == i {
		return end
	}
	return last
}
