package harnesstest

import (
	"encoding/json"
	"fmt"

	whale "github.com/seed-095d5d2b/whale"
)

// Sums is a host of a task that asks for 1+1: it has a tool, a block to render and replies of several kinds.
func Sums() *Host {
	return &Host{
		View: map[string]string{"question": "1+1?", "hint": "two"},
		Tools: []whale.ToolSpec{{Name: "calculator", Description: "computes", Parameters: []whale.ToolParameter{
			{Name: "code", Type: "string", Description: "an expression", Required: true},
		}}},
		Limits: whale.Limits{Steps: 200_000, ModelCalls: 4, ToolCalls: 4, Tokens: 1000, MessageBytes: 4096, LogBytes: 100},
		Replies: []Reply{
			{Text: "let me compute", ToolCalls: []whale.ToolCall{{Name: "calculator", Args: map[string]json.RawMessage{
				"digits": json.RawMessage("2"), "code": json.RawMessage(`"1+1"`),
			}}}},
			{Text: "so:\n```python\n1+1\n```"},
			{Text: `it is \boxed{2}`},
		},
		Tool: func(name string, args map[string]json.RawMessage) (whale.ToolResult, error) {
			switch {
			case name != "calculator":
				return whale.ToolResult{Error: fmt.Sprintf("unknown tool %q", name)}, nil
			case args["code"] == nil:
				return whale.ToolResult{Error: "calculator: argument code is missing"}, nil
			}
			return whale.ToolResult{Text: "2", Data: json.RawMessage(`{"value": 2, "steps": [1, 1.5, null]}`)}, nil
		},
		Render: func(block string, args map[string]json.RawMessage) (string, error) {
			if block != "board" {
				return "", &whale.HarnessError{Failure: whale.Failure{Reason: whale.FailContract, Detail: "nothing of that name"}}
			}
			return block + " " + string(args["size"]), nil
		},
	}
}
