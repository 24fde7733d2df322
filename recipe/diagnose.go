package recipe

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/stats"
)

// Diagnosis says whether a task is limited by its harness or by its weights, from a short harness search and a short weight phase that start
// from the same pair, and the same search again after the weight phase. It looks at the validation split alone; a task without one is refused.
type Diagnosis struct {
	Split    whale.Split `json:"split"`
	Draws    int         `json:"draws"`
	Examples int         `json:"examples"`
	Base     Estimate    `json:"base"` // (θ0,h0)

	Harness Estimate `json:"harness"` // what the search gains from θ0
	Weights Estimate `json:"weights"` // what the weight phase gains under h0
	After   Estimate `json:"after"`   // what the search gains after the weight phase
	Both    Estimate `json:"both"`    // both halves over (θ0,h0)
	Between Estimate `json:"between"` // what the search gains from θ0 less what the weight phase gains: the verdict looks at it first

	HarnessRollouts int    `json:"harness_rollouts"` // that the search took
	WeightRollouts  int    `json:"weight_rollouts"`  // that the weight phase took
	Verdict         string `json:"verdict"`          // one of the Limited constants
	Text            string `json:"text"`             // the verdict in words
}

// Estimate is a number with its 95% interval, bootstrap over examples, paired where it is a difference.
type Estimate struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// The verdicts of a diagnosis.
const (
	LimitedByHarness = "harness"               // the search gains more than the weight phase
	LimitedByWeights = "weights"               // the weight phase gains more than the search
	LimitedByBoth    = "both"                  // both gain, neither clearly more
	WeightsFirst     = "weights, then harness" // the weight phase gains more, and the search gains only after it
	LimitedUnknown   = "undecided"             // neither gain is clear of zero
)

// Diagnose runs the two short runs in dir and weighs what they gained. Sizes are the config's first cycle; interrupted, it goes on when it is
// called again.
func Diagnose(ctx context.Context, c Config, dir string, opt Options, observe func(Arm, Event)) (Diagnosis, error) {
	epochs, sessions := c.Schedule.Epochs, c.Schedule.Sessions
	if len(c.Schedule.Cycles) > 0 {
		epochs, sessions = c.Schedule.Cycles[0].Epochs, c.Schedule.Cycles[0].Sessions
	}
	if sessions < 1 {
		return Diagnosis{}, configErrorf("schedule: got no proposer sessions in the first cycle, want at least one to see what a search gains")
	}
	if epochs <= 0 {
		return Diagnosis{}, configErrorf("schedule.cycles[0].epochs: got 0, want more: a diagnosis takes the config's first cycle, and needs its weight phase")
	}
	if n, err := validationExamples(ctx, c, opt); err != nil {
		return Diagnosis{}, err
	} else if n == 0 {
		return Diagnosis{}, configErrorf("task: got no validation examples, want some: a diagnosis compares gains on the validation split, and leaves the test split closed")
	}
	c.Schedule.Cycles = []CycleConfig{{Epochs: epochs, Sessions: sessions}}
	c.Schedule.LastHarness = true
	c.Evaluation.Curve, c.Evaluation.Halves = false, false
	c.Evaluation.Split = whale.SplitValidation
	compared := Comparison{Dir: dir, Config: c, Methods: []string{MethodWhale, MethodHarnessOnly}, Seeds: 1, Lanes: 1, Options: opt, Observe: observe}
	if err := compared.Run(ctx); err != nil {
		return Diagnosis{}, err
	}
	whole, err := ReadStory(ctx, filepath.Join(dir, MethodWhale+"-"+strconv.FormatUint(c.Seed, 10)))
	if err != nil {
		return Diagnosis{}, err
	}
	alone, err := ReadStory(ctx, filepath.Join(dir, MethodHarnessOnly+"-"+strconv.FormatUint(c.Seed, 10)))
	if err != nil {
		return Diagnosis{}, err
	}
	return weighHalves(whole, alone)
}

func validationExamples(ctx context.Context, c Config, opt Options) (int, error) {
	parts, err := OpenParts(ctx, c, opt.resources())
	if err != nil {
		return 0, err
	}
	defer parts.Close()
	n, err := parts.Counts()
	return n.Validation, err
}

