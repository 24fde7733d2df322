package lm

import (
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// TestEngineTellsItsWork: sampling, training and scoring are on the pool's stopwatch, waiting for requests is not.
func TestEngineTellsItsWork(t *testing.T) {
	pool := kernel.NewPool(2)
	defer pool.Close()
	watch := kernel.NewStopwatch(time.Now)
	pool.Measure(watch)
	m := newModel(t, tinyConfig(), 1)
	grown := func(what string, do func()) {
		t.Helper()
		before, start := watch.Elapsed(), time.Now()
		do()
		if got, most := watch.Elapsed()-before, time.Since(start); got <= 0 || got > most {
			t.Errorf("%s: got %v on the stopwatch, want more than 0 and at most %v", what, got, most)
		}
	}
	grown("scoring", func() {
		if _, err := m.LogProbs(pool, []int32{1, 2, 3}); err != nil {
			t.Fatal(err)
		}
	})
	trainer := NewTrainer(m.Clone(), pool, DefaultAdamW())
	grown("accumulating", func() {
		if _, err := trainer.Accumulate(t.Context(), []Sequence{{Tokens: []int32{1, 2, 3}, Weights: []float32{0, 1, 1}}}); err != nil {
			t.Fatal(err)
		}
	})
	grown("stepping", func() {
		if _, err := trainer.Step(1e-3); err != nil {
			t.Fatal(err)
		}
	})
	var g *Generator
	grown("laying out", func() { g = NewGenerator(m, GeneratorOptions{Pool: pool}) })
	defer g.Close()
	grown("sampling", func() {
		if _, err := g.Generate(t.Context(), Request{Prompt: []int32{1, 2}, MaxTokens: 4}); err != nil {
			t.Fatal(err)
		}
	})
	// The last step may end after its completion was handed over.
	rest := watch.Elapsed()
	for deadline := time.Now().Add(5 * time.Second); ; {
		time.Sleep(5 * time.Millisecond)
		now := watch.Elapsed()
		if now == rest {
			break
		}
		if rest = now; time.Now().After(deadline) {
			t.Fatal("a generator that waits for requests is on the stopwatch")
		}
	}
}
