package modelupdate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale"
)

func TestConfigValidate(t *testing.T) {
	good := Config{Batch: 1, Group: 1, Minibatch: 1, Passes: 1, LearningRate: 1e-7}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Config){
		"weight.batch":         func(c *Config) { c.Batch = 0 },
		"weight.group":         func(c *Config) { c.Group = -1 },
		"weight.minibatch":     func(c *Config) { c.Minibatch = 0 },
		"weight.passes":        func(c *Config) { c.Passes = 0 },
		"weight.learning_rate": func(c *Config) { c.LearningRate = 0 },
	} {
		c := good
		spoil(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

// TestEveryVisitSamplesAnew runs on into the second epoch: no draw of an example comes twice.
func TestEveryVisitSamplesAnew(t *testing.T) {
	c := Config{Batch: 4, Group: 3}
	var examples []whale.Example
	for i := range 6 {
		examples = append(examples, whale.Example{ID: fmt.Sprint(i)})
	}
	seen := map[string]int{}
	for step := range 6 { // 24 visits of 6 examples: four epochs
		for _, j := range c.Jobs(nil, examples, 5, step) {
			key := fmt.Sprint(j.Example.ID, "/", j.Draw)
			if seen[key]++; seen[key] > 1 {
				t.Fatalf("step %d draws %s again", step, key)
			}
			if j.Purpose != whale.PurposeWeight || j.Split != whale.SplitTrain {
				t.Fatalf("job %+v is no training rollout", j)
			}
		}
	}
	for _, x := range examples {
		for draw := range 12 {
			if seen[fmt.Sprint(x.ID, "/", draw)] != 1 {
				t.Errorf("example %s: draw %d is missing", x.ID, draw)
			}
		}
	}
}

// TestMinibatches: each pass takes every rollout once, operations differ, and the order follows from seed, label, step and pass.
func TestMinibatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Minibatch: rapid.IntRange(1, 7).Draw(t, "minibatch"), Passes: rapid.IntRange(1, 3).Draw(t, "passes")}
		n, step := rapid.IntRange(0, 20).Draw(t, "n"), rapid.IntRange(0, 3).Draw(t, "step")
		minis := c.Minibatches(9, "label", step, n)
		if want := c.Passes * ((n + c.Minibatch - 1) / c.Minibatch); len(minis) != want {
			t.Fatalf("got %d minibatches, want %d", len(minis), want)
		}
		var items []int
		ops := map[string]bool{}
		for _, m := range minis {
			if len(m.Items) == 0 || len(m.Items) > c.Minibatch || ops[m.Op] {
				t.Fatalf("minibatch %+v is empty, too large, or its operation comes twice", m)
			}
			ops[m.Op] = true
			items = append(items, m.Items...)
		}
		for pass := range slices.Chunk(items, max(n, 1)) {
			slices.Sort(pass)
			for i, item := range pass {
				if item != i {
					t.Fatalf("a pass takes %v, want each of %d rollouts once", pass, n)
				}
			}
		}
	})
	c := Config{Minibatch: 30, Passes: 2}
	order := func(seed uint64, label string, step, pass int) []int {
		return c.Minibatches(seed, label, step, 30)[pass].Items
	}
	base := order(1, "a", 0, 0)
	for what, other := range map[string][]int{"seed": order(2, "a", 0, 0), "label": order(1, "b", 0, 0), "step": order(1, "a", 1, 0), "pass": order(1, "a", 0, 1)} {
		if slices.Equal(base, other) {
			t.Errorf("another %s has the same order", what)
		}
	}
}
