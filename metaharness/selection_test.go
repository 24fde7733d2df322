package metaharness_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// variant is the start with another constant: to a world of luck a name.
func variant(n int) string {
	return strings.Replace(startProgram, "TURNS = 2", fmt.Sprintf("TURNS = %d", n), 1)
}

func variantOf(h whale.Harness) int {
	for n := range 200 {
		if string(h.Source()) == variant(n) {
			return n
		}
	}
	return -1
}

// proposes gives a session's candidates as variants.
func proposes(t testing.TB, sessions ...[]int) scripted {
	return scripted{func(s whale.Session) (whale.SessionCost, error) {
		for i, n := range sessions[s.Index] {
			put(t, s, fmt.Sprintf("%02d-turns-%d", i, n), variant(n))
		}
		return whale.SessionCost{}, nil
	}}
}

// passing gives reward 1 on the first so many examples, by variant.
func passing(most map[int]int) func(h whale.Harness, purpose whale.Purpose, draw, i int) float64 {
	return func(h whale.Harness, _ whale.Purpose, _, i int) float64 {
		if i < most[variantOf(h)] {
			return 1
		}
		return 0
	}
}

func TestPairedAcceptance(t *testing.T) {
	for _, test := range []string{metaharness.TestMcNemar, metaharness.TestBootstrap} {
		w := newWorld(24)
		// 3: two more than the start, which may be luck. 4: twelve more. 5: one more than 4. 6: all, once 4 is accepted.
		w.luck = passing(map[int]int{2: 8, 3: 10, 4: 20, 5: 21, 6: 24})
		cfg := metaharness.Config{Sessions: 3, Candidates: 2}
		p := proposes(t, []int{3}, []int{5, 4}, []int{6})
		run := func(s metaharness.Selection) metaharness.Result {
			cfg.Selection = s
			res, err := search(cfg, p, w, newLog()).Run(context.Background(), phaseIn(t, t.TempDir(), 1))
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		plain := run(metaharness.Selection{})
		paired := run(metaharness.Selection{Accept: metaharness.AcceptPaired, Test: test})
		if got := variantOf(plain.Accepted); got != 6 {
			t.Errorf("argmax: accepted %d, want 6", got)
		}
		if got := variantOf(paired.Accepted); got != 5 {
			t.Errorf("%s: accepted %d, want 5: 6 is better by 3 examples only", test, got)
		}
		var accepted []int
		for _, s := range paired.Sessions {
			accepted = append(accepted, variantOf(mustLoadID(t, paired, s.Accepted)))
			if s.Choice == nil || len(s.Choice.Tests) != len(s.Candidates) || s.Choice.Level != 0.05/6 || s.Choice.Test != test {
				t.Fatalf("%s: choice: got %+v, want one test a candidate at 0.05/6", test, s.Choice)
			}
		}
		if !slices.Equal(accepted, []int{2, 5, 5}) {
			t.Errorf("%s: accepted session by session: got %v, want 2 5 5", test, accepted)
		}
		if first := paired.Sessions[0].Choice.Tests[0]; first.Wins != 2 || first.Losses != 0 || first.Better || test == metaharness.TestMcNemar && first.P != 0.25 {
			t.Errorf("%s: first test: got %+v, want 2 wins, no loss and p 0.25", test, first)
		}
		if got, want := paired.End.Best, []float64{8. / 24, 10. / 24, 21. / 24, 1}; !slices.Equal(got, want) {
			t.Errorf("%s: best scores: got %v, want %v, accepted or not", test, got, want)
		}
	}
}

func mustLoadID(t *testing.T, res metaharness.Result, id whale.ID) whale.Harness {
	t.Helper()
	for _, e := range res.Archive {
		if e.ID == id {
			return e.Harness
		}
	}
	t.Fatalf("%s is not in the archive", id)
	return nil
}

func TestRacing(t *testing.T) {
	w := newWorld(64)
	// 3 is hopeless; 4 is a little worse than the start, and not yet lost after the first block; 5 is better.
	w.luck = func(h whale.Harness, _ whale.Purpose, _, i int) float64 {
		return map[int]func(i int) float64{
			2: func(i int) float64 { return float64(i % 2) }, 3: func(int) float64 { return 0 },
			4: func(i int) float64 { return float64(i % 2 * min(1, i%7)) }, 5: func(i int) float64 { return float64(min(1, i%4)) },
		}[variantOf(h)](i)
	}
	cfg := metaharness.Config{Sessions: 2, Candidates: 3, CanaryEpisodes: 2, Selection: metaharness.Selection{Racing: 0.02}}
	var index string
	p := scripted{func(s whale.Session) (whale.SessionCost, error) {
		if s.Index == 0 {
			return proposes(t, []int{3, 4, 5}).propose(s)
		}
		data, err := os.ReadFile(filepath.Join(s.Workspace, "index.jsonl"))
		index = string(data)
		return whale.SessionCost{}, err
	}}
	res, err := search(cfg, p, w, newLog()).Run(context.Background(), phaseIn(t, t.TempDir(), 1))
	if err != nil {
		t.Fatal(err)
	}
	d := res.Sessions[0].Decisions
	if d[0].Status != metaharness.StatusStopped || d[0].Score != nil || d[0].Partial == nil {
		t.Fatalf("the hopeless one: got %+v, want it stopped without a score", d[0])
	}
	if part := *d[0].Partial; part.Examples != 8 || part.Of != 64 || part.Passed != 0 || part.Reach != 32 || part.Chance >= 0.02 {
		t.Errorf("the hopeless one: got %+v, want it stopped after the first block of 8", part)
	}
	if d[2].Status != metaharness.StatusEvaluated || d[2].Score.Passed != 48 || variantOf(res.Accepted) != 5 {
		t.Errorf("the better one: got %+v and %d accepted, want its whole score", d[2], variantOf(res.Accepted))
	}
	saved := 0
	for _, d := range d {
		if d.Partial != nil {
			saved += d.Partial.Of - d.Partial.Examples
		}
	}
	if got, want := w.spent[whale.PurposeSearch], 4*64-saved; got != want || res.Saved != saved || res.GivenUp != len(d)-res.Evaluated {
		t.Errorf("got %d episodes, %d saved, %d given up; want %d and %d", got, res.Saved, res.GivenUp, want, saved)
	}
	if len(res.Archive) != 1+res.Evaluated || len(res.Ranked) != len(res.Archive) {
		t.Errorf("got %d programs with a score, want the start and %d", len(res.Archive), res.Evaluated)
	}
	line := strings.SplitN(index, "\n", 3)[1]
	for _, want := range []string{`"status":"stopped"`, `"partial":{"examples":8,"of":64,"passed":0`, "given up after 8 of 64 examples, of which it passed 0"} {
		if !strings.Contains(line, want) {
			t.Errorf("index: got %s, want %s", line, want)
		}
	}
	if strings.Contains(line, `"mean"`) {
		t.Errorf("index: a stopped program has a mean: %s", line)
	}
}

// Racing looks at what was accepted before the session alone, so that it decides the same whatever runs side by side.
func TestRacingAtOnceDecidesTheSame(t *testing.T) {
	run := func(atOnce int) (string, map[string]string, int) {
		w, log := newWorld(40), newLog()
		w.luck = func(h whale.Harness, _ whale.Purpose, _, i int) float64 {
			return float64(min(1, whale.DeriveSeed(7, string(h.ID()), fmt.Sprint(i))%uint32(2+variantOf(h)%5)))
		}
		cfg := metaharness.Config{Sessions: 2, Candidates: 8, CanaryEpisodes: 2, AtOnce: atOnce, Selection: metaharness.Selection{Racing: 0.2}}
		p := proposes(t, []int{3, 4, 5, 6, 7, 8, 9, 10}, []int{11, 12, 13, 14, 15, 16, 17, 18})
		res, err := search(cfg, p, w, log).Run(context.Background(), phaseIn(t, t.TempDir(), 1))
		if err != nil {
			t.Fatal(err)
		}
		return decisions(res), log.entries, res.GivenUp
	}
	want, journal, stopped := run(1)
	if stopped < 2 {
		t.Fatalf("only %d candidates were stopped: too few to test with", stopped)
	}
	if got, entries, _ := run(5); got != want || !maps.Equal(entries, journal) {
		t.Errorf("5 at once: got\n%s\nwant\n%s", got, want)
	}
}

// An infrastructure error is not a failed example: the candidate is not stopped for it, and has no score.
func TestRacingWithErrors(t *testing.T) {
	w := newWorld(24)
	w.luck = passing(map[int]int{2: 12, 3: 24})
	w.spoil = func(h whale.Harness, _ whale.Purpose, i int) bool { return variantOf(h) == 3 && i%5 != 0 }
	cfg := metaharness.Config{Sessions: 1, Candidates: 1, Selection: metaharness.Selection{Racing: 0.3}}
	res, err := search(cfg, proposes(t, []int{3}), w, newLog()).Run(context.Background(), phaseIn(t, t.TempDir(), 1))
	if err != nil {
		t.Fatal(err)
	}
	if d := res.Sessions[0].Decisions[0]; d.Status != metaharness.StatusIncomplete || variantOf(res.Accepted) != 2 {
		t.Errorf("got %+v, want it incomplete", d)
	}
}

// Fresh episodes decide: what was luck in the search is not accepted, and nothing of them is shown to a proposer.
func TestReevaluation(t *testing.T) {
	for _, c := range []struct {
		name    string
		s       metaharness.Selection
		fresh   map[int]int // passed of 24 on fresh episodes
		want    int
		tested  []int
		skipped int
	}{
		{"luck", metaharness.Selection{Reevaluate: 2}, map[int]int{2: 8, 4: 7, 5: 6}, 2, nil, 0},
		{"the second", metaharness.Selection{Reevaluate: 2}, map[int]int{2: 8, 4: 9, 5: 10}, 5, nil, 0},
		{"a third is not asked", metaharness.Selection{Reevaluate: 2}, map[int]int{2: 8, 3: 24}, 2, nil, 0},
		{"of equals the incoming one", metaharness.Selection{Reevaluate: 2, Draws: 2}, map[int]int{2: 8, 4: 8, 5: 8}, 2, nil, 0},
		{"not surely better", metaharness.Selection{Reevaluate: 2, Accept: metaharness.AcceptPaired}, map[int]int{2: 8, 4: 10, 5: 24}, 2, []int{4}, 0},
		{"surely better", metaharness.Selection{Reevaluate: 2, Accept: metaharness.AcceptPaired}, map[int]int{2: 8, 4: 14, 5: 10}, 4, []int{4, 5}, 0},
		{"both, the second more so", metaharness.Selection{Reevaluate: 2, Accept: metaharness.AcceptPaired, Test: metaharness.TestBootstrap}, map[int]int{2: 8, 4: 18, 5: 22}, 5, []int{4, 5}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, dir := newWorld(24), t.TempDir()
			inSearch := passing(map[int]int{2: 8, 3: 9, 4: 12, 5: 11})
			w.luck = func(h whale.Harness, purpose whale.Purpose, draw, i int) float64 {
				if purpose == whale.PurposeConfirm {
					return passing(c.fresh)(h, purpose, draw, i)
				}
				return inSearch(h, purpose, draw, i)
			}
			cfg := metaharness.Config{Sessions: 2, Candidates: 2, Selection: c.s}
			s := search(cfg, proposes(t, []int{3, 4}, []int{5}), w, newLog())
			var provisional []int
			s.Deps.AfterSession = func(_ context.Context, _ int, e metaharness.Entry) error {
				provisional = append(provisional, variantOf(e.Harness))
				return nil
			}
			res, err := s.Run(context.Background(), phaseIn(t, dir, 1))
			if err != nil {
				t.Fatal(err)
			}
			if got := variantOf(res.Accepted); got != c.want || !slices.Equal(provisional, []int{4, 4}) {
				t.Errorf("accepted %d, %v after the sessions; want %d, [4 4]", got, provisional, c.want)
			}
			if res.Ranked[0].ID != res.Accepted.ID() {
				t.Errorf("ranked first: got %s, want the accepted one", res.Ranked[0].Name)
			}
			if got, want := w.spent[whale.PurposeConfirm], cfg.MostRollouts(24, 0).Confirm; got != want || got != 3*24*max(1, c.s.Draws) {
				t.Errorf("got %d fresh episodes, budget %d", got, want)
			}
			var tested []int
			for _, p := range res.Confirmation.Programs[1:] {
				if p.Test != nil {
					tested = append(tested, variantOf(mustLoadID(t, res, p.ID)))
				}
			}
			if !slices.Equal(tested, c.tested) {
				t.Errorf("tested: got %v, want %v", tested, c.tested)
			}
		})
	}
}

