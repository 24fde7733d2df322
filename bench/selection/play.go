package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// playing says what is played.
type playing struct {
	phases, sessions      int
	level, racing, better float64
	seed                  uint64
	dir                   string
}

const candidates = 3 // a session

// way is a row of the table.
type way struct {
	name string
	s    metaharness.Selection
}

func (p playing) ways() []way {
	const paired = metaharness.AcceptPaired
	return []way{
		{"argmax (the paper's)", metaharness.Selection{}},
		{fmt.Sprintf("racing %g", p.racing), metaharness.Selection{Racing: p.racing}},
		{fmt.Sprintf("racing %g", 5*p.racing), metaharness.Selection{Racing: 5 * p.racing}},
		{"reevaluate 2", metaharness.Selection{Reevaluate: 2}},
		{"reevaluate 2, draws 2, racing", metaharness.Selection{Reevaluate: 2, Draws: 2, Racing: p.racing}},
		{"paired, mcnemar", metaharness.Selection{Accept: paired, Level: p.level}},
		{"paired, bootstrap", metaharness.Selection{Accept: paired, Level: p.level, Test: metaharness.TestBootstrap}},
		{"paired, mcnemar, racing", metaharness.Selection{Accept: paired, Level: p.level, Racing: p.racing}},
		{"paired, mcnemar, reevaluate 2", metaharness.Selection{Accept: paired, Level: p.level, Reevaluate: 2}},
		{"paired, mcnemar, reevaluate 2, draws 2, racing", metaharness.Selection{Accept: paired, Level: p.level, Reevaluate: 2, Draws: 2, Racing: p.racing}},
	}
}

// scene is a phase to play: what comes in, what the sessions propose, and what the truth is.
type scene struct {
	incoming whale.Harness
	proposed []string              // sources, in order
	truth    map[whale.ID]*program // by program; twins share one
	apart    bool                  // programs get independent draws, not common ones
}

// tally sums up what phases came to.
type tally struct {
	rollouts, twins, worse, better, could int
	gain                                  float64
}

// play plays every way in every kind of scene, and writes the table.
func (p playing) play(ctx context.Context, r *rewards, w io.Writer) error {
	dir, err := os.MkdirTemp(p.dir, "selection")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintf(w, "%d phases a row, %d sessions of %d candidates, level %g, racing %g, seed %d\n\n", p.phases, p.sessions, candidates, p.level, p.racing, p.seed)
	fmt.Fprintln(w, "| selection | twins: rollouts | accepts one | first phase: rollouts | finds a better one | accepts a worse one | gain | late phase: rollouts | finds a better one | accepts a worse one | gain |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|")
	for _, way := range p.ways() {
		var sums [3]tally
		for kind, make := range []func(r *rewards, rng *rand.Rand) scene{p.twins, p.early, p.late} {
			for n := range p.phases {
				// The same scenes for every way.
				rng := rand.New(rand.NewPCG(p.seed, uint64(n)<<8|uint64(kind)))
				if err := p.phase(ctx, dir, way.s, make(r, rng), rng.Uint64(), &sums[kind]); err != nil {
					return fmt.Errorf("%s: %w", way.name, err)
				}
			}
		}
		n := float64(p.phases)
		fmt.Fprintf(w, "| %s | %.0f | %.3f |", way.name, float64(sums[0].rollouts)/n, float64(sums[0].twins)/n)
		for _, s := range sums[1:] {
			fmt.Fprintf(w, " %.0f | %.2f | %.2f | %+.4f |", float64(s.rollouts)/n, float64(s.better)/max(1, float64(s.could)), float64(s.worse)/n, s.gain/n)
		}
		fmt.Fprintln(w)
	}
	return nil
}

// twins are phases whose candidates are all the incoming harness under other names, on independent draws.
func (p playing) twins(r *rewards, rng *rand.Rand) scene {
	start := &r.Programs[rng.IntN(len(r.Programs))]
	s := scene{incoming: known(start.Source), truth: map[whale.ID]*program{}, apart: true}
	s.truth[s.incoming.ID()] = start
	for i := range p.sessions * candidates {
		source := fmt.Sprintf("%s\n# twin %d\n", start.Source, i+1)
		s.proposed = append(s.proposed, source)
		s.truth[known(source).ID()] = start
	}
	return s
}

// early are phases that start from the config's harness, with the real programs as candidates.
func (p playing) early(r *rewards, rng *rand.Rand) scene { return p.from(r, 0, rng) }

// late are phases that start from one of the five best programs, so that little is left to find.
func (p playing) late(r *rewards, rng *rand.Rand) scene {
	rank := rng.IntN(min(5, len(r.Programs)))
	for i := range r.Programs {
		better := 0
		for k := range r.Programs {
			if a, b := r.Programs[k].mean(), r.Programs[i].mean(); a > b || a == b && k < i {
				better++
			}
		}
		if better == rank {
			return p.from(r, i, rng)
		}
	}
	panic("unreachable: ranks are a permutation")
}

