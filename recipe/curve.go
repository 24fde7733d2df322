package recipe

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
)

// point is a place of the run where the present pair is evaluated for the curve.
type point struct {
	At       string `json:"at"`       // "start", a phase's name, or a phase's name, a slash and the steps or sessions of the run
	Phase    int    `json:"phase"`    // the phase that it follows or lies in; -1 at the start
	Steps    int    `json:"steps"`    // rollout steps before it
	Sessions int    `json:"sessions"` // proposer sessions before it
}

// CurvePoint is one point of a run's curve: one draw an example of the test split, and of the validation split where there is one.
type CurvePoint struct {
	point
	Weights    whale.ID `json:"weights"`
	Harness    whale.ID `json:"harness"`
	Source     string   `json:"source"`               // of the harness
	Rollouts   int      `json:"rollouts"`             // spent by weight and harness phases before it
	Test       Result   `json:"test"`                 // one draw an example of the split of evaluation, which is test but for evaluation.split
	Validation *Result  `json:"validation,omitempty"` // one draw an example
}

// curve evaluates the weights after the point's steps with a harness, unless the journal has the point. Nothing of it goes back to a phase.
func (r *Run) curve(ctx context.Context, p point, h whale.Harness) error {
	if !r.Config.Evaluation.Curve {
		return nil
	}
	defer r.Progress.settle(r.plan.pointRollouts())()
	var rec CurvePoint
	done, err := r.journal.Lookup(ctx, kindCurve, p.At, &rec)
	if err != nil {
		return err
	}
	if !done {
		start := r.opt.Now()
		if rec, err = r.measure(ctx, p, h); err != nil {
			return err
		}
		if err := r.journal.Record(ctx, kindCurve, p.At, rec); err != nil {
			return err
		}
		if err := r.charge(ctx, "curve/"+p.At, string(r.Config.Evaluation.Purpose()), start); err != nil {
			return err
		}
	}
	if err := r.bound(ctx, "curve point "+p.At, p.Steps, rec.Weights, rec.Harness, h); err != nil {
		return err
	}
	r.points = append(r.points, rec)
	e := Event{Kind: EventCurve, At: p.At, Split: r.Config.Evaluation.Split, Harness: string(rec.Harness), Weights: string(rec.Weights), Score: &rec.Test.Mean, Replayed: done}
	if rec.Validation != nil {
		e.Validation = &rec.Validation.Mean
	}
	r.tell(e)
	return nil
}

func (r *Run) measure(ctx context.Context, p point, h whale.Harness) (CurvePoint, error) {
	policy, err := r.current(ctx, p.Steps)
	if err != nil {
		return CurvePoint{}, err
	}
	if err := putHarness(r.store, h); err != nil {
		return CurvePoint{}, err
	}
	runner := r.runner(policy, "curve-"+p.At, 0)
	rec := CurvePoint{point: p, Weights: policy.Weights().ID, Harness: h.ID(), Source: string(h.Source())}
	if rec.Rollouts, err = r.spent(ctx); err != nil {
		return rec, err
	}
	if rec.Test, err = Evaluate(ctx, runner, h, r.Config.Evaluation.Split, r.Config.Evaluation.Purpose(), 1); err != nil {
		return rec, err
	}
	if r.plan.choosesOnValidation() {
		res, err := Evaluate(ctx, runner, h, whale.SplitValidation, whale.PurposeValidation, 1)
		if err != nil {
			return rec, err
		}
		rec.Validation = &res
	}
	return rec, nil
}

// Purpose is that of the rollouts of curves and final table.
func (c EvalConfig) Purpose() whale.Purpose {
	if c.Split == whale.SplitTest {
		return whale.PurposeTest
	}
	return whale.PurposeValidation
}

// spent counts the rollouts of weight and harness phases in the ledger: what a method has used to get where it is.
func (r *Run) spent(ctx context.Context) (int, error) {
	if err := r.store.Sync(ctx); err != nil {
		return 0, err
	}
	ledger, err := r.store.Ledger(ctx)
	if err != nil {
		return 0, err
	}
	n := 0.0
	for _, purpose := range TrainingPurposes() {
		n += ledger[string(purpose)]["rollouts"]
	}
	return int(n), nil
}

// TrainingPurposes are those of rollouts that a phase decides from: what a method spends to get where it is.
func TrainingPurposes() []whale.Purpose {
	return []whale.Purpose{whale.PurposeWeight, whale.PurposeSearch, whale.PurposeCanary, whale.PurposeConfirm}
}

// policyAt gives the policy of the weights after some rollout steps, which must be the start, the present or a kept snapshot; release must
// be called when it is no longer used.
func (r *Run) policyAt(ctx context.Context, steps int) (policy whale.Policy, release func() error, err error) {
	if steps == r.trained {
		policy, err = r.current(ctx, steps)
		return policy, func() error { return nil }, err
	}
	if steps == 0 {
		policy = r.BasePolicy()
		return policy, policy.Close, nil
	}
	want, err := r.weightsAfter(ctx, steps)
	if err != nil {
		return nil, nil, err
	}
	dir, whole := r.store.Weights(snapshotID(steps - 1))
	if !whole {
		err := r.store.VerifyWeights(snapshotID(steps - 1)) // says what is wrong with it
		return nil, nil, fmt.Errorf("%s: the snapshot after step %d is wanted and is not whole: %w", r.store.Dir(), steps, err)
	}
	if policy, err = r.openSnapshot(dir); err != nil {
		return nil, nil, err
	}
	if got := policy.Weights().ID; got != want {
		policy.Close()
		return nil, nil, fmt.Errorf("%s: the snapshot's weights are %s, the journal has %s", dir, got.Short(), want.Short())
	}
	return policy, policy.Close, nil
}
