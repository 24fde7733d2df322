package audit

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word, a number or an operator of a text, folded.
type token struct {
	text    string
	hash    uint32
	number  bool
	capital bool // a word that is written with a capital first
	op      bool // one of + - * / = ^ < >
	start   int  // byte offset in the text
}

// operators are the marks that count as words.
const operators = "+-*/=^<>×÷−"

// maxTokens bounds the tokens that are taken of one text.
const maxTokens = 1 << 16

// tokens splits a text into folded words (letters in lower case), numbers (without thousands separators and leading zeros) and operators;
// everything else separates.
func tokens(s string, limit int) []token {
	var out []token
	for i := 0; i < len(s) && len(out) < limit; {
		r, size := fold(s[i:])
		start := i
		switch {
		case isDigit(r):
			var end int
			var text string
			text, end = scanNumber(s, i)
			out = append(out, newToken(text, true, start))
			i = end
		case unicode.IsLetter(r) || unicode.IsMark(r):
			var b strings.Builder
			for i < len(s) {
				r, size = fold(s[i:])
				if !unicode.IsLetter(r) && !unicode.IsMark(r) && r != 0 {
					break
				}
				if r != 0 {
					b.WriteRune(r)
				}
				i += size
			}
			t := newToken(b.String(), false, start)
			first, _ := utf8.DecodeRuneInString(s[start:])
			t.capital = unicode.IsUpper(first)
			out = append(out, t)
		case strings.ContainsRune(operators, r):
			t := newToken(string(r), false, start)
			t.op = true
			out = append(out, t)
			i += size
		default:
			i += size
		}
	}
	return out
}

func newToken(text string, number bool, start int) token {
	return token{text: text, hash: hashWord(text), number: number, start: start}
}

// fold decodes a character in lower case; 0 stands for one that cannot be seen, full-width forms become plain ones.
func fold(s string) (rune, int) {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r < utf8.RuneSelf:
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r, size
	case r >= 0xFF01 && r <= 0xFF5E:
		r -= 0xFEE0
	case r == 0xAD || r >= 0x200B && r <= 0x200F || r == 0x2060 || r == 0xFEFF:
		return 0, size
	}
	r = unicode.ToLower(r)
	if i := strings.IndexRune(lookalikes, r); i >= 0 {
		return rune(latin[len([]rune(lookalikes[:i]))]), size
	}
	return r, size
}

// lookalikes are Cyrillic and Greek letters that look like Latin ones, which stand below them.
const (
	lookalikes = "авеіјкмнорстухһѕԁαεικνορτυχ"
	latin      = "abeijkmhopctyxhsdaeiknoptux"
)

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// scanNumber reads a number: digits, groups of three after commas, and decimals.
func scanNumber(s string, i int) (text string, end int) {
	digits := func(j int) int {
		for j < len(s) {
			r, size := fold(s[j:])
			if r != 0 && !isDigit(r) {
				break
			}
			j += size
		}
		return j
	}
	var b strings.Builder
	write := func(from, to int) {
		for from < to {
			r, size := fold(s[from:])
			if r != 0 {
				b.WriteRune(r)
			}
			from += size
		}
	}
	end = digits(i)
	write(i, end)
	for end-i <= 3 && end < len(s) && s[end] == ',' {
		next := digits(end + 1)
		if next-end-1 != 3 {
			break
		}
		write(end+1, next)
		end, i = next, next-3
	}
	if end+1 < len(s) && s[end] == '.' && isDigit(rune(s[end+1])) {
		next := digits(end + 1)
		if decimals := strings.TrimRight(s[end+1:next], "0"); decimals != "" {
			b.WriteByte('.')
			b.WriteString(decimals)
		}
		end = next
	}
	text = strings.TrimLeft(b.String(), "0")
	if text == "" || text[0] == '.' {
		text = "0" + text
	}
	return text, end
}

// fnv hashes a word; collisions would cost a wrong match of one word in a sequence of many.
func hashWord(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// numberHash stands for any number where the frame of a text is looked at.
const numberHash = 1

// mix adds a word to the hash of a sequence.
func mix(h uint64, w uint32) uint64 {
	h = (h ^ uint64(w)) * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

// gram hashes a sequence of words.
func gram(ts []token) uint64 {
	h := uint64(len(ts))
	for _, t := range ts {
		h = mix(h, t.hash)
	}
	return h
}

// frameOf hashes a sequence of words in which all numbers are the same.
func frameOf(ts []token) uint64 {
	h := uint64(len(ts)) << 8
	for _, t := range ts {
		if t.number {
			h = mix(h, numberHash)
		} else {
			h = mix(h, t.hash)
		}
	}
	return h
}

// joined gives the words with single spaces between.
func joined(ts []token) string {
	var b strings.Builder
	for i, t := range ts {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}
