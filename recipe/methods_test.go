package recipe

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/store"
)

// methodConfig is the tiny run with one of the methods; its adaptive thresholds let phases of one step and one session end by rule.
func methodConfig(t testing.TB, dir, method string) Config {
	c := testConfig(t, dir)
	c.Schedule.Method = method
	a := &c.Schedule.Adaptive
	a.WindowEpochs, a.MinimumEpochs, a.PatienceEpochs = 0.5, 0.5, 0.5
	a.MinimumSessions, a.PatienceSessions, a.MaximumSessions = 1, 1, 2
	return c
}

// Every method runs, spends what its plan says on each half and nothing on the other, and its story tells of every phase why it ended. The run
// that was stopped in its middle comes to the same.
func TestEveryMethod(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs")
	}
	t.Parallel()
	for _, method := range Methods() {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			c := methodConfig(t, t.TempDir(), method)
			dir := filepath.Join(t.TempDir(), "run")
			r, err := Start(t.Context(), c, dir, testOptions(nil))
			want := execute(t, r, err)
			plan := r.Plan()

			story, err := ReadStory(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			steps, sessions := 0, 0
			for _, ph := range story.Phases {
				if !ph.Done || ph.Why == "" || ph.Text == "" {
					t.Errorf("phase %s: done %v, why %q, text %q", ph.Name(), ph.Done, ph.Why, ph.Text)
				}
				steps, sessions = steps+ph.Steps, sessions+ph.Sessions
				if ph.Kind == PhaseHarness && (ph.Search == nil || len(ph.Search.Best) != ph.Sessions+1 || len(ph.Searched) != ph.Sessions) {
					t.Errorf("phase %s: %d sessions, told are %d, best %+v", ph.Name(), ph.Sessions, len(ph.Searched), ph.Search)
				}
			}
			if steps != plan.Steps || len(story.Steps) != steps || sessions != plan.Sessions || story.Tried.Sessions != sessions {
				t.Errorf("made %d steps (told %d) and %d sessions (told %d), want %d and %d", steps, len(story.Steps), sessions, story.Tried.Sessions, plan.Steps, plan.Sessions)
			}
			if got := int(want.Ledger[string(whale.PurposeWeight)]["rollouts"]); got != plan.WeightRollouts {
				t.Errorf("weight rollouts: got %d, want %d", got, plan.WeightRollouts)
			}
			for purpose, most := range map[whale.Purpose]int{
				whale.PurposeSearch: plan.SearchRollouts, whale.PurposeCanary: plan.CanaryRollouts, whale.PurposeHalves: plan.HalvesRollouts,
				whale.PurposeTest: plan.CurveRollouts + plan.FinalRollouts,
			} {
				if got := int(want.Ledger[string(purpose)]["rollouts"]); got > most {
					t.Errorf("%s: got %d rollouts, the plan says at most %d", purpose, got, most)
				}
			}
			points := 1
			for _, ph := range story.Phases {
				points += 1 + len(ph.Marks)
			}
			if len(story.Curve) != points {
				t.Errorf("got %d points of the curve, want %d", len(story.Curve), points)
			}
			if text := story.Explain(); len(text) != len(story.Phases) {
				t.Errorf("%d phases explained, want %d", len(text), len(story.Phases))
			}

			half := len(story.Curve) / 2 // where the run is stopped: at the curve point in its middle
			seen := 0
			stopped := stopAt(t, c, func(e Event) bool {
				if e.Kind == EventCurve {
					seen++
				}
				return e.Kind == EventCurve && seen == half+1
			})
			got, _ := resume(t, stopped)
			same(t, got, want)
		})
	}
}

// A run that is killed at any event of a method with marks, or with phases that end by rule, comes to the same.
func TestStopAnywhereInAMethod(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs")
	}
	t.Parallel()
	for _, method := range []string{MethodAdaptive, MethodStagewise} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			c := methodConfig(t, t.TempDir(), method)
			events := 0
			r, err := Start(t.Context(), c, filepath.Join(t.TempDir(), "run"), testOptions(func(Event) { events++ }))
			want := execute(t, r, err)
			for at := 3; at < events; at += 1 + events/6 {
				n := 0
				got, _ := resume(t, stopAt(t, c, func(Event) bool { n++; return n == at }))
				same(t, got, want)
			}
		})
	}
}

