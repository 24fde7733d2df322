package calc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-095d5d2b/whale/sandbox"
)

// Version counts changes in what a program's result is. Evidence made under another version is other evidence.
const Version = 2

// EntryName is the name under which a program should give [Entry] to sandbox.Main.
const EntryName = "calc"

// Request is what a worker gets, as JSON.
type Request struct {
	Source string `json:"source"`
	Limits Limits `json:"limits"`
}

// Response is what a worker answers, as JSON.
type Response struct {
	Output string `json:"output"`
	Error  string `json:"error,omitempty"` // empty when the program ran to its end
}

// Entry serves a [Request] inside a sandbox worker. The sandbox's own step limit, where there is one, caps the request's.
func Entry(_ context.Context, req []byte, lim sandbox.Limits) ([]byte, error) {
	var r Request
	if err := json.Unmarshal(req, &r); err != nil {
		return nil, fmt.Errorf("calc request: %w", err)
	}
	if lim.Steps > 0 {
		r.Limits.Steps = min(r.Limits.Steps, lim.Steps)
	}
	resp, err := evaluate(r.Source, r.Limits)
	if err != nil {
		return nil, err
	}
	return json.Marshal(resp)
}

// evaluate is Eval with a program's error as part of the response.
func evaluate(src string, lim Limits) (Response, error) {
	out, err := Eval(src, lim)
	var wrong *Error
	if errors.As(err, &wrong) {
		return Response{Output: out, Error: wrong.Error()}, nil
	}
	return Response{Output: out}, err
}

// Spec returns the sandbox spec of calculator workers with the given memory limit (bytes, at least [Limits.Memory] and what the sandbox
// asks for) and wall time. Both are guards against the unforeseen: the limits end a program long before.
func Spec(lim Limits, memory int64, wall time.Duration) sandbox.Spec {
	return sandbox.Spec{
		Entry: EntryName, Memory: memory, Wall: wall, Steps: lim.Steps,
		MaxOutput: 6*min(lim.Output, MaxOutput) + 4<<10, // JSON takes up to six bytes for one
	}
}

// Result is the outcome of a program, as text for the model.
type Result struct {
	Output string // what it printed, with a newline at the end of each line
	Error  string // one line, empty when it ran to its end
}

// Calculator evaluates programs that nobody vouches for.
type Calculator struct {
	pool *sandbox.Pool
	lim  Limits
}

// New makes a calculator over a pool whose workers serve [Entry] (see [Spec]). The pool stays the caller's to close.
func New(pool *sandbox.Pool, lim Limits) (*Calculator, error) {
	if pool == nil {
		return nil, errors.New("calculator: got no pool")
	}
	if err := lim.check(); err != nil {
		return nil, err
	}
	return &Calculator{pool: pool, lim: lim}, nil
}

// Do evaluates src. What is wrong with the program, limits that it broke included, is in the Result; an error means that the
// calculator itself did not work, or that ctx ended.
//
// A Result depends on the source and the limits alone, as it becomes evidence: steps and bytes are counted, and no clock is
// read. A worker that ran out of time or memory or died, also when the sandbox repeated the request alone, proves nothing about the
// program, since a busy or full machine does the same to any; and a program that could bring it about would be one that
// the counting misses. So that is an error with the [*sandbox.Violation] in it, which the caller treats as the infrastructure's, instead of
// a text that would sometimes be there and sometimes not. Only [sandbox.ReasonOutput] is a Result: bytes are counted.
func (c *Calculator) Do(ctx context.Context, src string) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	// What Eval refuses unread it can refuse here.
	if len(src) > c.lim.Source || !utf8.ValidString(src) || harmless(src) {
		resp, err := evaluate(src, c.lim)
		return Result(resp), err
	}
	req, err := json.Marshal(Request{Source: src, Limits: c.lim})
	if err != nil {
		return Result{}, err
	}
	reply, err := c.pool.Do(ctx, req)
	var broke *sandbox.Violation
	if errors.As(err, &broke) && broke.Reason == sandbox.ReasonOutput {
		return Result{Error: "the program prints too much"}, nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("calculator: %w", err)
	}
	var resp Response
	if err := json.Unmarshal(reply, &resp); err != nil {
		return Result{}, fmt.Errorf("calculator: reply: %w", err)
	}
	return Result(resp), nil
}

// harmless reports whether src is arithmetic of literals that cannot grow: without powers, names, strings and shifts
// no result has more digits than the source, so it needs no worker.
func harmless(src string) bool {
	const longest = 200
	if len(src) > longest || strings.Contains(src, "**") {
		return false
	}
	for i := range len(src) {
		if c := src[i]; !isDigit(c) && strings.IndexByte(".+-*/%() ", c) < 0 {
			return false
		}
	}
	return true
}
