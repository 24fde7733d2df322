package python

import (
	"fmt"
	"strings"
)

// Result is what code did.
type Result struct {
	Stdout string // bounded; where it was cut its last line says so
	Stderr string // likewise
	Error  string // one line for the model: exit status and last line of standard error, or the limit that was broken; "" where it ended well
}

// Text is what a tool shows: standard output, and after it standard error.
func (r Result) Text() string {
	if r.Stdout != "" && r.Stderr != "" && !strings.HasSuffix(r.Stdout, "\n") {
		return r.Stdout + "\n" + r.Stderr
	}
	return r.Stdout + r.Stderr
}

// cut bounds a text and says so. total is how many bytes there were in all.
func cut(s string, most int, total int64) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most && int64(len(s)) >= total {
		return s
	}
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return s + fmt.Sprintf("\n[cut: %d of %d bytes shown]", len(s), max(total, int64(len(s))))
}

// failed is the line for an exit status other than 0.
func failed(status int, stderr string) string {
	last := ""
	for line := range strings.Lines(stderr) {
		if line = strings.TrimSpace(line); line != "" {
			last = line
		}
	}
	const most = 300
	if len(last) > most {
		last = strings.ToValidUTF8(last[:most], "") + "..."
	}
	if last == "" {
		return fmt.Sprintf("exit status %d", status)
	}
	return fmt.Sprintf("exit status %d: %s", status, last)
}
