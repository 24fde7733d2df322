package recipe

import (
	"context"
	"encoding/json"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/harness/audit"
)

// pairFinal is the name of the pair that the run ends with.
const pairFinal = "(θK,hK)"

// Pair is one row of the final table.
type Pair struct {
	Name    string   `json:"name"` // "(θK,hK)", …
	Weights whale.ID `json:"weights"`
	Harness whale.ID `json:"harness"`
	Result
}

// Summary is what a finished run came to.
type Summary struct {
	Dir         string                        `json:"dir"`
	Pairs       []Pair                        `json:"pairs"` // (θ0,h0), (θK,h0), (θ0,hK), (θK,hK)
	Ledger      map[string]map[string]float64 `json:"ledger"`
	Weights     string                        `json:"weights"`          // folder of the final weights
	HarnessFile string                        `json:"harness_file"`     // of the final harness
	Diff        string                        `json:"diff"`             // against h_0, unified
	Chance      *float64                      `json:"chance,omitempty"` // accuracy on the test split of answering at random, where the task's answers can be guessed
	AuditTest   []audit.Finding               `json:"audit_test"`       // of the final harness against the test split; no proposer sees it
}

// finalRecord is the journal entry of the end.
type finalRecord struct {
	Pairs []Pair `json:"pairs"`
}

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
		if err := r.journal.Record(ctx, kindFinal, "final", rec); err != nil {
			return nil, err
		}
		if err := r.charge(ctx, "final", string(whale.PurposeTest), start); err != nil {
			return nil, err
		}
	}
	for _, p := range rec.Pairs {
		if p.Name == pairFinal {
			if err := r.bound(ctx, "final table", r.plan.Steps, p.Weights, p.Harness); err != nil {
				return nil, err
			}
		}
	}
	s := &Summary{Dir: r.store.Dir(), Pairs: rec.Pairs, HarnessFile: filepath.Join(r.store.Dir(), "harness", string(r.harness.ID())+harness.Extension(r.harness.Language()))}
	if r.trained > 0 {
		s.Weights = filepath.Join(r.store.Dir(), "weights", snapshotID(r.trained-1))
	}
	if s.Ledger, err = r.store.Ledger(ctx); err != nil {
		return nil, err
	}
	s.Diff = string(diff.Diff("h0", r.base.Source(), "hK", r.harness.Source()))
	if chance, ok, err := r.Parts.Chance(whale.SplitTest); err != nil {
		return nil, err
	} else if ok {
		s.Chance = &chance
	}
	if s.AuditTest, err = r.auditTest(r.harness); err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	return s, r.store.WriteFile("report/summary.json", append(data, '\n'))
}

// pairs evaluates mean@k of {θ0, θK} × {h0, hK} on the test split, on common random numbers.
func (r *Run) pairs(ctx context.Context) ([]Pair, error) {
	final, err := r.current(ctx, r.plan.Steps)
	if err != nil {
		return nil, err
	}
	first := r.BasePolicy()
	defer first.Close()
	before, err := r.pairsOf(ctx, first, "(θ0,h0)", "(θ0,hK)")
	if err != nil {
		return nil, err
	}
	after, err := r.pairsOf(ctx, final, "(θK,h0)", pairFinal)
	if err != nil {
		return nil, err
	}
	return []Pair{before[0], after[0], before[1], after[1]}, nil
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
			if pairs[i].Result, err = Evaluate(ctx, runner, h, whale.SplitTest, whale.PurposeTest, r.Config.Evaluation.Draws); err != nil {
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
