package recipe

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// spend walks a plan, ending phases that may end by rule where end says so, and gives the phases as they really were.
func spend(t *rapid.T, p Plan, end func(PlannedPhase) int) []PlannedPhase {
	var done []PlannedPhase
	for {
		ph, ok := p.Next(done)
		if !ok {
			return done
		}
		if ph.Index != len(done) {
			t.Fatalf("phase %d has index %d", len(done), ph.Index)
		}
		if ph.ByRule {
			switch size := end(ph); ph.Kind {
			case PhaseWeight:
				ph.Steps, ph.To = size, ph.From+size
			default:
				ph = p.ended(ph, size)
			}
		}
		if done = append(done, ph); len(done) > 100_000 {
			t.Fatal("the plan does not end")
		}
	}
}

func drawSchedule(t *rapid.T) (Config, Counts) {
	c := Default()
	c.Weight.Batch = rapid.IntRange(1, 100).Draw(t, "batch")
	c.Schedule.Epochs = rapid.Float64Range(0.05, 3).Draw(t, "E")
	c.Schedule.TotalEpochs = rapid.Float64Range(0.5, 6).Draw(t, "total")
	c.Schedule.Sessions = rapid.IntRange(0, 10).Draw(t, "I")
	c.Schedule.LastHarness = rapid.Bool().Draw(t, "last")
	if rapid.Bool().Draw(t, "list") {
		for range rapid.IntRange(1, 6).Draw(t, "cycles") {
			c.Schedule.Cycles = append(c.Schedule.Cycles, CycleConfig{Epochs: rapid.Float64Range(0, 2).Draw(t, "Ek"), Sessions: rapid.IntRange(0, 9).Draw(t, "Ik")})
		}
	}
	a := &c.Schedule.Adaptive
	a.MinimumSessions = rapid.IntRange(1, 6).Draw(t, "min")
	a.MaximumSessions = a.MinimumSessions + rapid.IntRange(0, 9).Draw(t, "cap")
	return c, Counts{Train: rapid.IntRange(50, 2000).Draw(t, "train"), Search: 64, Test: 100}
}

// Every method spends the totals of whale's cycles on the halves that it has, whatever the adaptive rule decides, and nothing else. Adaptive may
// leave sessions unspent, once no step is left.
func TestBudgetsMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, n := drawSchedule(t)
		c.Schedule.Method = MethodWhale
		whole, err := MakePlan(c, n)
		if err != nil {
			if !strings.Contains(err.Error(), "no step") {
				t.Fatal(err)
			}
			return
		}
		for _, method := range Methods() {
			c.Schedule.Method = method
			p, err := MakePlan(c, n)
			if err != nil {
				t.Fatal(err)
			}
			done := spend(t, p, func(ph PlannedPhase) int {
				if ph.Kind == PhaseWeight {
					return rapid.IntRange(min(p.Adaptive.shortest(), ph.Steps), ph.Steps).Draw(t, "steps")
				}
				return rapid.IntRange(min(p.Adaptive.MinimumSessions, ph.Sessions), ph.Sessions).Draw(t, "sessions")
			})
			steps, sessions, rollouts, harness := 0, 0, 0, 0
			for i, ph := range done {
				if ph.From != steps {
					t.Fatalf("%s: phase %s begins after %d steps, %d were made", method, ph.Name(), ph.From, steps)
				}
				if ph.Kind == PhaseHarness {
					if ph.First != sessions || ph.Sessions < 1 {
						t.Fatalf("%s: phase %s begins after %d sessions, %d were held", method, ph.Name(), ph.First, sessions)
					}
					harness++
					rollouts += ph.Rollouts
				} else if ph.Steps < 1 || ph.To != ph.From+ph.Steps {
					t.Fatalf("%s: phase %s: %+v", method, ph.Name(), ph)
				}
				if i > 0 && ph.Cycle < done[i-1].Cycle {
					t.Fatalf("%s: cycle %d after %d", method, ph.Cycle, done[i-1].Cycle)
				}
				steps, sessions = steps+ph.Steps, sessions+ph.Sessions
			}
			wantSteps, wantSessions := whole.Steps, whole.Sessions
			switch method {
			case MethodWeightOnly:
				wantSessions = 0
			case MethodHarnessOnly:
				wantSteps = 0
			}
			planned := wantSessions
			if p.Adaptive != nil {
				last := done[len(done)-1]
				if (last.Kind == PhaseHarness) != (c.Schedule.LastHarness && wantSessions > 0) {
					t.Fatalf("adaptive: %d of %d sessions, last harness phase %v, and the run ends with phase %s", sessions, wantSessions, c.Schedule.LastHarness, last.Name())
				}
				weight := 0
				for _, ph := range done {
					if ph.Kind == PhaseWeight {
						weight++
					} else if least := min(p.Adaptive.MinimumSessions, wantSessions); ph.Sessions < least || ph.Sessions > p.Adaptive.MaximumSessions {
						t.Fatalf("adaptive: phase %s has %d sessions, want %d to %d", ph.Name(), ph.Sessions, least, p.Adaptive.MaximumSessions)
					}
				}
				if weight > p.Adaptive.mostWeight(p.Steps) || harness > p.Adaptive.mostHarness(p.Steps, p.Sessions) {
					t.Fatalf("adaptive: %d weight and %d harness phases, want at most %d and %d", weight, harness, p.Adaptive.mostWeight(p.Steps), p.Adaptive.mostHarness(p.Steps, p.Sessions))
				}
				wantSessions = min(wantSessions, sessions)
			}
			if steps != wantSteps || sessions != wantSessions || p.Steps != wantSteps || p.Sessions != planned {
				t.Fatalf("%s: spent %d steps and %d sessions of a plan of %d and %d, whale has %d and %d", method, steps, sessions, p.Steps, p.Sessions, whole.Steps, whole.Sessions)
			}
			if p.WeightRollouts != steps*c.Weight.Batch*c.Weight.Group {
				t.Fatalf("%s: %d rollouts in %d steps", method, p.WeightRollouts, steps)
			}
			if p.Adaptive == nil && rollouts != p.SearchRollouts || rollouts > p.SearchRollouts {
				t.Fatalf("%s: harness phases take %d rollouts, the plan says %d (%d phases)", method, rollouts, p.SearchRollouts, harness)
			}
		}
	})
}

