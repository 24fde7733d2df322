package metaharness_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/metaharness/propose/evolve"
)

const about = "Answer questions with numbers. The answer goes into \\boxed{}. There is a calculator."

func search(cfg metaharness.Config, p whale.Proposer, w *world, log *memLog) *metaharness.Search {
	return &metaharness.Search{Config: cfg, Deps: metaharness.Deps{Proposer: p, Evaluator: w, Log: log, Loader: load, About: about}}
}

// The offline proposer finds both faults of the start, too few turns and a missing box, within three sessions of three candidates.
func TestEvolveImproves(t *testing.T) {
	t.Parallel()
	cfg := metaharness.Config{Sessions: 3, Candidates: 3, CanaryEpisodes: 2}
	good := 0
	for seed := range uint64(20) {
		w := newWorld(15)
		res, err := search(cfg, evolve.New(), w, newLog()).Run(context.Background(), phaseIn(t, t.TempDir(), seed))
		if err != nil {
			t.Fatal(err)
		}
		if res.Proposed != 9 || res.Discarded != 0 {
			t.Errorf("seed %d: got %d candidates and %d discarded files, want 9 and 0", seed, res.Proposed, res.Discarded)
		}
		for _, s := range res.Sessions {
			for i, d := range s.Decisions {
				if d.Status == metaharness.StatusRejected && d.Gate != metaharness.GateCanary {
					t.Errorf("seed %d: %s: rejected by gate %s: %s\n%s", seed, s.Candidates[i].Name, d.Gate, d.Reason, s.Candidates[i].Source)
				}
			}
		}
		got := res.Entry.Score.Mean
		if got <= res.Incoming.Mean {
			t.Errorf("seed %d: no better than the incoming harness: %.3f", seed, got)
		}
		if got >= 0.6 {
			good++
		}
		t.Logf("seed %d: %.3f → %.3f: %s", seed, res.Incoming.Mean, got, res.Entry.Hypothesis)
	}
	if good < 16 {
		t.Errorf("got %d of 20 seeds with a score of 0.6, want 16", good)
	}
}

// With a model that rambles by chance and obeys half the time, most searches still come out well above the start.
func TestEvolveImprovesUnderNoise(t *testing.T) {
	t.Parallel()
	cfg := metaharness.Config{Sessions: 3, Candidates: 3, CanaryEpisodes: 2}
	sum, better := 0.0, 0
	const seeds = 8
	for seed := range uint64(seeds) {
		w := newWorld(32)
		w.noise = seed + 1
		res, err := search(cfg, evolve.New(), w, newLog()).Run(context.Background(), phaseIn(t, t.TempDir(), seed))
		if err != nil {
			t.Fatal(err)
		}
		gain := res.Entry.Score.Mean - res.Incoming.Mean
		sum += gain
		if gain >= 0.15 {
			better++
		}
		t.Logf("seed %d: %.3f → %.3f: %s", seed, res.Incoming.Mean, res.Entry.Score.Mean, res.Entry.Hypothesis)
	}
	if better < seeds*3/4 {
		t.Errorf("got %d of %d seeds that gain 0.15, want three in four; mean gain %.3f", better, seeds, sum/seeds)
	}
}

// A failed session is recorded with its cost, and the phase goes on with what it had written.
func TestFailedSession(t *testing.T) {
	p := scripted{func(s whale.Session) (whale.SessionCost, error) {
		if s.Index == 4 {
			put(t, s, "more", strings.Replace(startProgram, "TURNS = 2", "TURNS = 5", 1))
			return whale.SessionCost{USD: 1.5, SampledTokens: 7}, os.ErrDeadlineExceeded
		}
		report, err := os.ReadFile(filepath.Join(s.Workspace, "reports", "session-0004.md"))
		if err != nil || !strings.Contains(string(report), "The session failed: i/o timeout") {
			t.Errorf("report of the failed session: got %q, %v", report, err)
		}
		return whale.SessionCost{USD: 0.5}, nil
	}}
	phase := phaseIn(t, t.TempDir(), 1)
	phase.SessionBase = 4
	var events []metaharness.EventKind
	s := search(metaharness.Config{Sessions: 2, Candidates: 2}, p, newWorld(6), newLog())
	s.Deps.Observer = func(e metaharness.Event) { events = append(events, e.Kind) }
	res, err := s.Run(context.Background(), phase)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Sessions) != 2 || res.Sessions[0].Error == "" || res.Sessions[0].Cost.USD != 1.5 || res.Sessions[1].Cost.USD != 0.5 {
		t.Fatalf("sessions: got %+v", res.Sessions)
	}
	if res.Entry.Name != "more" || res.Entry.Session != 4 || !res.Sessions[0].NewBest || res.Sessions[1].NewBest {
		t.Errorf("accepted: got %s of session %d, want more of session 4", res.Entry.Name, res.Entry.Session)
	}
	want := []metaharness.EventKind{
		metaharness.EventIncoming, metaharness.EventSession, metaharness.EventProposed, metaharness.EventCandidate, metaharness.EventAccepted,
		metaharness.EventSession, metaharness.EventProposed,
	}
	if len(events) != len(want) {
		t.Fatalf("events: got %v, want %v", events, want)
	}
	for i := range want {
		if events[i] != want[i] {
			t.Errorf("event %d: got %s, want %s", i, events[i], want[i])
		}
	}
}

