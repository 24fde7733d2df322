package audit

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// language is one of which only the literals are read.
type language uint8

const (
	python language = iota
	javascript
)

// lexKind is what a lexeme is.
type lexKind uint8

const (
	lexName lexKind = iota
	lexString
	lexNumber
	lexMark // an operator or bracket
	lexLine // the end of a line outside brackets, or a semicolon
)

// lexeme is a piece of source; text is a string's value, holes standing for what is filled in.
type lexeme struct {
	kind  lexKind
	text  string
	at    place
	piece bool // a string put together from pieces
}

// scanner reads Python or JavaScript. It knows what separates literals from code, and nothing of the grammar.
type scanner struct {
	src       string
	language  language
	i         int
	line, col int
	out       []lexeme
	comments  []atom
	brackets  int
}

var errText = errors.New("the source is no UTF-8")

// scan reads a source. It never fails on bad syntax: what it cannot read is skipped, a character at a time.
func scan(l language, src []byte) (*scanner, error) {
	if !utf8.Valid(src) {
		return nil, errText
	}
	s := &scanner{src: string(src), language: l, line: 1, col: 1}
	for s.i < len(s.src) {
		s.next()
	}
	return s, nil
}

// advance moves on by n bytes.
func (s *scanner) advance(n int) {
	for end := min(len(s.src), s.i+n); s.i < end; {
		r, size := utf8.DecodeRuneInString(s.src[s.i:])
		s.i += size
		if s.col++; r == '\n' {
			s.line, s.col = s.line+1, 1
		}
	}
}

func (s *scanner) rest() string { return s.src[s.i:] }

func (s *scanner) emit(k lexKind, text string, at place) {
	s.out = append(s.out, lexeme{kind: k, text: text, at: at})
}

func (s *scanner) next() {
	rest, at := s.rest(), place{s.line, s.col}
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case r == '\n' || r == ';':
		s.advance(1)
		if s.brackets == 0 || r == ';' {
			s.emit(lexLine, "", at)
		}
	case s.comment(rest, at):
	case r == '"' || r == '\'' || r == '`' && s.language == javascript:
		s.quoted(at, "")
	case r == '/' && s.language == javascript && s.patternMayStart():
		s.regexp(at)
	case isDigit(r) || r == '.' && len(rest) > 1 && isDigit(rune(rest[1])):
		s.number(at)
	case unicode.IsLetter(r) || r == '_' || r == '$':
		s.word(at)
	case unicode.IsSpace(r):
		s.advance(size)
	default:
		s.mark(at)
	}
}

// comment skips a comment and keeps its text.
func (s *scanner) comment(rest string, at place) bool {
	end := -1
	switch {
	case s.language == python && rest[0] == '#', s.language == javascript && (strings.HasPrefix(rest, "//") || s.i == 0 && strings.HasPrefix(rest, "#!")):
		if end = strings.IndexByte(rest, '\n'); end < 0 {
			end = len(rest)
		}
	case s.language == javascript && strings.HasPrefix(rest, "/*"):
		if end = strings.Index(rest[2:], "*/"); end < 0 {
			end = len(rest)
		} else {
			end += 4
		}
	default:
		return false
	}
	s.comments = append(s.comments, atom{text: strings.Trim(rest[:end], "#/* \t"), at: at, from: comment})
	s.advance(end)
	return true
}

// word reads a name, or the prefix of a Python string.
func (s *scanner) word(at place) {
	rest := s.rest()
	n := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '$' })
	if n < 0 {
		n = len(rest)
	}
	name := rest[:n]
	if s.language == python && n <= 2 && n < len(rest) && (rest[n] == '"' || rest[n] == '\'') && strings.Trim(strings.ToLower(name), "rbfut") == "" {
		s.advance(n)
		s.quoted(at, strings.ToLower(name))
		return
	}
	s.advance(n)
	s.emit(lexName, name, at)
}

func (s *scanner) number(at place) {
	rest := s.rest()
	n := 0
	for n < len(rest) {
		c := rest[n]
		if isDigit(rune(c)) || c == '.' || c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' {
			n++
			continue
		}
		break
	}
	text := strings.ReplaceAll(rest[:n], "_", "")
	s.advance(n)
	if i, ok := new(big.Int).SetString(strings.TrimSuffix(strings.TrimSuffix(text, "n"), "N"), 0); ok && len(text) < maxIntBits/4 {
		text = i.String()
	}
	s.emit(lexNumber, text, at)
}

func (s *scanner) mark(at place) {
	rest := s.rest()
	for _, m := range []string{"===", "!==", "==", "!=", "=>", "<=", ">=", "+=", "**", "//", "?.", "&&", "||"} {
		if strings.HasPrefix(rest, m) {
			s.advance(len(m))
			s.emit(lexMark, m, at)
			return
		}
	}
	r, size := utf8.DecodeRuneInString(rest)
	switch r {
	case '(', '[', '{':
		if s.language == python || r != '{' {
			s.brackets++
		}
	case ')', ']', '}':
		if s.language == python || r != '}' {
			s.brackets = max(0, s.brackets-1)
		}
	}
	s.advance(size)
	s.emit(lexMark, string(r), at)
}

