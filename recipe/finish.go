package recipe

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/harness/audit"
)

// The names of the final table's pairs.
const (
	PairStart          = "(θ0,h0)"
	PairWeights        = "(θK,h0)"
	PairHarness        = "(θ0,hK)"
	PairFinal          = "(θK,hK)"              // what the run ends with
	PairBestValidation = "(best on validation)" // the curve's best point on the validation split
	PairBestTest       = "(best on test)"       // the curve's best point on the test split: chosen on test, as the paper's figures are
)

// Pair is one row of the final table.
type Pair struct {
	Name    string   `json:"name"`         // "(θK,hK)", …
	At      string   `json:"at,omitempty"` // the curve point where it was chosen
	Weights whale.ID `json:"weights"`
	Harness whale.ID `json:"harness"`
	Result
}

// Summary is what a finished run came to.
type Summary struct {
	Dir         string                        `json:"dir"`
	Split       whale.Split                   `json:"split"` // of the table
	Pairs       []Pair                        `json:"pairs"` // (θ0,h0), (θK,h0), (θ0,hK), (θK,hK), and those chosen on the curve
	Ledger      map[string]map[string]float64 `json:"ledger"`
	Weights     string                        `json:"weights"`          // folder of the final weights
	HarnessFile string                        `json:"harness_file"`     // of the final harness
	Diff        string                        `json:"diff"`             // against h_0, unified
	Chance      *float64                      `json:"chance,omitempty"` // accuracy on the test split of answering at random, where the task's answers can be guessed
	Tried       Tried                         `json:"tried"`            // what the phases made, rejected and why
	AuditTest   []audit.Finding               `json:"audit_test"`       // of the final harness against the test split; no proposer sees it
}

// finalRecord is the journal entry of the end.
type finalRecord struct {
	Pairs   []Pair   `json:"pairs"`
	Chance  *float64 `json:"chance,omitempty"`
	Unspent int      `json:"unspent,omitempty"` // sessions of the total that an adaptive run did not hold
}

// summaryFile is the last thing that a run writes.
const summaryFile = "report/summary.json"

// finish evaluates the four pairs, journals the table and writes report/summary.json.
func (r *Run) finish(ctx context.Context) (*Summary, error) {
	defer r.Progress.settle(r.plan.FinalRollouts)()
	var rec finalRecord
	done, err := r.journal.Lookup(ctx, kindFinal, "final", &rec)
	if err != nil {
		return nil, err
	}
	if !done {
		start := r.opt.Now()
		if rec.Pairs, err = r.pairs(ctx); err != nil {
			return nil, err
		}
		if rec.Chance, err = r.chance(); err != nil {
			return nil, err
		}
		rec.Unspent = r.plan.Sessions - r.sessionsDone()
		if err := r.journal.Record(ctx, kindFinal, "final", rec); err != nil {
			return nil, err
		}
		if err := r.charge(ctx, "final", string(r.Config.Evaluation.Purpose()), start); err != nil {
			return nil, err
		}
	}
	for _, p := range rec.Pairs {
		if p.Name == PairFinal {
			if err := r.bound(ctx, "final table", r.plan.Steps, p.Weights, p.Harness, r.harness); err != nil {
				return nil, err
			}
		}
	}
	s := &Summary{Dir: r.store.Dir(), Split: r.Config.Evaluation.Split, Pairs: rec.Pairs, HarnessFile: filepath.Join(r.store.Dir(), "harness", string(r.harness.ID())+harness.Extension(r.harness.Language()))}
	if r.trained > 0 {
		s.Weights = filepath.Join(r.store.Dir(), "weights", snapshotID(r.trained-1))
	}
	if s.Ledger, err = r.store.Ledger(ctx); err != nil {
		return nil, err
	}
	s.Diff = string(diff.Diff("h0", r.base.Source(), "hK", r.harness.Source()))
	s.Chance = rec.Chance
	if s.AuditTest, err = r.auditTest(r.harness); err != nil {
		return nil, err
	}
	if err := r.store.Sync(ctx); err != nil {
		return nil, err
	}
	story, err := readStory(ctx, r.store)
	if err != nil {
		return nil, err
	}
	s.Tried = story.Tried
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	return s, r.store.WriteFile(summaryFile, append(data, '\n'))
}

