package recipe

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/modelupdate"
	"github.com/seed-095d5d2b/whale/policy/local"
	"github.com/seed-095d5d2b/whale/rollout"
)

// TestTrainedTokensAreSampledTokens follows invariant 3 through a finished run: in the training sequences of each accepted rollout the
// targets are the sampled ids of its model calls, each once and in its place, behind the very prompt that it was sampled from.
func TestTrainedTokensAreSampledTokens(t *testing.T) {
	run := finishedRun(t)
	accepted := 0
	for _, r := range rolloutsOf(t, run.open(t)) {
		if r.Key.Purpose != whale.PurposeWeight || r.Reward() <= run.config.Weight.Accept {
			continue
		}
		accepted++
		seqs := rollout.Sequences(&r.Episode)
		targets, sampled := 0, 0
		for _, s := range seqs {
			if len(s.Tokens) != len(s.Weights) || s.Weights[0] != 0 {
				t.Fatalf("rollout %s: got %d tokens and %d weights, the first %g", r.row.Key, len(s.Tokens), len(s.Weights), s.Weights[0])
			}
			for _, w := range s.Weights {
				if w != 0 {
					targets++
				}
			}
		}
		for i, call := range r.Episode.Calls {
			c := call.Completion
			sampled += len(c.Tokens)
			from, to := len(c.Prompt), len(c.Prompt)+len(c.Tokens)
			if !slices.ContainsFunc(seqs, func(s whale.Sequence) bool {
				return len(s.Tokens) >= to && slices.Equal(s.Tokens[:from], c.Prompt) && slices.Equal(s.Tokens[from:to], c.Tokens) &&
					!slices.ContainsFunc(s.Weights[from:to], func(w float32) bool { return w != 1 })
			}) {
				t.Errorf("rollout %s: the ids of call %d are no targets behind their prompt in any sequence", r.row.Key, i+1)
			}
		}
		if targets != sampled {
			t.Errorf("rollout %s: got %d targets, want the %d sampled ids", r.row.Key, targets, sampled)
		}
	}
	if accepted < 4 {
		t.Errorf("got %d accepted rollouts: the test shows too little", accepted)
	}
}

// TestRecordedStepFollowsFromRollouts trains the first step once more by hand, from the stored rollouts alone, and comes to the weights
// that the run recorded.
func TestRecordedStepFollowsFromRollouts(t *testing.T) {
	run := finishedRun(t)
	s := run.open(t)
	var rec stepRecord
	record(t, s, kindStep, "0", &rec)
	parts, err := OpenParts(t.Context(), run.config, Resources{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer parts.Close()
	train, err := parts.Task.Examples(whale.SplitTrain)
	if err != nil {
		t.Fatal(err)
	}
	byDraw := map[string]*whale.Rollout{}
	for _, r := range rolloutsOf(t, s) {
		if r.Key.Purpose == whale.PurposeWeight && r.row.Step == 0 {
			byDraw[r.Key.Example+"/"+strconv.Itoa(r.Key.Draw)] = &r.Rollout
		}
	}
	c := run.config.Weight
	var accepted [][]whale.Sequence
	for _, v := range (modelupdate.Stream{N: len(train), Seed: run.config.Seed}).At(0, c.Batch) {
		for g := range c.Group {
			r := byDraw[train[v.Example].ID+"/"+strconv.Itoa(g)]
			if r == nil {
				t.Fatalf("draw %d of example %d is not stored", g, v.Example)
			}
			if r.Reward() > c.Accept {
				accepted = append(accepted, rollout.Sequences(&r.Episode))
			}
		}
	}
	if len(accepted) < 2 || len(accepted) != rec.Accepted {
		t.Fatalf("got %d accepted rollouts, recorded %d, want 2 or more and the same", len(accepted), rec.Accepted)
	}
	o := c.Optimizer
	trainer := local.NewTrainer(parts.Bundle, lm.AdamW{
		Beta1: float32(o.Beta1), Beta2: float32(o.Beta2), Eps: float32(o.Eps), WeightDecay: float32(o.WeightDecay), ClipNorm: float32(o.ClipNorm),
	}, parts.LocalOptions())
	order := rand.New(rand.NewPCG(run.config.Seed, uint64(whale.DeriveSeed(run.config.Seed, "sft", "0", "0")))).Perm(len(accepted))
	for n, chunk := range slices.Collect(slices.Chunk(order, c.Minibatch)) {
		var batch []whale.Sequence
		for _, i := range chunk {
			batch = append(batch, accepted[i]...)
		}
		op := strconv.Itoa(n)
		if err := trainer.Accumulate(t.Context(), op, batch, whale.Loss{}); err != nil {
			t.Fatal(err)
		}
		if _, err := trainer.Step(t.Context(), op, c.LearningRate); err != nil {
			t.Fatal(err)
		}
	}
	if got := trainer.Weights().ID; got != rec.Weights {
		t.Errorf("got weights %s, recorded %s", got.Short(), rec.Weights.Short())
	}
}

// TestRecordedLogProbs compares the log-probabilities that were recorded while sampling with those of the training path, under the base
// weights and under each snapshot that is kept.
func TestRecordedLogProbs(t *testing.T) {
	run := finishedRun(t)
	s := run.open(t)
	base, err := local.Open(run.config.Policy.Model)
	if err != nil {
		t.Fatal(err)
	}
	models := map[whale.ID]*lm.Model{base.Weights().ID: base.Model}
	snapshots, err := s.ListWeights()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range snapshots {
		dir, _ := s.Weights(id)
		b, err := local.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		models[b.Weights().ID] = b.Model
	}
	checked := map[whale.ID]int{}
	worst := 0.0
	for _, r := range rolloutsOf(t, s) {
		model := models[r.Key.Weights]
		if model == nil || checked[r.Key.Weights] > 400 {
			continue
		}
		for i, call := range r.Episode.Calls {
			c := call.Completion
			if c.Weights.ID != r.Key.Weights {
				t.Fatalf("rollout %s: call %d was sampled under %s, the key says %s", r.row.Key, i+1, c.Weights.ID.Short(), r.Key.Weights.Short())
			}
			if len(c.LogProbs) != len(c.Tokens) {
				t.Fatalf("rollout %s: call %d: got %d log-probabilities of %d tokens", r.row.Key, i+1, len(c.LogProbs), len(c.Tokens))
			}
			want, err := model.LogProbs(nil, append(slices.Clone(c.Prompt), c.Tokens...))
			if err != nil {
				t.Fatal(err)
			}
			for j, got := range c.LogProbs {
				worst = max(worst, math.Abs(float64(got-want[len(c.Prompt)+j])))
			}
			checked[r.Key.Weights] += len(c.Tokens)
		}
	}
	if !(worst <= 1e-4) {
		t.Errorf("recorded and recomputed log-probabilities differ by up to %g, want 1e-4 at most", worst)
	}
	if len(checked) < 3 {
		t.Errorf("got rollouts under %d of the kept weights, want the base's and two snapshots'", len(checked))
	}
	t.Logf("largest difference %.2g", worst)
}
