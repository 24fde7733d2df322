package whale

import (
	"context"
	"encoding/json"
)

// Harness is a program that runs an agent on an example. It knows the world only through its Host, by messages that can cross a pipe.
type Harness interface {
	ID() ID
	Source() []byte
	Language() string // of the source: one of the Language constants
	// Run runs one episode and gives the reply that is the agent's final answer (0 = None). A failure of the program or a broken
	// limit is a *HarnessError; an end that may be its own doing is an *Incident; any other error is the infrastructure's.
	Run(ctx context.Context, h Host) (ReplyRef, error)
}

// The languages of harness programs.
const (
	LanguageStar   = "star"   // Starlark
	LanguagePython = "python" // over a pipe
	LanguageNode   = "node"   // JavaScript, over a pipe
)

// HarnessError is a failure that is the harness's own.
type HarnessError struct{ Failure Failure }

func (e *HarnessError) Error() string {
	return "harness: " + string(e.Failure.Reason) + ": " + e.Failure.Detail
}

// Host answers a harness's requests. The requests of one episode come one at a time.
type Host interface {
	// Start gives what an episode starts with. A harness calls it once it is ready to run, before anything else: its own time counts from here.
	Start() Start
	// Do answers one request. A *HarnessError ends the episode as failed; another error ends it as an infrastructure error.
	Do(ctx context.Context, r Request) (Response, error)
	// AddSteps tells the host of interpreter steps used, in all so far, for the usage record.
	AddSteps(total uint64)
}

// Start is the first message to a harness: what it may know and what it may use.
type Start struct {
	Contract int               `json:"contract"`
	Task     map[string]string `json:"task"`
	Tools    []ToolSpec        `json:"tools"`
	Limits   Limits            `json:"limits"`
}

// The operations of a Request.
const (
	OpChat   = "chat"   // Messages, Tools, MaxTokens, Stop → Reply
	OpCount  = "count"  // Text → Number
	OpClip   = "clip"   // Text, MaxTokens → Text
	OpTool   = "tool"   // Name, Args → Result
	OpRender = "render" // Name, Args → Text
	OpLeft   = "left"   // → Left
	OpPrint  = "print"  // Text →
)

// Request is one message from a harness to its host.
type Request struct {
	Op        string                     `json:"op"`
	Messages  []Message                  `json:"messages,omitempty"`
	Tools     []ToolSpec                 `json:"tools,omitempty"`
	MaxTokens int                        `json:"max_tokens,omitempty"` // 0 = as many as are left
	Stop      []string                   `json:"stop,omitempty"`
	Text      string                     `json:"text,omitempty"`
	Name      string                     `json:"name,omitempty"`
	Args      map[string]json.RawMessage `json:"args,omitempty"`
}

// Response is the host's answer.
type Response struct {
	Reply  *Reply      `json:"reply,omitempty"`
	Result *ToolResult `json:"result,omitempty"`
	Left   *Left       `json:"left,omitempty"`
	Text   string      `json:"text,omitempty"`
	Number int         `json:"number,omitempty"`
}

// Reply is what a harness sees of a completion. Ref is opaque to the program: it stands for the sampled ids.
type Reply struct {
	Ref       ReplyRef   `json:"ref"`
	Text      string     `json:"text"`
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	Finish    string     `json:"finish_reason"`
	Tokens    int        `json:"tokens"` // sampled tokens of this reply
}

// Left is what an episode may still spend.
type Left struct {
	Tokens     int `json:"tokens"`
	ModelCalls int `json:"model_calls"`
	ToolCalls  int `json:"tool_calls"`
}
