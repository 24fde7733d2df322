package updatetest

import (
	"slices"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/token"
	"github.com/seed-095d5d2b/whale/modelupdate"
	"github.com/seed-095d5d2b/whale/policy/local"
	"github.com/seed-095d5d2b/whale/rollout"
)

// TestLearns trains an untrained model with an update: a quarter of its vocabulary is right as the first token of a reply, and after some steps
// most replies must begin with one of those. build makes the update with the given settings.
func TestLearns(t *testing.T, build func(c modelupdate.Config, trainer whale.Trainer, examples []whale.Example) modelupdate.ModelUpdate) {
	first, last := Learn(t, Bundle(t), 12, build)
	t.Logf("mean reward: %.2f to %.2f", first, last)
	if first > 0.4 || last < 0.8 {
		t.Errorf("mean reward: got %.2f in the first step and %.2f in the last, want a quarter and nearly all", first, last)
	}
}

// Learn makes steps of TestLearns' task, and gives the mean reward of the first and of the last.
func Learn(t *testing.T, b *local.Bundle, steps int, build func(c modelupdate.Config, trainer whale.Trainer, examples []whale.Example) modelupdate.ModelUpdate) (first, last float64) {
	t.Helper()
	trainer := local.NewTrainer(b, lm.DefaultAdamW(), local.Options{})
	c := modelupdate.Config{Batch: 8, Group: 8, Minibatch: 16, Passes: 1, LearningRate: 1e-2}
	u := build(c, trainer, Examples(6, "0"))
	for step := range steps {
		policy, err := trainer.Publish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		run := &rollout.Runner{
			Task:   Task{Reward: firstTokenIsRight},
			Policy: policy, Limits: whale.Limits{ModelCalls: 1, Tokens: 3, MessageBytes: 100}, Concurrency: 64, RunSeed: RunSeed,
			Sampling: whale.Sampling{Temperature: 1, TopP: 1},
		}
		res, err := u.Step(t.Context(), run, Harness{}, step)
		if cerr := policy.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			t.Fatal(err)
		}
		if step == 0 {
			first = res.Reward
		}
		last = res.Reward
	}
	return first, last
}

func firstTokenIsRight(e *whale.Episode) float64 {
	if e.Calls[0].Completion.Tokens[0]%4 == 1 {
		return 1
	}
	return 0
}

// Bundle is a tiny untrained model with whale-tiny's template.
func Bundle(t testing.TB) *local.Bundle {
	t.Helper()
	tok, err := token.Train(slices.Values([]string{"qqqqqq 0123456789"}), token.TrainOptions{Vocab: 280, Special: local.Specials(), Split: token.Digits})
	if err != nil {
		t.Fatal(err)
	}
	m, err := lm.New(lm.Config{
		Vocab: tok.Vocab(), Dim: 32, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 8, FFN: 64, MaxSeq: 128, RopeTheta: 10000, NormEps: 1e-5, TieEmbeddings: true,
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := local.NewBundle(m, tok, "test")
	if err != nil {
		t.Fatal(err)
	}
	return b
}
