package recipe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/modelupdate"
	"github.com/seed-095d5d2b/whale/store"
)

// Story is what a run did, read from its directory: decisions, counts and rewards, no trajectories. The run may be under way, or be stopped.
type Story struct {
	Dir    string       `json:"dir"`
	Config Config       `json:"-"`
	Begin  Begin        `json:"begin"`
	Phases []PhaseStory `json:"phases"` // in order; the last may be unfinished
	Steps  []StepStory  `json:"steps"`  // rollout steps in order
	Curve  []CurvePoint `json:"curve"`
	Halves []Halves     `json:"halves,omitempty"` // a cycle each
	Final  []Pair       `json:"final,omitempty"`  // nil while the run is unfinished; Result.Rewards is filled
	Matrix []Matrix     `json:"matrix,omitempty"` // what was measured of every weights with every harness

	Ledger map[string]map[string]float64 `json:"ledger"` // by purpose and counter
	Chance *float64                      `json:"chance,omitempty"`
	Tried  Tried                         `json:"tried"`

	// TestExamples are the ids of the test examples, sorted: row i of every Final.Rewards is TestExamples[i].
	TestExamples []string `json:"-"`
}

// Begin is what a run began with.
type Begin struct {
	Task     whale.ID `json:"task"`
	Renderer whale.ID `json:"renderer"`
	Weights  whale.ID `json:"weights"` // θ_0
	Harness  whale.ID `json:"harness"` // h_0
	Source   string   `json:"source"`  // of h_0
	Kernels  string   `json:"kernels"` // of the first opening
	Build    string   `json:"build,omitempty"`

	Rule *AdaptiveRule `json:"rule,omitempty"` // of the adaptive method, in rollout steps
}

// PhaseStory is a phase that began.
type PhaseStory struct {
	PlannedPhase                           // as it really was, where it is done
	Done         bool                      `json:"done"`
	Why          string                    `json:"why,omitempty"`  // EndBudget, EndCap, EndRule or EndRest
	Text         string                    `json:"text,omitempty"` // the same for people, with the numbers
	Window       *WindowStop               `json:"window,omitempty"`
	Search       *metaharness.End          `json:"search,omitempty"`
	Weights      whale.ID                  `json:"weights,omitempty"` // at its end
	Harness      whale.ID                  `json:"harness,omitempty"` // at its end
	Source       string                    `json:"source,omitempty"`  // of that harness; harness phases
	Incoming     *float64                  `json:"incoming,omitempty"`
	RunnersUp    []SearchedCandidate       `json:"runners_up,omitempty"`   // harness phase: programs of earlier phases, scored anew
	Accepted     *float64                  `json:"accepted,omitempty"`     // score of the accepted harness
	Searched     []SearchedSession         `json:"searched,omitempty"`     // harness phase: sessions in order
	Choices      []metaharness.Choice      `json:"choices,omitempty"`      // with paired acceptance: the tests, in order
	Confirmation *metaharness.Confirmation `json:"confirmation,omitempty"` // with re-evaluation: the fresh scores that decided
}

// SearchedSession is a proposer session with what became of its candidates.
type SearchedSession struct {
	Session    int                 `json:"session"` // of the run, from 0
	Error      string              `json:"error,omitempty"`
	Cost       whale.SessionCost   `json:"cost"`
	Candidates []SearchedCandidate `json:"candidates"`
}

// SearchedCandidate is one candidate.
type SearchedCandidate struct {
	Name       string   `json:"name"`
	ID         whale.ID `json:"id"`
	Hypothesis string   `json:"hypothesis,omitempty"`
	metaharness.Decision
}

// StepStory is a rollout step.
type StepStory struct {
	modelupdate.StepResult
	Weights whale.ID `json:"weights"` // after it
	Phase   int      `json:"phase"`   // index of its phase
}

// Tried says how much was really tried.
type Tried struct {
	Sessions       int            `json:"sessions"`
	Unspent        int            `json:"unspent,omitempty"` // sessions that a finished adaptive run did not hold
	FailedSessions int            `json:"failed_sessions"`   // the proposer failed
	Proposed       int            `json:"proposed"`
	Evaluated      int            `json:"evaluated"`
	Stopped        int            `json:"stopped"` // by racing, before they were complete
	Incomplete     int            `json:"incomplete"`
	Rejected       map[string]int `json:"rejected"` // by gate
	Accepted       int            `json:"accepted"` // phases that accepted another harness than came in
	Phases         int            `json:"phases"`   // harness phases that ended
	Steps          int            `json:"steps"`
	EmptySteps     int            `json:"empty_steps"` // steps in which nothing was accepted: no update
}

