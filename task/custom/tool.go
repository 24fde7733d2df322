package custom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/custom/program"
)

// Tool is one tool of an environment. It is called from many goroutines at once.
type Tool interface {
	Spec() whale.ToolSpec
	// Call runs the tool with arguments that fit its Spec. A mistake of the agent is a result with Error; a *whale.Incident says that the call made the
	// tool hang or die; any other error is the infrastructure's.
	Call(ctx context.Context, args map[string]json.RawMessage) (whale.ToolResult, error)
	// ID hashes what the tool does beyond its Spec: settings, code.
	ID() whale.ID
}

// The exit statuses of commands that stand for trouble of the machine.
const (
	exitAgain        = 75  // EX_TEMPFAIL of sysexits.h
	exitNoPermission = 126 // of a shell: found, but could not run
	exitNotFound     = 127 // of a shell
)

// commandTool is a program of the owner's as a tool.
type commandTool struct {
	spec   whale.ToolSpec
	cmd    *command
	output string
	most   int
}

func (t *commandTool) Spec() whale.ToolSpec { return t.spec }
func (t *commandTool) ID() whale.ID         { return t.cmd.id }

// Call gives the program the arguments as a JSON object and takes its output as the answer.
func (t *commandTool) Call(ctx context.Context, args map[string]json.RawMessage) (whale.ToolResult, error) {
	if args == nil {
		args = map[string]json.RawMessage{}
	}
	input, err := json.Marshal(args)
	if err != nil {
		return whale.ToolResult{}, err
	}
	out, err := t.cmd.run(ctx, input)
	var stopped *program.Stopped
	switch {
	case errors.As(err, &stopped):
		return whale.ToolResult{}, &whale.Incident{Reason: whale.FailTool, Detail: t.spec.Name + ": " + stopped.Detail}
	case err != nil:
		return whale.ToolResult{}, err
	case out.Cut && t.output == OutputJSON:
		return whale.ToolResult{Error: fmt.Sprintf("%s: the answer is longer than %d bytes", t.spec.Name, t.most)}, nil
	case out.Cut:
		return whale.ToolResult{Text: cutText(string(out.Stdout), t.most)}, nil
	case out.Code == exitAgain || out.Code == exitNoPermission || out.Code == exitNotFound:
		return whale.ToolResult{}, fmt.Errorf("exit status %d: %s", out.Code, out.Detail)
	case out.Code != 0:
		detail := out.Detail
		if detail == "" {
			detail = fmt.Sprintf("exit status %d", out.Code)
		}
		return whale.ToolResult{Error: t.spec.Name + ": " + detail}, nil
	case t.output == OutputJSON:
		return readResult(t.spec.Name, out.Stdout)
	}
	return whale.ToolResult{Text: plainText(out.Stdout)}, nil
}

// readResult reads an answer that is a tool's result as JSON. One that is not breaks the owner's word, and is the infrastructure's error.
func readResult(name string, data []byte) (whale.ToolResult, error) {
	var r whale.ToolResult
	if err := strict(data, &r); err != nil {
		return whale.ToolResult{}, fmt.Errorf("%s: got an answer that is no {\"text\", \"data\", \"error\"}: %w", name, err)
	}
	r.Error = clipTo(r.Error, errorBytes)
	return r, nil
}

// errorBytes bounds the error of a tool, which is one line.
const errorBytes = 1000

// plainText is an output as a text, without the line breaks at its end, as a shell's $(…) would take it.
func plainText(data []byte) string {
	return strings.TrimRight(strings.ToValidUTF8(string(data), "\uFFFD"), "\r\n")
}

// cutText bounds a text of which there is more, and says so.
func cutText(s string, most int) string {
	if len(s) > most {
		s = s[:most]
	}
	return strings.ToValidUTF8(s, "") + fmt.Sprintf("\n[cut: the first %d bytes are shown]", most)
}

// specOf is the tool's description for the model.
func specOf(t ToolConfig) whale.ToolSpec {
	spec := whale.ToolSpec{Name: t.Name, Description: strings.TrimSpace(t.Description), Parameters: []whale.ToolParameter{}}
	for _, p := range t.Parameters {
		spec.Parameters = append(spec.Parameters, whale.ToolParameter{
			Name: p.Name, Type: p.Type, Description: strings.TrimSpace(p.Description), Required: !p.Optional,
		})
	}
	return spec
}
