package metaharness

import (
	"context"
	"fmt"
	"sync"

	"github.com/seed-095d5d2b/whale"
)

// hearing judges the candidates of one session, several side by side, so that an evaluator that batches has enough to do while some
// are in their trial episodes and others wait for their last. Decisions are taken in order by whoever asks for the verdicts; judging
// looks at nothing that they change.
type hearing struct {
	run     *run
	session int
	ctx     context.Context
	cancel  context.CancelFunc
	reach   int                    // passed examples of the program that was accepted before this session
	known   map[whale.ID]Candidate // evaluated before this session
	cases   []*hearingCase
	begun   int
	judging sync.WaitGroup
}

// hearingCase is one candidate on its way to a decision.
type hearingCase struct {
	Candidate
	op      string
	before  *hearingCase  // the same program earlier in the session; nil where there is none
	done    chan struct{} // closed when verdict is there
	verdict verdict
}

// verdict is what judging came to. An error stops the phase.
type verdict struct {
	judged
	replayed bool // recorded before
	err      error
}

// hear prepares to judge the candidates of session n. The hearing must be ended.
func (r *run) hear(ctx context.Context, n int, candidates []Candidate) *hearing {
	h := &hearing{run: r, session: n, reach: r.archive.accepted().Score.Passed, known: map[whale.ID]Candidate{}}
	h.ctx, h.cancel = context.WithCancel(ctx)
	for _, e := range r.archive.entries {
		if _, ok := h.known[e.ID]; !ok && e.Status == StatusEvaluated {
			h.known[e.ID] = e.Candidate
		}
	}
	last := map[whale.ID]*hearingCase{}
	for i, c := range candidates {
		k := &hearingCase{Candidate: c, op: fmt.Sprintf("%s/session-%d/candidate-%d", r.op, n, i), before: last[c.ID], done: make(chan struct{})}
		last[c.ID] = k
		h.cases = append(h.cases, k)
	}
	return h
}

// next gives the case of candidate i, judged. The caller has decided all before it: those up to Config.AtOnce from here are judged
// meanwhile, so that what waits for its decision is bounded too.
func (h *hearing) next(i int) *hearingCase {
	for ; h.begun < min(len(h.cases), i+max(1, h.run.Config.AtOnce)); h.begun++ {
		h.begin(h.cases[h.begun])
	}
	<-h.cases[i].done
	return h.cases[i]
}

// begin looks up what the journal has of a case, and has it judged.
func (h *hearing) begin(c *hearingCase) {
	v := &c.verdict
	v.replayed, v.err = h.run.Deps.Log.Lookup(h.ctx, KindDecision, c.op, &v.Decision)
	if v.err != nil {
		close(c.done)
		return
	}
	h.judging.Go(func() {
		defer close(c.done)
		if v.replayed {
			v.judged, v.err = h.run.recall(h.ctx, c.Candidate, v.Decision)
			return
		}
		v.judged, v.err = h.run.judge(h.ctx, c.Candidate, h.reach, func() (Candidate, bool, error) { return h.twin(c) })
	})
}

// twin finds the evaluated program that a case repeats: of an earlier session, or earlier in this one, which may have to be waited for.
func (h *hearing) twin(c *hearingCase) (Candidate, bool, error) {
	if twin, ok := h.known[c.ID]; ok {
		return twin, true, nil
	}
	var first *hearingCase
	for b := c.before; b != nil; b = b.before {
		<-b.done // it began earlier and waits for none that began later
		if b.verdict.err != nil {
			return Candidate{}, false, fmt.Errorf("candidate %s, the same program: %w", b.Name, b.verdict.err)
		}
		if b.verdict.Status == StatusEvaluated {
			first = b
		}
	}
	if first == nil {
		return Candidate{}, false, nil
	}
	return first.Candidate, true, nil
}

// end stops what is still being judged, and waits for it.
func (h *hearing) end() {
	h.cancel()
	h.judging.Wait()
}
