package whale

import (
	"context"
	"encoding/json"
	"regexp"
)

// Split names a part of a task's data.
type Split string

// The splits of a task. No example belongs to two of them.
const (
	SplitTrain      Split = "train"      // weight phases
	SplitSearch     Split = "search"     // harness phases
	SplitValidation Split = "validation" // choice of a reported pair
	SplitTest       Split = "test"       // opened only by the evaluator
)

// Example is one problem. ID and Answer never reach a harness.
type Example struct {
	ID     string            `json:"id"`
	View   map[string]string `json:"view"` // what the agent sees, e.g. {"question": …}
	Answer json.RawMessage   `json:"answer"`
	Meta   map[string]string `json:"meta,omitempty"` // for reports: kind, source, …
}

// Task is a dataset with its tools and its verifier.
type Task interface {
	ID() ID // content hash of data, tools, verifier and settings
	Name() string
	About() string // what an agent (and a proposer) is told about the task, a few lines
	Examples(s Split) ([]Example, error)
	NewEnv(ctx context.Context, x Example, seed uint32) (Env, error)
	Verifier() Verifier
}

// Env is one episode's world: its tools and what may be rendered of it.
type Env interface {
	Tools() []ToolSpec
	// Call runs a tool. A mistake of the caller is a ToolResult with Error; a Go error means that the infrastructure failed.
	Call(ctx context.Context, name string, args map[string]json.RawMessage) (ToolResult, error)
	// Render gives a block of text that the environment vouches for; blocks a task does not know are an error of the caller.
	Render(block string, args map[string]json.RawMessage) (string, error)
	// Rules says what a harness may not write itself. They are part of the task's identity.
	Rules() Rules
	Close() error
}

// Rules keep the answer the model's (design, invariant 6). The zero value asks for what holds everywhere: an authored argument is a span
// of the latest reply, to the byte.
type Rules struct {
	// Fold is applied to a reply and to an authored argument before one is looked for in the other (case, spaces, notation); nil = as they are.
	Fold func(string) string
	// Patterns may occur in text that a harness writes only inside blocks that the environment gave whole: a rendered block, a tool's
	// result, a field of the example's view.
	Patterns []Pattern
}

// Pattern is a form of text that a harness may not write itself, such as a chess move.
type Pattern struct {
	Name string // for messages: "move"
	Expr *regexp.Regexp
}

// Verdict is what a verifier says of an episode.
type Verdict struct {
	Reward  float64            `json:"reward"`            // 0 or 1
	Reason  string             `json:"reason"`            // one line; why not, where it is 0
	Metrics map[string]float64 `json:"metrics,omitempty"` // behaviour measures of the domain (format, tool use, …)
}

// Verifier judges whole episodes. An error is the infrastructure's, and is never counted as 0.
type Verifier interface {
	ID() ID
	Verify(ctx context.Context, x Example, e *Episode) (Verdict, error)
}
