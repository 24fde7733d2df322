package recipe

import (
	"sync/atomic"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/modelupdate"
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
	EventCurve     = "curve"     // one draw an example of a split: At, Split, Score; Validation, of the validation split beside it
	EventHalves    = "halves"    // what each half of a cycle brought: Halves
	EventCell      = "cell"      // a cell of the matrix of a finished run: At, Score
	EventFinal     = "final"     // the final table has begun: Text names the pair
)

// Event is told to the observer of a run, in order, from one goroutine. Replayed events come from the journal of a resumed run.
type Event struct {
	Kind       string                  `json:"kind"`
	Dir        string                  `json:"dir,omitempty"`
	Plan       *Plan                   `json:"plan,omitempty"`
	Phase      *PlannedPhase           `json:"phase,omitempty"`
	Step       *modelupdate.StepResult `json:"step,omitempty"`
	Session    int                     `json:"session,omitempty"` // from 1
	Harness    string                  `json:"harness,omitempty"`
	Weights    string                  `json:"weights,omitempty"`
	At         string                  `json:"at,omitempty"`
	Split      whale.Split             `json:"split,omitempty"`
	Score      *float64                `json:"score,omitempty"`
	Validation *float64                `json:"validation,omitempty"`
	Halves     *Halves                 `json:"halves,omitempty"`
	Text       string                  `json:"text,omitempty"`
	Replayed   bool                    `json:"replayed,omitempty"`
}

// Progress is what a run has done since it was opened; read it from any goroutine.
type Progress struct {
	Rollouts      atomic.Int64 // made now
	Cached        atomic.Int64 // taken from the journal
	Spared        atomic.Int64 // planned at most and not needed, less what was taken from the journal more than once
	Rewarded      atomic.Int64 // of both, with reward 1
	SampledTokens atomic.Int64
	PromptTokens  atomic.Int64
}

// Done counts the rollouts of the plan that lie behind: when a run ends they are all of them.
func (p *Progress) Done() int { return int(p.Rollouts.Load() + p.Cached.Load() + p.Spared.Load()) }

// settle is called before and, by what it gives, after something for which rollouts are planned: what differs is spared.
func (p *Progress) settle(planned int) func() {
	before := p.Done()
	return func() { p.Spared.Add(int64(planned - (p.Done() - before))) }
}

func (p *Progress) count(ro *whale.Rollout, fresh bool) {
	if ro.Complete() {
		p.Rewarded.Add(int64(ro.Reward()))
	}
	if !fresh {
		p.Cached.Add(1)
		return
	}
	p.Rollouts.Add(1)
	p.SampledTokens.Add(int64(ro.Episode.Usage.SampledTokens))
	p.PromptTokens.Add(int64(ro.Episode.Usage.PromptTokens))
}