// What is missing on fresh episodes is not accepted; of the incoming harness it stops the phase.
func TestReevaluationMustBeComplete(t *testing.T) {
	w, log, dir := newWorld(24), newLog(), t.TempDir()
	w.luck = passing(map[int]int{2: 8, 3: 20})
	lost := 3
	w.spoil = func(h whale.Harness, purpose whale.Purpose, i int) bool {
		return purpose == whale.PurposeConfirm && i == 4 && variantOf(h) == lost
	}
	s := search(metaharness.Config{Sessions: 1, Candidates: 1, Selection: metaharness.Selection{Reevaluate: 1}}, proposes(t, []int{3}), w, log)
	res, err := s.Run(context.Background(), phaseIn(t, dir, 1))
	if err != nil || variantOf(res.Accepted) != 2 || !strings.Contains(res.Confirmation.Programs[1].Missing, "1 of 24 episodes ended in an infrastructure error") {
		t.Errorf("got %v, %+v; want the incoming harness kept", err, res.Confirmation)
	}
	lost = 2
	clear(w.cache)
	phase := phaseIn(t, dir, 1)
	phase.Op = "phase-1"
	if _, err := s.Run(context.Background(), phase); err == nil || !strings.Contains(err.Error(), "confirmation: incoming harness: evaluation is incomplete") {
		t.Errorf("got %v, want an incomplete evaluation", err)
	}
	lost = -2
	clear(w.cache)
	if res, err = s.Run(context.Background(), phase); err != nil || variantOf(res.Accepted) != 3 {
		t.Errorf("run again: got %v, want 3 accepted", err)
	}
}

