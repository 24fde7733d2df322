package audit

import (
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"
)

// decode adds what the usual encodings make of the program's texts and number lists, whatever the program does with them.
func (p *program) decode() {
	mirror := func(text string, at place) {
		if len(text) <= 4096 && strings.ContainsFunc(text, unicode.IsLetter) {
			p.addText(atom{text: reversed(text), at: at, from: mirrored})
			p.addText(atom{text: rot13(text), at: at, from: mirrored})
		}
	}
	for i, n := 0, len(p.atoms); i < n && i < maxAtoms/4; i++ {
		a := p.atoms[i]
		if len(a.text) > maxString || a.from == comment {
			continue
		}
		for _, f := range packed(a.text) {
			for range 3 { // in itself, too
				text, ok := unpack(f)
				if !ok {
					break
				}
				p.addText(atom{text: text, at: a.at, from: decoded, spelled: true})
				mirror(text, a.at)
				f = text
			}
		}
		mirror(a.text, a.at)
	}
	for _, t := range p.tables {
		if text, ok := codes(t); ok {
			p.addText(atom{text: text, at: t.at, from: decoded, spelled: true})
			mirror(text, t.at)
		}
	}
}

// packed gives the fields of a text that may be encoded.
func packed(s string) []string {
	fields := strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(",;:|\"'()[]{}.!?", r)
	})
	return fields[:min(len(fields), 512)]
}

// unpack reads base64 or hexadecimal, where printable text comes of it.
func unpack(f string) (string, bool) {
	if len(f) < 4 {
		return "", false
	}
	if isHex(f) && len(f)%2 == 0 {
		if b, err := hex.DecodeString(f); err == nil && printable(b) {
			return string(b), true
		}
	}
	f = strings.TrimRight(f, "=")
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if b, err := e.DecodeString(f); err == nil && printable(b) {
			return string(b), true
		}
	}
	return "", false
}

func printable(b []byte) bool {
	if len(b) < 2 || !utf8.Valid(b) {
		return false
	}
	for _, r := range string(b) {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
			return false
		}
	}
	return true
}

func reversed(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

func rot13(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case 'A' <= r && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, s)
}

// codes reads a list of integers as character codes.
func codes(t table) (string, bool) {
	if len(t.rows) < 2 {
		return "", false
	}
	var b strings.Builder
	for _, r := range t.rows {
		if len(r.cells) != 1 {
			return "", false
		}
		n, ok := new(big.Int).SetString(r.cells[0], 10)
		if !ok || !n.IsInt64() || n.Int64() < 32 || n.Int64() > 0x2FFF {
			return "", false
		}
		b.WriteRune(rune(n.Int64()))
	}
	return b.String(), true
}
