// Command regimes measures, from the directory of a finished comparison, what each half gains alone (WHALE, section 3: some tasks are limited by their harness,
// others by their weights).
//
//	go run ./bench/regimes [-draws 8] DIR
//
// DIR is a directory of whale compare with the methods whale, weight-only and harness-only. Printed are, with 95% intervals over seeds and examples:
// what harness-only gains over (θ0,h0), and after how many rollouts; how many rollouts weight-only takes to its peak; and what whale's first harness phase gains
// after its first weight phase, by k fresh draws a test example for the pairs before and after it. The test split is read by nothing but this.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/process"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/rollout"
	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/sandbox/calc"
	"github.com/seed-095d5d2b/whale/stats"
)

func main() {
	if sandbox.Main(sandbox.Entries{Calls: map[string]sandbox.Entry{calc.EntryName: calc.Entry}, Streams: process.Entries()}) {
		return
	}
	draws := flag.Int("draws", 8, "draws an example of the pairs around whale's first harness phase")
	flag.Parse()
	if flag.NArg() != 1 || *draws < 1 {
		fmt.Fprintln(os.Stderr, "regimes: usage: regimes [-draws K] DIR")
		os.Exit(2)
	}
	if err := regimes(context.Background(), flag.Arg(0), *draws); err != nil {
		fmt.Fprintln(os.Stderr, "regimes:", err)
		os.Exit(1)
	}
}

func regimes(ctx context.Context, dir string, draws int) error {
	alone, err := stories(ctx, dir, recipe.MethodHarnessOnly)
	if err != nil {
		return err
	}
	weights, err := stories(ctx, dir, recipe.MethodWeightOnly)
	if err != nil {
		return err
	}
	whole, err := stories(ctx, dir, recipe.MethodWhale)
	if err != nil {
		return err
	}
	if err := harnessAlone(alone, weights); err != nil {
		return err
	}
	return afterWeights(ctx, whole, draws)
}

// stories reads the runs of a method, in the order of their seeds.
func stories(ctx context.Context, dir, method string) ([]*recipe.Story, error) {
	paths, err := filepath.Glob(filepath.Join(dir, method+"-*"))
	if err != nil {
		return nil, err
	}
	var out []*recipe.Story
	for _, path := range paths {
		st, err := recipe.ReadStory(ctx, path)
		if err != nil {
			return nil, err
		}
		if st.Final == nil {
			return nil, fmt.Errorf("%s: the run is not finished", path)
		}
		out = append(out, st)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: got no runs of method %s, want a directory of whale compare that has them", dir, method)
	}
	slices.SortFunc(out, func(a, b *recipe.Story) int { return int(a.Config.Seed) - int(b.Config.Seed) })
	return out, nil
}

// harnessAlone prints what harness-only gains, and at what cost beside weight-only.
func harnessAlone(alone, weights []*recipe.Story) error {
	var before, after [][]float64
	for _, st := range alone {
		for name, to := range map[string]*[][]float64{recipe.PairStart: &before, recipe.PairFinal: &after} {
			p, _ := st.FinalPair(name)
			row, err := stats.CellMeans(p.Rewards)
			if err != nil {
				return err
			}
			*to = append(*to, row)
		}
	}
	gain, err := stats.SeedsDifference(after, before, 1)
	if err != nil {
		return err
	}
	fmt.Printf("harness-only, final over (θ0,h0), mean@k: %s\n", points(gain))
	curve := meanCurve(alone)
	for _, p := range curve {
		fmt.Printf("  after %6.0f rollouts: %+.1f points over the start (one draw an example)\n", p.rollouts, 100*(p.accuracy-curve[0].accuracy))
	}
	curve = meanCurve(weights)
	peak := 0
	for i, p := range curve {
		if p.accuracy > curve[peak].accuracy {
			peak = i
		}
	}
	fmt.Printf("weight-only: peak of the mean curve %.1f%%, after %.0f rollouts; a tenth of them is %.0f\n", 100*curve[peak].accuracy, curve[peak].rollouts, curve[peak].rollouts/10)
	return searchCost(alone, 0.15)
}

