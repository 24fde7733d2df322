package recipe

import "slices"

// Counting is the size of a harness phase as others count it: the paper gives I × M × |D_harness| rollouts for I iterations, its public launcher takes
// the evaluation of the incoming harness as iteration 1. Plans count what is really run: sessions, and the incoming harness apart.
type Counting struct {
	Sessions   int `json:"sessions"`   // I
	Candidates int `json:"candidates"` // M
	Examples   int `json:"examples"`   // |D_harness|
	Paper      int `json:"paper"`      // rollouts of I sessions
	Launcher   int `json:"launcher"`   // rollouts of the incoming harness and I-1 sessions
}

// Countings are those of the plan's harness phases, one for each size that they have.
func (p Plan) Countings() []Counting {
	var sizes []int
	for _, ph := range p.Phases {
		if ph.Kind == PhaseHarness && !slices.Contains(sizes, ph.Sessions) {
			sizes = append(sizes, ph.Sessions)
		}
	}
	if a := p.Adaptive; a != nil {
		sizes = append(sizes, a.MinimumSessions)
		if a.MaximumSessions != a.MinimumSessions {
			sizes = append(sizes, a.MaximumSessions)
		}
	}
	out := make([]Counting, len(sizes))
	for i, sessions := range sizes {
		m, n := p.search.Candidates, p.sizes.Search
		out[i] = Counting{Sessions: sessions, Candidates: m, Examples: n, Paper: sessions * m * n, Launcher: n + (sessions-1)*m*n}
	}
	return out
}
