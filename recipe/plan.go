package recipe

import (
	"fmt"

	"github.com/seed-095d5d2b/whale"
)

// The kinds of phases.
const (
	PhaseWeight  = "weight"
	PhaseHarness = "harness"
)

// PlannedPhase is one phase of a plan.
type PlannedPhase struct {
	Index     int    `json:"index"` // among all phases, from 0
	Cycle     int    `json:"cycle"` // from 0
	Kind      string `json:"kind"`
	From      int    `json:"from"` // weight: rollout steps [From, To), counted over the run; harness: both are the steps before it
	To        int    `json:"to"`
	Steps     int    `json:"steps,omitempty"`      // weight: To-From
	Sessions  int    `json:"sessions,omitempty"`   // harness
	First     int    `json:"first"`                // harness: sessions before this phase
	Marks     []int  `json:"marks,omitempty"`      // steps of the run, or sessions of the run, inside of the phase after which the pair is evaluated for the curve
	ByRule    bool   `json:"by_rule,omitempty"`    // it may end before its size, by the adaptive rule
	Rollouts  int    `json:"rollouts"`             // at most; canaries apart
	RunnersUp int    `json:"runners_up,omitempty"` // harness: of Rollouts those that score programs of earlier phases anew, at most
	Canaries  int    `json:"canaries,omitempty"`   // harness: trial episodes, at most
	Confirm   int    `json:"confirm,omitempty"`    // harness: fresh episodes before the choice, at most
}

// Name is the phase's name in journal and folders: "0-weight", "1-harness", ….
func (p PlannedPhase) Name() string { return fmt.Sprintf("%d-%s", p.Index, p.Kind) }

// Counts are the sizes that a plan needs to know of a task.
type Counts struct{ Train, Search, Validation, Test int }

// Plan is a run before it is spent.
type Plan struct {
	Method          string         `json:"method"`
	Phases          []PlannedPhase `json:"phases"`             // none where phases end by rule
	Adaptive        *AdaptiveRule  `json:"adaptive,omitempty"` // the rule
	Cycles          int            `json:"cycles"`
	StepsAnEpoch    float64        `json:"steps_an_epoch"`
	Steps           int            `json:"steps"`    // rollout steps of all weight phases
	Sessions        int            `json:"sessions"` // proposer sessions of all harness phases; of the adaptive method at most
	WeightRollouts  int            `json:"weight_rollouts"`
	SearchRollouts  int            `json:"search_rollouts"`  // at most; incumbents included, canaries apart
	CanaryRollouts  int            `json:"canary_rollouts"`  // at most
	ConfirmRollouts int            `json:"confirm_rollouts"` // at most
	CurveRollouts   int            `json:"curve_rollouts"`   // one draw an example of test and validation at every point
	HalvesRollouts  int            `json:"halves_rollouts"`  // the 2x2 of every cycle
	FinalRollouts   int            `json:"final_rollouts"`   // the four pairs and the two chosen ones, mean@k, at most, without the draws that the curve made
	EvaluatedByPair int            `json:"evaluated_by_pair"`
	MaxTokens       int64          `json:"max_tokens"` // sampled, if every rollout used its whole limit

	sizes   Counts
	split   whale.Split
	search  SearchConfig
	perStep int // rollouts

	lastHarness bool // the last cycle has its harness phase
}

// MakePlan lays out the phases of a config for a task of the given sizes (WHALE, section 2). The totals of every method are those of whale's cycles,
// so that budgets match by construction: rollout steps of the weight side, proposer sessions of the harness side; of the adaptive method at most.
func MakePlan(c Config, n Counts) (Plan, error) {
	if n.Train < 1 || n.Search < 1 || n.Test < 1 {
		return Plan{}, configErrorf("task: got %d train, %d search and %d test examples, want at least one of each", n.Train, n.Search, n.Test)
	}
	if c.Evaluation.Split == whale.SplitValidation && n.Validation < 1 {
		return Plan{}, configErrorf("evaluation.split: got validation, and the task has no validation examples; want test")
	}
	spans, err := c.Schedule.spans(n.Train, c.Weight.Batch)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Method: c.Schedule.Method, StepsAnEpoch: float64(n.Train) / float64(c.Weight.Batch), Cycles: len(spans), sizes: n, split: c.Evaluation.Split, search: c.Search, perStep: c.Weight.Batch * c.Weight.Group, lastHarness: c.Schedule.LastHarness}
	last := spans[len(spans)-1]
	if p.Method != MethodHarnessOnly {
		p.Steps = last.to
	}
	if p.Method != MethodWeightOnly {
		p.Sessions = last.sessions
	}
	p.lay(spans)
	if p.Method == MethodWeightOnly || p.Method == MethodHarnessOnly || p.Method == MethodStagewise {
		p.Cycles = 1
	}
	if p.Method == MethodAdaptive {
		rule := c.Schedule.Adaptive.rule(n.Train, c.Weight.Batch, p.Steps)
		p.Adaptive = &rule
	}
	p.count(c)
	return p, nil
}

