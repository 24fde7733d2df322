package process

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON more strictly than encoding/json, which takes what no two readers agree on: names given twice, bytes that are no
// UTF-8, half of a surrogate pair. It takes memory in proportion to its input, and its recursion is bounded by depth.
type scanner struct {
	data  []byte
	at    int
	depth int    // how deep plain values may nest
	ours  bool   // this program wrote it: plain values may quote a model, so names given twice pass and half pairs are replaced
	spare []byte // of the last string with escapes
}

func (s *scanner) fail(format string, args ...any) error {
	return violate("byte %d: %s", s.at+1, fmt.Sprintf(format, args...))
}

// peek skips white space and gives the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	for ; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// found describes what comes next, for messages.
func (s *scanner) found() string {
	switch c := s.peek(); {
	case s.at >= len(s.data):
		return "the end"
	case c == '{':
		return "an object"
	case c == '[':
		return "a list"
	case c == '"':
		return "a string"
	case c == '-' || c >= '0' && c <= '9':
		return "a number"
	case c == 't' || c == 'f':
		return "a boolean"
	case c == 'n':
		return "null"
	case c >= utf8.RuneSelf:
		return "a byte that begins no value"
	default:
		return strconv.QuoteRune(rune(c))
	}
}

func (s *scanner) want(what string) error { return s.fail("got %s, want %s", s.found(), what) }

// end checks that nothing follows.
func (s *scanner) end() error {
	if s.peek(); s.at < len(s.data) {
		return s.fail("got %s after the message", s.found())
	}
	return nil
}

// members reads an object: member is called with each name, at its value, and must read it. The name is good until then.
func (s *scanner) members(member func(name []byte) error) error {
	return s.sequence('{', '}', "an object", func() error {
		if s.peek() != '"' {
			return s.want("a name")
		}
		name, err := s.bytes()
		if err != nil {
			return err
		}
		if s.peek() != ':' {
			return s.want("':'")
		}
		s.at++
		return member(name)
	})
}

// list reads a list: element is called at each element and must read it.
func (s *scanner) list(element func() error) error { return s.sequence('[', ']', "a list", element) }

func (s *scanner) sequence(open, end byte, what string, item func() error) error {
	if s.peek() != open {
		return s.want(what)
	}
	s.at++
	if s.peek() == end {
		s.at++
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.at++
		case end:
			s.at++
			return nil
		default:
			return s.want(fmt.Sprintf("',' or '%c'", end))
		}
	}
}

// fields reads an object whose names are among known, each at most once; field is called with the index of each, at its value.
func (s *scanner) fields(known []string, field func(i int) error) (seen uint64, err error) {
	err = s.members(func(name []byte) error {
		for i, k := range known {
			if k != string(name) {
				continue
			}
			if seen&(1<<i) != 0 {
				return s.fail("the field %s is given twice", name)
			}
			seen |= 1 << i
			return field(i)
		}
		return s.fail("got the field %s, want one of %s", brief(string(name)), join(known))
	})
	return seen, err
}

// text reads a string.
func (s *scanner) text() (string, error) {
	b, err := s.bytes()
	return string(b), err
}

// bytes reads a string and gives its bytes, which are good until the next one.
func (s *scanner) bytes() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.want("a string")
	}
	s.at++
	start, high := s.at, byte(0)
	for ; s.at < len(s.data); s.at++ {
		c := s.data[s.at]
		if c == '"' || c == '\\' || c < ' ' {
			break
		}
		high |= c
	}
	plain := s.data[start:s.at]
	if high >= utf8.RuneSelf && !utf8.Valid(plain) {
		s.at = start
		return nil, s.fail("the string is no UTF-8")
	}
	if s.at < len(s.data) && s.data[s.at] == '"' {
		s.at++
		return plain, nil
	}
	return s.escaped(plain)
}

