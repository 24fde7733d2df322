package recipe

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// TestCommonRandomNumbers: the harnesses of one phase meet the same examples with the same seeds, and those of the next phase new ones.
// That the seeds decide the sampling shows where two harnesses send the same prompt under the same weights.
func TestCommonRandomNumbers(t *testing.T) {
	run := finishedRun(t)
	seeds := map[string]map[whale.ID][]string{} // by phase and harness: "example seed", in order of the examples
	replies := map[string][]int32{}             // the first of an episode, by all that should decide it
	compared := 0
	for _, r := range rolloutsOf(t, run.open(t)) {
		if r.Key.Purpose == whale.PurposeSearch {
			if seeds[r.row.Phase] == nil {
				seeds[r.row.Phase] = map[whale.ID][]string{}
			}
			bySeed := seeds[r.row.Phase]
			bySeed[r.Key.Harness] = append(bySeed[r.Key.Harness], r.Key.Example+" "+strconv.Itoa(int(r.Key.Seed())))
		}
		if len(r.Episode.Calls) == 0 {
			continue
		}
		c := r.Episode.Calls[0].Completion
		situation, err := json.Marshal([]any{r.Key.Weights, r.Key.Purpose, r.Key.Example, r.Key.Draw, c.Prompt})
		if err != nil {
			t.Fatal(err)
		}
		before, ok := replies[string(situation)]
		if n := min(len(before), len(c.Tokens)); ok && !slices.Equal(before[:n], c.Tokens[:n]) { // a harness may have one cut earlier
			t.Errorf("rollout %s: the same prompt, weights and seed gave another reply", r.row.Key)
		}
		if ok {
			compared++
		}
		replies[string(situation)] = c.Tokens
	}
	var phases []string
	for phase, harnesses := range seeds {
		var first []string
		for id, list := range harnesses {
			slices.Sort(list)
			if first == nil {
				first = list
			}
			if len(list) != 4 || !slices.Equal(list, first) {
				t.Errorf("phase %s, harness %s: got %q, want the seeds of the others %q", phase, id.Short(), list, first)
			}
		}
		want := 3
		if phase != "1-harness" {
			want += 2 // runners-up of the first
		}
		if len(harnesses) != want {
			t.Errorf("phase %s: got %d harnesses, want %d: the incoming one, two candidates, and the runners-up of the phase before", phase, len(harnesses), want)
		}
		for _, other := range phases {
			for _, list := range seeds[other] {
				if slices.Equal(list, first) {
					t.Errorf("phases %s and %s meet the same seeds", phase, other)
				}
			}
		}
		phases = append(phases, phase)
	}
	if len(phases) != 2 || compared == 0 {
		t.Errorf("got %d phases and %d equal situations: the test shows too little", len(phases), compared)
	}
}

// TestNewWeightsMeetNoOldScores: every score of a phase was measured under that phase's weights, and is the mean of that phase's rollouts.
func TestNewWeightsMeetNoOldScores(t *testing.T) {
	run := finishedRun(t)
	s := run.open(t)
	means := map[string][]float64{} // rewards by phase and harness
	for _, r := range rolloutsOf(t, s) {
		if r.Key.Purpose == whale.PurposeSearch {
			key := r.row.Phase + "/" + string(r.Key.Harness)
			means[key] = append(means[key], r.Reward())
		}
	}
	var weights []whale.ID
	for _, phase := range []string{"1-harness", "3-harness"} {
		var rec harnessRecord
		record(t, s, kindHarness, phase, &rec)
		weights = append(weights, rec.Weights)
		events, err := s.Events(t.Context(), metaharness.KindDecision)
		if err != nil {
			t.Fatal(err)
		}
		scores := 0
		for _, e := range events {
			var d metaharness.Decision
			if err := json.Unmarshal(e.Data, &d); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(e.Op, phase+"/") || d.Score == nil {
				continue
			}
			scores++
			if d.Score.Weights != rec.Weights {
				t.Errorf("%s: the score is of weights %s, the phase's are %s", e.Op, d.Score.Weights.Short(), rec.Weights.Short())
			}
		}
		if want := map[string]int{"1-harness": 3, "3-harness": 5}[phase]; scores != want {
			t.Errorf("phase %s: got %d scores, want %d", phase, scores, want)
		}
		for _, line := range indexOf(t, run.run, phase) {
			if line.Mean == nil {
				continue
			}
			mean := 0.0
			for _, reward := range means[phase+"/"+string(line.ID)] {
				mean += reward / 4
			}
			if *line.Mean != mean {
				t.Errorf("archive of %s, %s: got a mean of %g, the phase's rollouts have %g", phase, line.Name, *line.Mean, mean)
			}
		}
	}
	if weights[0] == weights[1] {
		t.Error("both phases have the same weights: the test shows nothing")
	}
}