// lay makes the phases of every method but the adaptive one, whose phases are known one by one ([Plan.Next]).
func (p *Plan) lay(spans []span) {
	var steps, sessions []int // where whale's phases end
	for _, s := range spans {
		if len(steps) == 0 && s.to > 0 || len(steps) > 0 && s.to > steps[len(steps)-1] {
			steps = append(steps, s.to)
		}
		if len(sessions) == 0 && s.sessions > 0 || len(sessions) > 0 && s.sessions > sessions[len(sessions)-1] {
			sessions = append(sessions, s.sessions)
		}
	}
	switch p.Method {
	case MethodWeightOnly, MethodHarnessOnly, MethodStagewise:
		if p.Steps > 0 {
			p.Phases = append(p.Phases, p.weightPhase(0, 0, 0, p.Steps, inside(steps)))
		}
		if p.Sessions > 0 {
			p.Phases = append(p.Phases, p.harnessPhase(len(p.Phases), 0, p.Steps, 0, p.Sessions, inside(sessions)))
		}
	case MethodAdaptive:
	default:
		var was span
		for cycle, s := range spans {
			if s.to > was.to { // a cycle shorter than half a step has no weight phase
				p.Phases = append(p.Phases, p.weightPhase(len(p.Phases), cycle, was.to, s.to, nil))
			}
			if s.sessions > was.sessions {
				p.Phases = append(p.Phases, p.harnessPhase(len(p.Phases), cycle, s.to, was.sessions, s.sessions-was.sessions, nil))
			}
			was = s
		}
	}
}

// inside leaves out the end.
func inside(ends []int) []int { return ends[:max(0, len(ends)-1)] }

func (p *Plan) weightPhase(index, cycle, from, to int, marks []int) PlannedPhase {
	return PlannedPhase{Index: index, Cycle: cycle, Kind: PhaseWeight, From: from, To: to, Steps: to - from, Marks: marks, Rollouts: (to - from) * p.perStep}
}

func (p *Plan) harnessPhase(index, cycle, steps, first, sessions int, marks []int) PlannedPhase {
	// Runners-up come from the sessions before.
	most := p.search.PhaseConfig(sessions).MostRollouts(p.sizes.Search, min(p.search.RunnersUp, first*p.search.Candidates))
	return PlannedPhase{
		Index: index, Cycle: cycle, Kind: PhaseHarness, From: steps, To: steps, First: first, Sessions: sessions, Marks: marks,
		Rollouts: most.Search(), RunnersUp: most.RunnersUp, Canaries: most.Canaries, Confirm: most.Confirm,
	}
}

// ended is a harness phase that really had some sessions.
func (p Plan) ended(ph PlannedPhase, sessions int) PlannedPhase {
	if sessions == ph.Sessions {
		return ph
	}
	was := ph
	ph = p.harnessPhase(was.Index, was.Cycle, was.From, was.First, sessions, was.Marks)
	ph.ByRule = was.ByRule
	return ph
}

// Next gives the phase after those that are done, with the steps and sessions that they really took; ok is false at the end of the run. An
// adaptive phase may end before its planned size, which is its cap. An adaptive run takes all steps, and at most the sessions: it ends with the
// harness phase after the last step, by its rule, since a search that goes on under weights which do not change any more only finds what is
// lucky on the search split. For that phase the least sessions of a phase are kept back; once the others are used up, one weight phase takes the
// steps that are left, without the rule, for no search could follow an earlier end.
func (p Plan) Next(done []PlannedPhase) (next PlannedPhase, ok bool) {
	i := len(done)
	if p.Adaptive == nil {
		if i >= len(p.Phases) {
			return next, false
		}
		return p.Phases[i], true
	}
	steps, sessions, cycle, last := 0, 0, 0, PhaseHarness
	for _, ph := range done {
		steps, sessions, cycle, last = steps+ph.Steps, sessions+ph.Sessions, ph.Cycle, ph.Kind
	}
	stepsLeft, sessionsLeft := p.Steps-steps, p.Sessions-sessions
	if last == PhaseHarness && i > 0 {
		cycle++
	}
	kept := 0 // sessions of the phase after the last step
	if p.lastHarness {
		kept = p.Adaptive.MinimumSessions
	}
	switch {
	case last == PhaseWeight && stepsLeft > 0:
		next = p.harnessPhase(i, cycle, steps, sessions, min(sessionsLeft-kept, p.Adaptive.MaximumSessions), nil)
	case last == PhaseWeight && p.lastHarness && sessionsLeft > 0:
		next = p.harnessPhase(i, cycle, steps, sessions, min(sessionsLeft, p.Adaptive.MaximumSessions), nil)
	case stepsLeft == 0:
		return next, false
	case sessionsLeft-kept < p.Adaptive.MinimumSessions:
		return p.weightPhase(i, cycle, steps, p.Steps, nil), true
	default:
		next = p.weightPhase(i, cycle, steps, steps+min(stepsLeft, p.Adaptive.Maximum), nil)
	}
	next.ByRule = true
	return next, true
}

