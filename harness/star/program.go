package star

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	whale "github.com/seed-095d5d2b/whale"
)

// MaxSource is the largest program, in bytes.
const MaxSource = 64 << 10

// Program is a harness that passed the gates. It is immutable and may run any number of episodes at once.
type Program struct {
	name     string
	source   []byte
	compiled *starlark.Program
	library  *library
	runAt    syntax.Position // of run's definition
}

var _ whale.Harness = (*Program)(nil)

// Load parses, resolves and checks a program; name is what positions in messages begin with. The error is of type [Errors]. Nothing of
// the program is executed: its top level runs at the start of every episode.
func Load(name string, src []byte) (*Program, error) {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '_'
		}
		return r
	}, name)
	if e := checkBytes(name, src); e != nil {
		return nil, Errors{e}
	}
	file, err := options().Parse(name, src, 0)
	if err != nil {
		return nil, parseErrors(name, src, err)
	}
	// The contract is read from the tree before it is resolved, for resolving changes the tree; it is reported after the resolver's
	// findings, for those explain more.
	runAt, contract := checkContract(name, file)

	library, err := newLibrary()
	if err != nil {
		return nil, fmt.Errorf("star: library: %w", err)
	}
	compiled, err := starlark.FileProgram(file, library.modules.Has)
	if err != nil {
		var list resolve.ErrorList
		if !errors.As(err, &list) {
			return nil, Errors{{Gate: GateResolve, File: name, Line: 1, Col: 1, Message: OneLine(err.Error())}}
		}
		var found Errors
		for _, e := range list {
			found = append(found, &Error{
				Gate: GateResolve, File: name, Line: int(e.Pos.Line), Col: int(e.Pos.Col),
				Message: OneLine(e.Msg), Suggestion: resolveAdvice(e.Msg),
			})
		}
		return nil, found
	}
	if len(contract) > 0 {
		return nil, contract
	}
	return &Program{
		name: name, source: append([]byte(nil), src...), compiled: compiled, library: library, runAt: runAt,
	}, nil
}

// parseErrors gives the parser's error as ours.
func parseErrors(name string, src []byte, err error) Errors {
	var se syntax.Error
	if errors.As(err, &se) {
		return Errors{parseError(name, string(src), se)}
	}
	return Errors{{Gate: GateParse, File: name, Line: 1, Col: 1, Message: OneLine(err.Error())}}
}

// ID is the content hash of the source under this contract.
func (p *Program) ID() whale.ID { return whale.HarnessID(p.source) }

// Language is Starlark.
func (p *Program) Language() string { return whale.LanguageStar }

// Source is the program's text.
func (p *Program) Source() []byte { return append([]byte(nil), p.source...) }

// Name is the name that positions begin with.
func (p *Program) Name() string { return p.name }

// options is the dialect: everything that Starlark leaves to choose is on.
func options() *syntax.FileOptions {
	return &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
}

// checkBytes checks what can be said of a program before it is read as Starlark.
func checkBytes(name string, src []byte) *Error {
	if len(src) > MaxSource {
		return &Error{
			Gate: GateContract, File: name, Line: 1, Col: 1,
			Message: fmt.Sprintf("program: got %d bytes, want at most %d", len(src), MaxSource),
		}
	}
	line, col := 1, 1
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			return &Error{
				Gate: GateContract, File: name, Line: line, Col: col,
				Message: fmt.Sprintf("program: got the byte 0x%02x, want UTF-8", src[i]),
			}
		}
		i, col = i+size, col+1
		if r == '\n' {
			line, col = line+1, 1
		}
	}
	return nil
}