func indexOf(t *testing.T, run, phase string) []metaharness.IndexLine {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(run, "archive", phase, "index.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var out []metaharness.IndexLine
	for line := range bytes.Lines(data) {
		var l metaharness.IndexLine
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

// TestProposersSeeNothingOfTheTest: what proposers are shown holds no question of the test split, and no example's id of any split.
func TestProposersSeeNothingOfTheTest(t *testing.T) {
	run := finishedRun(t)
	parts, err := OpenParts(t.Context(), run.config, Resources{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer parts.Close()
	var hidden []string
	shown := 0
	for _, split := range []whale.Split{whale.SplitTrain, whale.SplitSearch, whale.SplitValidation, whale.SplitTest} {
		examples, err := parts.Task.Examples(split)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range examples {
			hidden = append(hidden, x.ID)
			if split == whale.SplitTest || split == whale.SplitValidation {
				hidden = append(hidden, x.View["question"])
			}
		}
	}
	search, err := parts.Task.Examples(whale.SplitSearch)
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"archive", "sessions"} {
		err := filepath.WalkDir(filepath.Join(run.run, sub), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			for _, h := range hidden {
				if bytes.Contains(data, []byte(h)) || strings.Contains(path, h) {
					t.Errorf("%s holds %q", path, h)
				}
			}
			if bytes.Contains(data, []byte(search[0].View["question"])) {
				shown++
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if shown == 0 {
		t.Error("no file holds a question of the search split either: the test looks at the wrong files")
	}
}

// TestLedgerIsComplete: the ledger is the sum over the rollouts, and what the plan says.
func TestLedgerIsComplete(t *testing.T) {
	run := finishedRun(t)
	s := run.open(t)
	sums := map[string]map[string]float64{}
	for _, r := range rolloutsOf(t, s) {
		p := string(r.Key.Purpose)
		if sums[p] == nil {
			sums[p] = map[string]float64{}
		}
		u := r.Episode.Usage
		for name, amount := range map[string]int{
			"rollouts": 1, "model_calls": u.ModelCalls, "tool_calls": u.ToolCalls, "prompt_tokens": u.PromptTokens, "sampled_tokens": u.SampledTokens, "retries": r.Retries,
		} {
			sums[p][name] += float64(amount)
		}
		sampled := 0
		for _, c := range r.Episode.Calls {
			sampled += len(c.Completion.Tokens)
		}
		if sampled != u.SampledTokens || len(r.Episode.Calls) != u.ModelCalls || len(r.Episode.Tools) != u.ToolCalls {
			t.Errorf("rollout %s: its usage %+v is not that of its trajectory", r.row.Key, u)
		}
	}
	ledger, err := s.Ledger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for purpose, counters := range sums {
		for name, amount := range counters {
			if ledger[purpose][name] != amount {
				t.Errorf("%s %s: got %g, the rollouts sum to %g", purpose, name, ledger[purpose][name], amount)
			}
		}
	}
	for purpose, counters := range ledger {
		for name := range counters {
			if _, ok := sums[purpose][name]; !ok && name != "seconds" && purpose != "proposer" {
				t.Errorf("the ledger has %s %s, and no rollout does", purpose, name)
			}
		}
	}
	plan := planOfConfig(t, run.config)
	for _, tc := range []struct {
		purpose string
		want    int
		exact   bool
	}{
		{"weight", plan.WeightRollouts, true}, {"search", plan.SearchRollouts, true}, // both candidates of each session are evaluated
		{"canary", plan.CanaryRollouts, true}, {"test", plan.CurveRollouts + plan.FinalRollouts, false},
	} {
		if got := int(ledger[tc.purpose]["rollouts"]); got > tc.want || tc.exact && got != tc.want {
			t.Errorf("%s: got %d rollouts, the plan says %d", tc.purpose, got, tc.want)
		}
	}
	if p := ledger["proposer"]; p["sessions"] != float64(plan.Sessions) || p["candidates"] != 4 {
		t.Errorf("proposer: got %v, want %d sessions and 4 candidates", p, plan.Sessions)
	}
	if got := ledger["weight"]["seconds"]; !(got > 0) {
		t.Errorf("weight: got %g seconds", got)
	}
}

func planOfConfig(t *testing.T, c Config) Plan {
	t.Helper()
	parts, err := OpenParts(t.Context(), c, Resources{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer parts.Close()
	p, err := planOf(parts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