// Long phases of the single arms have their marks where whale's phases end, so that the curves of all methods have points at the same budgets.
func TestMarks(t *testing.T) {
	c := Default()
	c.Weight.Batch, c.Schedule.Epochs, c.Schedule.Sessions, c.Schedule.TotalEpochs = 64, 0.75, 3, 2.25
	n := Counts{Train: 512, Search: 128, Test: 200}
	for method, want := range map[string]string{
		MethodWhale:       "[0-weight [] 1-harness [] 2-weight [] 3-harness [] 4-weight [] 5-harness []]",
		MethodWeightOnly:  "[0-weight [6 12]]",
		MethodHarnessOnly: "[0-harness [3 6]]",
		MethodStagewise:   "[0-weight [6 12] 1-harness [3 6]]",
	} {
		c.Schedule.Method = method
		p, err := MakePlan(c, n)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, ph := range p.Phases {
			got = append(got, fmt.Sprint(ph.Name(), " ", ph.Marks))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, want %s", method, got, want)
		}
	}
}

func TestCyclesAsAList(t *testing.T) {
	c := Default()
	c.Weight.Batch = 10
	c.Schedule.Cycles = []CycleConfig{{0.25, 2}, {0, 1}, {0.5, 0}, {0.25, 3}}
	p, err := MakePlan(c, Counts{Train: 100, Search: 8, Test: 8})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, ph := range p.Phases {
		got = append(got, fmt.Sprintf("%d:%s:%d-%d:%d", ph.Cycle, ph.Kind, ph.From, ph.To, ph.Sessions))
	}
	want := []string{"0:weight:0-3:0", "0:harness:3-3:2", "1:harness:3-3:1", "2:weight:3-8:0", "3:weight:8-10:0", "3:harness:10-10:3"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The schedule has one way to say its size: a list beside the keys that it stands for is refused, and the list survives being written out.
func TestCyclesAndKeys(t *testing.T) {
	_, err := ParseConfig("c.yaml", []byte("schedule:\n  sessions: 3\n  cycles: [{epochs: 1, sessions: 1}]\n"))
	if err == nil || !strings.Contains(err.Error(), "schedule.sessions") {
		t.Errorf("got %v, want an error that names schedule.sessions", err)
	}
	c, err := ParseConfig("c.yaml", []byte("schedule:\n  cycles: [{epochs: 1, sessions: 1}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseConfig("c.yaml", text)
	if err != nil || len(again.Schedule.Cycles) != 1 {
		t.Errorf("got %+v, %v from\n%s", again.Schedule, err, text)
	}
}

// The rule of the paper on made-up rewards: window 2, at least 2 steps, patience 2.
func TestAdaptiveRule(t *testing.T) {
	r := AdaptiveRule{Window: 2, Minimum: 2, Patience: 2}
	for _, tc := range []struct {
		rewards []float64
		stopAt  int // 0 = never
		best    float64
	}{
		{[]float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, 0, 0.55},
		{[]float64{0.5, 0.1, 0.1, 0.9}, 3, 0.5}, // the first window is not full, and counts
		{[]float64{0.1, 0.5, 0.3, 0.1, 0.1}, 5, 0.4},
		{[]float64{0.2, 0.2, 0.2}, 3, 0.2}, // no new best: equal is not better
	} {
		at := 0
		var last WindowStop
		for i := range tc.rewards {
			if last = r.weigh(tc.rewards[:i+1]); last.Stop {
				at = i + 1
				break
			}
		}
		if at != tc.stopAt || last.Best < tc.best-1e-9 || last.Best > tc.best+1e-9 {
			t.Errorf("%v: stopped at %d with best %g, want %d and %g", tc.rewards, at, last.Best, tc.stopAt, tc.best)
		}
	}
}
