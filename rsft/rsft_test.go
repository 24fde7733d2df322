package rsft

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/rollout"
)

// TestStreamIsPersistent cuts the stream into phases at any place: the pieces are the whole, and every epoch is a permutation.
func TestStreamIsPersistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Stream{N: rapid.IntRange(1, 20).Draw(t, "n"), Seed: rapid.Uint64().Draw(t, "seed")}
		total := rapid.IntRange(1, 100).Draw(t, "total")
		whole := s.At(0, total)
		cut := rapid.IntRange(0, total).Draw(t, "cut")
		if parts := append(s.At(0, cut), s.At(cut, total-cut)...); !reflect.DeepEqual(parts, whole) {
			t.Fatalf("cut at %d: got %v, want %v", cut, parts, whole)
		}
		seen := map[Visit]bool{}
		for i, v := range whole {
			if v.Epoch != i/s.N || seen[v] {
				t.Fatalf("position %d: got %+v again or in the wrong epoch", i, v)
			}
			seen[v] = true
		}
	})
}

func TestStreamReshuffles(t *testing.T) {
	s := Stream{N: 50, Seed: 3}
	order := func(s Stream, epoch int) (out []int) {
		for _, v := range s.At(epoch*s.N, s.N) {
			out = append(out, v.Example)
		}
		return out
	}
	if reflect.DeepEqual(order(s, 0), order(s, 1)) || reflect.DeepEqual(order(s, 0), order(Stream{N: 50, Seed: 4}, 0)) {
		t.Error("two epochs or two seeds have one order")
	}
}

// TestPhaseEndsDoNotDrift: the paper's E = 0.6 of 74.008 steps, ten phases on.
func TestPhaseEndsDoNotDrift(t *testing.T) {
	for k := range 10 {
		exact := float64(k+1) * 0.6 * 18946 / 256
		if got := PhaseEnd(k, 0.6, 18946, 256); math.Abs(float64(got)-exact) > 0.5 {
			t.Errorf("phase %d ends at %d, exact %.2f", k, got, exact)
		}
	}
}

// harness, task, env: an agent that answers with its seed's parity.
type fakeHarness struct{ whale.Harness }

func (fakeHarness) ID() whale.ID { return "h" }
func (fakeHarness) Run(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
	r, err := h.Do(ctx, whale.Request{Op: whale.OpChat, Messages: []whale.Message{{Role: whale.RoleUser, Content: h.Start().Task["question"]}}})
	if err != nil {
		return 0, err
	}
	return r.Reply.Ref, nil
}

type fakePolicy struct {
	whale.Policy
	fail bool
}

func (fakePolicy) ID() whale.ID                     { return "r" }
func (fakePolicy) Weights() whale.WeightsRef        { return whale.WeightsRef{ID: "w"} }
func (fakePolicy) Capabilities() whale.Capabilities { return whale.Capabilities{} }
func (fakePolicy) StopIDs() []int32                 { return []int32{0} }
func (fakePolicy) Parse(ids []int32) (string, []whale.ToolCall) {
	return fmt.Sprint(ids[0]), nil
}
func (fakePolicy) Render(m []whale.Message, _ []whale.ToolSpec, _ func(whale.ReplyRef) []int32) ([]int32, error) {
	return []int32{7, int32(len(m[0].Content))}, nil
}
func (p fakePolicy) Sample(_ context.Context, r whale.SampleRequest) (whale.Completion, error) {
	if p.fail {
		return whale.Completion{}, errors.New("server away")
	}
	return whale.Completion{Prompt: r.Prompt, Tokens: []int32{int32(r.Seed % 2), 0}, Finish: whale.FinishStop}, nil
}

type fakeTask struct{ whale.Task }

func (fakeTask) ID() whale.ID             { return "t" }
func (fakeTask) Name() string             { return "parity" }
func (fakeTask) Verifier() whale.Verifier { return fakeVerifier{} }
func (fakeTask) NewEnv(context.Context, whale.Example, uint32) (whale.Env, error) {
	return fakeEnv{}, nil
}

type fakeVerifier struct{ whale.Verifier }

func (fakeVerifier) Verify(_ context.Context, x whale.Example, e *whale.Episode) (whale.Verdict, error) {
	text, _ := e.AnswerText()
	if string(x.Answer) == text {
		return whale.Verdict{Reward: 1}, nil
	}
	return whale.Verdict{Reason: "wrong answer"}, nil
}

type fakeEnv struct{ whale.Env }

func (fakeEnv) Tools() []whale.ToolSpec { return nil }
func (fakeEnv) Rules() whale.Rules      { return whale.Rules{} }
func (fakeEnv) Close() error            { return nil }

// fakeTrainer keeps what it is given.
type fakeTrainer struct {
	whale.Trainer
	batches [][]whale.Sequence
	ops     []string
	pending int
}

func (t *fakeTrainer) Accumulate(_ context.Context, op string, batch []whale.Sequence) error {
	t.batches = append(t.batches, batch)
	t.pending++
	return nil
}

