package report

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/stats"
)

// Load reads run directories, one after the other, and builds their report. None of them is changed or locked.
func Load(ctx context.Context, dirs []string) (*Report, error) {
	stories := make([]*recipe.Story, len(dirs))
	for i, dir := range dirs {
		var err error
		if stories[i], err = recipe.ReadStory(ctx, dir); err != nil {
			return nil, err
		}
		if err := readCurveRewards(ctx, stories[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	return Build(stories)
}

// readRun takes from a story what the report says of it.
func readRun(st *recipe.Story) (Run, error) {
	c := st.Config
	r := Run{
		Dir: st.Dir, Name: c.Name, Method: st.Method(), Seed: c.Seed, Finished: len(st.Final) > 0,
		FirstWeights: st.Begin.Weights, FirstHarness: st.Begin.Harness, LastHarness: st.Begin.Harness,
		Ledger: st.Ledger, Tried: st.Tried, Build: st.Begin.Build, Kernels: st.Begin.Kernels, examples: st.TestExamples,
	}
	var err error
	if r.config, err = flatten(c); err != nil {
		return r, fmt.Errorf("%s: config: %w", st.Dir, err)
	}
	source := st.Begin.Source
	for _, ph := range st.Phases {
		r.Phases = append(r.Phases, readPhase(st, ph))
		if ph.Done && ph.Source != "" {
			source, r.LastHarness = ph.Source, ph.Harness
		}
	}
	if st.Begin.Source != "" {
		r.Diff = string(diff.Diff("h0", []byte(st.Begin.Source), "hK", []byte(source)))
	}
	for _, s := range st.Steps {
		r.Steps = append(r.Steps, Step{Step: s.Step + 1, Phase: s.Phase, Rollouts: s.Rollouts, LearnedFrom: s.Accepted, Failed: s.Failed, Reward: s.Reward, Updates: s.Updates, Loss: s.Loss})
		if s.Phase < len(r.Phases) && !r.Phases[s.Phase].Done {
			r.Phases[s.Phase].Made++
		}
	}
	for _, p := range st.Curve {
		q := Point{At: p.At, Phase: p.Phase, Steps: p.Steps, Sessions: p.Sessions, Rollouts: p.Rollouts, Accuracy: p.Test.Mean, Low: p.Test.Low, High: p.Test.High}
		if p.Validation != nil {
			q.Validation = &p.Validation.Mean
		}
		if p.Test.Rewards != nil {
			if q.cells, err = stats.CellMeans(p.Test.Rewards); err != nil {
				return r, fmt.Errorf("%s: curve point %s: %w", st.Dir, p.At, err)
			}
		}
		r.Curve = append(r.Curve, q)
	}
	for _, h := range st.Halves {
		r.Halves = append(r.Halves, readHalves(h))
	}
	for _, m := range st.Matrix {
		r.Matrix = append(r.Matrix, readMatrix(m))
	}
	for _, p := range st.Final {
		cells, err := stats.CellMeans(p.Rewards)
		if err != nil {
			return r, fmt.Errorf("%s: final pair %s: %w", st.Dir, p.Name, err)
		}
		r.Pairs = append(r.Pairs, Pair{
			Kind: rowKind(p.Name), At: p.At, Weights: p.Weights, Harness: p.Harness, Draws: p.Draws, Mean: p.Mean, Low: p.Low, High: p.High,
			Failed: p.Failed, Metrics: p.Metrics, Examples: cells,
		})
	}
	if !r.Finished {
		r.Unfinished = howFar(r)
	}
	r.chooseBest()
	return r, nil
}

// chooseBest makes the pair that is chosen on test the best one, by mean@k, of those that stood along the run: what the curve chose, and the pairs that
// the final table has in any case. The curve chooses by one draw an example; measured anew its choice may be below the final pair, which the best along
// a run cannot be. What the curve chose is kept as RowCurve.
func (r *Run) chooseBest() {
	i := slices.IndexFunc(r.Pairs, func(p Pair) bool { return p.Kind == RowBest })
	if i < 0 {
		return
	}
	best := r.Pairs[i]
	r.Pairs[i].Kind = RowCurve
	for _, kind := range []string{RowFinal, RowValidation, RowBase} {
		if p, ok := r.pair(kind); ok && p.Mean > best.Mean {
			best = p
			switch {
			case len(r.Curve) == 0:
			case kind == RowFinal:
				best.At = r.Curve[len(r.Curve)-1].At
			case kind == RowBase:
				best.At = r.Curve[0].At
			}
		}
	}
	best.Kind = RowBest
	r.Pairs = slices.Insert(r.Pairs, i, best)
}

// rowKind names a row by its pair.
func rowKind(pair string) string {
	switch pair {
	case recipe.PairStart:
		return RowBase
	case recipe.PairFinal:
		return RowFinal
	case recipe.PairBestTest:
		return RowBest
	case recipe.PairBestValidation:
		return RowValidation
	case recipe.PairWeights:
		return RowWeights
	case recipe.PairHarness:
		return RowHarness
	}
	return pair
}

// howFar says where an unfinished run is.
func howFar(r Run) string {
	sessions := 0
	for _, ph := range r.Phases {
		sessions += len(ph.Sessions)
	}
	done := fmt.Sprintf("%d steps and %d sessions made", len(r.Steps), sessions)
	switch n := len(r.Phases); {
	case n == 0:
		return "no phase begun"
	case !r.Phases[n-1].Done:
		return fmt.Sprintf("in phase %s; %s", r.Phases[n-1].Name, done)
	default:
		return fmt.Sprintf("after phase %s; %s; no final table", r.Phases[n-1].Name, done)
	}
}

// speedKeys decide how fast a run is, where it is, or what it is called, and nothing of its numbers.
var speedKeys = []string{
	"name", "seed", "concurrency", "processes", "policy.max_batch", "policy.cache_tokens", "policy.memory_mib", "snapshots.last",
	"weight.recompute", "weight.micro_batch_tokens", "schedule.method",
	"policy.model", "harness", // known by content
}

// flatten gives a config's keys and values as text, without those that do not set runs apart.
func flatten(c recipe.Config) (map[string]string, error) {
	data, err := c.YAML()
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		return nil, err
	}
	out := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		if m, ok := v.(map[string]any); ok {
			for k, v := range m {
				walk(strings.TrimPrefix(path+"."+k, "."), v)
			}
			return
		}
		out[path] = fmt.Sprint(v)
	}
	walk("", tree)
	maps.DeleteFunc(out, func(k, _ string) bool {
		return slices.Contains(speedKeys, k) || strings.HasPrefix(k, "task.") // the task is known by content
	})
	return out, nil
}