// capped says whether a phase by rule that took its whole size has as much as the rule lets any phase have; else the total was the limit.
func (p Plan) capped(ph PlannedPhase) bool {
	if ph.Kind == PhaseWeight {
		return ph.Steps == p.Adaptive.Maximum && ph.To < p.Steps
	}
	return ph.Sessions == p.Adaptive.MaximumSessions && ph.First+ph.Sessions < p.Sessions
}

// count adds up what the phases may take at most.
func (p *Plan) count(c Config) {
	p.WeightRollouts = p.Steps * p.perStep
	harnessPhases, points, halves := 0, 1+len(p.Phases), 1
	for _, ph := range p.Phases {
		points += len(ph.Marks)
		if ph.Kind == PhaseHarness {
			harnessPhases++
		}
		halves = ph.Cycle + 1
	}
	if a := p.Adaptive; a != nil {
		harnessPhases = a.mostHarness(p.Steps, p.Sessions)
		cycles := harnessPhases
		if harnessPhases == 0 || !p.lastHarness {
			cycles++ // of a weight phase alone
		}
		points, halves = 1+cycles+harnessPhases, cycles
	}
	if p.Adaptive == nil {
		for _, ph := range p.Phases {
			if ph.Kind == PhaseHarness {
				p.SearchRollouts, p.CanaryRollouts, p.ConfirmRollouts = p.SearchRollouts+ph.Rollouts, p.CanaryRollouts+ph.Canaries, p.ConfirmRollouts+ph.Confirm
			}
		}
	} else if harnessPhases > 0 {
		first, later := p.harnessPhase(0, 0, 0, 0, p.Sessions, nil), p.harnessPhase(0, 0, 0, p.Sessions, 0, nil)
		p.SearchRollouts = first.Rollouts + (harnessPhases-1)*later.Rollouts
		p.CanaryRollouts, p.ConfirmRollouts = first.Canaries, harnessPhases*max(first.Confirm, later.Confirm)
	}
	p.CanaryRollouts += min(c.Search.Canaries, p.sizes.Search) // those of h_0, before anything else
	p.EvaluatedByPair = c.Evaluation.Draws * p.evaluated()
	p.FinalRollouts = 4 * p.EvaluatedByPair
	if c.Evaluation.Halves {
		p.HalvesRollouts = halves * 4 * p.sizes.Search
	}
	if c.Evaluation.Curve {
		p.CurveRollouts = points * p.pointRollouts()
		p.FinalRollouts += 2*p.EvaluatedByPair - 4*p.evaluated() // the best on validation and on test; the curve made the first draw of the starting, the final and these pairs
		if !p.choosesOnValidation() {
			p.FinalRollouts -= p.EvaluatedByPair - p.evaluated()
		}
	}
	p.MaxTokens = int64(p.Total()) * int64(c.Limits.Tokens)
}

// pointRollouts is what one point of the curve takes.
func (p Plan) pointRollouts() int {
	if p.choosesOnValidation() {
		return p.evaluated() + p.sizes.Validation
	}
	return p.evaluated()
}

// choosesOnValidation says whether a pair can be chosen on validation: the curve has it beside the split of evaluation.
func (p Plan) choosesOnValidation() bool {
	return p.split == whale.SplitTest && p.sizes.Validation > 0
}

// evaluated is the number of examples of curves and final table.
func (p Plan) evaluated() int {
	if p.split == whale.SplitValidation {
		return p.sizes.Validation
	}
	return p.sizes.Test
}

// Total is the number of rollouts that the plan may make.
func (p Plan) Total() int {
	return p.WeightRollouts + p.SearchRollouts + p.CanaryRollouts + p.ConfirmRollouts + p.CurveRollouts + p.HalvesRollouts + p.FinalRollouts
}

// Space estimates the bytes that a run's folder will take, given the number of trained parameters (those of the adapter, with one).
func (p Plan) Space(c Config, trained int64) int64 {
	snapshot := trained * 12 // float32 weights and two moments
	ends := 0
	for _, ph := range p.Phases {
		if ph.Kind == PhaseWeight {
			ends += 1 + len(ph.Marks)
		}
	}
	if a := p.Adaptive; a != nil {
		ends = a.mostWeight(p.Steps)
	}
	const perRollout = 2 << 10 // a compressed trajectory and its row, rounded up from what quick runs show
	return snapshot*int64(ends+c.Snapshots.Last+2) + int64(p.Total())*perRollout
}
