package star

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	whale "github.com/seed-095d5d2b/whale"
)

const (
	// MaxDepth is how deep calls may nest. Starlark's own bound, 100,000, costs 400 MB to reach.
	MaxDepth = 1000
	// watchSteps is how often, in steps, depth and limit are looked at. It makes the bound on depth inexact by less than 100 calls, but not
	// indeterminate; the limit on steps is exact.
	watchSteps = 256
	// episodeKey is where a thread keeps its episode.
	episodeKey = "episode"
)

// episode is one run of a program.
type episode struct {
	ctx      context.Context
	host     whale.Host
	program  *Program
	thread   *starlark.Thread
	limit    uint64 // steps
	patterns patternCache

	// broken is what ends the episode whatever the program does: the first error of the host, or a broken limit. A program could not catch
	// an error, but getattr(env, "left", None) would hide one; so it is kept here, and the thread is cancelled.
	broken error
	why    string // a broken bound of the interpreter; the position is added where the thread stops
	reason whale.FailReason
}

// Run runs one episode: the file's top level, then run(task, model, env). See [whale.Harness] for what the errors mean.
func (p *Program) Run(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
	start := h.Start()
	if start.Contract != whale.ContractVersion {
		return 0, fmt.Errorf("star: contract: got version %d, want %d", start.Contract, whale.ContractVersion)
	}
	if start.Limits.Steps == 0 {
		return 0, errors.New("star: limits: got 0 steps, want at least 1")
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	e := &episode{ctx: ctx, host: h, program: p, limit: start.Limits.Steps}
	e.newThread()
	stop := context.AfterFunc(ctx, func() { e.thread.Cancel("the context has ended") })
	defer stop()

	value, err := e.execute(start)
	if e.broken == nil {
		// Where the host has ended the episode, its steps are those of the request that it refused: how many more pass before the
		// interpreter notices is nobody's business, and a host behind a pipe does not learn it.
		h.AddSteps(min(e.thread.Steps, e.limit))
	}
	if err != nil {
		return 0, e.failure(err)
	}
	return e.answer(value)
}

// newThread makes the interpreter's thread. Its callback on steps runs every watchSteps and bounds depth and steps.
func (e *episode) newThread() {
	e.thread = &starlark.Thread{
		Name: e.program.name,
		Print: func(_ *starlark.Thread, msg string) {
			_, _ = e.do(whale.Request{Op: whale.OpPrint, Text: clean(msg)}) // an error is kept in e.broken
		},
		OnMaxSteps: func(t *starlark.Thread) {
			switch {
			case t.Steps > e.limit:
				e.exceed(whale.FailSteps, fmt.Sprintf("the limit of %d steps is used up", e.limit))
			case t.CallStackDepth() > MaxDepth:
				e.exceed(whale.FailProgram, fmt.Sprintf("calls nest deeper than %d", MaxDepth))
			default:
				e.watch()
			}
		},
	}
	e.thread.SetLocal(episodeKey, e)
	e.watch()
}

// watch asks the interpreter to call OnMaxSteps again, after watchSteps or at the first step over the limit.
func (e *episode) watch() {
	next := e.thread.Steps + watchSteps
	if e.limit < next {
		next = e.limit + 1
	}
	e.thread.SetMaxExecutionSteps(next)
}

// execute runs the program to the value that run returns.
func (e *episode) execute(start whale.Start) (starlark.Value, error) {
	globals, err := e.program.compiled.Init(e.thread, e.program.library.modules)
	if err != nil {
		return nil, err
	}
	// The contract gate has seen that nothing else is ever bound to run.
	return starlark.Call(e.thread, globals[runName], starlark.Tuple{newTask(start.Task), e.program.library.model, newEnv(e, start.Tools)}, nil)
}

// answer turns what run returned into a reference.
func (e *episode) answer(v starlark.Value) (whale.ReplyRef, error) {
	switch v := v.(type) {
	case *reply:
		return v.ref, nil
	case starlark.NoneType:
		return 0, nil
	case starlark.String:
		return 0, e.fail(whale.FailAnswer, e.program.runAt,
			"run returned a string, want a reply or None (return the reply itself, not its text)")
	default:
		return 0, e.fail(whale.FailAnswer, e.program.runAt, "run returned "+article(v.Type())+", want a reply or None")
	}
}

// do sends one request to the host.
func (e *episode) do(r whale.Request) (whale.Response, error) {
	if e.broken != nil {
		return whale.Response{}, e.broken
	}
	e.host.AddSteps(min(e.thread.Steps, e.limit))
	resp, err := e.host.Do(e.ctx, r)
	if err != nil {
		e.broken = err
		e.thread.Cancel("the host has ended the episode")
	}
	return resp, err
}

// exceed ends the episode at a bound of the interpreter.
func (e *episode) exceed(reason whale.FailReason, why string) {
	if e.why == "" {
		e.reason, e.why = reason, why
		e.thread.Cancel(why)
	}
}

// stopped gives what ended the episode, or nil. It serves a thread without an episode too, on which the library itself is loaded.
func (e *episode) stopped() error {
	switch {
	case e == nil:
		return nil
	case e.broken != nil:
		return e.broken
	case e.why != "":
		return errors.New(e.why)
	}
	return nil
}

// charge adds steps for work that a library function does outside of the interpreter, so that it is bounded by the same limit, and
// tells whether the episode may go on.
func (e *episode) charge(steps int) error {
	if e == nil {
		return nil
	}
	e.thread.Steps += uint64(steps)
	if e.thread.Steps > e.limit {
		e.exceed(whale.FailSteps, fmt.Sprintf("the limit of %d steps is used up", e.limit))
		return errors.New(e.why)
	}
	return e.ctx.Err()
}

// failure says what an error of the interpreter means for the episode.
func (e *episode) failure(err error) error {
	if e.broken != nil {
		return e.broken
	}
	pos := e.position(err)
	if e.why != "" {
		return e.fail(e.reason, pos, e.why)
	}
	if ctxErr := e.ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	msg := err.Error()
	if advice := adviseRuntime(msg); advice != "" {
		msg += " (" + advice + ")"
	}
	return e.fail(whale.FailProgram, pos, msg)
}

// fail makes the error of a failed episode.
func (e *episode) fail(reason whale.FailReason, pos syntax.Position, msg string) error {
	return &whale.HarnessError{Failure: whale.Failure{
		Reason: reason,
		Detail: OneLine(fmt.Sprintf("%s:%d:%d: %s", e.program.name, pos.Line, pos.Col, msg)),
	}}
}

// position is the innermost place of the program itself on the stack of an error: a mistake that the library notices is shown where the
// program calls it.
func (e *episode) position(err error) syntax.Position {
	var ee *starlark.EvalError
	if errors.As(err, &ee) {
		for i := len(ee.CallStack) - 1; i >= 0; i-- {
			if pos := ee.CallStack[i].Pos; pos.Filename() == e.program.name {
				return pos
			}
		}
	}
	return e.program.runAt
}

// episodeOf gives the episode that a thread runs; nil where the library is loaded.
func episodeOf(t *starlark.Thread) *episode {
	e, _ := t.Local(episodeKey).(*episode)
	return e
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
