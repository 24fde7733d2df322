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
	Steps  uint64 `json:"steps"`  // interpreter steps; a turn of a loop takes some 20, an operation on large values more
	Output int    `json:"output"` // bytes
	Source int    `json:"source"` // bytes
}

// The largest limits. What is above them would take so much time or memory that a worker's wall or memory limit might come first.
const (
	MaxSteps  = 20_000_000
	MaxOutput = 1 << 20
	MaxSource = 16 << 10
)

// DefaultLimits fit a model's calculations.
var DefaultLimits = Limits{Steps: 5_000_000, Output: 8 << 10, Source: 4 << 10}

// check refuses limits that bound nothing, or more than can be kept.
func (l Limits) check() error {
	switch {
	case l.Steps < 1 || l.Steps > MaxSteps:
		return fmt.Errorf("calc limits: got %d steps, want 1 to %d", l.Steps, MaxSteps)
	case l.Output < 1 || l.Output > MaxOutput:
		return fmt.Errorf("calc limits: got %d bytes of output, want 1 to %d", l.Output, MaxOutput)
	case l.Source < 1 || l.Source > MaxSource:
		return fmt.Errorf("calc limits: got %d bytes of source, want 1 to %d", l.Source, MaxSource)
	}
	return nil
}

// Memory is how many bytes a worker needs so that its memory limit never decides: for what programs make and are charged for, for
// what the interpreter makes at each step, and for the program itself and the collector.
func (l Limits) Memory() int64 {
	const bytesPerStep, rest = 32, 32 << 20
	return maxAllocated + bytesPerStep*int64(min(l.Steps, MaxSteps)) + rest
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

// Eval runs src in this process and returns what it printed, also when it ends with an error; errors are *[Error]. What it does not
// charge for is thought to be small, but call it with sources that nobody vouches for only inside a worker.
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
	frame := rewrite(file)
	thread := &starlark.Thread{Name: fileName}
	thread.SetMaxExecutionSteps(lim.Steps)
	m := &machine{out: output{limit: lim.Output}, thread: thread, limit: lim.Steps, depth: min(maxCalls, maxFrames/max(1, frame))}
	env := m.builtins()
	program, err := starlark.FileProgram(file, env.Has)
	if err != nil {
		return "", explain(err, src, lim)
	}
	_, err = program.Init(thread, env)
	if err != nil && m.left() == 0 {
		err = steps(err)
	}
	return m.out.String(), explain(err, src, lim)
}

// steps makes sure that whoever noticed first that the steps have run out, the error is the same.
func steps(err error) error {
	var run *starlark.EvalError
	if errors.As(err, &run) {
		run.Msg = errSteps.Error()
	}
	return err
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
	if msg == errSteps.Error() {
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