// searchCost prints after how many rollouts the search's own best score first lay a gain above the incoming one.
func searchCost(alone []*recipe.Story, gain float64) error {
	for _, st := range alone {
		ph := st.Phases[0]
		if ph.Search == nil || len(st.Curve) == 0 {
			return fmt.Errorf("%s: the run has no harness phase or no curve", st.Dir)
		}
		c := st.Config.Search
		size := ph.Rollouts / (1 + ph.Sessions*c.Candidates)
		at := "never"
		for i, best := range ph.Search.Best {
			if best >= ph.Search.Best[0]+gain {
				at = fmt.Sprintf("after session %d: %d rollouts, at %+.1f points", i, size*(1+i*c.Candidates), 100*(best-ph.Search.Best[0]))
				break
			}
		}
		fmt.Printf("harness-only, seed %d: best score on the search split first %.0f points above the incoming one: %s\n", st.Config.Seed, 100*gain, at)
	}
	return nil
}

type curvePoint struct{ rollouts, accuracy float64 }

// meanCurve averages the curves of runs with equal points.
func meanCurve(runs []*recipe.Story) []curvePoint {
	out := make([]curvePoint, len(runs[0].Curve))
	for _, st := range runs {
		for i, p := range st.Curve[:min(len(out), len(st.Curve))] {
			out[i].rollouts += float64(p.Rollouts) / float64(len(runs))
			out[i].accuracy += p.Test.Mean / float64(len(runs))
		}
	}
	return out
}

// afterWeights prints what whale's first harness phase gains after its first weight phase.
func afterWeights(ctx context.Context, whole []*recipe.Story, draws int) error {
	var before, after [][]float64
	for _, st := range whole {
		for _, ph := range st.Phases[:2] {
			row, err := evaluate(ctx, st, st.Phases[0].Name(), ph.Name(), draws)
			if err != nil {
				return err
			}
			if ph.Index == 0 {
				before = append(before, row)
			} else {
				after = append(after, row)
			}
		}
	}
	gain, err := stats.SeedsDifference(after, before, 1)
	if err != nil {
		return err
	}
	fmt.Printf("whale, first harness phase after the first weight phase, mean@%d: %s\n", draws, points(gain))
	return nil
}

// evaluate gives mean@k of the test examples for the weights and the harness of two moments of a run.
func evaluate(ctx context.Context, st *recipe.Story, weights, program string, draws int) ([]float64, error) {
	w, err := st.Moment(weights)
	if err != nil {
		return nil, err
	}
	h, err := st.Moment(program)
	if err != nil {
		return nil, err
	}
	c := st.Config
	if c.Policy.Model, err = st.ModelPath(w); err != nil {
		return nil, err
	}
	prog, err := st.Program(h)
	if err != nil {
		return nil, err
	}
	parts, err := recipe.OpenParts(ctx, c, recipe.Resources{Workers: 2})
	if err != nil {
		return nil, err
	}
	defer parts.Close()
	made, err := parts.Harness(prog)
	if err != nil {
		return nil, err
	}
	policy := parts.BasePolicy()
	defer policy.Close()
	run := &rollout.Runner{Task: parts.Task, Policy: policy, Limits: c.Limits, Sampling: c.Sampling, RunSeed: c.Seed, Concurrency: c.Concurrency, Retries: c.Retries}
	res, err := recipe.Evaluate(ctx, run, made, whale.SplitTest, whale.PurposeTest, draws)
	if err != nil {
		return nil, err
	}
	return stats.CellMeans(res.Rewards)
}

// points says a difference in points.
func points(d stats.Compared) string {
	by := make([]string, len(d.BySeed))
	for i, x := range d.BySeed {
		by[i] = fmt.Sprintf("%+.1f", 100*x)
	}
	return fmt.Sprintf("%+.1f points [%+.1f, %+.1f], by seed %s", 100*d.Mean, 100*d.Low, 100*d.High, strings.Join(by, ", "))
}
