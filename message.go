package whale

import "encoding/json"

// The roles of messages.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// ReplyRef names a reply of the episode: the number of the model call that made it, counted from 1. Zero means none.
type ReplyRef int

// Message is one entry of a conversation as a harness sends it.
//
// A message with Reply set stands for that reply itself: its sampled token ids are spliced into the prompt, and its other fields are
// ignored. An assistant message without Reply is text that the harness wrote, and counts as context even where the words are the model's.
type Message struct {
	Role    string   `json:"role"`
	Content string   `json:"content,omitempty"`
	Name    string   `json:"name,omitempty"` // tool name, for role tool
	Reply   ReplyRef `json:"reply,omitempty"`
}

// ToolSpec describes a tool to the model and to the harness.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  []ToolParameter `json:"parameters"`
}

// ToolParameter is one argument of a tool.
type ToolParameter struct {
	Name        string `json:"name"`
	Type        string `json:"type"` // string, integer, number, boolean
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Authored    bool   `json:"authored,omitempty"` // must be a span of the latest completion (design, invariant 6)
}

// ToolCall is a call that the model wrote, parsed by the renderer.
type ToolCall struct {
	Name string                     `json:"name"`
	Args map[string]json.RawMessage `json:"args"`
}

// ToolResult is what a tool answers. Error is for the model (its own mistake, one line); an error of the infrastructure travels as a Go error.
type ToolResult struct {
	Text  string          `json:"text"`
	Data  json.RawMessage `json:"data,omitempty"`
	Error string          `json:"error,omitempty"`
	Done  bool            `json:"done,omitempty"` // the environment has ended
}