func (p playing) from(r *rewards, start int, rng *rand.Rand) scene {
	s := scene{incoming: known(r.Programs[start].Source), truth: map[whale.ID]*program{}}
	for _, i := range rng.Perm(len(r.Programs)) {
		s.truth[known(r.Programs[i].Source).ID()] = &r.Programs[i]
		if i != start && len(s.proposed) < p.sessions*candidates {
			s.proposed = append(s.proposed, r.Programs[i].Source)
		}
	}
	return s
}

// phase plays one.
func (p playing) phase(ctx context.Context, dir string, sel metaharness.Selection, s scene, seed uint64, sum *tally) error {
	e := &drawn{scene: s, seed: seed, spent: map[string]bool{}}
	search := &metaharness.Search{
		Config: metaharness.Config{Sessions: p.sessions, Candidates: candidates, Selection: sel},
		Deps: metaharness.Deps{
			Proposer: script{s.proposed}, Evaluator: e, Log: journal{},
			Loader: func(_ string, source []byte) (whale.Harness, error) { return known(string(source)), nil },
		},
	}
	res, err := search.Run(ctx, metaharness.Phase{
		Op: "phase", Incoming: s.incoming, Weights: whale.WeightsRef{ID: "measured"}, RunSeed: seed, ArchiveDir: filepath.Join(dir, "archive"),
		SessionDir: func(n int) string { return filepath.Join(dir, fmt.Sprint(n)) },
	})
	if err != nil {
		return err
	}
	base := s.truth[s.incoming.ID()].mean()
	gain := s.truth[res.Accepted.ID()].mean() - base
	sum.rollouts += len(e.spent)
	sum.gain += gain
	if res.Accepted.ID() != s.incoming.ID() && s.apart {
		sum.twins++
	}
	if gain < 0 {
		sum.worse++
	}
	if gain >= p.better {
		sum.better++
	}
	for _, source := range s.proposed {
		if s.truth[known(source).ID()].mean()-base >= p.better {
			sum.could++
			break
		}
	}
	return nil
}

// known is a program that is not run: its rewards are drawn.
func known(source string) whale.Harness { return drawnHarness{source: source} }

type drawnHarness struct {
	whale.Harness
	source string
}

func (h drawnHarness) ID() whale.ID   { return whale.HarnessID([]byte(h.source)) }
func (h drawnHarness) Source() []byte { return []byte(h.source) }

// script proposes given programs, session by session.
type script struct{ sources []string }

func (script) Name() string { return "script" }
func (script) ID() whale.ID { return "script" }
func (s script) Propose(_ context.Context, in whale.Session) (whale.SessionCost, error) {
	for i := range in.Candidates {
		if at := in.Index*in.Candidates + i; at < len(s.sources) {
			if err := os.WriteFile(filepath.Join(in.Workspace, "candidates", fmt.Sprintf("c%02d.star", i)), []byte(s.sources[at]), 0o644); err != nil {
				return whale.SessionCost{}, err
			}
		}
	}
	return whale.SessionCost{}, nil
}

// drawn gives rewards of the measured world: for each example one of the draws that were measured, by chance; the same one for all programs, as
// common random numbers are, unless the scene sets them apart.
type drawn struct {
	scene
	seed  uint64
	spent map[string]bool
}

func (d *drawn) Evaluate(_ context.Context, h whale.Harness, ask metaharness.Ask) ([]whale.Rollout, error) {
	p := d.truth[h.ID()]
	wanted := ask.Examples
	if wanted == nil {
		for i := range p.Passed {
			wanted = append(wanted, i)
		}
	}
	out := make([]whale.Rollout, len(wanted))
	for k, i := range wanted {
		who := ""
		if d.apart {
			who = string(h.ID())
		}
		at := int(whale.DeriveSeed(d.seed, string(ask.Purpose), fmt.Sprint(ask.Draw), fmt.Sprint(i), who)) % len(p.Passed[i])
		ro := &out[k]
		ro.State = whale.StateScored
		ro.Key = whale.RolloutKey{Weights: "measured", Harness: h.ID(), Example: fmt.Sprint(i), Purpose: ask.Purpose, Draw: ask.Draw}
		ro.Verdict = whale.Verdict{Reward: float64(p.Passed[i][at])}
		ro.Episode.Usage.SampledTokens = p.Sampled[i][at]
		name, err := json.Marshal(ro.Key)
		if err != nil {
			return nil, err
		}
		d.spent[string(name)] = true
	}
	return out, nil
}
