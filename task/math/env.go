package math

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
)

// Calculator evaluates a Python-syntax expression or program that a model wrote: [Sandboxed], [*python.Runner] or [*python.Fusion]. Its output is what the program printed or
// (of the calculator) the value of its last expression; errText is the program's own mistake, a broken limit included, and of the calculator depends on
// src alone; err is the infrastructure's.
// It is called from many goroutines at once.
type Calculator interface {
	Do(ctx context.Context, src string) (output, errText string, err error)
}

// The tools, by what they are called in an episode. Both ways of running Python are the same tool.
const argCode = "code"

// toolSpec describes a tool of a config to the model and the harness.
func toolSpec(kind string) whale.ToolSpec {
	name, description, code := ToolCalculator,
		"Evaluates a Python expression or short program and returns what it prints, or the value of its last expression.",
		`Python code, for example "(347 + 58) * 3".`
	if kind != ToolCalculator {
		name, description, code = ToolPython, "Runs a Python 3 program and returns what it prints. Nothing is kept between calls.",
			`Python code, for example "print((347 + 58) * 3)".`
	}
	return whale.ToolSpec{
		Name: name, Description: description,
		Parameters: []whale.ToolParameter{{Name: argCode, Type: "string", Required: true, Description: code}},
	}
}

// env is an episode's world. The tool keeps nothing from call to call, so neither does env.
type env struct {
	spec        whale.ToolSpec
	calculator  Calculator
	outputBytes int
}

func (e *env) Tools() []whale.ToolSpec { return []whale.ToolSpec{e.spec} }

// Call runs the tool. Whatever the caller got wrong comes back as the result's error, in one line.
func (e *env) Call(ctx context.Context, name string, args map[string]json.RawMessage) (whale.ToolResult, error) {
	if name != e.spec.Name {
		return whale.ToolResult{Error: task.UnknownTool(name, e.Tools())}, nil
	}
	if text := task.CheckArgs(e.spec, args); text != "" {
		return whale.ToolResult{Error: text}, nil
	}
	var code string
	if err := json.Unmarshal(args[argCode], &code); err != nil {
		return whale.ToolResult{Error: fmt.Sprintf("%s: argument %q: %v", e.spec.Name, argCode, err)}, nil
	}
	output, errText, err := e.calculator.Do(ctx, code)
	if err != nil {
		return whale.ToolResult{}, fmt.Errorf("math: %s: %w", e.spec.Name, err)
	}
	return whale.ToolResult{Text: cut(output, e.outputBytes), Error: cut(errText, e.outputBytes)}, nil
}

// cut bounds a text and says so.
func cut(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("\n[cut: %d of %d bytes shown]", most, len(s))
}

// Render knows no blocks: nothing here needs the environment's word.
func (e *env) Render(block string, _ map[string]json.RawMessage) (string, error) {
	return "", &whale.HarnessError{Failure: whale.Failure{
		Reason: whale.FailContract,
		Detail: fmt.Sprintf("env.render: got block %q, but this task has no blocks", clip(block)),
	}}
}

// Rules asks for nothing more than what holds everywhere.
func (e *env) Rules() whale.Rules { return whale.Rules{} }

func (e *env) Close() error { return nil }