func (t *fakeTrainer) Step(_ context.Context, op string, _ float64) (whale.TrainStats, error) {
	if t.pending != 1 {
		return whale.TrainStats{}, fmt.Errorf("step with %d accumulated minibatches", t.pending)
	}
	t.pending = 0
	t.ops = append(t.ops, op)
	n := 0
	for _, s := range t.batches[len(t.batches)-1] {
		for _, w := range s.Weights {
			n += int(w)
		}
	}
	return whale.TrainStats{Loss: 1, Tokens: n}, nil
}

func setup(answer string) (*Update, *fakeTrainer, *rollout.Runner) {
	tr := &fakeTrainer{}
	u := &Update{Config: Config{Batch: 4, Group: 3, Minibatch: 2, Passes: 2, Accept: 0.5, LearningRate: 1}, Trainer: tr, RunSeed: 5}
	for i := range 6 {
		u.Examples = append(u.Examples, whale.Example{ID: fmt.Sprint(i), View: map[string]string{"question": strings.Repeat("q", i+1)}, Answer: json.RawMessage(answer)})
	}
	return u, tr, &rollout.Runner{Task: fakeTask{}, Policy: fakePolicy{}, Limits: whale.Limits{ModelCalls: 1, Tokens: 10, MessageBytes: 100}, Concurrency: 4, RunSeed: 5}
}

func TestStepTrainsOnAcceptedRolloutsAlone(t *testing.T) {
	u, tr, run := setup("1")
	var made, rewarded atomic.Int32
	run.Observe = func(r *whale.Rollout, _ bool) {
		made.Add(1)
		rewarded.Add(int32(r.Reward()))
	}
	res, err := u.Step(t.Context(), run, fakeHarness{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if made.Load() != 12 || res.Rollouts != 12 || res.Accepted != int(rewarded.Load()) || res.Accepted == 0 || res.Accepted == 12 {
		t.Fatalf("got %+v with %d rollouts of which %d rewarded", res, made.Load(), rewarded.Load())
	}
	if want := 2 * ((res.Accepted + 1) / 2); res.Updates != want || len(tr.ops) != want {
		t.Errorf("updates: got %d, want %d: two passes in minibatches of 2", res.Updates, want)
	}
	for _, batch := range tr.batches {
		for _, s := range batch {
			if want := []float32{0, 0, 1, 1}; s.Tokens[2] != 1 || !reflect.DeepEqual(s.Weights, want) {
				t.Errorf("trained on %v with weights %v: want only the sampled ids of a rewarded rollout", s.Tokens, s.Weights)
			}
		}
	}
	seen := map[string]bool{}
	for _, op := range tr.ops {
		if seen[op] {
			t.Errorf("operation id %s twice", op)
		}
		seen[op] = true
	}
}

// TestEveryVisitSamplesAnew runs on into the second epoch: no draw of an example comes twice.
func TestEveryVisitSamplesAnew(t *testing.T) {
	u, _, _ := setup("1")
	seen := map[string]int{}
	for step := range 6 { // 24 visits of 6 examples: four epochs
		for _, j := range u.jobs(fakeHarness{}, step) {
			key := fmt.Sprint(j.Example.ID, "/", j.Draw)
			if seen[key]++; seen[key] > 1 {
				t.Fatalf("step %d draws %s again", step, key)
			}
			if j.Purpose != whale.PurposeWeight || j.Split != whale.SplitTrain {
				t.Fatalf("job %+v is no training rollout", j)
			}
		}
	}
	for _, x := range u.Examples {
		for draw := range 12 {
			if seen[fmt.Sprint(x.ID, "/", draw)] != 1 {
				t.Errorf("example %s: draw %d is missing", x.ID, draw)
			}
		}
	}
}

func TestEmptyAcceptedSetSkipsTheUpdate(t *testing.T) {
	u, tr, run := setup("9")
	res, err := u.Step(t.Context(), run, fakeHarness{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if res.Accepted != 0 || res.Updates != 0 || len(tr.ops) != 0 || res.Rollouts != 12 {
		t.Errorf("got %+v and %d updates, want the rollouts counted and no update", res, len(tr.ops))
	}
}

func TestInfrastructureErrorStopsTheStep(t *testing.T) {
	u, tr, run := setup("1")
	run.Policy = fakePolicy{fail: true}
	if _, err := u.Step(t.Context(), run, fakeHarness{}, 3); err == nil || !strings.Contains(err.Error(), "rollout step 3") || !strings.Contains(err.Error(), "server away") {
		t.Errorf("got %v, want an error that names step and cause", err)
	}
	if len(tr.ops) != 0 {
		t.Error("trained on an incomplete step")
	}
}

func TestConfigValidate(t *testing.T) {
	good := Config{Batch: 1, Group: 1, Minibatch: 1, Passes: 1, Accept: 0.5, LearningRate: 1e-7}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Config){
		"weight.batch":         func(c *Config) { c.Batch = 0 },
		"weight.group":         func(c *Config) { c.Group = -1 },
		"weight.minibatch":     func(c *Config) { c.Minibatch = 0 },
		"weight.passes":        func(c *Config) { c.Passes = 0 },
		"weight.accept":        func(c *Config) { c.Accept = 1 },
		"weight.learning_rate": func(c *Config) { c.LearningRate = 0 },
	} {
		c := good
		spoil(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}
