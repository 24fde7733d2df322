package metaharness

import "github.com/seed-095d5d2b/whale"

// SessionStart is journaled before a proposer session. A session that was killed is begun again as the next attempt.
type SessionStart struct {
	Session int    `json:"session"`
	Attempt int    `json:"attempt"` // from 1
	Seed    uint32 `json:"seed"`
}

// SessionRecord is what a proposer session gave, journaled before anything of it is evaluated.
type SessionRecord struct {
	Session    int               `json:"session"`  // counted over the run, from 0
	Attempts   int               `json:"attempts"` // 1, and one more for each kill in the middle of the session
	Seed       uint32            `json:"seed"`
	Proposer   string            `json:"proposer"`
	Candidates []Candidate       `json:"candidates"`
	Discarded  []Discarded       `json:"discarded,omitempty"`
	Cost       whale.SessionCost `json:"cost"`
	Error      string            `json:"error,omitempty"` // the proposer failed; what it had written still counts
}

// Candidate is a program as it was copied out of a workspace.
type Candidate struct {
	Name       string   `json:"name"` // file name without .star
	ID         whale.ID `json:"id"`
	Source     string   `json:"source"`
	Hypothesis string   `json:"hypothesis,omitempty"`
	Axis       string   `json:"axis,omitempty"`
	Parent     whale.ID `json:"parent,omitempty"`
	Operators  []string `json:"operators,omitempty"`
	Note       string   `json:"note,omitempty"` // what was wrong with its .json file
}

// Discarded is a file in candidates/ that is no candidate.
type Discarded struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Status is what became of a program.
type Status string

// The statuses of programs. Only an evaluated one has a score and can be accepted.
const (
	StatusEvaluated  Status = "evaluated"
	StatusRejected   Status = "rejected"   // a gate refused it: see Gate and Reason
	StatusStopped    Status = "stopped"    // racing gave it up: see Partial; no score
	StatusIncomplete Status = "incomplete" // infrastructure errors left its examples incomplete: no score
)

// The names of the gates, in order. Further gates (Deps.Gates) stand between duplicate and canary.
const (
	GateLoad      = "load"      // parse, resolve, contract
	GateDuplicate = "duplicate" // a program that the archive has
	GateCanary    = "canary"    // every canary episode failed by the program's fault
)

// Decision is what became of the incoming harness or of a candidate.
type Decision struct {
	Status Status `json:"status"`
	Gate   string `json:"gate,omitempty"`
	Reason string `json:"reason,omitempty"`
	Score  *Score `json:"score,omitempty"`

	Partial *Partial `json:"partial,omitempty"` // of a program that racing stopped
}

// Partial is what is known of a program that racing stopped. It is no score, and is never compared with one.
type Partial struct {
	Examples int     `json:"examples"` // that were run
	Of       int     `json:"of"`       // that a score needs
	Passed   int     `json:"passed"`
	Reach    int     `json:"reach"`  // passed examples of the accepted program before the session
	Chance   float64 `json:"chance"` // of reaching that
	Bound    float64 `json:"bound"`  // Selection.Racing
}

// Score is a harness's result on the complete set of examples under one set of weights.
type Score struct {
	Weights       whale.ID `json:"weights,omitempty"`
	Examples      int      `json:"examples"`
	Mean          float64  `json:"mean"`   // mean reward, 0 to 1
	Passed        int      `json:"passed"` // episodes with reward 1
	Failed        int      `json:"failed"` // episodes in state failed
	ModelCalls    int      `json:"model_calls"`
	ToolCalls     int      `json:"tool_calls"`
	PromptTokens  int      `json:"prompt_tokens"`
	SampledTokens int      `json:"sampled_tokens"`
}

// Entry is one program in a phase's archive.
type Entry struct {
	Candidate
	Decision
	Session int // that proposed it, counted over the run; -1 for the incoming harness and for runners-up of earlier phases
	Harness whale.Harness

	passes []int // 0 or 1 an example, of an evaluated program
}

// SessionResult is a session with what became of its candidates.
type SessionResult struct {
	SessionRecord
	Decisions []Decision // one a candidate
	Choice    *Choice    // with paired acceptance
	NewBest   bool       // the accepted harness changed
	Best      Score      // of the accepted harness after the session
	Accepted  whale.ID   // after the session
}

// Result is what a harness phase came to.
type Result struct {
	Accepted whale.Harness
	Entry    Entry   // of Accepted
	Incoming Score   // of the incoming harness under the phase's weights
	Archive  []Entry // evaluated programs in order of evaluation; the incoming one first
	Ranked   []Entry // the same, the accepted one first and then by score: the next phase's runners-up come from here
	Sessions []SessionResult

	Rescored   int  // rollouts that scored runners-up of earlier phases anew
	Proposed   int  // candidates of all sessions
	Evaluated  int  // candidates that got a score
	Rejected   int  // candidates that a gate refused
	Incomplete int  // candidates without a score because of infrastructure errors
	GivenUp    int  // candidates that racing stopped: no score
	Saved      int  // rollouts that racing saved
	Discarded  int  // files that were no candidates
	Stopped    bool // ended by Config.Patience before Config.Sessions
	End        End  // why the phase ended

	Choice       *Choice       // of the runners-up, with paired acceptance; nil where there are none
	Confirmation *Confirmation // with re-evaluation
}
