package grpo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/modelupdate"
	"github.com/seed-095d5d2b/whale/modelupdate/updatetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func build(tr whale.Trainer, examples []whale.Example) modelupdate.ModelUpdate {
	return &Update{Config: updatetest.Config, GRPO: Default(), Trainer: tr, Examples: examples, RunSeed: updatetest.RunSeed}
}

func TestUpdate(t *testing.T) { updatetest.TestUpdate(t, build) }

// TestLearns: the reward rises, with and without the clip's and the divergence's help.
func TestLearns(t *testing.T) {
	for name, c := range map[string]Config{
		"default":        Default(),
		"not normalised": {ClipLow: 0.2, ClipHigh: 0.3},
		"divergence":     {ClipLow: 0.2, ClipHigh: 0.2, KL: 0.001, Normalise: true},
	} {
		t.Run(name, func(t *testing.T) {
			updatetest.TestLearns(t, func(m modelupdate.Config, tr whale.Trainer, examples []whale.Example) modelupdate.ModelUpdate {
				return &Update{Config: m, GRPO: c, Trainer: tr, Examples: examples, RunSeed: updatetest.RunSeed, Reference: startOf(tr)}
			})
		})
	}
}

func startOf(tr whale.Trainer) func(context.Context) (whale.Scorer, error) {
	return func(ctx context.Context) (whale.Scorer, error) { return tr.Scorer(ctx, "") }
}

// TestDivergenceHolds: a policy that is held to its start strongly stays there.
func TestDivergenceHolds(t *testing.T) {
	_, last := updatetest.Learn(t, updatetest.Bundle(t), 8, func(m modelupdate.Config, tr whale.Trainer, examples []whale.Example) modelupdate.ModelUpdate {
		return &Update{Config: m, GRPO: Config{ClipLow: 0.2, ClipHigh: 0.2, KL: 100, Normalise: true}, Trainer: tr, Examples: examples, RunSeed: updatetest.RunSeed, Reference: startOf(tr)}
	})
	if last > 0.5 {
		t.Errorf("mean reward: got %.2f, want it to stay near a quarter", last)
	}
}

