package star

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// The functions behind the module text. Each reads its text once, whatever it holds.

// maxText bounds what one library function returns, in bytes.
const maxText = 8 << 20

// fence gives the inside of the first or last fenced block of a language. An opening fence is ``` and the language up to the end of the
// line, wherever on the line it stands; models do not always begin a line for it.
func fence(s, lang string, last bool) (inside string, ok bool) {
	const mark = "```"
	for {
		_, rest, found := strings.Cut(s, mark)
		if !found {
			return inside, ok
		}
		block, after, _ := strings.Cut(rest, mark)
		s = after
		info, code, found := strings.Cut(block, "\n")
		if !found {
			continue // a fence within one line: no block
		}
		name, _, _ := strings.Cut(strings.TrimSpace(info), " ")
		if lang == "" || strings.EqualFold(name, lang) || strings.EqualFold(lang, "python") && strings.EqualFold(name, "py") {
			code = strings.TrimSuffix(strings.TrimRight(code, " \t"), "\n")
			inside, ok = strings.TrimSuffix(code, "\r"), true
			if !last {
				return inside, ok
			}
		}
	}
}

// tag gives what stands between the first <name> and the </name> after it, or the last </name> and the <name> before it.
func tag(s, name string, last bool) (string, bool) {
	opening, closing := "<"+name+">", "</"+name+">"
	if last {
		end := strings.LastIndex(s, closing)
		if end < 0 {
			return "", false
		}
		start := strings.LastIndex(s[:end], opening)
		if start < 0 {
			return "", false
		}
		return strings.TrimSpace(s[start+len(opening) : end]), true
	}
	_, rest, ok := strings.Cut(s, opening)
	inside, _, closed := strings.Cut(rest, closing)
	return strings.TrimSpace(inside), ok && closed
}

// boxed gives the content of the last balanced \boxed{…}, in one pass: a stack of open braces, and the latest box that closed.
func boxed(s string) (string, bool) {
	var open []int // positions of { not closed yet
	start, end := -1, -1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i+1 < len(s) && strings.IndexByte(`{}\`, s[i+1]) >= 0 {
				i++ // \{ and \} are characters, not braces
			}
		case '{':
			open = append(open, i)
		case '}':
			if len(open) == 0 {
				continue
			}
			at := open[len(open)-1]
			open = open[:len(open)-1]
			if strings.HasSuffix(s[:at], `\boxed`) && at > start {
				start, end = at, i
			}
		}
	}
	if start < 0 {
		return "", false
	}
	return s[start+1 : end], true
}

// fill replaces each {name} of known names, in one pass: what is put in is not looked at again.
func fill(template string, values starlark.Value) (string, error) {
	var known map[string]string
	switch v := values.(type) {
	case *record:
		known = make(map[string]string, len(v.names))
		for name, x := range v.fields {
			known[name] = plainText(x)
		}
	case *starlark.Dict:
		known = make(map[string]string, v.Len())
		for _, item := range v.Items() {
			key, ok := item[0].(starlark.String)
			if !ok {
				return "", fmt.Errorf("argument values: got a dict with %s key, want string keys", article(item[0].Type()))
			}
			known[string(key)] = plainText(item[1])
		}
	default:
		return "", fmt.Errorf("argument values: got %s, want the task or a dict", article(values.Type()))
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		template = rest
		end := strings.IndexAny(rest, "{}")
		value, ok := "", false
		if end >= 0 && rest[end] == '}' {
			value, ok = known[rest[:end]]
		}
		if ok {
			b.WriteString(value)
			template = rest[end+1:]
		} else {
			b.WriteByte('{')
		}
		if b.Len() > maxText {
			return "", errors.New("the result is too long")
		}
	}
}

// plainText is what str gives.
func plainText(v starlark.Value) string {
	if s, ok := v.(starlark.String); ok {
		return string(s)
	}
	return v.String()
}

func head(s string, n int) string {
	end := 0
	for ; n > 0; n-- {
		i := strings.IndexByte(s[end:], '\n')
		if i < 0 {
			return s
		}
		end += i + 1
	}
	return strings.TrimSuffix(s[:end], "\n")
}

func tail(s string, n int) string {
	if n == 0 {
		return ""
	}
	body := strings.TrimSuffix(s, "\n")
	start := len(body)
	for ; n > 0; n-- {
		i := strings.LastIndexByte(body[:start], '\n')
		if i < 0 {
			return s
		}
		start = i
	}
	return s[start+1:]
}

func truncate(s string, maxChars int) string {
	if len(s) <= maxChars {
		return s
	}
	end := 0
	for ; maxChars > 0 && end < len(s); maxChars-- {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return s[:end]
}
