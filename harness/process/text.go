package process

import (
	"fmt"
	"regexp"

	"github.com/seed-095d5d2b/whale/harness/star"
)

// brief quotes a text of a program for a message.
func brief(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// address is one of memory, as Python's objects and a dying Node name them.
var address = regexp.MustCompile(`\b0x[0-9a-f]{6,16}\b`)

// oneLine makes a text fit for one line of a record. Addresses, which differ from process to process, are taken out: the same episode must give
// the same evidence.
func oneLine(s string) string { return star.OneLine(address.ReplaceAllString(s, "0x…")) }
