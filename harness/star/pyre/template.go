package pyre

import (
	"strconv"
	"strings"
)

// Escape quotes what is special in a pattern, as Python's re.escape does.
func Escape(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if strings.IndexByte("()[]{}?*+-|^$\\.&~# \t\n\r\v\f", c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// Template is a replacement in the syntax of Python's re.sub: \1, \g<1> and \g<name> stand for groups, \n and the like for characters.
type Template struct {
	parts []part
}

// part is a text, or a group where group >= 0.
type part struct {
	text  string
	group int
}

// Template reads a replacement for this pattern. The error is an *[Error].
func (r *Regexp) Template(s string) (*Template, error) {
	t := &Template{}
	var text strings.Builder
	group := func(n, at int) error {
		if n > r.NumGroups() {
			return &Error{"invalid group reference " + strconv.Itoa(n), at}
		}
		if text.Len() > 0 {
			t.parts = append(t.parts, part{text.String(), -1})
			text.Reset()
		}
		t.parts = append(t.parts, part{"", n})
		return nil
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			text.WriteByte(s[i])
			continue
		}
		at := i
		i++
		if i == len(s) {
			return nil, &Error{"bad escape (end of template)", at}
		}
		switch c := s[i]; {
		case c == 'g':
			name, _, closed := strings.Cut(strings.TrimPrefix(s[i+1:], "<"), ">")
			if !strings.HasPrefix(s[i+1:], "<") || !closed || name == "" {
				return nil, &Error{`bad reference: want \g<name>`, at}
			}
			i += len(name) + 2
			n, known := r.names[name]
			if isDigits(name) {
				var err error
				if n, err = strconv.Atoi(name); err != nil {
					return nil, &Error{"invalid group reference " + name, at}
				}
				known = true
			}
			if !known {
				return nil, &Error{"unknown group name " + strconv.Quote(name), at}
			}
			if err := group(n, at); err != nil {
				return nil, err
			}
		case c == '0' || c <= '9' && c >= '1' && octal(s[i:]):
			end := i
			for end < len(s) && end < i+3 && s[end] >= '0' && s[end] <= '7' {
				end++
			}
			n, _ := strconv.ParseUint(s[i:end], 8, 32)
			text.WriteRune(rune(n))
			i = end - 1
		case c >= '1' && c <= '9':
			n := int(c - '0')
			if i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' {
				i++
				n = 10*n + int(s[i]-'0')
			}
			if err := group(n, at); err != nil {
				return nil, err
			}
		case c == '\\':
			text.WriteByte('\\')
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			r, ok := controls[c]
			if c == 'b' {
				r, ok = '\b', true
			}
			if !ok {
				return nil, &Error{"bad escape \\" + string(c), at}
			}
			text.WriteRune(r)
		default:
			text.WriteByte('\\')
			text.WriteByte(c)
		}
	}
	if text.Len() > 0 {
		t.parts = append(t.parts, part{text.String(), -1})
	}
	return t, nil
}

// Expand fills a template with the groups of a match of text; a group that took no part is empty.
func (t *Template) Expand(dst *strings.Builder, text string, spans []int) {
	for _, p := range t.parts {
		switch {
		case p.group < 0:
			dst.WriteString(p.text)
		case spans[2*p.group] >= 0:
			dst.WriteString(text[spans[2*p.group]:spans[2*p.group+1]])
		}
	}
}
