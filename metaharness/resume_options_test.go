package metaharness_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// With every way to select, a phase that is killed before or after any journal entry or evaluation, and run again, decides and records the
// same, and spends no episode that one never killed does not spend.
func TestResumeWithEverySelection(t *testing.T) {
	t.Parallel()
	paired, bootstrap := metaharness.AcceptPaired, metaharness.TestBootstrap
	for i, sel := range []metaharness.Selection{
		{Accept: paired, Level: 0.3},
		{Reevaluate: 2, Draws: 2},
		{Racing: 0.25},
		{Accept: paired, Test: bootstrap, Level: 0.3, Reevaluate: 1, Racing: 0.25},
	} {
		t.Run(fmt.Sprintf("%+v", sel), func(t *testing.T) {
			t.Parallel()
			resumeWith(t, sel, 3*i)
		})
	}
}

// resumeWith is killed at every thirteenth place from the first on; the selections have different first ones.
func resumeWith(t *testing.T, sel metaharness.Selection, first int) {
	cfg := metaharness.Config{Sessions: 2, Candidates: 3, CanaryEpisodes: 2, AtOnce: 2, Selection: sel}
	p := proposes(t, []int{3, 4, 5}, []int{6, 7, 8})
	run := func(dir string, w *world, log *memLog) (metaharness.Result, error) {
		w.luck = func(h whale.Harness, purpose whale.Purpose, draw, i int) float64 {
			chance := map[int]float64{2: 0.4, 3: 0.1, 4: 0.6, 5: 0.2, 6: 0.5, 7: 0.8, 8: 0.3, 20: 0.5, 21: 0.2}[variantOf(h)]
			if float64(whale.DeriveSeed(9, string(h.ID()), string(purpose), fmt.Sprint(draw, i)))/(1<<31) < chance {
				return 1
			}
			return 0
		}
		return search(cfg, p, w, log).Run(context.Background(), withRunnersUp(t, dir, 20, 21))
	}
	whole, log := newWorld(24), newLog()
	reference, err := run(t.TempDir(), whole, log)
	if err != nil {
		t.Fatal(err)
	}
	want := everything(reference)
	if sel.Racing > 0 && reference.GivenUp == 0 {
		t.Fatal("the reference gave no candidate up: it tests nothing")
	}
	killed := 0
	for at := first; ; at += 13 {
		dir, w, again := t.TempDir(), newWorld(24), newLog()
		k := &killer{at: at}
		w.fault, again.fault = k.fault, k.fault
		if _, err := run(dir, w, again); err == nil {
			break
		} else if !errors.Is(err, errKilled) {
			t.Fatalf("killed at %d: got %v", at, err)
		}
		killed++
		w.fault, again.fault = nil, nil
		res, err := run(dir, w, again)
		if err != nil {
			t.Fatalf("killed at %d, run again: %v", at, err)
		}
		if got := everything(res); got != want {
			t.Fatalf("killed at %d, run again: got\n%s\nwant\n%s", at, got, want)
		}
		if !maps.Equal(w.spent, whole.spent) {
			t.Fatalf("killed at %d, run again: spent %v, want %v", at, w.spent, whole.spent)
		}
		if got, want := entriesWithoutAttempts(again), entriesWithoutAttempts(log); !maps.Equal(got, want) {
			t.Fatalf("killed at %d, run again: another journal", at)
		}
	}
	if killed < 4 {
		t.Errorf("only %d places to be killed at", killed)
	}
}

// everything is what a phase decided, with its tests and fresh scores.
func everything(res metaharness.Result) string {
	out := decisions(res) + fmt.Sprintf("\n%s\n%+v\n%d %d %d\n", res.Accepted.ID(), res.End.Best, res.GivenUp, res.Saved, res.Rescored)
	for _, e := range res.Ranked {
		out += string(e.ID) + "\n"
	}
	for _, s := range res.Sessions {
		if s.Choice != nil {
			out += fmt.Sprintf("%+v\n", *s.Choice)
		}
	}
	if c := res.Confirmation; c != nil {
		for _, p := range c.Programs {
			out += fmt.Sprintf("%s %d %v %d", p.ID, p.Passed, p.Mean, p.SampledTokens)
			if p.Test != nil {
				out += fmt.Sprintf(" %+v", *p.Test)
			}
			out += "\n"
		}
	}
	return out
}

// entriesWithoutAttempts leaves out what says how often a session was begun.
func entriesWithoutAttempts(l *memLog) map[string]string {
	out := maps.Clone(l.entries)
	maps.DeleteFunc(out, func(name, _ string) bool {
		return len(name) > 7 && (name[:len(metaharness.KindSessionStart)] == metaharness.KindSessionStart || name[:len(metaharness.KindSession)+1] == metaharness.KindSession+" ")
	})
	return out
}

// A record that today's rollouts do not bear out stops the phase.
func TestChoiceIsChecked(t *testing.T) {
	w, log, dir := newWorld(24), newLog(), t.TempDir()
	w.luck = passing(map[int]int{2: 8, 3: 20})
	s := search(metaharness.Config{Sessions: 1, Candidates: 1, Selection: metaharness.Selection{Accept: metaharness.AcceptPaired}}, proposes(t, []int{3}), w, log)
	if _, err := s.Run(context.Background(), phaseIn(t, dir, 1)); err != nil {
		t.Fatal(err)
	}
	s.Config.Selection.Level = 0.01
	if _, err := s.Run(context.Background(), phaseIn(t, dir, 1)); err == nil || !contains(err, "recorded choice and cached rollouts differ") {
		t.Errorf("got %v, want the record refused", err)
	}
}
