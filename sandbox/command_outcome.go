package sandbox

import (
	"fmt"
	"strings"
	"unicode"

	whale "github.com/seed-095d5d2b/whale"
)

// ExitError is that a command ended by itself with another status than 0, or by a signal that it may have sent itself.
type ExitError struct {
	Code   int    // as a shell tells it: 128 and more for signals
	Detail string // the last line of its standard error, as far as that was kept
}

func (e *ExitError) Error() string { return fmt.Sprintf("exit status %d: %s", e.Code, e.Detail) }

// edgesBuffer keeps the beginning and the end of what is written: an interpreter says last what it died of.
type edgesBuffer struct {
	head headBuffer
	tail []byte // of what comes after the head
	lost bool
}

func (b *edgesBuffer) Write(p []byte) (int, error) {
	const limit = 4 << 10
	kept := b.head.Len()
	_, _ = b.head.Write(p)
	b.tail = append(b.tail, p[b.head.Len()-kept:]...)
	if over := len(b.tail) - limit; over > 0 {
		b.tail = append(b.tail[:0], b.tail[over:]...)
		b.lost = true
	}
	return len(p), nil
}

func (b *edgesBuffer) String() string {
	if b.lost {
		return b.head.String() + "\n…\n" + string(b.tail)
	}
	return b.head.String() + string(b.tail)
}

// commandMemorySigns are what interpreters say when memory is refused.
var commandMemorySigns = []string{
	"MemoryError", "out of memory", "Cannot allocate memory", "ENOMEM", "bad_alloc", "llocation failed", "process OOM",
}

// outcome judges how a command ended that nobody killed. code is the program's exit status, as a shell tells it, and whether it is
// known: it is not where the program never ran.
func (c *Command) outcome(code int, ran bool, ended string) error {
	text := strings.TrimSpace(c.stderr.String())
	last := lastLine(text)
	const signalled, xcpu = 128, 24
	switch {
	case !ran && strings.HasPrefix(ended, "signal"):
		return &whale.Incident{Reason: whale.FailWorker, Detail: "bubblewrap: " + ended}
	case !ran:
		if text == "" {
			text = "it said nothing"
		}
		return fmt.Errorf("%w: %s: %s", ErrStart, ended, firstLine(text))
	case code == 0:
		return nil
	case code == signalled+xcpu:
		return &whale.Incident{Reason: whale.FailWall, Detail: "out of processor time"}
	}
	for _, sign := range commandMemorySigns {
		if strings.Contains(text, sign) {
			return &whale.Incident{Reason: whale.FailMemory, Detail: lineWith(text, sign)}
		}
	}
	if code > signalled {
		return &whale.Incident{Reason: whale.FailWorker, Detail: strings.TrimSuffix(fmt.Sprintf("signal %d: %s", code-signalled, last), ": ")}
	}
	return &ExitError{Code: code, Detail: last}
}

// lastLine is the last line that says something.
func lastLine(s string) (last string) {
	for line := range strings.Lines(s) {
		if strings.ContainsFunc(line, unicode.IsLetter) {
			last = line
		}
	}
	return firstLine(last)
}

func lineWith(text, sign string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, sign) {
			return firstLine(line)
		}
	}
	return sign
}