// tinyComparison compares three methods with one seed.
func tinyComparison(t *testing.T, dir string, c Config) Comparison {
	return Comparison{Dir: dir, Config: c, Methods: []string{MethodWhale, MethodWeightOnly, MethodHarnessOnly}, Seeds: 2, Lanes: 2, Options: testOptions(nil)}
}

// What the runs of a comparison come to is what each comes to alone: rollouts that are taken over are the same evidence, charged in full.
func TestComparisonSharesEqualEvidence(t *testing.T) {
	t.Parallel()
	c := methodConfig(t, t.TempDir(), MethodWhale)
	cmp := tinyComparison(t, filepath.Join(t.TempDir(), "cmp"), c)
	if err := cmp.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	shared := 0.0
	for _, arm := range cmp.Arms() {
		alone := c
		alone.Schedule.Method, alone.Seed = arm.Method, arm.Seed
		r, err := Start(t.Context(), alone, filepath.Join(t.TempDir(), "run"), testOptions(nil))
		want := execute(t, r, err)
		story, err := ReadStory(t.Context(), arm.Dir)
		if err != nil {
			t.Fatal(err)
		}
		for purpose, counters := range story.Ledger {
			shared += counters["shared"]
			for _, name := range []string{"rollouts", "sampled_tokens", "model_calls"} {
				if counters[name] != want.Ledger[purpose][name] {
					t.Errorf("%s: %s %s: got %g, alone %g", arm.Dir, purpose, name, counters[name], want.Ledger[purpose][name])
				}
			}
		}
		for i, p := range story.Final {
			if w := want.Pairs[i]; p.Name != w.Name || p.Mean != w.Mean || p.Low != w.Low || p.Weights != w.Weights || p.Harness != w.Harness {
				t.Errorf("%s: %s: got %+v, alone %+v", arm.Dir, p.Name, p, w)
			}
		}
	}
	if shared == 0 {
		t.Error("no rollout was taken over: the test shows nothing")
	}
}

// A comparison that is stopped at some event goes on to the same numbers, and a changed config is refused.
func TestComparisonGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs")
	}
	t.Parallel()
	c := methodConfig(t, t.TempDir(), MethodWhale)
	whole := tinyComparison(t, filepath.Join(t.TempDir(), "whole"), c)
	if err := whole.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	broken := tinyComparison(t, filepath.Join(t.TempDir(), "broken"), c)
	for stopAfter := 25; ; stopAfter += 60 {
		ctx, stop := context.WithCancel(t.Context())
		n := 0
		broken.Observe = func(Arm, Event) {
			if n++; n == stopAfter {
				stop()
			}
		}
		err := broken.Run(ctx)
		stop()
		if err == nil {
			break
		}
		if t.Context().Err() != nil || stopAfter > 2000 {
			t.Fatalf("after %d events: %v", stopAfter, err)
		}
	}
	a, b := whole.Arms(), broken.Arms()
	for i := range a {
		if got, want := numbersOf(t, b[i].Dir), numbersOf(t, a[i].Dir); got != want {
			t.Errorf("%s, seed %d: got\n%s\nwant\n%s", a[i].Method, a[i].Seed, got, want)
		}
	}
	broken.Observe, broken.Config.Weight.LearningRate = nil, 1e-3
	if err := broken.Run(t.Context()); err == nil {
		t.Error("another config went on with the comparison")
	}
}