// weighHalves compares the gains of a whale run of one cycle and of a harness-only run from the same start.
func weighHalves(whole, alone *Story) (Diagnosis, error) {
	get := func(st *Story, name string) [][]float64 {
		p, _ := st.FinalPair(name)
		return p.Rewards
	}
	base, trained, both, searched := get(whole, PairStart), get(whole, PairWeights), get(whole, PairFinal), get(alone, PairFinal)
	first, _ := whole.FinalPair(PairStart)
	d := Diagnosis{
		Split: whole.Config.Evaluation.Split, Draws: first.Draws, Examples: first.Examples,
		WeightRollouts: int(whole.Ledger[string(whale.PurposeWeight)]["rollouts"]),
	}
	for _, purpose := range TrainingPurposes() {
		d.HarnessRollouts += int(alone.Ledger[string(purpose)]["rollouts"])
	}
	var err error
	mean := func(key string, rewards [][]float64) Estimate {
		iv, e := stats.MeanInterval(rewards, seedOf(whole, key))
		err = errors.Join(err, e)
		return Estimate{iv.Mean, iv.Low, iv.High}
	}
	gain := func(key string, to, from [][]float64) Estimate {
		iv, e := stats.DifferenceInterval(to, from, seedOf(whole, key))
		err = errors.Join(err, e)
		return Estimate{iv.Mean, iv.Low, iv.High}
	}
	d.Base = mean("base", base)
	d.Harness, d.Weights = gain("harness", searched, base), gain("weights", trained, base)
	d.After, d.Both = gain("after", both, trained), gain("both", both, base)
	d.Between = gain("between", searched, trained) // the base cancels
	if err != nil {
		return d, err
	}
	// Where a search came back with what it was given, or no step had anything to learn from, there is nothing to be uncertain about.
	kept, untrained, unimproved := alone.same(PairStart, PairFinal), whole.same(PairStart, PairWeights), whole.same(PairWeights, PairFinal)
	for _, x := range []struct {
		gain    *Estimate
		nothing bool
	}{{&d.Harness, kept}, {&d.Weights, untrained}, {&d.After, unimproved}, {&d.Both, whole.same(PairStart, PairFinal)}, {&d.Between, kept && untrained}} {
		if x.nothing {
			*x.gain = Estimate{}
		}
	}
	d.Verdict, d.Text = d.verdict(d.Between)
	return d, nil
}

// same says whether two pairs of the final table are one.
func (st *Story) same(a, b string) bool {
	p, _ := st.FinalPair(a)
	q, _ := st.FinalPair(b)
	return p.Weights == q.Weights && p.Harness == q.Harness
}

func seedOf(st *Story, key string) uint64 {
	return uint64(whale.DeriveSeed(st.Config.Seed, "diagnose", key))
}

func (d Diagnosis) verdict(between Estimate) (verdict, text string) {
	harness, weights, after := d.Harness.Low > 0, d.Weights.Low > 0, d.After.Low > 0
	switch {
	case between.Low > 0:
		return LimitedByHarness, "the harness limits it: a short search gains more than a short weight phase; give the search the larger share, and train under what it finds"
	case between.High < 0 && !harness && after:
		return WeightsFirst, "the weights limit it, and then the harness: the search gains nothing clear from the first weights, and gains after a short weight phase; begin with weights and alternate"
	case between.High < 0:
		return LimitedByWeights, "the weights limit it: a short weight phase gains more than a short search; give the weights the larger share"
	case harness && weights:
		return LimitedByBoth, "both limit it: both gain, and neither clearly more than the other; alternate"
	case harness || weights || after:
		return LimitedByBoth, "there is something to gain, and this much evidence does not say on which side more; alternate, or diagnose with more examples, sessions or epochs"
	}
	return LimitedUnknown, "neither gain is clear of zero: the phases are too short, the split too small, or the task too hard or too easy for this model; diagnose with more of them"
}

// String says a gain in points with its interval.
func (e Estimate) String() string {
	return fmt.Sprintf("%+.1f points [%+.1f, %+.1f]", 100*e.Mean, 100*e.Low, 100*e.High)
}
