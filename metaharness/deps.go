package metaharness

import (
	"context"

	"github.com/seed-095d5d2b/whale"
)

// Log is the journal as the search sees it: write-once entries, known by kind and operation id.
type Log interface {
	// Lookup reads the entry into v and says whether there is one.
	Lookup(ctx context.Context, kind, op string, v any) (bool, error)
	// Record writes the entry. It is durable when Record returns.
	Record(ctx context.Context, kind, op string, v any) error
}

// The kinds of journal entries that a phase writes. Their operation ids start with Phase.Op and hold a hash of the weights and of the
// incoming harness, so that no decision is ever met again under other weights.
const (
	KindSessionStart = "harness/session-start" // SessionStart: an attempt at a proposer session
	KindSession      = "harness/session"       // SessionRecord: what a proposer session gave and cost
	KindDecision     = "harness/decision"      // Decision: what became of the incoming harness, of a runner-up or of a candidate
	KindChoice       = "harness/choice"        // Choice: paired tests and what they accept, after a session or before the first
	KindConfirmation = "harness/confirmation"  // Confirmation: fresh scores of the best programs, and what is accepted for them
)

// Ask says which episodes of a harness are wanted: one an example.
type Ask struct {
	Purpose  whale.Purpose // search, canary or confirm
	Examples []int         // by their place in example order, in the order wanted; nil = all, or for canary a few (1 to Config.CanaryEpisodes)
	Draw     int           // confirm: which of Selection.Draws fresh episodes an example, from 0; else 0
}

// Evaluator runs a harness on the phase's examples. It caches by rollout key: asked again, it gives the same rollouts.
type Evaluator interface {
	// Evaluate gives one rollout an example that is asked for, in the order asked. Two purposes, and two draws of one, are independent
	// of each other. A rollout that infrastructure failed is in state error; a Go error stops the phase.
	Evaluate(ctx context.Context, h whale.Harness, ask Ask) ([]whale.Rollout, error)
}

// Loader makes a harness of a program, or says in a text for its author why that is not possible (parse, resolve, contract, size).
// The name stands in the positions of that text.
type Loader func(name string, source []byte) (whale.Harness, error)

// Gate is a further check between the duplicate check and the canary episodes, such as the audit or the prompt-only rule.
// It must be a function of the harness alone.
type Gate struct {
	Name  string // of Decision.Gate
	Check func(ctx context.Context, h whale.Harness) error
}

// Deps is what a phase works with.
type Deps struct {
	Proposer  whale.Proposer
	Evaluator Evaluator
	Log       Log
	Loader    Loader
	Gates     []Gate      // in order; may be empty
	About     string      // Task.About: what the proposer is told of the task
	Observer  func(Event) // may be nil; called in order from the goroutine of Run

	// AfterSession, where set, is called in the goroutine of Run after each session's choice, also when the session is replayed from the Log:
	// session counts from 0 in the phase, accepted is what the phase would return now. Its error stops the phase. Nothing that it does may
	// reach the proposer.
	AfterSession func(ctx context.Context, session int, accepted Entry) error
}

// Config is the size of a harness phase.
type Config struct {
	Sessions       int // proposer sessions at most
	Candidates     int // M: candidates a session, at most
	CanaryEpisodes int // most episodes of the canary gate; 0 turns the gate off

	Selection Selection // how the accepted program is chosen

	// AtOnce is how many candidates of a session are judged side by side; 0 means 1. With more, Loader, Gates and Evaluator are called
	// from as many goroutines. What is decided, recorded, told and shown to the next session is the same, in the same order.
	AtOnce int

	// PromptOnly tells the proposer that candidates may differ from the incoming harness in the two prompt constants alone; a gate of Deps
	// has to see to it.
	PromptOnly bool

	// Patience ends the phase early: after MinSessions sessions, once that many in a row gave no new best score. 0 = never.
	Patience    int
	MinSessions int
}

// Phase is one harness phase of a run.
type Phase struct {
	Index       int    // harness phases before this one
	Op          string // prefix of operation ids, unique to the phase
	Incoming    whale.Harness
	RunnersUp   []whale.Harness  // the best other programs of earlier phases, scored anew after the incoming harness; none of them twice
	Weights     whale.WeightsRef // under which every score of the phase is measured
	RunSeed     uint64
	SessionBase int                // proposer sessions of the run before this phase
	ArchiveDir  string             // absolute: archive/<phase>; made anew
	SessionDir  func(n int) string // absolute: sessions/<n>, n counted over the run; made anew when session n runs
}