// chance is the accuracy on the test split of answering at random; nil where the task's answers cannot be guessed.
func (r *Run) chance() (*float64, error) {
	chance, ok, err := r.Parts.Chance(r.Config.Evaluation.Split)
	if err != nil || !ok {
		return nil, err
	}
	return &chance, nil
}

// pairs evaluates mean@k of {θ0, θK} × {h0, hK} on the split of evaluation, on common random numbers.
func (r *Run) pairs(ctx context.Context) ([]Pair, error) {
	final, err := r.current(ctx, r.plan.Steps)
	if err != nil {
		return nil, err
	}
	first := r.BasePolicy()
	defer first.Close()
	before, err := r.pairsOf(ctx, first, PairStart, PairHarness)
	if err != nil {
		return nil, err
	}
	after, err := r.pairsOf(ctx, final, PairWeights, PairFinal)
	if err != nil {
		return nil, err
	}
	pairs := []Pair{before[0], after[0], before[1], after[1]}
	for _, c := range r.chosen() {
		p, err := r.chosenPair(ctx, c)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// chosenPoint is a point of the curve that was chosen.
type chosenPoint struct {
	name string
	CurvePoint
}

// chosen are the curve's best points by one draw an example: on validation, where there is such a split, and on test. Among equals the earliest.
func (r *Run) chosen() []chosenPoint {
	var out []chosenPoint
	best := func(name string, score func(CurvePoint) (float64, bool)) {
		top, at := -1.0, -1
		for i, p := range r.points {
			if s, ok := score(p); ok && s > top {
				top, at = s, i
			}
		}
		if at >= 0 {
			out = append(out, chosenPoint{name, r.points[at]})
		}
	}
	if r.Config.Evaluation.Split == whale.SplitValidation { // the curve has no other
		best(PairBestValidation, func(p CurvePoint) (float64, bool) { return p.Test.Mean, true })
		return out
	}
	best(PairBestValidation, func(p CurvePoint) (float64, bool) {
		if p.Validation == nil {
			return 0, false
		}
		return p.Validation.Mean, true
	})
	best(PairBestTest, func(p CurvePoint) (float64, bool) { return p.Test.Mean, true })
	return out
}

// chosenPair evaluates a chosen point's pair like the others; where it is one of them, that costs nothing.
func (r *Run) chosenPair(ctx context.Context, c chosenPoint) (Pair, error) {
	r.tell(Event{Kind: EventFinal, Text: c.name + " at " + c.At})
	p := Pair{Name: c.name, At: c.At, Weights: c.Weights, Harness: c.Harness}
	h, err := r.stored(c.Harness, []byte(c.Source))
	if err != nil {
		return p, err
	}
	policy, release, err := r.policyAt(ctx, c.Steps)
	if err != nil {
		return p, err
	}
	p.Result, err = Evaluate(ctx, r.runner(policy, "final", 0), h, r.Config.Evaluation.Split, r.Config.Evaluation.Purpose(), r.Config.Evaluation.Draws)
	return p, errors.Join(err, release())
}

// pairsOf evaluates a policy with h_0 and with h_K, side by side.
func (r *Run) pairsOf(ctx context.Context, policy whale.Policy, withFirst, withFinal string) ([2]Pair, error) {
	runner := r.runner(policy, "final", 0)
	pairs := [2]Pair{{Name: withFirst, Harness: r.base.ID()}, {Name: withFinal, Harness: r.harness.ID()}}
	var both sync.WaitGroup
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for i, h := range []whale.Harness{r.base, r.harness} {
		r.tell(Event{Kind: EventFinal, Text: pairs[i].Name})
		pairs[i].Weights = policy.Weights().ID
		both.Go(func() {
			var err error
			if pairs[i].Result, err = Evaluate(ctx, runner, h, r.Config.Evaluation.Split, r.Config.Evaluation.Purpose(), r.Config.Evaluation.Draws); err != nil {
				cancel(err)
			}
		})
		if r.base.ID() == r.harness.ID() {
			both.Wait() // the second finds the rollouts of the first
		}
	}
	both.Wait()
	return pairs, context.Cause(ctx)
}
