package star

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Gate names the check that a program did not pass, in the order of the checks.
type Gate string

// The gates of this package.
const (
	GateParse    Gate = "parse"    // it is not Starlark
	GateResolve  Gate = "resolve"  // names that nothing defines, misplaced statements
	GateContract Gate = "contract" // size, encoding, run's signature, the two prompt constants
)

// Error is one thing that is wrong with a program before it runs.
type Error struct {
	Gate       Gate
	File       string
	Line, Col  int    // from 1, in characters
	Message    string // one line
	Suggestion string // one line; "" where there is none
}

// Error gives "file:line:col: message (suggestion)", on one line.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Message)
	if e.Suggestion != "" {
		s += " (" + e.Suggestion + ")"
	}
	return s
}

// Errors is what [Load] found, at least one, all of the same gate, in the order of the file.
type Errors []*Error

func (e Errors) Error() string {
	if len(e) == 1 {
		return e[0].Error()
	}
	return fmt.Sprintf("%s (and %d more)", e[0].Error(), len(e)-1)
}

// Unwrap gives the single errors.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, x := range e {
		out[i] = x
	}
	return out
}

// maxDetail bounds a message that holds a program's own text, in bytes.
const maxDetail = 600

// OneLine makes a text fit for one line of a record: control characters are written out, invalid UTF-8 is replaced, and what is
// longer than maxDetail is cut.
func OneLine(s string) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() > maxDetail {
			b.WriteString("…")
			break
		}
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// clean replaces invalid UTF-8, which a program makes by slicing inside a character, so that every text sent to the host reads the
// same in process and over a pipe.
func clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
