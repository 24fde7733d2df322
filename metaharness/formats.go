package metaharness

import "github.com/seed-095d5d2b/whale"

// The files of an archive, as a proposer reads them. Examples are numbers from 1 in the order of evaluation.

// IndexLine is one line of index.jsonl: a program that was evaluated, rejected or left incomplete, in order.
type IndexLine struct {
	ID         whale.ID `json:"id"`
	Name       string   `json:"name"`
	Status     Status   `json:"status"`
	Accepted   bool     `json:"accepted,omitempty"` // the best so far
	Gate       string   `json:"gate,omitempty"`
	Reason     string   `json:"reason,omitempty"` // why it was rejected, or why it has no score
	Mean       *float64 `json:"mean,omitempty"`
	Delta      *float64 `json:"delta,omitempty"` // mean minus the parent's; the incoming harness stands in where no parent is given
	Sampled    int      `json:"sampled_tokens,omitempty"`
	Partial    *Partial `json:"partial,omitempty"` // status stopped: no score, for its first examples left it too small a chance
	Session    int      `json:"session"`           // -1: the harness that the search started from, and the best ones of earlier searches
	Parent     whale.ID `json:"parent,omitempty"`
	Axis       string   `json:"axis,omitempty"`
	Operators  []string `json:"operators,omitempty"`
	Hypothesis string   `json:"hypothesis,omitempty"`
	Note       string   `json:"note,omitempty"` // what was wrong with its .json file
}

// Outcome is one line of outcomes.jsonl.
type Outcome struct {
	Example       int                `json:"n"`
	Reward        float64            `json:"reward"`
	Reason        string             `json:"reason,omitempty"`
	Failure       string             `json:"failure,omitempty"` // the rule or limit that the episode broke
	Finish        string             `json:"finish,omitempty"`  // finish reason of the last reply
	ModelCalls    int                `json:"model_calls"`
	ToolCalls     int                `json:"tool_calls"`
	PromptTokens  int                `json:"prompt_tokens"`
	SampledTokens int                `json:"sampled_tokens"`
	Metrics       map[string]float64 `json:"metrics,omitempty"`
}

// Trajectory is one line of trajectories.jsonl: what happened in an episode, long texts cut.
type Trajectory struct {
	Example int               `json:"n"`
	Reward  float64           `json:"reward"`
	Reason  string            `json:"reason,omitempty"`
	Failure string            `json:"failure,omitempty"`
	Detail  string            `json:"detail,omitempty"` // of the failure
	View    map[string]string `json:"view"`
	Tools   []ToolUse         `json:"tools,omitempty"` // used before the first model call
	Turns   []Turn            `json:"turns"`
	Omitted int               `json:"omitted_turns,omitempty"` // in the middle, to bound the size
	Answer  int               `json:"answer"`                  // the turn whose reply was the final answer; 0 = none
	Log     string            `json:"log,omitempty"`
	Usage   whale.Usage       `json:"usage"`
}

// Turn is one model call.
type Turn struct {
	N         int              `json:"turn"`
	Kept      int              `json:"kept_messages"` // how many messages it has in common with the turn before, from the start
	Messages  []TurnMessage    `json:"messages"`      // the further ones
	Reply     string           `json:"reply"`
	ToolCalls []whale.ToolCall `json:"tool_calls,omitempty"` // that the reply holds
	Finish    string           `json:"finish"`
	Tokens    int              `json:"tokens"`
	Tools     []ToolUse        `json:"tools,omitempty"` // used after the reply
}

// TurnMessage is one message of a prompt. One that is an earlier reply has that turn's number and no content.
type TurnMessage struct {
	Role    string `json:"role"`
	Name    string `json:"name,omitempty"`
	Content string `json:"content,omitempty"`
	ReplyOf int    `json:"reply_of_turn,omitempty"`
}

// ToolUse is one call of env.call.
type ToolUse struct {
	Name  string            `json:"name"`
	Args  map[string]string `json:"args,omitempty"` // in JSON form
	Text  string            `json:"text,omitempty"`
	Error string            `json:"error,omitempty"`
	Done  bool              `json:"done,omitempty"`
}

// CandidateMeta is candidates/<name>.json, which a proposer writes beside candidates/<name>.star.
type CandidateMeta struct {
	Hypothesis string   `json:"hypothesis"` // what was seen, what is changed, what should follow
	Axis       string   `json:"axis"`       // which side of the harness it changes, in a word or two
	Parent     string   `json:"parent"`     // id of the archived program that it was made from
	Operators  []string `json:"operators"`  // kinds of edits
}
