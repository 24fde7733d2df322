package token

import "strings"

// qwenNext is the end of the word that starts at i < len(s) under the Qwen pattern.
// The cases stand in the order of the pattern's alternatives.
func qwenNext(s string, i int) int {
	if s[i] == '\'' {
		if n := contractionFold(s[i+1:]); n > 0 {
			return i + 1 + n
		}
	}
	c, size := classAt(s, i)
	newline := s[i] == '\r' || s[i] == '\n'

	// [^\r\n\p{L}\p{N}]?\p{L}+
	if c == letter {
		return classEnd(s, i+size, letter)
	}
	if c != number && !newline && i+size < len(s) {
		if after, n := classAt(s, i+size); after == letter {
			return classEnd(s, i+size+n, letter)
		}
	}
	// \p{N}
	if c == number {
		return i + size
	}
	//  ?[^\s\p{L}\p{N}]+[\r\n]*
	j := i
	if s[i] == ' ' {
		j++
	}
	if end := classEnd(s, j, symbol); end > j {
		return newlinesEnd(s, end)
	}
	// \s*[\r\n]+ : up to the last line break of the white space
	blank := s[i:classEnd(s, i, space)]
	if k := strings.LastIndexAny(blank, "\r\n"); k >= 0 {
		return i + k + 1
	}
	return spaceEnd(s, i)
}

func newlinesEnd(s string, i int) int {
	for i < len(s) && (s[i] == '\r' || s[i] == '\n') {
		i++
	}
	return i
}

// longS is ſ (U+017F), which equals s when case is ignored.
const longS = "ſ"

// contractionFold is contraction with case ignored.
func contractionFold(s string) int {
	if strings.HasPrefix(s, longS) {
		return len(longS)
	}
	return contraction(lowerASCII(s))
}

// lowerASCII gives the first two bytes of s in lower case.
func lowerASCII(s string) string {
	var b [2]byte
	n := copy(b[:], s)
	for i := range b[:n] {
		if b[i] >= 'A' && b[i] <= 'Z' {
			b[i] |= 0x20
		}
	}
	return string(b[:n])
}
