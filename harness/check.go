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

	GateAudit      Gate = "audit"       // nothing of the examples in it (package audit)
	GatePromptOnly Gate = "prompt-only" // changes of the two prompts alone, where that is asked
	GateCanary     Gate = "canary"      // trial episodes that do not all fail by the program's fault
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
func Extensions() []string {
	var out []string
	for _, e := range extensions {
		out = append(out, e.names...)
	}
	return out
}

// ExtensionError is the error for a file whose extension is not among [Extensions].
type ExtensionError struct {
	File string
}

func (e *ExtensionError) Error() string {
	return fmt.Sprintf("%s: got the extension %q, want %s", e.File, filepath.Ext(e.File), strings.Join(Extensions(), ", "))
}

// LanguageError is the error for a program that cannot run in this process.
type LanguageError struct {
	File, Language string
}

func (e *LanguageError) Error() string {
	return fmt.Sprintf("%s: got a program in %s, want Starlark: other languages run in processes of their own", e.File, e.Language)
}

// inProcess refuses what is not Starlark.
func inProcess(path string) error {
	switch language := LanguageOf(path); language {
	case whale.LanguageStar:
		return nil
	case "":
		return &ExtensionError{File: path}
	default:
		return &LanguageError{File: path, Language: language}
	}
}

// Check runs the static gates over a Starlark program and gives what the first failing one found; none means that the program may run. The
// program is not executed.
func Check(name string, src []byte) []Finding {
	_, err := New(name, src)
	found, err := Findings(name, err)
	if err != nil {
		return []Finding{{Gate: GateFile, File: name, Message: err.Error()}}
	}
	return found
}

// Findings reads the error of a program that did not load, whatever its language. Another error than one of the static gates' comes back.
func Findings(name string, err error) ([]Finding, error) {
	var unknown *ExtensionError
	var found star.Errors
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &unknown):
		return []Finding{{
			Gate: GateFile, File: name, Message: fmt.Sprintf("got the extension %q, want %s", filepath.Ext(name), strings.Join(Extensions(), ", ")),
		}}, nil
	case errors.As(err, &found):
		out := make([]Finding, len(found))
		for i, e := range found {
			out[i] = Finding{Gate: Gate(e.Gate), File: e.File, Line: e.Line, Col: e.Col, Message: e.Message, Suggestion: e.Suggestion}
		}
		return out, nil
	}
	return nil, err
}

// New makes a harness of a Starlark source that runs in this process; name begins the positions in messages. Programs in other languages, and
// all that nobody vouches for, run in processes of their own (package process). The error is an
// *[ExtensionError], a *[LanguageError] or one of the language's package ([star.Errors]).
func New(name string, src []byte) (whale.Harness, error) {
	if err := inProcess(name); err != nil {
		return nil, err
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
	if err := inProcess(path); err != nil {
		return nil, err
	}
	src, err := Read(path)
	if err != nil {
		return nil, err
	}
	return New(name, src)
}

// Read reads a program's file up to one byte more than a program may have: what is larger is refused by the contract gate, whatever its size.
// What is no regular file is refused before it is opened: a pipe would wait for a writer, and nothing could end that.
func Read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("harness: %s: got %s, want a file", path, kindOf(info.Mode()))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, star.MaxSource+1))
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	return src, nil
}

// kindOf names what is no regular file.
func kindOf(m os.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&os.ModeNamedPipe != 0:
		return "a pipe"
	case m&os.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
