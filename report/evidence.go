package report

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/store"
)

// readCurveRewards fills the rewards of a story's curve points, one draw an example in the order of the examples' ids, from the rollouts of its run
// directory. A story of an unfinished run gets its test examples from them. The directory is only read.
func readCurveRewards(ctx context.Context, st *recipe.Story) (err error) {
	if len(st.Curve) == 0 {
		return nil
	}
	s, err := store.OpenReadOnly(st.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	type pair struct{ weights, harness string }
	rewards := map[pair]map[string]float64{}
	for _, p := range st.Curve {
		rewards[pair{string(p.Weights), string(p.Harness)}] = map[string]float64{}
	}
	for row, err := range s.Rollouts(ctx, store.Filter{Purpose: string(st.Config.Evaluation.Purpose())}) {
		if err != nil {
			return err
		}
		// The first draw is the curve's; a final table has more of the same pair.
		if of := rewards[pair{row.Weights, row.Harness}]; of != nil && row.Draw == 0 && row.Reward != nil {
			of[row.ExampleID] = *row.Reward
		}
	}
	for i := range st.Curve {
		p := &st.Curve[i]
		of := rewards[pair{string(p.Weights), string(p.Harness)}]
		ids := slices.Sorted(maps.Keys(of))
		if st.TestExamples == nil {
			st.TestExamples = ids
		}
		if len(ids) != p.Test.Examples || !slices.Equal(ids, st.TestExamples) {
			return fmt.Errorf("curve point %s: the journal has rollouts of %d test examples, want the %d of the final table and the other points; the run directory was changed", p.At, len(ids), p.Test.Examples)
		}
		p.Test.Rewards = make([][]float64, len(ids))
		sum := 0.0
		for x, id := range ids {
			p.Test.Rewards[x] = []float64{of[id]}
			sum += of[id]
		}
		if mean := sum / float64(max(1, len(ids))); !(math.Abs(mean-p.Test.Mean) < 1e-9) {
			return fmt.Errorf("curve point %s: its rollouts have a mean of %v, want the %v that is recorded; the run directory was changed", p.At, mean, p.Test.Mean)
		}
	}
	return nil
}
