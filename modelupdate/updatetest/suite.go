package updatetest

import (
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/modelupdate"
)

// Config are the settings that TestUpdate's updates have.
var Config = modelupdate.Config{Batch: 4, Group: 3, Minibatch: 2, Passes: 2, LearningRate: 0.5}

// TestUpdate holds an update to what the recipe rests on. build makes one with [Config] and [RunSeed].
func TestUpdate(t *testing.T, build func(trainer whale.Trainer, examples []whale.Example) modelupdate.ModelUpdate) {
	t.Run("step", func(t *testing.T) {
		tr, run := &Trainer{}, Runner()
		var made, rewarded atomic.Int32
		run.Observe = func(r *whale.Rollout, _ bool) {
			made.Add(1)
			rewarded.Add(int32(r.Reward()))
		}
		res, err := build(tr, Examples(6, "1")).Step(t.Context(), run, Harness{}, 7)
		if err != nil {
			t.Fatal(err)
		}
		if made.Load() != 12 || res.Step != 7 || res.Rollouts != 12 || res.Reward < float64(rewarded.Load())/12-1e-9 || res.Reward > float64(rewarded.Load())/12+1e-9 {
			t.Errorf("got %+v, want step 7 with %d rollouts of which %d rewarded", res, made.Load(), rewarded.Load())
		}
		if rewarded.Load() == 0 || rewarded.Load() == 12 || res.Accepted == 0 {
			t.Fatalf("got %+v: the test shows nothing", res)
		}
		if want := 2 * ((res.Accepted + 1) / 2); res.Updates != want || len(tr.Ops) != want {
			t.Errorf("updates: got %d, want %d: two passes in minibatches of 2", res.Updates, want)
		}
		tokens, seen := 0, map[string]bool{}
		for i, batch := range tr.Batches {
			for _, s := range batch {
				if want := []float32{0, 0, 1, 1}; !reflect.DeepEqual(s.Weights, want) {
					t.Errorf("trained on %v with weights %v, want only the sampled ids", s.Tokens, s.Weights)
				}
				tokens += 2
			}
			if seen[tr.Ops[i]] {
				t.Errorf("operation id %s twice", tr.Ops[i])
			}
			seen[tr.Ops[i]] = true
			if tr.Rates[i] != Config.LearningRate {
				t.Errorf("learning rate: got %g, want %g", tr.Rates[i], Config.LearningRate)
			}
		}
		if res.Tokens != tokens || res.Loss != 1 {
			t.Errorf("got %+v, want %d tokens and loss 1, as the trainer says", res, tokens)
		}
	})
	t.Run("again", func(t *testing.T) {
		first, second := &Trainer{}, &Trainer{}
		a, err := build(first, Examples(6, "1")).Step(t.Context(), Runner(), Harness{}, 3)
		if err != nil {
			t.Fatal(err)
		}
		b, err := build(second, Examples(6, "1")).Step(t.Context(), Runner(), Harness{}, 3)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(first, second) {
			t.Errorf("a step made again came out otherwise: got %+v, want %+v", b, a)
		}
	})
	t.Run("nothing to learn", func(t *testing.T) {
		tr := &Trainer{}
		res, err := build(tr, Examples(6, "9")).Step(t.Context(), Runner(), Harness{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if res.Accepted != 0 || res.Updates != 0 || len(tr.Ops) != 0 || len(tr.Batches) != 0 || res.Rollouts != 12 {
			t.Errorf("got %+v and %d updates, want the rollouts counted and no update", res, len(tr.Ops))
		}
	})
	t.Run("failed episodes", func(t *testing.T) {
		tr := &Trainer{}
		res, err := build(tr, Examples(6, "1")).Step(t.Context(), Runner(), Harness{Fail: func(q string) bool { return len(q)%2 == 0 }}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if res.Failed == 0 || !strings.Contains(res.Failure, "gave up") || res.Rollouts != 12 {
			t.Errorf("got %+v, want failures counted and the first of them named", res)
		}
	})
	t.Run("infrastructure", func(t *testing.T) {
		tr, run := &Trainer{}, Runner()
		run.Policy = &Policy{Away: true}
		if _, err := build(tr, Examples(6, "1")).Step(t.Context(), run, Harness{}, 3); err == nil || !strings.Contains(err.Error(), "rollout step 3") || !strings.Contains(err.Error(), "server away") {
			t.Errorf("got %v, want an error that names step and cause", err)
		}
		if len(tr.Batches) != 0 {
			t.Error("trained on an incomplete step")
		}
	})
}
