package calc

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"go.starlark.net/starlark"
)

const (
	maxDigits = 4300    // of a printed integer, as in Python
	maxDepth  = 100     // of nested containers
	maxText   = 1 << 20 // bytes of str(x)
)

// pyFloat is Python's repr of a float: the shortest digits that give it back, with an exponent from 1e16 on.
func pyFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	if abs := math.Abs(f); abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func (w *reprWriter) int(i starlark.Int) (string, error) {
	// 3.3 bits a digit: a cheap test first, as writing digits takes quadratic time.
	n := bitLen(i)
	if n > maxDigits*10/3+8 {
		return "", fmt.Errorf("the integer has more than %d digits", maxDigits)
	}
	if err := w.m.spend(1 + digitsCost(words(n))); err != nil {
		return "", err
	}
	s := i.String()
	if len(strings.TrimPrefix(s, "-")) > maxDigits {
		return "", fmt.Errorf("the integer has more than %d digits", maxDigits)
	}
	return s, nil
}

// str is Python's str(v).
func (m *machine) str(v starlark.Value) (string, error) {
	if s, ok := v.(starlark.String); ok {
		return string(s), nil
	}
	return m.repr(v)
}

// repr is Python's repr(v).
func (m *machine) repr(v starlark.Value) (string, error) {
	w := reprWriter{m: m}
	err := w.value(v, nil)
	return w.String(), err
}

type reprWriter struct {
	strings.Builder
	m    *machine
	paid int // bytes of the text
}

// room charges for the text so far and for n more bytes, with what the builder has in reserve.
func (w *reprWriter) room(n int) error {
	if w.Len()+n > maxText {
		return errTooLarge
	}
	owed := w.Len() + n - w.paid
	if owed <= 0 {
		return nil
	}
	w.paid += owed
	return w.m.make(2 * owed)
}

func (w *reprWriter) value(v starlark.Value, path []starlark.Value) error {
	if err := w.room(32); err != nil { // of what has a fixed size
		return err
	}
	if err := w.m.spend(2 + uint64(len(path))/8); err != nil {
		return err
	}
	if len(path) > maxDepth {
		return errDeep
	}
	switch v := v.(type) {
	case starlark.Float:
		if err := w.m.spend(floatText); err != nil {
			return err
		}
		w.WriteString(pyFloat(float64(v)))
	case starlark.Int:
		s, err := w.int(v)
		if err != nil {
			return err
		}
		w.WriteString(s)
	case starlark.String:
		const longest = 4 // bytes that quoted makes of one
		if err := w.room(longest * len(v)); err != nil {
			return err
		}
		if err := w.m.spend(uint64(len(v)) / 2); err != nil {
			return err
		}
		w.quoted(string(v))
	case *starlark.List:
		return w.sequence(v, path, "[", "]")
	case starlark.Tuple:
		if len(v) == 1 {
			return w.sequence(v, path, "(", ",)")
		}
		return w.sequence(v, path, "(", ")")
	case *starlark.Set:
		if v.Len() == 0 {
			w.WriteString("set()")
			return nil
		}
		return w.sequence(v, path, "{", "}")
	case *starlark.Dict:
		return w.dict(v, path)
	case starlark.Bool, starlark.NoneType:
		w.WriteString(v.String())
	default:
		w.other(v)
	}
	return nil
}

func (w *reprWriter) sequence(v starlark.Iterable, path []starlark.Value, open, end string) error {
	w.WriteString(open)
	if inPath(v, path) {
		w.WriteString("..." + end)
		return nil
	}
	path = append(path, v)
	first := true
	for item := range starlark.Elements(v) {
		if !first {
			w.WriteString(", ")
		}
		first = false
		if err := w.value(item, path); err != nil {
			return err
		}
	}
	w.WriteString(end)
	return nil
}

func (w *reprWriter) dict(d *starlark.Dict, path []starlark.Value) error {
	if inPath(d, path) {
		w.WriteString("{...}")
		return nil
	}
	path = append(path, d)
	w.WriteString("{")
	first := true
	for k, v := range starlark.Entries(d) {
		if !first {
			w.WriteString(", ")
		}
		first = false
		if err := w.value(k, path); err != nil {
			return err
		}
		w.WriteString(": ")
		if err := w.value(v, path); err != nil {
			return err
		}
	}
	w.WriteString("}")
	return nil
}

// inPath finds a container inside itself. Only lists and dicts can be.
func inPath(v starlark.Value, path []starlark.Value) bool {
	for _, p := range path {
		switch v := v.(type) {
		case *starlark.List:
			if p == starlark.Value(v) {
				return true
			}
		case *starlark.Dict:
			if p == starlark.Value(v) {
				return true
			}
		}
	}
	return false
}

func (w *reprWriter) other(v starlark.Value) {
	switch v := v.(type) {
	case *starlark.Function:
		w.WriteString("<function " + v.Name() + ">")
	case *starlark.Builtin:
		w.WriteString("<built-in function " + v.Name() + ">")
	default:
		s := "<" + v.Type() + ">"
		if v.Type() == "range" {
			s = v.String()
			if !strings.Contains(s, ",") { // Python always names the start
				s = "range(0, " + strings.TrimPrefix(s, "range(")
			}
		}
		w.WriteString(s)
	}
}

// quoted writes a string as Python does: in single quotes unless that takes a backslash and double ones do not.
func (w *reprWriter) quoted(s string) {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, "\"") {
		quote = '"'
	}
	w.WriteRune(quote)
	for _, r := range s {
		switch {
		case r == quote, r == '\\':
			w.WriteRune('\\')
			w.WriteRune(r)
		case r == '\n':
			w.WriteString("\\n")
		case r == '\r':
			w.WriteString("\\r")
		case r == '\t':
			w.WriteString("\\t")
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(w, "\\x%02x", r)
		case !unicode.IsPrint(r) && r < 0x10000:
			fmt.Fprintf(w, "\\u%04x", r)
		case !unicode.IsPrint(r):
			fmt.Fprintf(w, "\\U%08x", r)
		default:
			w.WriteRune(r)
		}
	}
	w.WriteRune(quote)
}

// output collects what a program prints.
type output struct {
	text  strings.Builder
	limit int
}

func (o *output) write(s string) error {
	if room := o.limit - o.text.Len(); len(s) > room {
		o.text.WriteString(s[:room])
		return fmt.Errorf("the output is longer than %d bytes", o.limit)
	}
	o.text.WriteString(s)
	return nil
}

// String returns the text, valid UTF-8 also when the program cut a character or the limit did.
func (o *output) String() string { return strings.ToValidUTF8(o.text.String(), "") }
