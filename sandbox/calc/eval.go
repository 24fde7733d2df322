package calc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Limits bound one evaluation. All of them are deterministic.
type Limits struct {
	Steps  uint64 `json:"steps"`  // interpreter steps; a turn of a loop takes some 15
	Output int    `json:"output"` // bytes
	Source int    `json:"source"` // bytes
}

// DefaultLimits fit a model's calculations.
var DefaultLimits = Limits{Steps: 5_000_000, Output: 8 << 10, Source: 4 << 10}

// check refuses limits that bound nothing.
func (l Limits) check() error {
	if l.Steps == 0 || l.Output <= 0 || l.Source <= 0 {
		return fmt.Errorf("calc limits: got %d steps, %d output and %d source bytes, want more than 0 of each", l.Steps, l.Output, l.Source)
	}
	return nil
}

// Error is what is wrong with a program, as text for the model: one line.
type Error struct {
	Line int // 0 when it concerns the whole program
	Msg  string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Msg
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Msg)
}

func errorAt(line int, format string, args ...any) *Error {
	return &Error{Line: line, Msg: fmt.Sprintf(format, args...)}
}

const fileName = "program"

// Eval runs src in this process and returns what it printed, also when it ends with an error; errors are *[Error]. The limits
// do not cover memory: call it with sources that nobody vouches for only inside a worker.
func Eval(src string, lim Limits) (out string, err error) {
	if err := lim.check(); err != nil {
		return "", err
	}
	if len(src) > lim.Source {
		return "", errorAt(0, "the program has %d bytes, the limit is %d", len(src), lim.Source)
	}
	if !utf8.ValidString(src) || strings.ContainsRune(src, 0) {
		return "", errorAt(0, "the program is not valid text")
	}
	src = dedent(strings.ReplaceAll(src, "\r\n", "\n"))
	code, err := translate(src)
	if err != nil {
		return "", err
	}
	opts := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
	file, err := opts.Parse(fileName, code, 0)
	if err != nil {
		return "", explain(err, src, lim)
	}
	rewrite(file)
	m := &machine{out: output{limit: lim.Output}}
	env := m.builtins()
	program, err := starlark.FileProgram(file, env.Has)
	if err != nil {
		return "", explain(err, src, lim)
	}
	thread := &starlark.Thread{Name: fileName}
	thread.SetMaxExecutionSteps(lim.Steps)
	_, err = program.Init(thread, env)
	return m.out.String(), explain(err, src, lim)
}

// explain turns an error of the interpreter into one for the model.
func explain(err error, src string, lim Limits) error {
	if err == nil {
		return nil
	}
	line, msg := 0, err.Error()
	var syn syntax.Error
	var res resolve.ErrorList
	var run *starlark.EvalError
	switch {
	case errors.As(err, &syn):
		line, msg = int(syn.Pos.Line), syn.Msg
	case errors.As(err, &res) && len(res) > 0:
		line, msg = int(res[0].Pos.Line), res[0].Msg
	case errors.As(err, &run):
		msg = run.Msg
		for i := range run.CallStack { // the innermost frame of the program itself, not of a builtin
			if pos := run.CallStack.At(i).Pos; pos.Filename() == fileName {
				line = int(pos.Line)
				break
			}
		}
	}
	if strings.Contains(msg, "too many steps") {
		msg = fmt.Sprintf("too many steps, the limit is %d", lim.Steps)
	}
	if name, ok := strings.CutPrefix(msg, "undefined: "); ok && slices.Contains(mathNames(), name) {
		msg += fmt.Sprintf(": did you mean math.%s?", name)
	}
	// The parser finds a missing bracket behind the last line.
	return &Error{Line: min(line, strings.Count(src, "\n")), Msg: oneLine(msg)}
}

// oneLine keeps an error from carrying a program's data along.
func oneLine(s string) string {
	const limit = 200
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > limit {
		s = s[:limit] + "…"
	}
	return strings.ToValidUTF8(s, "")
}

// dedent removes the indentation of the first line from all lines when all have it: models indent whole programs, and a
// leading space is Python's most frequent complaint.
func dedent(src string) string {
	lines := strings.Split(strings.TrimRight(src, " \t\n"), "\n")
	indent, found := "", false
	for _, line := range lines {
		body := strings.TrimLeft(line, " \t")
		switch {
		case body == "":
		case !found:
			indent, found = line[:len(line)-len(body)], true
		case !strings.HasPrefix(line, indent):
			return src
		}
	}
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, indent)
	}
	return strings.Join(lines, "\n") + "\n"
}