// escaped reads the rest of a string that holds an escape.
func (s *scanner) escaped(plain []byte) ([]byte, error) {
	if s.spare == nil {
		s.spare = make([]byte, 0, 2*len(plain)+256)
	}
	out := append(s.spare[:0], plain...)
	for {
		start := s.at
		for s.at < len(s.data) && s.data[s.at] != '"' && s.data[s.at] != '\\' && s.data[s.at] >= ' ' {
			s.at++
		}
		if part := s.data[start:s.at]; utf8.Valid(part) {
			out = append(out, part...)
		} else {
			s.at = start
			return nil, s.fail("the string is no UTF-8")
		}
		switch {
		case s.at >= len(s.data):
			return nil, s.fail("the string has no end")
		case s.data[s.at] == '"':
			s.at++
			s.spare = out
			return out, nil
		case s.data[s.at] != '\\':
			return nil, s.fail("got the byte 0x%02x in a string, want an escape", s.data[s.at])
		}
		r, err := s.escape()
		if err != nil {
			return nil, err
		}
		out = utf8.AppendRune(out, r)
	}
}

// escape reads one escape, two where they are a pair of surrogates.
func (s *scanner) escape() (rune, error) {
	if s.at+1 >= len(s.data) {
		return 0, s.fail("the string has no end")
	}
	c := s.data[s.at+1]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return s.unicodeEscape()
	default:
		return 0, s.fail("got an escape that JSON does not have")
	}
	s.at += 2
	return rune(c), nil
}

func (s *scanner) unicodeEscape() (rune, error) {
	r, ok := s.hex(s.at)
	if !ok {
		return 0, s.fail(`got an escape without four hexadecimal digits after \u`)
	}
	if !utf16.IsSurrogate(r) {
		s.at += 6
		return r, nil
	}
	if low, ok := s.hex(s.at + 6); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			s.at += 12
			return pair, nil
		}
	}
	if !s.ours {
		return 0, s.fail("got half of a surrogate pair")
	}
	s.at += 6
	return utf8.RuneError, nil
}

// hex reads \uXXXX at a place.
func (s *scanner) hex(at int) (rune, bool) {
	if at+6 > len(s.data) || s.data[at] != '\\' || s.data[at+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s.data[at+2 : at+6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// number reads a number's text, and says whether it is whole: without a fraction and an exponent.
func (s *scanner) number() (text []byte, whole bool, err error) {
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		return nil, false, s.want("a number")
	}
	start := s.at
	digits := func() int {
		from := s.at
		for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' {
			s.at++
		}
		return s.at - from
	}
	is := func(set string) bool {
		if s.at < len(s.data) && bytes.IndexByte([]byte(set), s.data[s.at]) >= 0 {
			s.at++
			return true
		}
		return false
	}
	is("-")
	first := s.at
	n := digits()
	ok := n == 1 || n > 1 && s.data[first] != '0'
	whole = true
	if is(".") {
		whole, ok = false, ok && digits() > 0
	}
	if is("eE") {
		whole = false
		is("+-")
		ok = ok && digits() > 0
	}
	text = s.data[start:s.at]
	switch {
	case !ok:
		s.at = start
		return nil, false, s.fail("got a number that JSON does not allow")
	case len(text) > maxDigits:
		s.at = start
		return nil, false, s.fail("got a number of %d characters, want at most %d", len(text), maxDigits)
	case !whole:
		if f, err := strconv.ParseFloat(string(text), 64); err != nil || math.IsInf(f, 0) {
			s.at = start
			return nil, false, s.fail("got a number that no float can hold")
		}
	}
	return text, whole, nil
}

// integer reads a whole number between low and high.
func (s *scanner) integer(low, high int64) (int64, error) {
	text, whole, err := s.number()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if !whole || err != nil || n < low || n > high {
		shown := text[:min(len(text), 24)]
		s.at -= len(text)
		return 0, s.fail("got the number %s, want a whole one of %d to %d", shown, low, high)
	}
	return n, nil
}

// literal reads a word.
func (s *scanner) literal(word string) bool {
	s.peek()
	if bytes.HasPrefix(s.data[s.at:], []byte(word)) {
		s.at += len(word)
		return true
	}
	return false
}

func (s *scanner) boolean() (bool, error) {
	switch {
	case s.literal("true"):
		return true, nil
	case s.literal("false"):
		return false, nil
	}
	return false, s.want("true or false")
}
