package metaharness

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
)

// propose gives the record of session n: from the journal, or by running the proposer in a fresh workspace.
func (r *run) propose(ctx context.Context, n int) (SessionRecord, error) {
	op := fmt.Sprintf("%s/session-%d", r.op, n)
	var rec SessionRecord
	replayed, err := r.Deps.Log.Lookup(ctx, KindSession, op, &rec)
	if err != nil {
		return rec, err
	}
	r.observe(Event{Kind: EventSession, Session: n, Replayed: replayed})
	if !replayed {
		if rec, err = r.runProposer(ctx, n, op); err != nil {
			return rec, err
		}
		if err := r.Deps.Log.Record(ctx, KindSession, op, rec); err != nil {
			return rec, err
		}
	}
	r.observe(Event{Kind: EventProposed, Session: n, Count: len(rec.Candidates), Cost: rec.Cost, Text: rec.Error, Replayed: replayed})
	return rec, nil
}

func (r *run) runProposer(ctx context.Context, n int, op string) (SessionRecord, error) {
	rec := SessionRecord{
		Session:  n,
		Seed:     whale.DeriveSeed(r.phase.RunSeed, "proposer", fmt.Sprint(n)),
		Proposer: r.Deps.Proposer.Name(),
	}
	dir := r.phase.SessionDir(n)
	if err := r.makeWorkspace(dir); err != nil {
		return rec, err
	}
	attempt, err := r.startAttempt(ctx, op, rec)
	if err != nil {
		return rec, err
	}
	rec.Attempts = attempt
	cost, failure := r.Deps.Proposer.Propose(ctx, whale.Session{
		Workspace: dir, Candidates: r.Config.Candidates, Index: n, Seed: rec.Seed, PromptOnly: r.Config.PromptOnly,
	})
	if err := ctx.Err(); err != nil {
		return rec, err // stopped from outside, so not the proposer's failure: the session is begun again
	}
	rec.Cost = cost
	if failure != nil {
		rec.Error = cut(failure.Error(), maxReason)
	}
	candidates, discarded, err := Collect(dir, r.Config.Candidates)
	if err != nil && rec.Error == "" {
		rec.Error = cut(err.Error(), maxReason)
	}
	rec.Candidates, rec.Discarded = candidates, discarded
	return rec, nil
}

// startAttempt journals that the session begins, and gives the attempt's number. Only a kill between here and the session's record
// makes it more than 1, and then the cost of the killed attempts is not known.
func (r *run) startAttempt(ctx context.Context, op string, rec SessionRecord) (int, error) {
	for attempt := 1; ; attempt++ {
		id := fmt.Sprintf("%s/attempt-%d", op, attempt)
		var earlier SessionStart
		found, err := r.Deps.Log.Lookup(ctx, KindSessionStart, id, &earlier)
		if err != nil {
			return 0, err
		}
		if !found {
			start := SessionStart{Session: rec.Session, Attempt: attempt, Seed: rec.Seed}
			return attempt, r.Deps.Log.Record(ctx, KindSessionStart, id, start)
		}
	}
}
