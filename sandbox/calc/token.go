package calc

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	tokName tokenKind = iota
	tokNumber
	tokString
	tokOp
	tokNewline // the end of a logical line
)

// token is a piece of the source; what lies between tokens is space and comments.
type token struct {
	kind       tokenKind
	text       string
	start, end int // bytes in the source
	line       int
}

// operators of more than one character, longest first.
var operators = []string{"**=", "//=", "<<=", ">>=", "...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->", ":=",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="}

// scanner splits a source into Python's tokens as far as translate needs them. It leaves judging them to the parser.
type scanner struct {
	src   string
	pos   int
	line  int
	depth int // of brackets: inside them a line break means nothing
	toks  []token
}

func scan(src string) ([]token, error) {
	s := &scanner{src: src, line: 1}
	for s.pos < len(s.src) {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	s.add(tokNewline, 0)
	return s.toks, nil
}

func (s *scanner) add(kind tokenKind, length int) {
	s.toks = append(s.toks, token{kind, s.src[s.pos : s.pos+length], s.pos, s.pos + length, s.line})
	s.pos += length
}

func (s *scanner) next() error {
	rest := s.src[s.pos:]
	c := rest[0]
	switch {
	case c == '\n':
		if s.depth == 0 {
			s.add(tokNewline, 1)
		} else {
			s.pos++
		}
		s.line++
	case c == ' ', c == '\t', c == '\f', c == '\r':
		s.pos++
	case strings.HasPrefix(rest, "\\\n"):
		s.pos += 2
		s.line++
	case c == '#':
		if i := strings.IndexByte(rest, '\n'); i >= 0 {
			s.pos += i
		} else {
			s.pos = len(s.src)
		}
	case c == '"', c == '\'':
		return s.scanString(0)
	case isDigit(c), c == '.' && len(rest) > 1 && isDigit(rest[1]):
		s.add(tokNumber, numberLen(rest))
	case isNameStart(rest):
		n := nameLen(rest)
		if n < len(rest) && (rest[n] == '"' || rest[n] == '\'') && n <= 2 {
			return s.scanString(n)
		}
		s.add(tokName, n)
	default:
		s.scanOperator(rest)
	}
	return nil
}

func (s *scanner) scanOperator(rest string) {
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			s.add(tokOp, len(op))
			return
		}
	}
	switch rest[0] {
	case '(', '[', '{':
		s.depth++
	case ')', ']', '}':
		s.depth = max(0, s.depth-1)
	}
	_, size := utf8.DecodeRuneInString(rest)
	s.add(tokOp, size)
}

// scanString takes a string literal with a prefix of n letters.
func (s *scanner) scanString(n int) error {
	if prefix := s.src[s.pos : s.pos+n]; strings.ContainsAny(prefix, "fFtT") {
		return errorAt(s.line, "f-strings are not available: print the values instead, as in print(\"x =\", x)")
	}
	rest := s.src[s.pos+n:]
	quote := rest[:1]
	if strings.HasPrefix(rest, strings.Repeat(quote, 3)) {
		quote = rest[:3]
	}
	lines := 0
	for i := len(quote); i < len(rest); i++ {
		switch {
		case rest[i] == '\\':
			i++
			if i < len(rest) && rest[i] == '\n' {
				lines++
			}
		case rest[i] == '\n' && len(quote) == 1:
			return errorAt(s.line, "the string has no end")
		case rest[i] == '\n':
			lines++
		case strings.HasPrefix(rest[i:], quote):
			s.add(tokString, n+i+len(quote))
			s.line += lines
			return nil
		}
	}
	return errorAt(s.line, "the string has no end")
}

// numberLen is the length of the number literal that s begins with, taken widely: the parser refuses what is none.
func numberLen(s string) int {
	hex := strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X")
	i := 0
	for ; i < len(s); i++ {
		c := s[i]
		sign := (c == '+' || c == '-') && !hex && i > 0 && (s[i-1] == 'e' || s[i-1] == 'E')
		if !isDigit(c) && c != '.' && c != '_' && !('a' <= c|0x20 && c|0x20 <= 'z') && !sign {
			break
		}
	}
	return i
}

func nameLen(s string) int {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return i
		}
	}
	return len(s)
}

func isNameStart(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '_' || unicode.IsLetter(r)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
