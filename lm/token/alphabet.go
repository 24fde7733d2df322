package token

// GPT-2's byte alphabet: each byte is spelled as one printable character, so that
// a token of arbitrary bytes is a plain string in a file. Bytes that print in
// Latin-1 stand for themselves; the other 68 take the characters from U+0100 on,
// in byte order. (bytes_to_unicode in the GPT-2 release.)

// alphabetEnd is the first character past the alphabet.
const alphabetEnd = 0x100 + 68

type byteAlphabet struct {
	letter [256]rune          // byte → character
	value  [alphabetEnd]int16 // character → byte, or -1
	order  [256]byte          // bytes by the code point of their character
}

func newByteAlphabet() *byteAlphabet {
	a := &byteAlphabet{}
	for i := range a.value {
		a.value[i] = -1
	}
	next := rune(0x100)
	for b := range 256 {
		r := rune(b)
		if !printsInLatin1(b) {
			r = next
			next++
		}
		a.letter[b] = r
		a.value[r] = int16(b)
	}
	n := 0
	for _, b := range a.value {
		if b >= 0 {
			a.order[n] = byte(b)
			n++
		}
	}
	return a
}

func printsInLatin1(b int) bool {
	return b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE
}

// spell writes bytes in the alphabet: " the" becomes "Ġthe".
func (a *byteAlphabet) spell(s string) string {
	out := make([]rune, len(s))
	for i := range len(s) {
		out[i] = a.letter[s[i]]
	}
	return string(out)
}

// read undoes spell; bad is the first character outside of the alphabet.
func (a *byteAlphabet) read(spelled string) (s string, bad rune, ok bool) {
	out := make([]byte, 0, len(spelled))
	for _, r := range spelled {
		if int(r) >= len(a.value) || a.value[r] < 0 {
			return "", r, false
		}
		out = append(out, byte(a.value[r]))
	}
	return string(out), 0, true
}
