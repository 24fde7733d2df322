package recipe

import (
	"context"
	"fmt"
	"strconv"

	"github.com/dustin/go-humanize/english"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// Why phases end.
const (
	EndBudget = "budget" // its planned size, or what the total leaves, is spent
	EndCap    = "cap"    // the adaptive method: the most that a phase may have
	EndRule   = "rule"   // the adaptive rule: its own training signal stopped improving
	EndRest   = "rest"   // the adaptive method: it took all steps that were left, since too few sessions were left for a search in between
)

// phaseEnd is the journal entry of a phase's end, with the numbers behind it.
type phaseEnd struct {
	Phase   PlannedPhase     `json:"phase"` // as it really was
	Why     string           `json:"why"`
	Window  *WindowStop      `json:"window,omitempty"` // weight phase by rule: what the rule saw at the end
	Search  *metaharness.End `json:"search,omitempty"` // harness phase: the best scores, session by session
	Weights whale.ID         `json:"weights"`
	Harness whale.ID         `json:"harness"`
}

// phases runs the plan's phases, one after the other, each followed by its curve point; a cycle ends with its evidence about halves.
func (r *Run) phases(ctx context.Context) error {
	from := halvesFrom{harness: r.harness}
	for {
		ph, ok := r.plan.Next(r.done)
		if !ok {
			return nil
		}
		if err := r.phase(ctx, ph); err != nil {
			return fmt.Errorf("phase %s: %w", ph.Name(), err)
		}
		ended := r.done[len(r.done)-1]
		if err := r.curve(ctx, point{At: ph.Name(), Phase: ph.Index, Steps: ended.To, Sessions: r.sessionsDone()}, r.harness); err != nil {
			return err
		}
		if next, more := r.plan.Next(r.done); more && next.Cycle == ph.Cycle {
			continue
		}
		if err := r.halves(ctx, ph.Cycle, from, ended.To); err != nil {
			return fmt.Errorf("cycle %d: %w", ph.Cycle, err)
		}
		from = halvesFrom{steps: ended.To, harness: r.harness}
	}
}

func (r *Run) phase(ctx context.Context, ph PlannedPhase) (err error) {
	defer r.Progress.settle(ph.Rollouts + ph.Canaries + ph.Confirm)()
	r.tell(Event{Kind: EventPhase, Phase: &ph})
	var end phaseEnd
	if ph.Kind == PhaseWeight {
		ph, end, err = r.weightPhase(ctx, ph)
	} else {
		ph, end, err = r.harnessPhase(ctx, ph)
	}
	if err != nil {
		return err
	}
	if end.Why == EndBudget && ph.ByRule && r.plan.capped(ph) {
		end.Why = EndCap
	}
	if r.plan.Adaptive != nil && !ph.ByRule {
		end.Why = EndRest
	}
	end.Phase, end.Harness = ph, r.harness.ID()
	if end.Weights, err = r.weightsAfter(ctx, ph.To); err != nil {
		return err
	}
	if err := r.journal.Record(ctx, kindPhase, strconv.Itoa(ph.Index), end); err != nil {
		return err
	}
	r.done = append(r.done, ph)
	if r.plan.Adaptive != nil {
		r.tell(Event{Kind: EventNotice, Text: end.describe()})
	}
	return nil
}

// describe says for people why a phase ended.
func (e phaseEnd) describe() string {
	ph := e.Phase
	switch {
	case e.Search != nil && len(e.Search.Best) > 0:
		best := e.Search.Best
		return fmt.Sprintf("phase %s ended: %s%s; best score %.3f before, %.3f after", ph.Name(), e.Search, e.cap(), best[0], best[len(best)-1])
	case e.Window != nil:
		w := e.Window
		why := "its size, " + english.Plural(ph.Steps, "step", "") + ", is spent"
		if e.Why == EndRule {
			why = fmt.Sprintf("%s in a row without a new best average reward, after %s", english.Plural(w.Steps-w.BestAt, "step", ""), english.Plural(w.Steps, "step", ""))
		}
		return fmt.Sprintf("phase %s ended: %s%s; average reward of the last window %.3f, its best %.3f at step %d of the phase", ph.Name(), why, e.cap(), w.Mean, w.Best, w.BestAt)
	}
	size := english.Plural(ph.Steps, "step", "")
	if e.Why == EndRest {
		return fmt.Sprintf("phase %s ended: it took the %s that were left, without the rule, since too few sessions are left for a search in between", ph.Name(), size)
	}
	return fmt.Sprintf("phase %s ended: its size, %s, is spent", ph.Name(), size)
}

// cap says where a phase by rule came to its cap.
func (e phaseEnd) cap() string {
	if e.Why == EndCap {
		return " (the most that the adaptive rule lets it have)"
	}
	return ""
}

// sessionsDone counts the proposer sessions of the phases that ended.
func (r *Run) sessionsDone() int {
	n := 0
	for _, ph := range r.done {
		n += ph.Sessions
	}
	return n
}