// A program that the phase's proposers read is in the workspace; what fresh episodes showed is not, and neither is it in the archive.
func TestFreshEpisodesAreShownToNobody(t *testing.T) {
	w, dir := newWorld(8), t.TempDir()
	w.luck = passing(map[int]int{2: 4, 3: 6})
	w.mark = func(purpose whale.Purpose) string { return "seen-by-" + string(purpose) }
	s := search(metaharness.Config{Sessions: 2, Candidates: 1, CanaryEpisodes: 2, Selection: metaharness.Selection{Reevaluate: 2}}, proposes(t, []int{3}, nil), w, newLog())
	if _, err := s.Run(context.Background(), phaseIn(t, dir, 1)); err != nil {
		t.Fatal(err)
	}
	search := 0
	for name, data := range filesBelow(t, dir) {
		if strings.Contains(data, "seen-by-search") {
			search++
		}
		for _, purpose := range []string{"confirm", "canary"} {
			if strings.Contains(data, "seen-by-"+purpose) {
				t.Errorf("%s shows an episode of purpose %s", name, purpose)
			}
		}
	}
	if search == 0 {
		t.Error("no file shows an episode of the search")
	}
}

func TestAfterSession(t *testing.T) {
	w, log, dir := newWorld(6), newLog(), t.TempDir()
	w.luck = passing(map[int]int{2: 1, 3: 2, 4: 3})
	var got []string
	failed := errors.New("failed")
	fail := 1
	s := search(metaharness.Config{Sessions: 3, Candidates: 1}, proposes(t, nil, nil, nil, nil, nil, []int{3}, nil, []int{4}), w, log)
	s.Deps.AfterSession = func(_ context.Context, session int, e metaharness.Entry) error {
		got = append(got, fmt.Sprintf("%d:%d", session, variantOf(e.Harness)))
		if session == fail {
			return failed
		}
		return nil
	}
	phase := phaseIn(t, dir, 1)
	phase.SessionBase = 5
	if _, err := s.Run(context.Background(), phase); !errors.Is(err, failed) || !strings.Contains(err.Error(), "after session 6: failed") {
		t.Errorf("got %v, want the hook's error", err)
	}
	fail = -1
	res, err := s.Run(context.Background(), phase)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"0:3", "1:3", "0:3", "1:3", "2:4"}; !slices.Equal(got, want) {
		t.Errorf("called with %v, want %v, replayed sessions included", got, want)
	}
	if e := res.End; e.Why != metaharness.EndSessions || e.Sessions != 3 || e.Stale != 0 || !slices.Equal(e.Best, []float64{1. / 6, 2. / 6, 2. / 6, 3. / 6}) || e.String() != "all 3 sessions were run" {
		t.Errorf("end: got %+v (%s)", e, e)
	}
}

