package program

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-095d5d2b/whale/sandbox"
)

// Spec says what to run and what it may use.
type Spec struct {
	Args    []string // the program, as an absolute path, and its arguments
	Dir     string   // where it runs; not for a sandboxed one
	Env     []string // "NAME=value", all of it
	Timeout time.Duration
	Output  int // bytes of standard output that are kept; a program that writes more is stopped

	Sandboxed bool
	Memory    int64          // of a sandboxed program, see [sandbox.CommandSpec]
	Files     []sandbox.File // that a sandboxed program finds in [sandbox.FilesDir]
}

// Output is what came of a program that ended by itself, or was stopped because it wrote more than it may.
type Output struct {
	Stdout []byte
	Cut    bool   // it wrote more than Spec.Output; Stdout has the beginning, and Code says nothing
	Code   int    // exit status
	Detail string // the last line of its standard error
}

// Stopped is that a program had to be stopped, or died by a signal: by its own doing or by that of its input.
type Stopped struct{ Detail string }

func (s *Stopped) Error() string { return s.Detail }

// StartError is that a program could not be run.
type StartError struct{ Err error }

func (s *StartError) Error() string { return "cannot start: " + s.Err.Error() }
func (s *StartError) Unwrap() error { return s.Err }

// errLate and errFlood end the context of a program.
var (
	errLate  = errors.New("late")
	errFlood = errors.New("flood")
)

// Run runs a program to its end. The error is a [*Stopped], a [*StartError] or the context's.
func Run(ctx context.Context, s Spec, stdin []byte) (Output, error) {
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, s.Timeout, errLate)
	defer cancel()
	var out Output
	var err error
	if s.Sandboxed {
		out, err = runSandboxed(limited, s, stdin)
	} else {
		out, err = runPlain(limited, s, stdin)
	}
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return Output{}, ctx.Err()
	case errors.Is(context.Cause(limited), errLate):
		return Output{}, &Stopped{fmt.Sprintf("no end within %v", s.Timeout)}
	}
	return Output{}, err
}

// bounded keeps the first bytes of what is written, and says once that there are more.
type bounded struct {
	data  []byte
	most  int
	cut   bool
	flood func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.cut {
		return len(p), nil
	}
	if room := b.most - len(b.data); len(p) > room {
		b.data = append(b.data, p[:room]...)
		b.cut = true
		b.flood()
		return len(p), nil
	}
	b.data = append(b.data, p...)
	return len(p), nil
}

// tail keeps the last bytes of what is written.
type tail struct{ data []byte }

const tailBytes = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p[max(0, len(p)-tailBytes):]...)
	if over := len(t.data) - tailBytes; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

// lastLine is the last line that is not empty, fit for a message.
func lastLine(text string) string {
	last := ""
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(strings.ToValidUTF8(line, "\uFFFD")), " "); line != "" {
			last = line
		}
	}
	const most = 300
	if len(last) > most {
		last = strings.ToValidUTF8(last[:most], "") + "..."
	}
	return last
}