// TestStepComparesWithinGroups looks at what the trainer is given.
func TestStepComparesWithinGroups(t *testing.T) {
	tr, run := &updatetest.Trainer{}, updatetest.Runner()
	u := build(tr, updatetest.Examples(6, "1")).(*Update)
	u.Config.Passes, u.Config.Minibatch = 1, 100
	res, err := u.Step(t.Context(), run, updatetest.Harness{Fail: func(q string) bool { return len(q) == 3 }}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := res.Policy
	if p.Informative+p.Equal != 4 || p.Informative == 0 || p.Equal == 0 || res.Accepted != 3*p.Informative || res.Failed == 0 {
		t.Fatalf("got %+v, want four groups of both kinds and failures: else the test shows nothing", res)
	}
	if p.MeanRatio != 1 || p.Clipped != 0.5 || p.KL != 0.25 {
		t.Errorf("got %+v, want the trainer's ratios", p)
	}
	if len(tr.Losses) != 1 || tr.Losses[0] != (whale.Loss{Kind: whale.LossPPO, ClipLow: 0.2, ClipHigh: 0.2}) {
		t.Errorf("losses: got %+v, want one of ppo", tr.Losses)
	}
	sums := map[int32]float64{} // by question: advantages of a group
	for _, s := range tr.Batches[0] {
		a := s.Advantages[2]
		if !reflect.DeepEqual(s.Advantages, []float32{a, a, a, a}) || a == 0 || (a > 0) != (s.Tokens[2] == 1) {
			t.Errorf("reply %d has the advantages %v", s.Tokens[2], s.Advantages)
		}
		if want := []float32{0, 0, updatetest.LogProb, updatetest.LogProb}; !reflect.DeepEqual(s.LogProbs, want) {
			t.Errorf("log-probabilities: got %v, want %v as sampled", s.LogProbs, want)
		}
		if s.Reference != nil {
			t.Error("got references without a divergence")
		}
		sums[s.Tokens[1]] += float64(a)
	}
	for q, sum := range sums {
		if math.Abs(sum) > 1e-6 {
			t.Errorf("question %d: the advantages of its group add up to %g, want 0", q, sum)
		}
	}
}

// TestFailedEpisodesCount: an episode that broke a rule is one without reward; what it sampled has a negative advantage beside successes.
func TestFailedEpisodesCount(t *testing.T) {
	u := build(nil, nil).(*Update)
	var res modelupdate.StepResult
	got, err := u.compare([]*whale.Rollout{episode(1, 5), failed(6), failed(7)}, &res)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || res.Policy.Informative != 1 {
		t.Fatalf("got %d rollouts, %+v, want 3", len(got), res)
	}
	for i, want := range []float32{1.1547, -0.57735, -0.57735} {
		if a := got[i][0].Advantages[1]; math.Abs(float64(a-want)) > 1e-4 {
			t.Errorf("rollout %d: advantage: got %g, want %g", i, a, want)
		}
	}
}

// episode is a scored rollout of one call a token, each call with a prompt of its own.
func episode(reward float64, tokens ...int32) *whale.Rollout {
	r := &whale.Rollout{State: whale.StateScored, Verdict: whale.Verdict{Reward: reward}}
	for i, id := range tokens {
		r.Episode.Calls = append(r.Episode.Calls, whale.ModelCall{Completion: whale.Completion{Prompt: []int32{int32(100 + i)}, Tokens: []int32{id}, LogProbs: []float32{-1}}})
	}
	return r
}

func failed(tokens ...int32) *whale.Rollout {
	r := episode(0, tokens...)
	r.State = whale.StateFailed
	r.Episode.Failure = &whale.Failure{Reason: whale.FailTokens}
	return r
}

// TestEverySequenceHasTheEpisodesAdvantage: calls that do not extend each other are several sequences; an episode without a call is none, and
// still counts in its group.
func TestEverySequenceHasTheEpisodesAdvantage(t *testing.T) {
	u := build(nil, nil).(*Update)
	var res modelupdate.StepResult
	got, err := u.compare([]*whale.Rollout{episode(1, 5, 6), episode(1, 7), failed()}, &res)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || len(got[0]) != 2 || len(got[1]) != 1 || res.Sequences != 3 {
		t.Fatalf("got %v, %+v, want 2 sequences of the first and 1 of the second", got, res)
	}
	if a := got[0][0].Advantages[1]; a <= 0 || got[0][1].Advantages[1] != a || got[1][0].Advantages[1] != a {
		t.Errorf("got %v, want one positive advantage", got)
	}
	broken := episode(0, 5)
	broken.Episode.Calls[0].Completion.LogProbs = nil
	broken.Key.Example = "x7"
	if _, err := u.compare([]*whale.Rollout{episode(1, 5), broken, failed()}, &res); err == nil || !strings.Contains(err.Error(), "example x7, draw 0: model call 1: got 0 log-probabilities") {
		t.Errorf("got %v, want an error that names the rollout", err)
	}
}

// scorer gives each target its place in the batch.
type scorer struct {
	whale.Scorer
	asked int
	short bool
}

func (s *scorer) Score(_ context.Context, batch []whale.Sequence) ([][]float32, error) {
	s.asked++
	var out [][]float32
	for i, q := range batch {
		out = append(out, slices.Repeat([]float32{float32(-1 - i)}, len(q.Tokens)))
	}
	if s.short {
		out = out[1:]
	}
	return out, nil
}

// TestReference: every sequence has the scores of its own, and none is asked for where there is nothing to learn.
func TestReference(t *testing.T) {
	s := &scorer{}
	make := func(answer string) (*Update, *updatetest.Trainer) {
		tr := &updatetest.Trainer{}
		u := build(tr, updatetest.Examples(6, answer)).(*Update)
		u.Config.Passes, u.Config.Minibatch, u.GRPO.KL = 1, 2, 0.1
		u.Reference = func(context.Context) (whale.Scorer, error) { return s, nil }
		return u, tr
	}
	u, tr := make("1")
	res, err := u.Step(t.Context(), updatetest.Runner(), updatetest.Harness{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[float32]bool{}
	for i, batch := range tr.Batches {
		for _, q := range batch {
			if len(q.Reference) != len(q.Tokens) || seen[q.Reference[0]] {
				t.Errorf("references: got %v, want one of its own", q.Reference)
			}
			seen[q.Reference[0]] = true
		}
		if tr.Losses[i].KL != 0.1 {
			t.Errorf("loss: got %+v, want a divergence", tr.Losses[i])
		}
	}
	if s.asked != 1 || len(seen) != res.Sequences {
		t.Errorf("asked %d times, %d of %d sequences scored", s.asked, len(seen), res.Sequences)
	}
	u, _ = make("9")
	if _, err := u.Step(t.Context(), updatetest.Runner(), updatetest.Harness{}, 0); err != nil || s.asked != 1 {
		t.Errorf("asked %d times (%v), want none where no group is informative", s.asked, err)
	}
	s.short = true
	u, tr = make("1")
	if _, err := u.Step(t.Context(), updatetest.Runner(), updatetest.Harness{}, 0); err == nil || !strings.Contains(err.Error(), "the phase's start: got scores of") || len(tr.Ops) != 0 {
		t.Errorf("got %v and %d updates, want an error and none", err, len(tr.Ops))
	}
}

// choosy is a trainer that knows likelihoods alone.
type choosy struct{ updatetest.Trainer }

var errLoss = errors.New("no such loss here")

func (*choosy) CheckLoss(l whale.Loss) error {
	if l.PolicyGradient() {
		return errLoss
	}
	return nil
}

// TestRefusedLoss: nothing is sampled for a trainer that cannot learn from it.
func TestRefusedLoss(t *testing.T) {
	run := updatetest.Runner()
	run.Observe = func(*whale.Rollout, bool) { t.Error("an episode ran") }
	if _, err := build(&choosy{}, updatetest.Examples(6, "1")).Step(t.Context(), run, updatetest.Harness{}, 0); !errors.Is(err, errLoss) {
		t.Errorf("got %v, want the trainer's refusal", err)
	}
}

// TestUnscoredStart: a divergence from nothing is refused before anything is sampled.
func TestUnscoredStart(t *testing.T) {
	u := build(&updatetest.Trainer{}, updatetest.Examples(6, "1")).(*Update)
	u.GRPO.KL = 0.1
	run := updatetest.Runner()
	run.Observe = func(*whale.Rollout, bool) { t.Error("an episode ran") }
	if _, err := u.Step(t.Context(), run, updatetest.Harness{}, 0); err == nil || !strings.Contains(err.Error(), "kl: got 0.1, want 0") {
		t.Errorf("got %v, want a refusal", err)
	}
}

// TestAdvantages checks their moments on any group of rewards.
func TestAdvantages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rewards := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 0.25}), 2, 16).Draw(t, "rewards")
		for _, normalise := range []bool{false, true} {
			got := Advantages(rewards, normalise)
			same := slices.Min(rewards) == slices.Max(rewards)
			if (got == nil) != same {
				t.Fatalf("got %v of %v, want none only where all are the same", got, rewards)
			}
			if same {
				continue
			}
			sum, square := 0.0, 0.0
			for i, a := range got {
				sum += a
				square += a * a
				for j, b := range got {
					if (rewards[i] < rewards[j]) != (a < b) {
						t.Fatalf("got %v of %v, want their order", got, rewards)
					}
				}
				if !normalise && math.Abs((a-got[0])-(rewards[i]-rewards[0])) > 1e-12 {
					t.Fatalf("got %v of %v, want their differences", got, rewards)
				}
			}
			if math.Abs(sum) > 1e-9 || normalise && math.Abs(square/float64(len(got)-1)-1) > 1e-9 {
				t.Fatalf("got %v of %v: sum %g, variance %g", got, rewards, sum, square/float64(len(got)-1))
			}
		}
	})
}

func TestValidate(t *testing.T) {
	good := Update{Config: updatetest.Config, GRPO: Default()}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Update){
		"weight.minibatch: got 0":             func(u *Update) { u.Config.Minibatch = 0 },
		"weight.group: got 1, want 2 or more": func(u *Update) { u.Config.Group = 1 },
		"weight.grpo.clip_low: got 0, want":   func(u *Update) { u.GRPO.ClipLow = 0 },
		"weight.grpo.clip_low: got 1.5, want": func(u *Update) { u.GRPO.ClipLow = 1.5 },
		"weight.grpo.clip_high: got -1, want": func(u *Update) { u.GRPO.ClipHigh = -1 },
		"weight.grpo.kl: got NaN, want 0":     func(u *Update) { u.GRPO.KL = math.NaN() },
	} {
		u := good
		spoil(&u)
		if err := u.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	if err := Default().Loss().Validate(); err != nil {
		t.Error(fmt.Errorf("the default's loss: %w", err))
	}
}