func TestPatience(t *testing.T) {
	sessions := 0
	p := scripted{func(whale.Session) (whale.SessionCost, error) { sessions++; return whale.SessionCost{}, nil }}
	cfg := metaharness.Config{Sessions: 9, Candidates: 1, MinSessions: 3, Patience: 2}
	res, err := search(cfg, p, newWorld(3), newLog()).Run(context.Background(), phaseIn(t, t.TempDir(), 1))
	if err != nil {
		t.Fatal(err)
	}
	if sessions != 3 || !res.Stopped {
		t.Errorf("got %d sessions, stopped %v; want 3, true", sessions, res.Stopped)
	}
}

// Without a complete score of the incoming harness there is nothing to compare with: the phase stops, and can be run again.
func TestIncomingMustBeComplete(t *testing.T) {
	w, log := newWorld(4), newLog()
	w.spoil = func(_ whale.Harness, _ whale.Purpose, i int) bool { return i == 2 }
	p := scripted{func(whale.Session) (whale.SessionCost, error) { return whale.SessionCost{}, nil }}
	s := search(metaharness.Config{Sessions: 1, Candidates: 1}, p, w, log)
	phase := phaseIn(t, t.TempDir(), 1)
	_, err := s.Run(context.Background(), phase)
	want := "incoming harness: evaluation is incomplete: 1 of 4 episodes ended in an infrastructure error; the first: connection refused"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("got %v, want %q", err, want)
	}
	w.spoil = nil
	clear(w.cache)
	if _, err := s.Run(context.Background(), phase); err != nil {
		t.Fatal(err)
	}
}

// A candidate with an infrastructure error is never ranked, however good the rest of its episodes are.
func TestIncompleteIsNotRanked(t *testing.T) {
	better := strings.Replace(startProgram, "TURNS = 2", "TURNS = 5", 1)
	id := whale.HarnessID([]byte(better))
	w, log := newWorld(10), newLog()
	w.spoil = func(h whale.Harness, purpose whale.Purpose, i int) bool {
		return h.ID() == id && purpose == whale.PurposeSearch && i == 9
	}
	p := scripted{func(s whale.Session) (whale.SessionCost, error) {
		if s.Index == 0 {
			put(t, s, "better", better)
			return whale.SessionCost{}, nil
		}
		index, err := os.ReadFile(filepath.Join(s.Workspace, "index.jsonl"))
		if err != nil || !strings.Contains(string(index), `"status":"incomplete"`) ||
			!strings.Contains(string(index), "not scored: 1 of 10 episodes ended in an infrastructure error") {
			t.Errorf("index: got %s, %v", index, err)
		}
		return whale.SessionCost{}, nil
	}}
	s := search(metaharness.Config{Sessions: 2, Candidates: 1, CanaryEpisodes: 2}, p, w, log)
	phase := phaseIn(t, t.TempDir(), 1)
	for range 2 { // and again from the log, with the infrastructure mended: the decision stands
		res, err := s.Run(context.Background(), phase)
		if err != nil {
			t.Fatal(err)
		}
		if res.Entry.Name != "incoming" || res.Incomplete != 1 || res.Evaluated != 0 || len(res.Archive) != 1 {
			t.Errorf("got accepted %s, %d incomplete, %d evaluated", res.Entry.Name, res.Incomplete, res.Evaluated)
		}
		w.spoil = nil
		clear(w.cache)
	}
}

// Rollouts of other weights, of another harness or of other examples are refused.
func TestForeignRollouts(t *testing.T) {
	for name, change := range map[string]func(r *whale.Rollout){
		"got weights":         func(r *whale.Rollout) { r.Key.Weights = "other" },
		"got harness":         func(r *whale.Rollout) { r.Key.Harness = "other" },
		"got another example": func(r *whale.Rollout) { r.Key.Example = "other" },
	} {
		w := newWorld(3)
		candidate := strings.Replace(startProgram, "TURNS = 2", "TURNS = 3", 1)
		p := scripted{func(s whale.Session) (whale.SessionCost, error) {
			put(t, s, "a", candidate)
			return whale.SessionCost{}, nil
		}}
		s := search(metaharness.Config{Sessions: 1, Candidates: 1}, p, w, newLog())
		h := mustLoad(t, candidate)
		rollouts, err := w.Evaluate(context.Background(), h, metaharness.Ask{Purpose: whale.PurposeSearch})
		if err != nil {
			t.Fatal(err)
		}
		change(&rollouts[1])
		w.cache[rolloutName(h, whale.PurposeSearch, 0, 1)] = rollouts[1]
		if _, err := s.Run(context.Background(), phaseIn(t, t.TempDir(), 1)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}