// numbersOf is everything that a run's report says, without what differs by clock.
func numbersOf(t *testing.T, dir string) string {
	t.Helper()
	st, err := ReadStory(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, counters := range st.Ledger {
		delete(counters, "seconds")
	}
	text, err := json.MarshalIndent([]any{st.Curve, st.Halves, st.Final, st.Ledger, st.Tried}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The matrix of a finished run has its corners where the run's own pairs are, is measured once, and an unfinished run is refused.
func TestMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("several runs")
	}
	t.Parallel()
	c := methodConfig(t, t.TempDir(), MethodStagewise)
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Start(t.Context(), c, dir, testOptions(nil))
	want := execute(t, r, err)
	measure := func() Matrix {
		r, err := Resume(t.Context(), dir, nil, testOptions(nil))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		m, err := r.Measure(t.Context(), whale.SplitTest, 2)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := measure()
	first, last := m.Cells[0][0], m.Cells[len(m.Harness)-1][len(m.Weights)-1]
	if p := want.Pairs[0]; first.Weights != p.Weights || first.Harness != p.Harness {
		t.Errorf("first cell: got %+v, want the starting pair %+v", first, p)
	}
	if p := want.Pairs[3]; m.Weights[len(m.Weights)-1].ID != p.Weights || last.Weights != p.Weights {
		t.Errorf("last cell: got %+v, want the final weights %+v", last, p)
	}
	if len(m.Weights) < 3 {
		t.Errorf("weights: got %+v, want θ0, those of the mark and the final ones", m.Weights)
	}
	if again, once := whale.HashOf("matrix", measure()), whale.HashOf("matrix", m); again != once {
		t.Errorf("measured again: got %s, want %s", again, once)
	}
	story, err := ReadStory(t.Context(), dir)
	if err != nil || len(story.Matrix) != 1 {
		t.Errorf("the story has %d matrices (%v), want 1", len(story.Matrix), err)
	}
	stopped := stopAt(t, c, atStep(2))
	half, err := Resume(t.Context(), stopped, nil, testOptions(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	if _, err := half.Measure(t.Context(), whale.SplitTest, 1); err == nil {
		t.Error("the matrix of an unfinished run was measured")
	}
}

// A diagnosis never opens the test split, and says which half gains.
func TestDiagnose(t *testing.T) {
	t.Parallel()
	c := methodConfig(t, t.TempDir(), MethodWhale)
	dir := filepath.Join(t.TempDir(), "diagnosis")
	d, err := Diagnose(t.Context(), c, dir, testOptions(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Split != whale.SplitValidation || d.Verdict == "" || d.WeightRollouts == 0 || d.HarnessRollouts == 0 {
		t.Errorf("got %+v", d)
	}
	runs, err := filepath.Glob(filepath.Join(dir, "*-1"))
	if err != nil || len(runs) != 2 {
		t.Fatalf("got runs %v, %v", runs, err)
	}
	for _, run := range runs {
		s, err := store.OpenReadOnly(run)
		if err != nil {
			t.Fatal(err)
		}
		for row, err := range s.Rollouts(t.Context(), store.Filter{Purpose: string(whale.PurposeTest)}) {
			t.Errorf("%s: a rollout on the test split: %+v (%v)", run, row, err)
			break
		}
		s.Close()
	}
}

// The verdicts, on made-up gains.
func TestVerdicts(t *testing.T) {
	up, flat := Estimate{0.2, 0.1, 0.3}, Estimate{0.01, -0.05, 0.07}
	down := Estimate{-0.2, -0.3, -0.1}
	for _, tc := range []struct {
		harness, weights, after, between Estimate
		want                             string
	}{
		{up, flat, flat, up, LimitedByHarness},
		{flat, up, flat, down, LimitedByWeights},
		{flat, up, up, down, WeightsFirst},
		{up, up, up, flat, LimitedByBoth},
		{up, up, up, down, LimitedByWeights},
		{flat, flat, flat, flat, LimitedUnknown},
	} {
		d := Diagnosis{Harness: tc.harness, Weights: tc.weights, After: tc.after}
		if got, text := d.verdict(tc.between); got != tc.want || text == "" {
			t.Errorf("%+v: got %q, want %q", tc, got, tc.want)
		}
	}
}
