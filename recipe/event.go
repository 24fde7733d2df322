package recipe

import (
	"sync/atomic"

	"github.com/seed-095d5d2b/whale/rsft"
)

// The kinds of events.
const (
	EventBegin     = "begin"     // Plan, Dir, Text: what will be spent
	EventNotice    = "notice"    // Text: something a person should know
	EventPhase     = "phase"     // a phase begins: Phase
	EventStep      = "step"      // a rollout step is done: Step
	EventCandidate = "candidate" // a harness was decided: Harness, Score, Text
	EventSession   = "session"   // a proposer session is done: Session, Text
	EventAccepted  = "accepted"  // a harness phase accepted a harness: Harness, Score
	EventCurve     = "curve"     // one draw an example of the test split: At, Score
	EventFinal     = "final"     // the final table has begun: Text names the pair
)

// Event is told to the observer of a run, in order, from one goroutine. Replayed events come from the journal of a resumed run.
type Event struct {
	Kind     string           `json:"kind"`
	Dir      string           `json:"dir,omitempty"`
	Plan     *Plan            `json:"plan,omitempty"`
	Phase    *PlannedPhase    `json:"phase,omitempty"`
	Step     *rsft.StepResult `json:"step,omitempty"`
	Session  int              `json:"session,omitempty"` // from 1
	Harness  string           `json:"harness,omitempty"`
	Weights  string           `json:"weights,omitempty"`
	At       string           `json:"at,omitempty"`
	Score    *float64         `json:"score,omitempty"`
	Text     string           `json:"text,omitempty"`
	Replayed bool             `json:"replayed,omitempty"`
}

// Progress is what a run has done since it was opened; read it from any goroutine.
type Progress struct {
	Rollouts      atomic.Int64 // made now
	Cached        atomic.Int64 // taken from the journal
	Rewarded      atomic.Int64 // of both, with reward 1
	SampledTokens atomic.Int64
	PromptTokens  atomic.Int64
}
