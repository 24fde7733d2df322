package process

import (
	"fmt"
	"strings"
	"unicode"
)

// oneLine makes a text of a program fit for one line of a record: control characters are written out, invalid UTF-8 is replaced, and what
// is longer than maxDetail is cut.
func oneLine(s string) string {
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

// brief quotes a text of a program for a message.
func brief(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return fmt.Sprintf("%q", s)
}