// quoted reads a string: of Python with its prefix, of JavaScript with templates.
func (s *scanner) quoted(at place, prefix string) {
	rest := s.rest()
	quote := rest[:1]
	if s.language == python && (strings.HasPrefix(rest, `"""`) || strings.HasPrefix(rest, `'''`)) {
		quote = rest[:3]
	}
	s.advance(len(quote))
	raw, fills := strings.Contains(prefix, "r"), strings.Contains(prefix, "f")
	var b strings.Builder
	for s.i < len(s.src) {
		rest := s.rest()
		switch {
		case strings.HasPrefix(rest, quote):
			s.advance(len(quote))
			s.emit(lexString, b.String(), at)
			return
		case rest[0] == '\n' && len(quote) == 1 && quote != "`":
			s.emit(lexString, b.String(), at) // it ends nowhere: the line does
			return
		case rest[0] == '\\' && len(rest) > 1 && !raw:
			text, n := unescape(rest)
			b.WriteString(text)
			s.advance(n)
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(rest[:2])
			s.advance(2)
		case fills && (strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "}}")):
			b.WriteByte(rest[0])
			s.advance(2)
		case fills && rest[0] == '{', quote == "`" && strings.HasPrefix(rest, "${"):
			n := s.filled(rest)
			b.WriteString(literalIn(rest[:n]))
			s.advance(n)
		default:
			_, size := utf8.DecodeRuneInString(rest)
			b.WriteString(rest[:size])
			s.advance(size)
		}
	}
	s.emit(lexString, b.String(), at)
}

// filled gives the length of what is filled in, with its braces.
func (s *scanner) filled(rest string) int {
	depth := 0
	for i := 0; i < len(rest) && i < 4096; i++ {
		switch rest[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 1
}

// literalIn gives the text that is filled in, where it is a literal: f"{'4'}{'05'}"; else a hole.
func literalIn(s string) string {
	inner := strings.TrimSpace(strings.Trim(s, "${}"))
	if len(inner) >= 2 && (inner[0] == '"' || inner[0] == '\'') && inner[len(inner)-1] == inner[0] && !strings.ContainsAny(inner[1:len(inner)-1], `"'\`) {
		return inner[1 : len(inner)-1]
	}
	if inner != "" && strings.Trim(inner, "0123456789") == "" {
		return inner
	}
	return string(hole)
}

// unescape reads an escape, and gives what it stands for and its length.
func unescape(s string) (string, int) {
	code := func(from, digits, base int) (string, int) {
		end := min(len(s), from+digits)
		if n, err := strconv.ParseUint(s[from:end], base, 32); err == nil && n <= unicode.MaxRune {
			return string(rune(n)), end
		}
		return s[1:2], 2
	}
	switch c := s[1]; c {
	case 'n':
		return "\n", 2
	case 't':
		return "\t", 2
	case 'r':
		return "\r", 2
	case '\n':
		return "", 2
	case 'x':
		return code(2, 2, 16)
	case 'u':
		if len(s) > 2 && s[2] == '{' {
			if end := strings.IndexByte(s, '}'); end > 3 && end <= 9 {
				if n, err := strconv.ParseUint(s[3:end], 16, 32); err == nil && n <= unicode.MaxRune {
					return string(rune(n)), end + 1
				}
			}
			return "u", 2
		}
		return code(2, 4, 16)
	case 'U':
		return code(2, 8, 16)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n := 2
		for n < min(len(s), 4) && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		v, _ := strconv.ParseUint(s[1:n], 8, 32)
		return string(rune(v)), n
	}
	_, size := utf8.DecodeRuneInString(s[1:])
	return s[1 : 1+size], 1 + size
}

// patternMayStart says whether a slash begins a pattern and no division.
func (s *scanner) patternMayStart() bool {
	if len(s.out) == 0 {
		return true
	}
	switch last := s.out[len(s.out)-1]; last.kind {
	case lexLine:
		return true
	case lexMark:
		return !strings.Contains(")]}", last.text)
	case lexName:
		return last.text == "return" || last.text == "of" || last.text == "in" || last.text == "case"
	}
	return false
}

func (s *scanner) regexp(at place) {
	rest := s.rest()
	class := false
	for i := 1; i < len(rest) && rest[i] != '\n'; i++ {
		switch rest[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				s.advance(i + 1)
				s.emit(lexString, rest[1:i], at)
				return
			}
		}
	}
	s.advance(1)
	s.emit(lexMark, "/", at)
}
