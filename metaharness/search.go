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
	if err := r.incoming(ctx); err != nil {
		return Result{}, fmt.Errorf("harness phase %d: incoming harness: %w", p.Index, err)
	}
	for i := range s.Config.Sessions {
		if r.patienceSpent(i) {
			r.result.Stopped = true
			break
		}
		if err := r.oneSession(ctx, p.SessionBase+i); err != nil {
			return Result{}, fmt.Errorf("harness phase %d: session %d: %w", p.Index, p.SessionBase+i, err)
		}
	}
	return r.finish(), nil
}

// run is a phase under way.
type run struct {
	*Search
	phase    Phase
	op       string // prefix of operation ids, bound to weights and incoming harness
	archive  *archive
	examples []string // example ids in order: every evaluation must cover exactly these
	result   Result
	stale    int // sessions since the last new best score
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
	a, err := newArchive(p.ArchiveDir, s.Deps.About, s.Config.Candidates)
	if err != nil {
		return nil, err
	}
	bound := whale.HashOf("phase", []whale.ID{p.Weights.ID, p.Incoming.ID()})
	return &run{Search: s, phase: p, op: p.Op + "/" + string(bound), archive: a}, nil
}

// incoming evaluates the harness that the phase starts from. Without a complete score of it nothing could be compared.
func (r *run) incoming(ctx context.Context) error {
	h := r.phase.Incoming
	c := Candidate{Name: "incoming", ID: h.ID(), Source: string(h.Source())}
	op := r.op + "/incoming"
	var d Decision
	replayed, err := r.Deps.Log.Lookup(ctx, KindDecision, op, &d)
	if err != nil {
		return err
	}
	rollouts, err := r.Deps.Evaluator.Evaluate(ctx, h, whale.PurposeSearch)
	if err != nil {
		return err
	}
	for i := range rollouts {
		r.examples = append(r.examples, rollouts[i].Key.Example)
	}
	score, missing, err := r.score(h, rollouts)
	switch {
	case err != nil:
		return err
	case missing != "":
		return fmt.Errorf("evaluation is incomplete: %s", missing)
	case replayed && (d.Score == nil || *d.Score != score):
		return fmt.Errorf("recorded score and cached rollouts differ: got %+v, want %+v", score, d.Score)
	case !replayed:
		d = Decision{Status: StatusEvaluated, Score: &score}
		if err := r.Deps.Log.Record(ctx, KindDecision, op, d); err != nil {
			return err
		}
	}
	r.result.Incoming = score
	r.observe(Event{Kind: EventIncoming, Session: -1, Name: c.Name, ID: c.ID, Status: d.Status, Score: d.Score, Replayed: replayed})
	if err := r.archive.stage(c, score, rollouts); err != nil {
		return err
	}
	if err := r.archive.add(Entry{Candidate: c, Decision: d, Session: -1, Harness: h}); err != nil {
		return err
	}
	r.archive.choose()
	return r.archive.writeIndex()
}

// oneSession runs proposer session n and decides its candidates.
func (r *run) oneSession(ctx context.Context, n int) error {
	rec, err := r.propose(ctx, n)
	if err != nil {
		return err
	}
	res := SessionResult{SessionRecord: rec}
	before := r.archive.accepted().Decision.Score.Mean
	replayed := true
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
	if res.NewBest = r.archive.choose(); res.NewBest {
		e := r.archive.accepted()
		r.observe(Event{Kind: EventAccepted, Session: n, Name: e.Name, ID: e.ID, Status: e.Status, Score: e.Score, Replayed: replayed})
	}
	best := r.archive.accepted()
	res.Best, res.Accepted = *best.Score, best.ID
	r.stale++
	if best.Score.Mean > before {
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
	case StatusIncomplete:
		r.result.Incomplete++
	}
}

// patienceSpent says whether the phase ends before its session i (paper, section 1, adaptive schedule).
func (r *run) patienceSpent(i int) bool {
	return r.Config.Patience > 0 && i >= r.Config.MinSessions && r.stale >= r.Config.Patience
}

func (r *run) finish() Result {
	r.result.Entry = r.archive.accepted()
	r.result.Accepted = r.result.Entry.Harness
	for _, e := range r.archive.entries {
		if e.Status == StatusEvaluated {
			r.result.Archive = append(r.result.Archive, e)
		}
	}
	return r.result
}

func (r *run) observe(e Event) {
	if r.Deps.Observer != nil {
		e.Phase = r.phase.Index
		r.Deps.Observer(e)
	}
}
