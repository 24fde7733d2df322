package answer

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// Squad is the form in which the official SQuAD evaluation script compares answers (normalize_answer of evaluate-v1.1.py): lower case; without the
// punctuation of ASCII; the words a, an and the replaced by a space; white space a single space, none at the ends. Letters, digits and white space are those of Unicode,
// as in Python.
func Squad(s string) string {
	s = lower(s)
	s = strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && unicode.In(r, unicode.Punct, unicode.Symbol) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.FieldsFunc(withoutArticles(s), isSpace), " ")
}

// lower is Python's str.lower, which knows more than a letter at a time.
func lower(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return cases.Lower(language.Und).String(s)
		}
	}
	return strings.ToLower(s)
}

// isSpace is Python's str.isspace.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// withoutArticles replaces the whole words a, an and the.
func withoutArticles(s string) string {
	var b strings.Builder
	for rest := s; rest != ""; {
		end := strings.IndexFunc(rest, func(r rune) bool { return !inWord(r) })
		switch {
		case end < 0:
			end = len(rest)
		case end == 0:
			if end = strings.IndexFunc(rest, inWord); end < 0 {
				end = len(rest)
			}
		}
		switch piece := rest[:end]; piece {
		case "a", "an", "the":
			b.WriteByte(' ')
		default:
			b.WriteString(piece)
		}
		rest = rest[end:]
	}
	return b.String()
}

// inWord is \w of Python's expressions; the underscore is punctuation, and gone by then.
func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// ExactMatch tells whether an answer equals any of the references in the form of [Squad]. An answer of which nothing is left equals a reference of
// which nothing is left either.
func ExactMatch(got string, references []string) bool {
	form := Squad(got)
	for _, r := range references {
		if Squad(r) == form {
			return true
		}
	}
	return false
}
