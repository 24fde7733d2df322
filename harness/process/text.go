package process

import "fmt"

// brief quotes a text of a program for a message.
func brief(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return fmt.Sprintf("%q", s)
}
