package recipe

import (
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
)

// Each warning comes exactly where the budget is too small for what it names.
func TestWarnings(t *testing.T) {
	enough := Default()
	enough.Evaluation.Draws = 8
	sizes := Counts{Train: 16384, Search: 256, Test: 700}
	small := func(change func(*Config, *Counts)) []string {
		c, n := enough, sizes
		change(&c, &n)
		p, err := MakePlan(c, n)
		if err != nil {
			t.Fatal(err)
		}
		return p.Warnings(c)
	}
	if got := small(func(*Config, *Counts) {}); len(got) != 0 {
		t.Errorf("the paper's sizes: got warnings %q", got)
	}
	for want, change := range map[string]func(*Config, *Counts){
		"has 2 proposer sessions": func(c *Config, _ *Counts) { c.Schedule.Sessions = 2 },
		"may end after 2 sessions": func(c *Config, _ *Counts) {
			c.Schedule.Method = MethodAdaptive
			c.Schedule.Adaptive.MinimumSessions = 2
		},
		"every harness phase has 6 sessions": func(c *Config, _ *Counts) {
			c.Schedule.Method, c.Schedule.Adaptive.MaximumSessions = MethodAdaptive, 6
		},
		"every weight phase but the last has 13 steps": func(c *Config, _ *Counts) {
			c.Schedule.Method, c.Schedule.Adaptive.MaximumEpochs = MethodAdaptive, 0.2
		},
		"no more than one harness phase": func(c *Config, _ *Counts) {
			c.Schedule.Method, c.Schedule.Sessions, c.Schedule.TotalEpochs = MethodAdaptive, 11, 0.6
		},
		"weight phase 0-weight has 6":    func(c *Config, _ *Counts) { c.Schedule.Epochs = 0.1 },
		"the test split has 60 examples": func(_ *Config, n *Counts) { n.Test = 60 },
		"the validation split has 50 ex": func(c *Config, n *Counts) { c.Evaluation.Split, n.Validation = whale.SplitValidation, 50 },
		"the search split has 16 exam":   func(_ *Config, n *Counts) { n.Search = 16 },
	} {
		got := small(change)
		if len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("got %q, want one warning with %q", got, want)
		}
	}
	if got := small(func(c *Config, n *Counts) { c.Schedule.Method, n.Search = MethodWeightOnly, 16 }); len(got) != 0 {
		t.Errorf("weight-only has no search to warn of: got %q", got)
	}
}
