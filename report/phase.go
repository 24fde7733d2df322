package report

import (
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/recipe"
)

// Phase is one phase as it was.
type Phase struct {
	Index   int    `json:"index"`
	Cycle   int    `json:"cycle"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Done    bool   `json:"done"`
	Planned int    `json:"planned,omitempty"` // steps or sessions that it might have had at most; 0 = not known
	Made    int    `json:"made"`              // steps or sessions
	End     string `json:"end,omitempty"`     // code of why it ended: budget, cap, rule, …
	Why     string `json:"why"`               // it ended, with the numbers

	Weights whale.ID `json:"weights,omitempty"` // at its end
	Harness whale.ID `json:"harness,omitempty"` // at its end; of a harness phase: the accepted program

	// Weight phases that the adaptive rule may end: what it saw at the end.
	Window *Window `json:"window,omitempty"`

	// Harness phases.
	Incoming     *float64                  `json:"incoming,omitempty"`   // score of the harness that came in, search split
	Accepted     *float64                  `json:"accepted,omitempty"`   // score of the accepted program
	RunnersUp    []Candidate               `json:"runners_up,omitempty"` // programs of earlier phases, scored anew under the phase's weights
	Sessions     []Session                 `json:"sessions,omitempty"`
	Choices      []metaharness.Choice      `json:"choices,omitempty"`      // with paired acceptance
	Confirmation *metaharness.Confirmation `json:"confirmation,omitempty"` // with re-evaluation: the fresh scores that decided
}

// Window is the moving average of rewards that the adaptive rule watches.
type Window struct {
	Mean   float64 `json:"mean"`    // of the phase's last window
	Best   float64 `json:"best"`    // highest of the phase
	BestAt int     `json:"best_at"` // the step of the phase that set it, from 1
}

// Session is one proposer session.
type Session struct {
	Session    int               `json:"session"` // counted over the run, from 1
	Error      string            `json:"error,omitempty"`
	Cost       whale.SessionCost `json:"cost"`
	Candidates []Candidate       `json:"candidates"`
	Best       *float64          `json:"best,omitempty"` // best score of the phase so far
}

// Candidate is what became of a program.
type Candidate struct {
	Name       string   `json:"name"`
	ID         whale.ID `json:"id"`
	Hypothesis string   `json:"hypothesis,omitempty"` // what its proposer expected of it
	Status     string   `json:"status"`
	Gate       string   `json:"gate,omitempty"`
	Reason     string   `json:"reason,omitempty"`
	Score      *float64 `json:"score,omitempty"` // search split

	// Of the episodes behind the score; of a program that racing stopped, those that were run, without Failed and SampledTokens.
	Examples      int `json:"examples,omitempty"`
	Passed        int `json:"passed,omitempty"`
	Failed        int `json:"failed,omitempty"`
	SampledTokens int `json:"sampled_tokens,omitempty"`
}

func readPhase(st *recipe.Story, ph recipe.PhaseStory) Phase {
	p := Phase{
		Index: ph.Index, Cycle: ph.Cycle, Kind: ph.Kind, Name: ph.Name(), Done: ph.Done, Planned: planned(st, ph),
		End: ph.Why, Why: strings.TrimPrefix(ph.Text, "phase "+ph.Name()+" ended: "), Weights: ph.Weights, Harness: ph.Harness,
		Incoming: ph.Incoming, Accepted: ph.Accepted, Choices: ph.Choices, Confirmation: ph.Confirmation,
	}
	if ph.Window != nil {
		p.Window = &Window{ph.Window.Mean, ph.Window.Best, ph.Window.BestAt}
	}
	if ph.Done {
		p.Made = ph.Sessions
		if ph.Kind == recipe.PhaseWeight {
			p.Made = ph.Steps
		}
	} else {
		p.Made = len(ph.Searched) // steps of an unfinished weight phase are counted by the caller
		p.Why = "not ended"
	}
	var best *float64
	raise := func(score float64) {
		if best == nil || score > *best {
			best = &score
		}
	}
	if ph.Incoming != nil {
		raise(*ph.Incoming)
	}
	scored := func(c recipe.SearchedCandidate) Candidate {
		q := Candidate{Name: c.Name, ID: c.ID, Hypothesis: c.Hypothesis, Status: string(c.Status), Gate: c.Gate, Reason: c.Reason}
		if s := c.Score; s != nil {
			q.Score, q.Examples, q.Passed, q.Failed, q.SampledTokens = &s.Mean, s.Examples, s.Passed, s.Failed, s.SampledTokens
			if c.Status == metaharness.StatusEvaluated {
				raise(s.Mean)
			}
		} else if s := c.Partial; s != nil {
			q.Examples, q.Passed = s.Examples, s.Passed
		}
		return q
	}
	for _, c := range ph.RunnersUp {
		p.RunnersUp = append(p.RunnersUp, scored(c))
	}
	for i, s := range ph.Searched {
		out := Session{Session: s.Session + 1, Error: s.Error, Cost: s.Cost}
		for _, c := range s.Candidates {
			out.Candidates = append(out.Candidates, scored(c))
		}
		out.Best = best
		if ph.Search != nil && i+1 < len(ph.Search.Best) {
			out.Best = &ph.Search.Best[i+1]
		}
		p.Sessions = append(p.Sessions, out)
	}
	return p
}

// planned is the most that a phase might have had, 0 where the journal does not tell: it records a phase as it was.
func planned(st *recipe.Story, ph recipe.PhaseStory) int {
	switch {
	case !ph.Done:
		return 0
	case ph.Search != nil:
		return ph.Search.Planned
	case ph.Why != recipe.EndRule:
		return ph.Steps // nothing ended it early
	case st.Begin.Rule == nil || len(st.Final) == 0:
		return 0
	}
	total := 0 // steps of a finished adaptive run, which takes them all
	for _, p := range st.Phases {
		total = max(total, p.To)
	}
	return min(st.Begin.Rule.Maximum, total-ph.From)
}
