package token

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Normalisation form C, which Qwen's tokenizers apply before they split. The tables
// are those of golang.org/x/text, taken back to Unicode 9 as Hugging Face's library has
// it; the algorithm is written out (Unicode Standard Annex 15) because that package's
// own inserts a joiner after 30 combining marks, which Hugging Face's does not, and because
// offsets must be carried along. An invalid byte stays as it is and combines with nothing.

// unit is a character on its way through normalisation.
type unit struct {
	r          rune // or -1-b for an invalid byte b
	class      uint8
	start, end int // of the source in the text
	changed    bool
}

// toNFC normalises text. With offsets, at[i] is the byte offset in text that
// corresponds to offset i of the result: a place inside of a character that was
// changed corresponds to its start. A nil map means that nothing changed.
func toNFC(text string, offsets bool) (result string, at []int) {
	if norm.NFC.IsNormalString(text) {
		return text, nil
	}
	w := nfcWriter{offsets: offsets}
	w.out.Grow(len(text))
	var units []unit
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		// An ASCII character starts anew: it combines with nothing before it.
		if r < utf8.RuneSelf && len(units) > 0 {
			w.write(compose(units))
			units = units[:0]
		}
		if r == utf8.RuneError && size == 1 {
			r = -1 - rune(text[i])
		}
		units = decompose(units, text[i:i+size], unit{r: r, start: i, end: i + size})
		i += size
	}
	w.write(compose(units))
	if offsets {
		w.at = append(w.at, len(text))
	}
	return w.out.String(), w.at
}

// Hangul syllables decompose by arithmetic (the Unicode Standard, section 3.12).
const (
	hangulFirst, hangulLast    = 0xAC00, 0xD7A3
	jamoL, jamoV, jamoT        = 0x1100, 0x1161, 0x11A7
	hangulVowels, hangulTrails = 21, 28
)

// decompose appends the full canonical decomposition of u, whose text is s.
func decompose(units []unit, s string, u unit) []unit {
	if u.r >= hangulFirst && u.r <= hangulLast {
		u.changed = true
		k := u.r - hangulFirst
		parts := []rune{jamoL + k/(hangulVowels*hangulTrails), jamoV + k/hangulTrails%hangulVowels, jamoT + k%hangulTrails}
		if parts[2] == jamoT {
			parts = parts[:2]
		}
		for _, r := range parts {
			u.r = r
			units = append(units, u)
		}
		return units
	}
	if u.r < utf8.RuneSelf {
		return append(units, u)
	}
	p := norm.NFD.PropertiesString(s)
	d := p.Decomposition()
	if d == nil || u.r == youngComposite {
		if u.class = p.CCC(); u.class > 0 && unicode.Is(youngMarks, u.r) {
			u.class = 0
		}
		return append(units, u)
	}
	u.changed = true
	for len(d) > 0 {
		r, size := utf8.DecodeRune(d)
		u.r, u.class = r, norm.NFD.Properties(d[:size]).CCC()
		units = append(units, u)
		d = d[size:]
	}
	return units
}

// compose orders the combining marks and joins what has a composite, in place.
func compose(units []unit) []unit {
	for i := 0; i < len(units); {
		j := i
		for j < len(units) && units[j].class > 0 {
			j++
		}
		slices.SortStableFunc(units[i:j], func(a, b unit) int { return int(a.class) - int(b.class) })
		i = max(j, i+1)
	}
	out := units[:0]
	starter, last := -1, uint8(0) // index into out; class of the unit before
	for _, u := range units {
		if starter >= 0 && (last == 0 || last < u.class) {
			if r, ok := composite(out[starter].r, u.r); ok {
				s := &out[starter]
				s.r, s.changed = r, true
				s.start, s.end = min(s.start, u.start), max(s.end, u.end)
				continue
			}
		}
		if u.class == 0 {
			starter = len(out)
		}
		last = u.class
		out = append(out, u)
	}
	return out
}

// composite is the one character that two compose to.
func composite(a, b rune) (rune, bool) {
	if a < 0 || b < utf8.RuneSelf { // invalid bytes; nothing combines with ASCII on its right
		return 0, false
	}
	var in, buf [2 * utf8.UTFMax]byte
	n := utf8.EncodeRune(in[:], a)
	n += utf8.EncodeRune(in[n:], b)
	out := norm.NFC.Append(buf[:0], in[:n]...)
	r, size := utf8.DecodeRune(out)
	return r, size == len(out) && r != youngComposite
}

// nfcWriter writes units and, where asked, the offsets they came from.
type nfcWriter struct {
	out     strings.Builder
	offsets bool
	at      []int
	end     int // the furthest source written so far
}

func (w *nfcWriter) write(units []unit) {
	for _, u := range units {
		from := w.out.Len()
		if u.r < 0 {
			w.out.WriteByte(byte(-1 - u.r))
		} else {
			w.out.WriteRune(u.r)
		}
		size := w.out.Len() - from
		if w.offsets {
			for k := range size {
				if u.changed || u.start != w.end { // a mark that moved counts as changed
					k = 0
				}
				w.at = append(w.at, w.end+k)
			}
		}
		w.end = max(w.end, u.end)
	}
}
