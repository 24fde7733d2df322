package metaharness

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/seed-095d5d2b/whale"
)

// Search runs harness phases.
type Search struct {
	Config Config
	Deps   Deps

	blind bool // proposers see the incoming harness alone (BestOfRandom)
}

// Run runs one phase, or the rest of it: what the Log holds is not done again. It rewrites Phase.ArchiveDir from the start, which
// costs no rollouts because the Evaluator has them.
//
// A rejected candidate, an incomplete one and a failed proposer session are results. An error means that the phase could not go on
// (journal, file system, an incoming harness without a complete score, a cancelled context), and that it can be run again.
func (s *Search) Run(ctx context.Context, p Phase) (Result, error) {
	r, err := s.begin(p)
	if err != nil {
		return Result{}, err
	}
	if err := r.start(ctx); err != nil {
		return Result{}, fmt.Errorf("harness phase %d: %w", p.Index, err)
	}
	for i := range s.Config.Sessions {
		if r.patienceSpent(i) {
			r.result.Stopped = true
			break
		}
		if err := r.oneSession(ctx, p.SessionBase+i); err != nil {
			return Result{}, fmt.Errorf("harness phase %d: session %d: %w", p.Index, p.SessionBase+i, err)
		}
		if err := r.afterSession(ctx, i); err != nil {
			return Result{}, fmt.Errorf("harness phase %d: after session %d: %w", p.Index, p.SessionBase+i, err)
		}
	}
	if err := r.confirm(ctx); err != nil {
		return Result{}, fmt.Errorf("harness phase %d: confirmation: %w", p.Index, err)
	}
	return r.finish(), nil
}

// run is a phase under way.
type run struct {
	*Search
	selection Selection // with its defaults
	phase     Phase
	op        string // prefix of operation ids, bound to weights and incoming harness
	archive   *archive
	examples  []string // example ids in order: every evaluation must cover exactly these
	result    Result
	stale     int       // sessions since the last new best score
	history   []float64 // the archive's best score before the first session, then after each
}

func (s *Search) begin(p Phase) (*run, error) {
	switch d := s.Deps; {
	case d.Proposer == nil || d.Evaluator == nil || d.Log == nil || d.Loader == nil:
		return nil, fmt.Errorf("harness search: proposer, evaluator, log and loader are all needed")
	case p.Incoming == nil || p.SessionDir == nil:
		return nil, fmt.Errorf("harness search: incoming harness and session folders are needed")
	case !filepath.IsAbs(p.ArchiveDir):
		return nil, fmt.Errorf("harness search: archive folder: got %q, want an absolute path", p.ArchiveDir)
	case s.Config.Sessions < 0 || s.Config.CanaryEpisodes < 0 || s.Config.Patience < 0 || s.Config.MinSessions < 0 || s.Config.AtOnce < 0:
		return nil, fmt.Errorf("harness search: got a negative count in %+v", s.Config)
	case s.Config.Sessions > 0 && s.Config.Candidates < 1:
		return nil, fmt.Errorf("harness search: candidates: got %d, want at least 1", s.Config.Candidates)
	}
	if key, err := s.Config.Selection.withDefaults().Validate(); err != nil {
		return nil, fmt.Errorf("harness search: selection: %s: %w", key, err)
	}
	a, err := newArchive(p.ArchiveDir, s.Deps.About, s.Config)
	if err != nil {
		return nil, err
	}
	bound := whale.HashOf("phase", []whale.ID{p.Weights.ID, p.Incoming.ID()})
	return &run{Search: s, selection: s.Config.Selection.withDefaults(), phase: p, op: p.Op + "/" + string(bound), archive: a}, nil
}

// oneSession runs proposer session n and decides its candidates.
func (r *run) oneSession(ctx context.Context, n int) error {
	rec, err := r.propose(ctx, n)
	if err != nil {
		return err
	}
	res := SessionResult{SessionRecord: rec}
	first, replayed := len(r.archive.entries), true
	hearing := r.hear(ctx, n, rec.Candidates)
	defer hearing.end()
	for i := range rec.Candidates {
		c := hearing.next(i)
		if err := r.decide(ctx, n, c); err != nil {
			return fmt.Errorf("candidate %s: %w", c.Name, err)
		}
		replayed = replayed && c.verdict.replayed
		res.Decisions = append(res.Decisions, c.verdict.Decision)
		r.count(c.verdict.Decision)
	}
	r.result.Discarded += len(rec.Discarded)
	if res.Choice, res.NewBest, err = r.choose(ctx, n, fmt.Sprintf("%s/session-%d", r.op, n), first, replayed); err != nil {
		return err
	}
	best := r.archive.accepted()
	res.Best, res.Accepted = *best.Score, best.ID
	r.stale++
	if r.noteBest() {
		r.stale = 0
	}
	r.result.Sessions = append(r.result.Sessions, res)
	if err := r.archive.writeReport(res); err != nil {
		return err
	}
	return r.archive.writeIndex()
}

func (r *run) count(d Decision) {
	r.result.Proposed++
	switch d.Status {
	case StatusEvaluated:
		r.result.Evaluated++
	case StatusRejected:
		r.result.Rejected++
	case StatusStopped:
		r.result.GivenUp++
		r.result.Saved += d.Partial.Of - d.Partial.Examples
	case StatusIncomplete:
		r.result.Incomplete++
	}
}

// patienceSpent says whether the phase ends before its session i (paper, section 1, adaptive schedule).
func (r *run) patienceSpent(i int) bool {
	return r.Config.Patience > 0 && i >= r.Config.MinSessions && r.stale >= r.Config.Patience
}

// noteBest adds the archive's best score to the history, and says whether it is a new one.
func (r *run) noteBest() bool {
	now := r.archive.entries[best(r.archive.entries, r.archive.current)].Score.Mean
	r.history = append(r.history, now)
	n := len(r.history)
	return n > 1 && now > r.history[n-2]
}

func (r *run) afterSession(ctx context.Context, i int) error {
	if r.Deps.AfterSession == nil {
		return nil
	}
	return r.Deps.AfterSession(ctx, i, r.archive.accepted())
}

func (r *run) finish() Result {
	r.result.Entry = r.archive.accepted()
	r.result.Accepted = r.result.Entry.Harness
	for _, e := range r.archive.entries {
		if e.Status == StatusEvaluated {
			r.result.Archive = append(r.result.Archive, e)
		}
	}
	r.result.Ranked = ranked(r.archive.entries, r.archive.current)
	r.result.End = End{
		Why: EndSessions, Sessions: len(r.result.Sessions), Planned: r.Config.Sessions,
		Patience: r.Config.Patience, MinSessions: r.Config.MinSessions, Stale: r.stale, Best: r.history,
	}
	if r.result.Stopped {
		r.result.End.Why = EndPatience
	}
	return r.result
}

func (r *run) observe(e Event) {
	if r.Deps.Observer != nil {
		e.Phase = r.phase.Index
		r.Deps.Observer(e)
	}
}
