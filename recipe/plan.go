package recipe

import (
	"fmt"
	"math"

	"github.com/seed-095d5d2b/whale/rsft"
)

// The kinds of phases.
const (
	PhaseWeight  = "weight"
	PhaseHarness = "harness"
)

// PlannedPhase is one phase of a plan.
type PlannedPhase struct {
	Index    int    `json:"index"` // among all phases, from 0
	Cycle    int    `json:"cycle"` // from 0
	Kind     string `json:"kind"`
	From, To int    `json:"-"`                  // weight: rollout steps [From, To), counted over the run
	Steps    int    `json:"steps,omitempty"`    // weight: To-From
	Sessions int    `json:"sessions,omitempty"` // harness
	First    int    `json:"-"`                  // harness: sessions before this phase
	Rollouts int    `json:"rollouts"`           // at most; canaries apart
	Canaries int    `json:"canaries,omitempty"` // harness: trial episodes, at most
}

// Name is the phase's name in journal and folders: "0-weight", "1-harness", ….
func (p PlannedPhase) Name() string { return fmt.Sprintf("%d-%s", p.Index, p.Kind) }

// Counts are the sizes that a plan needs to know of a task.
type Counts struct{ Train, Search, Validation, Test int }

// Plan is a run before it is spent.
type Plan struct {
	Phases          []PlannedPhase `json:"phases"`
	Cycles          int            `json:"cycles"`
	StepsAnEpoch    float64        `json:"steps_an_epoch"`
	Steps           int            `json:"steps"`    // rollout steps of all weight phases
	Sessions        int            `json:"sessions"` // proposer sessions of all harness phases
	WeightRollouts  int            `json:"weight_rollouts"`
	SearchRollouts  int            `json:"search_rollouts"` // at most; incumbents included, canaries apart
	CanaryRollouts  int            `json:"canary_rollouts"` // at most
	CurveRollouts   int            `json:"curve_rollouts"`
	FinalRollouts   int            `json:"final_rollouts"` // the four pairs, mean@k, without the draws that the curve made
	EvaluatedByPair int            `json:"evaluated_by_pair"`
	MaxTokens       int64          `json:"max_tokens"` // sampled, if every rollout used its whole limit
}

// maxCycles bounds a plan. More is a mistake in the schedule, and would fill memory with phases.
const maxCycles = 10_000

// MakePlan lays out the phases of a config for a task of the given sizes (WHALE, section 2; phase ends are cumulative).
func MakePlan(c Config, n Counts) (Plan, error) {
	if n.Train < 1 || n.Search < 1 || n.Test < 1 {
		return Plan{}, configErrorf("task: got %d train, %d search and %d test examples, want at least one of each", n.Train, n.Search, n.Test)
	}
	s, w := c.Schedule, c.Weight
	total := rsft.PhaseEnd(0, s.TotalEpochs, n.Train, w.Batch)
	if total < 1 {
		return Plan{}, configErrorf("schedule.total_epochs: got %g, which is no step of %d examples out of %d; want more epochs or a smaller weight.batch", s.TotalEpochs, w.Batch, n.Train)
	}
	cycles := math.Ceil(s.TotalEpochs/s.Epochs - 1e-9)
	if cycles > maxCycles {
		return Plan{}, configErrorf("schedule.epochs: got %g, which makes %.0f cycles of schedule.total_epochs %g, want at most %d", s.Epochs, cycles, s.TotalEpochs, maxCycles)
	}
	p := Plan{StepsAnEpoch: float64(n.Train) / float64(w.Batch), Steps: total, Cycles: int(cycles)}
	perSession, canaries := c.Search.Candidates*n.Search, c.Search.Candidates*min(c.Search.Canaries, n.Search)
	from := 0
	for cycle := range p.Cycles {
		last := cycle == p.Cycles-1
		to := min(total, rsft.PhaseEnd(cycle, s.Epochs, n.Train, w.Batch))
		if last {
			to = total
		}
		if to > from { // a cycle shorter than half a step has no weight phase
			p.add(PlannedPhase{Cycle: cycle, Kind: PhaseWeight, From: from, To: to, Steps: to - from, Rollouts: (to - from) * w.Batch * w.Group})
		}
		if s.Sessions > 0 && (!last || s.LastHarness) {
			p.add(PlannedPhase{Cycle: cycle, Kind: PhaseHarness, Sessions: s.Sessions, First: p.Sessions, Rollouts: n.Search + s.Sessions*perSession, Canaries: s.Sessions * canaries})
			p.Sessions += s.Sessions
		}
		from = to
	}
	for _, ph := range p.Phases {
		if ph.Kind == PhaseWeight {
			p.WeightRollouts += ph.Rollouts
		} else {
			p.SearchRollouts += ph.Rollouts
			p.CanaryRollouts += ph.Canaries
		}
	}
	p.CanaryRollouts += min(c.Search.Canaries, n.Search) // those of h_0, before anything else
	p.EvaluatedByPair = c.Evaluation.Draws * n.Test
	p.FinalRollouts = 4 * p.EvaluatedByPair
	if c.Evaluation.Curve {
		p.CurveRollouts = (len(p.Phases) + 1) * n.Test
		p.FinalRollouts -= 2 * n.Test // the starting and the final pair have their first draw from the curve
	}
	p.MaxTokens = int64(p.Total()) * int64(c.Limits.Tokens)
	return p, nil
}

// Total is the number of rollouts that the plan may make.
func (p Plan) Total() int {
	return p.WeightRollouts + p.SearchRollouts + p.CanaryRollouts + p.CurveRollouts + p.FinalRollouts
}

func (p *Plan) add(ph PlannedPhase) {
	ph.Index = len(p.Phases)
	p.Phases = append(p.Phases, ph)
}

// Space estimates the bytes that a run's folder will take, given the number of trained parameters (those of the adapter, with one).
func (p Plan) Space(c Config, trained int64) int64 {
	snapshot := trained * 12 // float32 weights and two moments
	ends := 0
	for _, ph := range p.Phases {
		if ph.Kind == PhaseWeight {
			ends++
		}
	}
	const perRollout = 2 << 10 // a compressed trajectory and its row, rounded up from what quick runs show
	return snapshot*int64(ends+c.Snapshots.Last+2) + int64(p.Total())*perRollout
}
