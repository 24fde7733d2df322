package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/sandbox"
)

// The gates of programs in other languages. What is found is of the type that Starlark's gates have, so that everything that reads one reads
// the others: parse (the language's syntax), contract (size, encoding; in Python run's signature and the prompt constants too).

const (
	gateTime     = 20 * time.Second // for a check, which takes some 50 ms
	maxFindings  = 20
	maxGateBytes = 1 << 20
)

// checkBytes checks what can be said of a program before its language is looked at; nil = nothing is wrong.
func checkBytes(name string, src []byte) star.Errors {
	if len(src) > star.MaxSource {
		return contractError(name, 1, 1, "", "program: got %d bytes, want at most %d", len(src), star.MaxSource)
	}
	line, col := 1, 1
	for rest := src; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			return contractError(name, line, col, "", "program: got the byte 0x%02x, want UTF-8", rest[0])
		}
		rest, col = rest[size:], col+1
		if r == '\n' {
			line, col = line+1, 1
		}
	}
	return nil
}

func contractError(name string, line, col int, suggestion, format string, args ...any) star.Errors {
	return star.Errors{{
		Gate: star.GateContract, File: name, Line: line, Col: col, Message: fmt.Sprintf(format, args...), Suggestion: suggestion,
	}}
}

// check runs the gates of a language in a process of its own, for a parser of a program that nobody vouches for is not to be trusted either.
// Nothing of the program is executed. No findings mean that it may run.
func (r *Runtime) check(ctx context.Context, ip interpreter, name string, src []byte) (star.Errors, error) {
	found, err := r.checkOnce(ctx, ip, name, src)
	var incident *whale.Incident
	if errors.As(err, &incident) { // perhaps not its own doing
		found, err = r.checkOnce(ctx, ip, name, src)
	}
	if errors.As(err, &incident) {
		return breaks(name, incident), nil
	}
	return found, err
}

func (r *Runtime) checkOnce(ctx context.Context, ip interpreter, name string, src []byte) (star.Errors, error) {
	p, err := r.start(ctx, ip.gates(cleanName(name), src))
	if err != nil {
		return nil, err
	}
	defer p.give()
	timer := time.AfterFunc(gateTime, p.Kill) // from here: to wait for other processes may take longer
	defer timer.Stop()
	p.Stdin.Close()
	out, err := io.ReadAll(io.LimitReader(p.Stdout, maxGateBytes))
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	<-p.ended
	var exit *sandbox.ExitError
	switch ended := errors.As(p.err, &exit); {
	case r.ctx.Err() != nil:
		return nil, sandbox.ErrClosed
	case errors.Is(p.err, sandbox.ErrKilled):
		return nil, fmt.Errorf("check: no end within %v", gateTime)
	case p.err != nil && !ended:
		return nil, fmt.Errorf("check: %w", p.err)
	case ip.language == whale.LanguageNode && ended:
		return star.Errors{nodeError(name, p.Stderr())}, nil
	case ip.language == whale.LanguageNode:
		return nil, nil
	case ended && strings.HasPrefix(exit.Detail, "got Python "): // check.py says so before it reads the program
		return nil, fmt.Errorf("%s: %s (%s)", ip.path, star.OneLine(exit.Detail), missing[ip.language])
	case ended:
		return breaks(name, exit), nil
	}
	found, err := pythonErrors(name, out)
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	return found, nil
}

// breaks is the finding that a program breaks the parser of its language.
func breaks(name string, err error) star.Errors {
	return star.Errors{{
		Gate: star.GateParse, File: name, Line: 1, Col: 1, Message: star.OneLine("the parser breaks: " + err.Error()), Suggestion: "split what nests deep",
	}}
}

// pythonErrors reads what check.py writes.
func pythonErrors(name string, out []byte) (star.Errors, error) {
	var list []struct {
		Gate, Message, Suggestion string
		Line, Col                 int
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, err
	}
	var found star.Errors
	for _, e := range list[:min(len(list), maxFindings)] {
		gate := star.GateContract
		if e.Gate == string(star.GateParse) {
			gate = star.GateParse
		}
		found = append(found, &star.Error{
			Gate: gate, File: name, Line: max(e.Line, 1), Col: max(e.Col, 1), Message: star.OneLine(e.Message), Suggestion: star.OneLine(e.Suggestion),
		})
	}
	return found, nil
}

// nodeAdvice says what to write instead, by a part of the engine's message.
var nodeAdvice = []struct{ part, advice string }{
	{"import statement outside a module", "name the file .mjs"},
	{"Cannot use 'import.meta' outside a module", "name the file .mjs"},
	{"await is only valid", "await inside of an async function, or name the file .mjs"},
	{"Unexpected end of input", "a bracket is not closed"},
}

// nodeError reads what node --check writes to its standard error: the file and line, the line itself, marks under the place, and the error.
func nodeError(name, stderr string) *star.Error {
	e := &star.Error{Gate: star.GateParse, File: name, Line: 1, Col: 1, Message: "it is no JavaScript"}
	for i, line := range strings.Split(stderr, "\n") {
		_, number, ok := strings.Cut(line, sandbox.FilesDir+"/"+cleanName(name)+":")
		if n, err := strconv.Atoi(strings.TrimSpace(number)); i == 0 && ok && err == nil && n > 0 {
			e.Line = n
		}
		if marks := strings.TrimLeft(line, " \t"); i == 2 && strings.Trim(marks, "^") == "" && marks != "" {
			e.Col = len(line) - len(marks) + 1
		}
		if strings.HasPrefix(line, "SyntaxError: ") {
			e.Message = star.OneLine(strings.TrimPrefix(line, "SyntaxError: "))
			break
		}
	}
	for _, a := range nodeAdvice {
		if strings.Contains(e.Message, a.part) {
			e.Suggestion = a.advice
			break
		}
	}
	return e
}
