package harness

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/star"
)

// Gate names a check that a program must pass. More gates may follow those below; each is a value of its own.
type Gate string

// The gates, in their order.
const (
	GateFile     Gate = "file"     // the file's extension
	GateParse    Gate = "parse"    // the language's syntax
	GateResolve  Gate = "resolve"  // undefined names, misplaced statements
	GateContract Gate = "contract" // size, encoding, run's signature, the prompt constants
)

// Finding is one thing that is wrong with a program.
type Finding struct {
	Gate       Gate   `json:"gate"`
	File       string `json:"file"`
	Line       int    `json:"line"` // from 1; 0 where a finding has no place
	Col        int    `json:"col"`  // from 1, in characters
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"`
}

// String gives "file:line:col: gate: message (suggestion)", on one line.
func (f Finding) String() string {
	s := fmt.Sprintf("%s: %s", f.Gate, f.Message)
	if f.Line > 0 {
		s = fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Col, s)
	} else {
		s = fmt.Sprintf("%s: %s", f.File, s)
	}
	if f.Suggestion != "" {
		s += " (" + f.Suggestion + ")"
	}
	return s
}

// Extensions lists the extensions of harness files that are known.
func Extensions() []string { return []string{".star"} }

// ExtensionError is the error for a file whose extension is not among [Extensions].
type ExtensionError struct {
	File string
}

func (e *ExtensionError) Error() string {
	return fmt.Sprintf("%s: got the extension %q, want %s", e.File, filepath.Ext(e.File), strings.Join(Extensions(), " or "))
}

// Check runs the static gates over a program and gives what the first failing one found; none means that the program may run. The
// program is not executed.
func Check(name string, src []byte) []Finding {
	_, err := New(name, src)
	var unknown *ExtensionError
	var found star.Errors
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unknown):
		return []Finding{{
			Gate: GateFile, File: name, Message: fmt.Sprintf("got the extension %q, want %s", filepath.Ext(name), strings.Join(Extensions(), " or ")),
		}}
	case errors.As(err, &found):
		out := make([]Finding, len(found))
		for i, e := range found {
			out[i] = Finding{
				Gate: Gate(e.Gate), File: e.File, Line: e.Line, Col: e.Col, Message: e.Message, Suggestion: e.Suggestion,
			}
		}
		return out
	}
	return []Finding{{Gate: GateParse, File: name, Message: err.Error()}}
}

// New makes a harness of a source; name's extension says in which language, and name begins the positions in messages. The error is an
// *[ExtensionError] or one of the language's package ([star.Errors]).
func New(name string, src []byte) (whale.Harness, error) {
	if filepath.Ext(name) != ".star" {
		return nil, &ExtensionError{File: name}
	}
	p, err := star.Load(name, src)
	if err != nil {
		return nil, err // not p: a nil *Program in the interface would not be nil
	}
	return p, nil
}

// Load reads a harness from a file. Positions in its messages begin with the file's base name, for they become evidence, which must not
// depend on where a run's files lie.
func Load(path string) (whale.Harness, error) {
	name := filepath.Base(path)
	if filepath.Ext(name) != ".star" {
		return nil, &ExtensionError{File: path}
	}
	src, err := read(path)
	if err != nil {
		return nil, err
	}
	return New(name, src)
}

// read reads a file up to one byte more than a program may have: what is larger is refused by the contract gate, whatever its size.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("harness: %s: got a folder, want a file", path)
	}
	src, err := io.ReadAll(io.LimitReader(f, star.MaxSource+1))
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	return src, nil
}
