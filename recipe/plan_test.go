package recipe

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func paper() Config {
	c := Default()
	c.Evaluation.Curve, c.Search.RunnersUp = false, 0 // a phase's archive begins with the incoming harness alone
	return c
}

// TestPlanOfThePaper checks the counts that the paper gives for SearchQA: 74 steps an epoch, 4 epochs, (E, I) = (0.6, 6).
func TestPlanOfThePaper(t *testing.T) {
	c := paper()
	c.Schedule.TotalEpochs = 4
	p, err := MakePlan(c, Counts{Train: 18946, Search: 256, Test: 700})
	if err != nil {
		t.Fatal(err)
	}
	if got := int(p.StepsAnEpoch + 0.5); got != 74 {
		t.Errorf("steps an epoch: got %d, want 74", got)
	}
	if p.Steps != 296 || p.Cycles != 7 {
		t.Errorf("got %d steps in %d cycles, want 296 in 7 (4/0.6 is 6.67: the last one is cut)", p.Steps, p.Cycles)
	}
	if p.WeightRollouts != 296*256*8 {
		t.Errorf("training rollouts: got %d", p.WeightRollouts)
	}
	for _, ph := range p.Phases {
		// The paper's 4,608 rollouts an iteration block are I × 768; the incumbent's 256 are counted apart.
		if ph.Kind == PhaseHarness && ph.Rollouts != 4608+256 {
			t.Errorf("phase %s: got %d rollouts, want 4608 + 256", ph.Name(), ph.Rollouts)
		}
	}
}

func TestPlanProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Default()
		c.Weight.Batch = rapid.IntRange(1, 300).Draw(t, "batch")
		c.Schedule.Epochs = rapid.Float64Range(0.01, 3).Draw(t, "E")
		c.Schedule.TotalEpochs = rapid.Float64Range(0.5, 10).Draw(t, "total")
		c.Schedule.Sessions = rapid.IntRange(0, 10).Draw(t, "I")
		c.Schedule.LastHarness = rapid.Bool().Draw(t, "last")
		n := Counts{Train: rapid.IntRange(1, 2000).Draw(t, "train"), Search: 64, Test: 100}
		p, err := MakePlan(c, n)
		if err != nil {
			if !strings.Contains(err.Error(), "total_epochs") {
				t.Fatal(err)
			}
			return
		}
		steps, sessions := 0, 0
		for i, ph := range p.Phases {
			if ph.Index != i {
				t.Fatalf("phase %d has index %d", i, ph.Index)
			}
			switch ph.Kind {
			case PhaseWeight:
				if ph.From != steps || ph.To <= ph.From {
					t.Fatalf("phase %s covers [%d, %d) after step %d", ph.Name(), ph.From, ph.To, steps)
				}
				// Cumulative rounding: a phase end is never further than half a step from its exact place, but for the cut at the end.
				exact := float64(ph.Cycle+1) * c.Schedule.Epochs * float64(n.Train) / float64(c.Weight.Batch)
				if d := float64(ph.To) - exact; (d > 0.51 || d < -0.51) && ph.To != p.Steps {
					t.Fatalf("phase %s ends at %d, exact %g", ph.Name(), ph.To, exact)
				}
				steps = ph.To
			case PhaseHarness:
				if ph.First != sessions {
					t.Fatalf("phase %s starts at session %d, want %d", ph.Name(), ph.First, sessions)
				}
				sessions += ph.Sessions
			}
		}
		if steps != p.Steps || sessions != p.Sessions {
			t.Fatalf("phases cover %d steps and %d sessions, the plan says %d and %d", steps, sessions, p.Steps, p.Sessions)
		}
		want := int(math.Ceil(c.Schedule.TotalEpochs/c.Schedule.Epochs - 1e-9))
		if p.Cycles != want {
			t.Fatalf("got %d cycles of %g epochs in %g, want %d", p.Cycles, c.Schedule.Epochs, c.Schedule.TotalEpochs, want)
		}
		if !c.Schedule.LastHarness {
			want--
		}
		if sessions != want*c.Schedule.Sessions {
			t.Fatalf("got %d sessions, want %d harness phases of %d", sessions, want, c.Schedule.Sessions)
		}
	})
}

// TestCyclesOfDecimals: products of decimals that miss a whole number by their last bits.
func TestCyclesOfDecimals(t *testing.T) {
	for _, tc := range []struct {
		train, batch   int
		epochs, total  float64
		cycles, phases int
	}{
		{320, 64, 0.7, 2.1, 3, 6}, {64, 64, 0.5, 1, 2, 3}, {512, 64, 0.1, 0.3, 3, 5}, {18946, 256, 0.6, 6, 10, 20}, {100, 10, 1, 1, 1, 2}, {100, 10, 3, 1, 1, 2},
	} {
		c := Default()
		c.Weight.Batch, c.Schedule.Epochs, c.Schedule.TotalEpochs = tc.batch, tc.epochs, tc.total
		p, err := MakePlan(c, Counts{Train: tc.train, Search: 8, Test: 8})
		if err != nil {
			t.Fatal(err)
		}
		if p.Cycles != tc.cycles || p.Sessions != tc.cycles*c.Schedule.Sessions || len(p.Phases) != tc.phases {
			t.Errorf("%+v: got %d cycles, %d sessions, %d phases", tc, p.Cycles, p.Sessions, len(p.Phases))
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	c := Default()
	c.Schedule.TotalEpochs = 0.01
	if _, err := MakePlan(c, Counts{Train: 512, Search: 1, Test: 1}); err == nil || !strings.Contains(err.Error(), "schedule.total_epochs") {
		t.Errorf("no whole step: got %v", err)
	}
	if _, err := MakePlan(Default(), Counts{Train: 512, Search: 0, Test: 1}); err == nil || !strings.Contains(err.Error(), "0 search") {
		t.Errorf("no search examples: got %v", err)
	}
}
