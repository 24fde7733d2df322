package recipe

import (
	"context"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/metaharness/propose/evolve"
	"github.com/seed-095d5d2b/whale/metaharness/propose/random"
)

// The kinds of harness search.
const (
	SearchMetaHarness  = "meta-harness"
	SearchBestOfRandom = "best-of-random"
)

// PhaseConfig is the size of a harness phase of some sessions, without what depends on the machine.
func (c SearchConfig) PhaseConfig(sessions int) metaharness.Config {
	return metaharness.Config{Sessions: sessions, Candidates: c.Candidates, CanaryEpisodes: c.Canaries, Selection: c.Selection}
}

// harnessSearch makes the search of the kind that the config names. stop ends the phase where the disk fails the proposer.
func harnessSearch(kind string, c metaharness.Config, d metaharness.Deps, stop context.CancelCauseFunc) metaharness.HarnessSearch {
	if kind == SearchBestOfRandom {
		d.Proposer = &diskProposer{random.New(), stop}
		return &metaharness.BestOfRandom{Config: c, Deps: d}
	}
	d.Proposer = &diskProposer{evolve.New(), stop}
	return &metaharness.Search{Config: c, Deps: d}
}

// rankedProgram is a program of a finished harness phase that the next ones may score anew.
type rankedProgram struct {
	ID     whale.ID `json:"id"`
	Source string   `json:"source"`
	Score  float64  `json:"score"` // under the weights of its phase, and compared with no other phase's
}

// bestOthers are the n best scored programs of a phase beside the accepted one, best first.
func bestOthers(ranked []metaharness.Entry, n int) []rankedProgram {
	var out []rankedProgram
	for _, e := range ranked[1:min(len(ranked), n+1)] {
		out = append(out, rankedProgram{ID: e.ID, Source: e.Source, Score: e.Score.Mean})
	}
	return out
}

// runnersUp are the programs that a phase scores anew beside its incoming harness: the best others of the phase before, and where it has
// too few those of the ones before that. Scores decide within a phase alone, because each phase has weights of its own; what was good in
// an early phase and still is has a score of the latest.
func (r *Run) runnersUp(ctx context.Context, ph PlannedPhase) ([]whale.Harness, error) {
	var out []whale.Harness
	known := map[whale.ID]bool{r.harness.ID(): true}
	for i := ph.Index - 1; i >= 0; i-- {
		var rec harnessRecord
		name := PlannedPhase{Index: i, Kind: PhaseHarness}.Name()
		if _, err := r.journal.Lookup(ctx, kindHarness, name, &rec); err != nil {
			return nil, err
		}
		for _, p := range rec.Ranked {
			if len(out) == r.Config.Search.RunnersUp {
				return out, nil
			}
			if known[p.ID] {
				continue
			}
			known[p.ID] = true
			h, err := r.stored(p.ID, []byte(p.Source))
			if err != nil {
				return nil, err
			}
			out = append(out, h)
		}
	}
	return out, nil
}
