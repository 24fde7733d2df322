package whale

import (
	"context"
	"encoding/json"
)

// Limits bound one episode. Breaking one fails the episode with a reason that names the limit. What depends on clock or memory is
// first an [Incident] or an error; every other limit is deterministic.
type Limits struct {
	Steps        uint64  `json:"steps" yaml:"steps"`                 // interpreter steps of the harness
	ModelCalls   int     `json:"model_calls" yaml:"model_calls"`     // calls of model.chat
	ToolCalls    int     `json:"tool_calls" yaml:"tool_calls"`       // calls of env.call
	Tokens       int     `json:"tokens" yaml:"tokens"`               // sampled tokens in all: the response limit
	MessageBytes int     `json:"message_bytes" yaml:"message_bytes"` // bytes of all messages of one model call
	LogBytes     int     `json:"log_bytes" yaml:"log_bytes"`         // bytes of print that are kept; what exceeds it is cut, and LogFlood times as much is a failure
	Requests     int     `json:"requests" yaml:"requests"`           // messages of the harness to its host, of all kinds; 0 = no limit
	MemoryBytes  int64   `json:"memory_bytes" yaml:"memory_bytes"`   // of the harness's process; a death here is first an error, and repeated alone
	WallSeconds  float64 `json:"wall_seconds" yaml:"wall_seconds"`   // of the harness's own time, calls of model and tools apart; a stop here is first an error, and repeated alone
	ModelSeconds float64 `json:"model_seconds" yaml:"model_seconds"` // of one model call; a stop here is an error of the infrastructure
	ToolSeconds  float64 `json:"tool_seconds" yaml:"tool_seconds"`   // of one tool call; a stop here is an error of the infrastructure
}