func TestEndByPatience(t *testing.T) {
	w := newWorld(6)
	w.luck = passing(map[int]int{2: 1, 3: 2})
	cfg := metaharness.Config{Sessions: 9, Candidates: 1, MinSessions: 2, Patience: 2}
	res, err := search(cfg, proposes(t, nil, []int{3}, nil, nil, nil), w, newLog()).Run(context.Background(), phaseIn(t, t.TempDir(), 1))
	if err != nil {
		t.Fatal(err)
	}
	want := metaharness.End{Why: metaharness.EndPatience, Sessions: 4, Planned: 9, Patience: 2, MinSessions: 2, Stale: 2, Best: []float64{1. / 6, 1. / 6, 2. / 6, 2. / 6, 2. / 6}}
	if fmt.Sprint(res.End) != fmt.Sprint(want) || !slices.Equal(res.End.Best, want.Best) {
		t.Errorf("got %+v, want %+v", res.End, want)
	}
}

func TestSelectionValidate(t *testing.T) {
	for want, change := range map[string]func(s *metaharness.Selection){
		`accept: got "best", want argmax or paired`:                                         func(s *metaharness.Selection) { s.Accept = "best" },
		`test: got "t", want mcnemar or bootstrap`:                                          func(s *metaharness.Selection) { s.Accept, s.Test = "paired", "t" },
		`level: got 0.6, want 0.000001 to 0.5`:                                              func(s *metaharness.Selection) { s.Accept, s.Level = "paired", 0.6 },
		`level: got 0, want 0.000001 to 0.5`:                                                func(s *metaharness.Selection) { s.Level = 0 },
		`reevaluate: got -1, want 0 to 1000`:                                                func(s *metaharness.Selection) { s.Reevaluate = -1 },
		`draws: got 65, want 1 to 64`:                                                       func(s *metaharness.Selection) { s.Reevaluate, s.Draws = 1, 65 },
		`draws: got 0, want 1 to 64`:                                                        func(s *metaharness.Selection) { s.Draws = 0 },
		`racing: got 1, want 0 to less than 1`:                                              func(s *metaharness.Selection) { s.Racing = 1 },
		`racing: got NaN, want 0 to less than 1`:                                            func(s *metaharness.Selection) { s.Racing = math.NaN() },
		`test: got "bootstrap" with accept argmax, which tests nothing: want accept paired`: func(s *metaharness.Selection) { s.Test = "bootstrap" },
		`level: got 0.01 with accept argmax, which tests nothing: want accept paired`:       func(s *metaharness.Selection) { s.Level = 0.01 },
		`draws: got 2 with reevaluate 0, which draws nothing: want reevaluate 1 or more`:    func(s *metaharness.Selection) { s.Draws = 2 },
		``: func(*metaharness.Selection) {},
	} {
		s := metaharness.DefaultSelection()
		change(&s)
		got := ""
		if key, err := s.Validate(); err != nil {
			got = key + ": " + err.Error()
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	s := search(metaharness.Config{Selection: metaharness.Selection{Racing: 2}}, proposes(t), newWorld(3), newLog())
	if _, err := s.Run(context.Background(), phaseIn(t, t.TempDir(), 1)); !contains(err, "harness search: selection: racing: got 2, want 0 to less than 1") {
		t.Errorf("a search with it: got %v, want it refused", err)
	}
}

func TestMostRollouts(t *testing.T) {
	cfg := metaharness.Config{Sessions: 6, Candidates: 3, CanaryEpisodes: 2, Selection: metaharness.Selection{Reevaluate: 2, Draws: 4}}
	want := metaharness.Budget{Incoming: 256, RunnersUp: 512, Candidates: 4608, Canaries: 36, Confirm: 3 * 4 * 256}
	if got := cfg.MostRollouts(256, 2); got != want || got.Search() != 5376 || got.Total() != 5376+36+3072 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := (metaharness.Config{Selection: metaharness.Selection{Reevaluate: 2}}).MostRollouts(10, 0); got.Total() != 10 {
		t.Errorf("without a session: got %+v, want the incoming harness alone", got)
	}
}
