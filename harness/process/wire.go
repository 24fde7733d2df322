package process

import (
	"fmt"

	whale "github.com/seed-095d5d2b/whale"
)

// Protocol is the version of the messages between a program and its host.
const Protocol = 1

// The types of messages.
const (
	TypeStart    = "start"    // host → program: a [StartMessage], first
	TypeResponse = "response" // host → program: a [ResponseMessage]
	TypeRequest  = "request"  // program → host: a [RequestMessage]
	TypePrint    = "print"    // program → host: a [PrintMessage], which is not answered
	TypeAnswer   = "answer"   // program → host: an [AnswerMessage], last
	TypeFailure  = "failure"  // program → host: a [FailureMessage], last
	TypeNeed     = "need"     // worker → host: a [NeedMessage]
	TypeProgram  = "program"  // host → worker: a [ProgramMessage]
)

// StartMessage begins an episode. It is the first message to the program, and comes once.
type StartMessage struct {
	Type     string `json:"type"`
	Protocol int    `json:"protocol"`
	whale.Start
	Program *ProgramRef `json:"program,omitempty"` // to a worker only: what to run
}

// ProgramRef names a program to a worker, which keeps those it has seen.
type ProgramRef struct {
	ID   whale.ID `json:"id"`
	Name string   `json:"name"` // what positions begin with
}

// NeedMessage asks for the source of the program that the start named. Only a worker sends it.
type NeedMessage struct {
	Type string `json:"type"`
}

// ProgramMessage answers a [NeedMessage].
type ProgramMessage struct {
	Type   string `json:"type"`
	Source string `json:"source"`
}

// RequestMessage asks the host for something and is answered by the [ResponseMessage] of the same id. Ids count 1, 2, 3, ….
type RequestMessage struct {
	Type  string `json:"type"`
	ID    int    `json:"id"`
	Steps uint64 `json:"steps,omitempty"` // from a worker only: interpreter steps so far
	whale.Request
}

// ResponseMessage answers the request of the same id.
type ResponseMessage struct {
	Type string `json:"type"`
	ID   int    `json:"id"`
	whale.Response
}

// PrintMessage adds a line to the episode's log. It has no id and no answer.
type PrintMessage struct {
	Type  string `json:"type"`
	Steps uint64 `json:"steps,omitempty"`
	Text  string `json:"text"`
}

// AnswerMessage ends an episode with its final answer.
type AnswerMessage struct {
	Type  string          `json:"type"`
	Steps uint64          `json:"steps,omitempty"`
	Reply *whale.ReplyRef `json:"reply"` // null = None
}

// FailureMessage ends an episode that the program gave up: it raised an error, or returned something that is no reply.
type FailureMessage struct {
	Type   string           `json:"type"`
	Steps  uint64           `json:"steps,omitempty"`
	Reason whale.FailReason `json:"reason,omitempty"` // "program" where it is left out
	Detail string           `json:"detail"`
	Line   int              `json:"line,omitempty"` // of the program's file, from 1; 0 = unknown
}

const (
	// lineSlack is what a line may have beyond the escaped bytes of a call's messages: names of fields, a large argument.
	lineSlack = 1 << 20
	// escaped is how many bytes JSON takes at most for one of a text: \u0001, or \u00e9 for two.
	escaped = 6
	// MaxMessage is the largest message in either direction, whatever the limits say.
	MaxMessage = 16 << 20
	// maxDepth is how deep an argument's value may nest. It is what Starlark programs may send.
	maxDepth = 64
	// maxHostDepth is the same for what the host sends, which may quote a model or a tool. It only bounds recursion.
	maxHostDepth = 10_000
	// maxDigits is the length of a number, in characters.
	maxDigits = 1000
)

// MaxLine is the largest message that a program may send under these limits, in bytes: the messages of one call, however they are escaped,
// and 1 MiB. A longer one is refused before it is read.
func MaxLine(l whale.Limits) int {
	return int(min(escaped*int64(max(l.MessageBytes, 0))+lineSlack, MaxMessage))
}

// violation is a message that is none, or that comes out of turn.
type violation struct{ text string }

func (v *violation) Error() string { return v.text }

func violate(format string, args ...any) error { return &violation{fmt.Sprintf(format, args...)} }

// contract is a failure of a request that reads well but asks for what the contract does not allow.
func contract(format string, args ...any) error {
	return fail(whale.FailContract, format, args...)
}

func fail(reason whale.FailReason, format string, args ...any) error {
	return &whale.HarnessError{Failure: whale.Failure{Reason: reason, Detail: oneLine(fmt.Sprintf(format, args...))}}
}
