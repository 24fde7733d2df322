package pyre

import (
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The insides of Go's character classes for Python's \d, \w and \s.
var (
	unicodeSets = map[byte]string{'d': `\p{Nd}`, 'w': `\p{L}\p{N}_`, 's': `\s\x{0b}\x{1c}-\x{1f}\x{85}\p{Z}`}
	asciiSets   = map[byte]string{'d': `0-9`, 'w': `0-9A-Za-z_`, 's': `\s\x{0b}`}
)

func (t *translator) set(letter byte) string {
	if t.flags&ASCII != 0 {
		return asciiSets[letter]
	}
	return unicodeSets[letter]
}

// wordRune says whether \w matches a character.
func wordRune(r rune, ascii bool) bool {
	if r < utf8.RuneSelf {
		return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	return !ascii && (unicode.IsLetter(r) || unicode.IsNumber(r))
}

// class translates a character set.
func (t *translator) class() error {
	start := t.pos
	t.pos++
	t.write("[")
	if strings.HasPrefix(t.in[t.pos:], "^") {
		t.pos++
		t.write("^")
	}
	for first := true; ; first = false {
		if t.pos >= len(t.in) {
			return t.fail(start, "unterminated character set")
		}
		if t.in[t.pos] == ']' && !first {
			t.pos++
			t.write("]")
			return nil
		}
		at := t.pos
		low, set, err := t.member()
		if err != nil {
			return err
		}
		rest := t.in[t.pos:]
		if len(rest) >= 2 && rest[0] == '-' && rest[1] != ']' {
			t.pos++
			high, highSet, err := t.member()
			if err != nil {
				return err
			}
			if set != "" || highSet != "" || high < low {
				return t.fail(at, "bad character range %s", t.in[at:t.pos])
			}
			fmt.Fprintf(&t.out, `\x{%x}-\x{%x}`, low, high)
			continue
		}
		if set != "" {
			t.write(set)
		} else {
			fmt.Fprintf(&t.out, `\x{%x}`, low)
		}
	}
}

// member reads one member of a set: a character, or the inside of another set.
func (t *translator) member() (r rune, set string, err error) {
	if t.pos >= len(t.in) {
		return 0, "", t.fail(t.pos, "unterminated character set")
	}
	if t.in[t.pos] != '\\' {
		r, size := utf8.DecodeRuneInString(t.in[t.pos:])
		t.pos += size
		return r, "", nil
	}
	if t.pos+1 < len(t.in) {
		switch c := t.in[t.pos+1]; c {
		case 'd', 'w', 's':
			t.pos += 2
			return 0, t.set(c), nil
		case 'D', 'W', 'S':
			t.pos += 2
			return 0, complement(t.set(c + 'a' - 'A')), nil
		case 'b':
			t.pos += 2
			return '\b', "", nil
		}
	}
	r, err = t.character()
	return r, "", err
}

// complement writes the ranges that a set leaves out; Go's classes do not nest.
func complement(set string) string {
	re, err := syntax.Parse("[^"+set+"]", syntax.Perl)
	if err != nil {
		panic("pyre: " + err.Error()) // the sets are constants
	}
	var b strings.Builder
	for i := 0; i < len(re.Rune); i += 2 {
		fmt.Fprintf(&b, `\x{%x}-\x{%x}`, re.Rune[i], re.Rune[i+1])
	}
	return b.String()
}

// escape translates a backslash outside of sets.
func (t *translator) escape() error {
	if t.pos+1 >= len(t.in) {
		return t.fail(t.pos, "bad escape (end of pattern)")
	}
	c := t.in[t.pos+1]
	switch c {
	case 'd', 'w', 's':
		t.write("[" + t.set(c) + "]")
	case 'D', 'W', 'S':
		t.write("[^" + t.set(c+'a'-'A') + "]")
	case 'A', 'b', 'B':
		t.atom = false
		t.write(`\` + string(c))
	case 'Z':
		t.atom = false
		t.write(`\z`)
	default:
		if c >= '1' && c <= '9' && !octal(t.in[t.pos+1:]) {
			return t.fail(t.pos, "backreferences (\\%c) are not supported: match twice and compare", c)
		}
		r, err := t.character()
		if err != nil {
			return err
		}
		t.literal(r, utf8.RuneLen(r))
		return nil
	}
	t.pos += 2
	return nil
}

// octal says whether three octal digits of a byte follow.
func octal(s string) bool {
	if len(s) < 3 || s[0] > '3' {
		return false
	}
	for i := range 3 {
		if s[i] < '0' || s[i] > '7' {
			return false
		}
	}
	return true
}

var controls = map[byte]rune{'a': '\a', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

// character reads an escape that stands for one character.
func (t *translator) character() (rune, error) {
	start := t.pos
	if start+1 >= len(t.in) {
		return 0, t.fail(start, "bad escape (end of pattern)")
	}
	c := t.in[start+1]
	if r, ok := controls[c]; ok {
		t.pos += 2
		return r, nil
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	switch {
	case digits > 0:
		end := start + 2 + digits
		if end > len(t.in) {
			return 0, t.fail(start, "incomplete escape %s", t.in[start:])
		}
		n, err := strconv.ParseUint(t.in[start+2:end], 16, 32)
		if err != nil || !utf8.ValidRune(rune(n)) {
			return 0, t.fail(start, "bad escape %s", t.in[start:end])
		}
		t.pos = end
		return rune(n), nil
	case c >= '0' && c <= '9':
		end := start + 1
		for end < len(t.in) && end < start+4 && t.in[end] >= '0' && t.in[end] <= '7' {
			end++
		}
		n, err := strconv.ParseUint(t.in[start+1:end], 8, 32)
		if err != nil || n > 0o377 {
			return 0, t.fail(start, "bad escape \\%c", c)
		}
		t.pos = end
		return rune(n), nil
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return 0, t.fail(start, "bad escape \\%c", c)
	}
	r, size := utf8.DecodeRuneInString(t.in[start+1:])
	t.pos += 1 + size
	return r, nil
}
