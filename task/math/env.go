package math

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
)

// Calculator evaluates a Python-syntax expression or short program that a model wrote. Its output is what the program printed or
// the value of its last expression; errText is the program's own mistake, a broken limit included, and depends on
// src alone; err is the infrastructure's.
// It is called from many goroutines at once.
type Calculator interface {
	Do(ctx context.Context, src string) (output, errText string, err error)
}

// The calculator as a tool.
const (
	toolCalculator = "calculator"
	argCode        = "code"
)

func tools() []whale.ToolSpec {
	return []whale.ToolSpec{{
		Name:        toolCalculator,
		Description: "Evaluates a Python expression or short program and returns what it prints, or the value of its last expression.",
		Parameters: []whale.ToolParameter{{
			Name: argCode, Type: "string", Required: true,
			Description: `Python code, for example "(347 + 58) * 3".`,
		}},
	}}
}

// env is an episode's world. The calculator keeps nothing from call to call, so neither does env.
type env struct {
	calculator  Calculator
	outputBytes int
}

func (e *env) Tools() []whale.ToolSpec { return tools() }

// Call runs the calculator. Whatever the caller got wrong comes back as the result's error, in one line.
func (e *env) Call(ctx context.Context, name string, args map[string]json.RawMessage) (whale.ToolResult, error) {
	spec := tools()[0]
	if name != spec.Name {
		return whale.ToolResult{Error: task.UnknownTool(name, tools())}, nil
	}
	if text := task.CheckArgs(spec, args); text != "" {
		return whale.ToolResult{Error: text}, nil
	}
	var code string
	if err := json.Unmarshal(args[argCode], &code); err != nil {
		return whale.ToolResult{Error: fmt.Sprintf("%s: argument %q: %v", toolCalculator, argCode, err)}, nil
	}
	output, errText, err := e.calculator.Do(ctx, code)
	if err != nil {
		return whale.ToolResult{}, fmt.Errorf("math: calculator: %w", err)
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
