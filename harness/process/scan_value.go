package process

import "strings"

// value reads any JSON value and appends it without white space, its strings written anew: what it gives is valid, on one line, and the
// same for every reader. depth counts down.
func (s *scanner) value(dst []byte, depth int) ([]byte, error) {
	switch c := s.peek(); {
	case c == '"':
		text, err := s.text()
		return appendText(dst, text), err
	case c == '{' || c == '[':
		if depth == 0 {
			return nil, s.fail("nested deeper than %d", s.depth)
		}
		return s.nested(dst, c, depth-1)
	case c == '-' || c >= '0' && c <= '9':
		text, _, err := s.number()
		return append(dst, text...), err
	}
	for _, word := range []string{"true", "false", "null"} {
		if s.literal(word) {
			return append(dst, word...), nil
		}
	}
	return nil, s.want("a value")
}

func (s *scanner) nested(dst []byte, open byte, depth int) ([]byte, error) {
	dst = append(dst, open)
	n := 0
	comma := func() {
		if n++; n > 1 {
			dst = append(dst, ',')
		}
	}
	if open == '[' {
		err := s.list(func() (err error) {
			comma()
			dst, err = s.value(dst, depth)
			return err
		})
		return append(dst, ']'), err
	}
	seen := names{}
	err := s.members(func(b []byte) (err error) {
		name := string(b)
		if !s.ours && seen.add(name) {
			return s.fail("the name %s is given twice", brief(name))
		}
		comma()
		dst = append(appendText(dst, name), ':')
		dst, err = s.value(dst, depth)
		return err
	})
	return append(dst, '}'), err
}

// names finds a name that was there before. Most objects are small, so it begins as a list.
type names struct {
	list []string
	set  map[string]bool
}

func (n *names) add(name string) (again bool) {
	if n.set != nil {
		again = n.set[name]
		n.set[name] = true
		return again
	}
	for _, x := range n.list {
		if x == name {
			return true
		}
	}
	n.list = append(n.list, name)
	if len(n.list) == 16 {
		n.set = map[string]bool{}
		for _, x := range n.list {
			n.set[x] = true
		}
	}
	return false
}

func join(list []string) string { return strings.Join(list, ", ") }
