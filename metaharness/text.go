package metaharness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of texts in records and in the archive, in bytes.
const (
	maxReason = 2000
	maxLabel  = 200
)

// cut bounds a text to about n bytes: it keeps the first two thirds and the last third, says how much is left out between, and
// makes what it keeps valid UTF-8.
func cut(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "\ufffd")
	}
	head, tail := runeStart(s, n*2/3), runeStart(s, len(s)-n/3)
	return strings.ToValidUTF8(s[:head], "\ufffd") + fmt.Sprintf(" […%d bytes left out…] ", tail-head) + strings.ToValidUTF8(s[tail:], "\ufffd")
}

// runeStart moves i back to the start of the rune that it lies in.
func runeStart(s string, i int) int {
	for k := 0; k < utf8.UTFMax && i > 0 && i < len(s) && !utf8.RuneStart(s[i]); k++ {
		i--
	}
	return i
}

// oneLine puts a text on one line, bounded.
func oneLine(s string, n int) string {
	return cut(strings.Join(strings.Fields(s), " "), n)
}

// encode writes a value as JSON that ends in a line feed, and leaves <, > and & as they are, for it is read as text.
func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return b.Bytes(), err
}