// ModelCall is one call of model.chat as it happened.
type ModelCall struct {
	Messages   []Message  `json:"messages"`
	Tools      []ToolSpec `json:"tools,omitempty"`
	MaxTokens  int        `json:"max_tokens"` // what the call could sample at most, limits of the episode included
	Stop       []string   `json:"stop,omitempty"`
	Completion Completion `json:"completion"`
	Text       string     `json:"text"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
}

// ToolEvent is one call of env.call as it happened.
type ToolEvent struct {
	After  ReplyRef                   `json:"after"` // the latest reply when it was made
	Name   string                     `json:"name"`
	Args   map[string]json.RawMessage `json:"args"`
	Result ToolResult                 `json:"result"`
}

// Usage is what an episode spent.
type Usage struct {
	ModelCalls    int    `json:"model_calls"`
	ToolCalls     int    `json:"tool_calls"`
	PromptTokens  int    `json:"prompt_tokens"`
	SampledTokens int    `json:"sampled_tokens"`
	Steps         uint64 `json:"steps"`
}

// Plus adds what another attempt spent.
func (u Usage) Plus(o Usage) Usage {
	return Usage{
		ModelCalls: u.ModelCalls + o.ModelCalls, ToolCalls: u.ToolCalls + o.ToolCalls, PromptTokens: u.PromptTokens + o.PromptTokens,
		SampledTokens: u.SampledTokens + o.SampledTokens, Steps: u.Steps + o.Steps,
	}
}

// FailReason is why an episode failed through its own fault (reward 0). The set is closed.
type FailReason string

// The reasons of failure.
const (
	FailSteps        FailReason = "limit:steps"
	FailModelCalls   FailReason = "limit:model_calls"
	FailToolCalls    FailReason = "limit:tool_calls"
	FailTokens       FailReason = "limit:tokens"
	FailMessageBytes FailReason = "limit:message_bytes"
	FailRequests     FailReason = "limit:requests"
	FailLog          FailReason = "limit:log"      // print wrote LogFlood times what the log keeps
	FailWall         FailReason = "limit:wall"     // recurred alone
	FailMemory       FailReason = "limit:memory"   // recurred alone
	FailWorker       FailReason = "worker"         // its process died, alone too
	FailTool         FailReason = "limit:tool"     // model-written code that a tool ran broke the guards of its worker, alone too
	FailProtocol     FailReason = "protocol"       // a line over the pipe that is no message, or comes out of turn; or the pipe closed early
	FailContext      FailReason = "limit:context"  // a prompt longer than the policy's context
	FailProgram      FailReason = "program"        // the harness raised an error
	FailContract     FailReason = "contract"       // a call or an answer that the contract does not allow
	FailAuthored     FailReason = "authored"       // a tool argument that the model must have written is not a span of its latest reply
	FailPlanted      FailReason = "planted"        // a message of the harness holds what only a block that the environment rendered may hold
	FailAnswer       FailReason = "answer:foreign" // run returned something that is not a reply of this episode
)

// OfProgram says whether a failure shows that the program itself is wrong, whatever the model says.
func (r FailReason) OfProgram() bool {
	switch r {
	case FailProgram, FailContract, FailAnswer, FailProtocol, FailPlanted, FailMemory, FailWorker, FailWall:
		return true
	}
	return false
}

// LogFlood is how many times Limits.LogBytes print may write before the episode fails.
const LogFlood = 16

// Incident is an end of an episode that may or may not be its own doing: the wall clock, or the death of the process that ran it. It is first
// an error; the episode is repeated alone, and only if it recurs it is the harness's failure, with this reason (design, invariant 4).
type Incident struct {
	Reason FailReason // FailWall, FailMemory, FailWorker or FailTool
	Detail string     // one line
}

func (i *Incident) Error() string { return string(i.Reason) + ": " + i.Detail }

type aloneKey struct{}

// WithAlone marks the context of an episode that is repeated alone: what runs it gives it a process that nothing else uses.
func WithAlone(ctx context.Context) context.Context { return context.WithValue(ctx, aloneKey{}, true) }

// IsAlone says whether a context is so marked.
func IsAlone(ctx context.Context) bool { return ctx.Value(aloneKey{}) != nil }

// Failure says how an episode broke a rule or a limit.
type Failure struct {
	Reason FailReason `json:"reason"`
	Detail string     `json:"detail"` // one line, with line and column where the program is to blame
}

// Episode is one run of a harness on an example.
type Episode struct {
	View    map[string]string `json:"view"`
	Calls   []ModelCall       `json:"calls"`
	Tools   []ToolEvent       `json:"tools,omitempty"`
	Answer  ReplyRef          `json:"answer"` // the reply that run returned; 0 = None
	Log     string            `json:"log,omitempty"`
	Failure *Failure          `json:"failure,omitempty"`
	Usage   Usage             `json:"usage"`
}

// AnswerText is the text of the final reply, or "" where there is none.
func (e *Episode) AnswerText() (string, bool) {
	if e.Answer < 1 || int(e.Answer) > len(e.Calls) {
		return "", false
	}
	return e.Calls[e.Answer-1].Text, true
}

// State is the state of a piece of evidence (design, invariant 4).
type State string

// The states of evidence. A rollout that is absent is missing.
const (
	StateScored State = "scored" // reward 0 or 1 by the verifier
	StateFailed State = "failed" // the agent or its harness broke a rule or a limit: reward 0
	StateError  State = "error"  // infrastructure: retried, never counted as 0
)

// Rollout is an episode as evidence.
type Rollout struct {
	Key     RolloutKey `json:"key"`
	State   State      `json:"state"`
	Verdict Verdict    `json:"verdict"`
	Error   string     `json:"error,omitempty"` // state error: the last error
	Retries int        `json:"retries,omitempty"`
	Wasted  Usage      `json:"wasted,omitzero"` // what the attempts before it spent
	Episode Episode    `json:"episode"`
}

// Complete says whether the rollout may be counted.
func (r *Rollout) Complete() bool { return r.State == StateScored || r.State == StateFailed }

// BrokenProgram says whether the episode failed and shows that its program itself is wrong.
func (r *Rollout) BrokenProgram() bool {
	f := r.Episode.Failure
	return r.State == StateFailed && f != nil && f.Reason.OfProgram()
}

// Reward is 0 or 1; a failed rollout's is 0. Call it only on a complete rollout.
func (r *Rollout) Reward() float64 {
	if r.State == StateScored {
		return r.Verdict.Reward
	}
	return 0
}