// ReadStory reads a run directory, without a lock: another process may be at work in it.
func ReadStory(ctx context.Context, dir string) (*Story, error) {
	s, err := store.OpenReadOnly(dir)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	story, err := readStory(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return story, nil
}

func readStory(ctx context.Context, s *store.Run) (*Story, error) {
	st := &Story{Dir: s.Dir()}
	var err error
	if st.Config, err = ParseConfig(filepath.Join(s.Dir(), "config.yaml"), s.Config()); err != nil {
		return nil, err
	}
	events, err := s.Events(ctx)
	if err != nil {
		return nil, err
	}
	if st.Ledger, err = s.Ledger(ctx); err != nil {
		return nil, err
	}
	t := teller{story: st}
	for _, e := range events {
		if err := t.hear(e); err != nil {
			return nil, fmt.Errorf("event %d (%s %s): %w", e.Seq, e.Kind, e.Op, err)
		}
	}
	t.end()
	return st, st.readRewards(ctx, s)
}

// teller puts a journal's events into a story, in order.
type teller struct {
	story *Story
	byOp  map[string]*decidedOp // decisions of the phase under way, by operation
	phase int                   // index of the phase under way
}

type decidedOp struct{ phase, session, candidate int }

func (t *teller) hear(e store.Event) error {
	st := t.story
	switch e.Kind {
	case kindBegin:
		return json.Unmarshal(e.Data, &st.Begin)
	case kindOpen:
		if st.Begin.Kernels == "" {
			return json.Unmarshal(e.Data, &st.Begin)
		}
	case kindStep:
		var rec stepRecord
		if err := json.Unmarshal(e.Data, &rec); err != nil {
			return err
		}
		st.Steps = append(st.Steps, StepStory{rec.StepResult, rec.Weights, t.phase})
		st.Tried.Steps++
		if rec.Updates == 0 {
			st.Tried.EmptySteps++
		}
	case kindCurve:
		return appendTo(&st.Curve, e.Data)
	case kindHalves:
		return appendTo(&st.Halves, e.Data)
	case kindMatrix:
		return appendTo(&st.Matrix, e.Data)
	case kindHarness:
		var rec harnessRecord
		if err := json.Unmarshal(e.Data, &rec); err != nil {
			return err
		}
		ph := t.current(PhaseHarness)
		ph.Source, ph.Incoming, ph.Accepted, ph.Confirmation = rec.Source, &rec.Before, &rec.After, rec.Confirmation
		st.Tried.Phases++
		if rec.Accepted != rec.Incoming {
			st.Tried.Accepted++
		}
	case kindPhase:
		var rec phaseEnd
		if err := json.Unmarshal(e.Data, &rec); err != nil {
			return err
		}
		if k := rec.Phase.Kind; rec.Phase.Index != t.phase || k != PhaseWeight && k != PhaseHarness {
			return fmt.Errorf("got phase %d, %q, want phase %d, %s or %s; the run directory was changed", rec.Phase.Index, k, t.phase, PhaseWeight, PhaseHarness)
		}
		ph := t.current(rec.Phase.Kind)
		ph.PlannedPhase, ph.Done, ph.Why, ph.Text = rec.Phase, true, rec.Why, rec.describe()
		ph.Window, ph.Search, ph.Weights, ph.Harness = rec.Window, rec.Search, rec.Weights, rec.Harness
		t.phase++
	case metaharness.KindSession:
		return t.hearSession(e)
	case metaharness.KindDecision:
		return t.hearDecision(e)
	case metaharness.KindChoice:
		return appendTo(&t.current(PhaseHarness).Choices, e.Data)
	case kindFinal:
		var rec finalRecord
		if err := json.Unmarshal(e.Data, &rec); err != nil {
			return err
		}
		if rec.Unspent < 0 || rec.Unspent > 1e9 {
			return fmt.Errorf("got %d unspent sessions, want 0 to 10^9; the run directory was changed", rec.Unspent)
		}
		st.Final, st.Chance, st.Tried.Unspent = rec.Pairs, rec.Chance, rec.Unspent
	}
	return nil
}

// current gives the phase under way, of a kind; what a phase writes first makes it.
func (t *teller) current(kind string) *PhaseStory {
	for len(t.story.Phases) <= t.phase {
		ph := PlannedPhase{Index: len(t.story.Phases), Kind: kind}
		if n := len(t.story.Phases); n > 0 { // of a phase under way the journal does not say where it stands; the one before it does
			before := t.story.Phases[n-1]
			ph.Cycle, ph.From, ph.To, ph.First = before.Cycle, before.To, before.To, before.First+before.Sessions
			if before.Kind == PhaseHarness || kind == PhaseWeight {
				ph.Cycle++
			}
		}
		t.story.Phases = append(t.story.Phases, PhaseStory{PlannedPhase: ph})
	}
	return &t.story.Phases[t.phase]
}

func (t *teller) hearSession(e store.Event) error {
	var rec metaharness.SessionRecord
	if err := json.Unmarshal(e.Data, &rec); err != nil {
		return err
	}
	ph := t.current(PhaseHarness)
	s := SearchedSession{Session: rec.Session, Error: rec.Error, Cost: rec.Cost}
	for i, c := range rec.Candidates {
		s.Candidates = append(s.Candidates, SearchedCandidate{Name: c.Name, ID: c.ID, Hypothesis: c.Hypothesis})
		if t.byOp == nil {
			t.byOp = map[string]*decidedOp{}
		}
		t.byOp[fmt.Sprintf("%s/candidate-%d", e.Op, i)] = &decidedOp{t.phase, len(ph.Searched), i}
	}
	ph.Searched = append(ph.Searched, s)
	t.story.Tried.Sessions++
	if rec.Error != "" {
		t.story.Tried.FailedSessions++
	}
	return nil
}

func (t *teller) hearDecision(e store.Event) error {
	at := t.byOp[e.Op]
	if at == nil {
		return t.hearStart(e)
	}
	if at.phase != t.phase {
		return errors.New("a decision about a session of another phase; the run directory was changed")
	}
	var d metaharness.Decision
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	t.current(PhaseHarness).Searched[at.session].Candidates[at.candidate].Decision = d
	tried := &t.story.Tried
	tried.Proposed++
	switch d.Status {
	case metaharness.StatusEvaluated:
		tried.Evaluated++
	case metaharness.StatusRejected:
		if tried.Rejected == nil {
			tried.Rejected = map[string]int{}
		}
		tried.Rejected[d.Gate]++
	case metaharness.StatusStopped:
		tried.Stopped++
	default:
		tried.Incomplete++
	}
	return nil
}

// hearStart hears of the programs that a harness phase begins with. Of the incoming one, the phase's own entries tell.
func (t *teller) hearStart(e store.Event) error {
	at, id, ok := strings.Cut(e.Op, "/runner-up/") // at: phase and weights
	if !ok {
		return nil
	}
	phase, _, _ := strings.Cut(at, "/")
	ph := t.current(PhaseHarness)
	if phase != ph.Name() {
		return fmt.Errorf("a runner-up of phase %.40q in phase %s; the run directory was changed", phase, ph.Name())
	}
	if len(ph.RunnersUp) >= t.story.Config.Search.RunnersUp {
		return fmt.Errorf("phase %s has more than %d runners-up (search.runners_up); the run directory was changed", ph.Name(), t.story.Config.Search.RunnersUp)
	}
	c := SearchedCandidate{Name: fmt.Sprintf("runner-up-%d", len(ph.RunnersUp)+1), ID: whale.ID(id)}
	if err := json.Unmarshal(e.Data, &c.Decision); err != nil {
		return err
	}
	ph.RunnersUp = append(ph.RunnersUp, c)
	return nil
}

// end looks at what an unfinished phase has left.
func (t *teller) end() {
	for i := range t.story.Steps {
		if t.story.Steps[i].Phase >= len(t.story.Phases) {
			t.current(PhaseWeight)
		}
	}
}

// appendTo decodes one more.
func appendTo[T any](list *[]T, data []byte) error {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*list = append(*list, v)
	return nil
}

// readRewards fills the final pairs' rewards from the rollouts.
func (st *Story) readRewards(ctx context.Context, s *store.Run) error {
	if len(st.Final) == 0 {
		return nil
	}
	type pair struct{ weights, harness string }
	byPair := map[pair]map[string][]float64{}
	most := 0 // draws that a pair's mean is over: what lies beyond is not kept
	for _, p := range st.Final {
		if p.Draws < 1 || p.Draws > maxDraws {
			return fmt.Errorf("the final table's %s: got %d draws, want 1 to %d; the run directory was changed", p.Name, p.Draws, maxDraws)
		}
		most = max(most, p.Draws)
		byPair[pair{string(p.Weights), string(p.Harness)}] = map[string][]float64{}
	}
	for row, err := range s.Rollouts(ctx, store.Filter{Purpose: string(st.Config.Evaluation.Purpose())}) {
		if err != nil {
			return err
		}
		rows := byPair[pair{row.Weights, row.Harness}]
		if rows == nil || row.Reward == nil {
			continue
		}
		draws := rows[row.ExampleID]
		if row.Draw < 0 || row.Draw >= most {
			continue
		}
		for len(draws) <= row.Draw {
			draws = append(draws, -1)
		}
		draws[row.Draw] = *row.Reward
		rows[row.ExampleID] = draws
	}
	for i := range st.Final {
		p := &st.Final[i]
		rows := byPair[pair{string(p.Weights), string(p.Harness)}]
		ids := make([]string, 0, len(rows))
		for id := range rows {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		if st.TestExamples == nil {
			st.TestExamples = ids
		}
		if !slices.Equal(ids, st.TestExamples) || len(ids) != p.Examples {
			return fmt.Errorf("the final table's %s: the journal has rollouts of %d test examples, want %d; the run directory was changed", p.Name, len(ids), p.Examples)
		}
		p.Rewards = nil
		for _, id := range ids {
			draws := rows[id]
			if len(draws) < p.Draws || slices.Contains(draws[:p.Draws], -1) {
				return fmt.Errorf("the final table's %s: a test example lacks one of its %d rollouts; the run directory was changed", p.Name, p.Draws)
			}
			p.Rewards = append(p.Rewards, draws[:p.Draws])
		}
	}
	return nil
}

// maxDraws bounds the draws of one example, as evaluation.draws does.
const maxDraws = 1000

// Method is the run's method.
func (st *Story) Method() string { return st.Config.Schedule.Method }

// FinalPair gives a pair of the final table by name.
func (st *Story) FinalPair(name string) (Pair, bool) {
	for _, p := range st.Final {
		if p.Name == name {
			return p, true
		}
	}
	return Pair{}, false
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// String says how much was tried, for people.
func (t Tried) String() string {
	var parts []string
	if t.Sessions > 0 {
		text := fmt.Sprintf("%d proposed in %s", t.Proposed, english.Plural(t.Sessions, "session", ""))
		if t.Unspent > 0 {
			text += fmt.Sprintf(" of %d", t.Sessions+t.Unspent)
		}
		text += fmt.Sprintf(", %d evaluated", t.Evaluated)
		for _, g := range sortedKeys(t.Rejected) {
			text += fmt.Sprintf(", %d rejected (%s)", t.Rejected[g], g)
		}
		for _, k := range []struct {
			n    int
			what string
		}{{t.Stopped, "stopped early"}, {t.Incomplete, "not scored"}, {t.FailedSessions, english.PluralWord(t.FailedSessions, "failed session", "")}} {
			if k.n > 0 {
				text += fmt.Sprintf(", %d %s", k.n, k.what)
			}
		}
		parts = append(parts, text, fmt.Sprintf("%d of %s accepted another harness", t.Accepted, english.Plural(t.Phases, "harness phase", "")))
	}
	if t.Steps > 0 {
		parts = append(parts, fmt.Sprintf("%s, %d with nothing to learn from", english.Plural(t.Steps, "step", ""), t.EmptySteps))
	}
	if len(parts) == 0 {
		return "nothing yet"
	}
	return strings.Join(parts, "; ")
}
