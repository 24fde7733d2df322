package metaharness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/metaharness/propose/random"
)

func contains(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

func bestOfRandom(cfg metaharness.Config, w *world, log *memLog) *metaharness.BestOfRandom {
	return &metaharness.BestOfRandom{Config: cfg, Deps: metaharness.Deps{Proposer: random.New(), Evaluator: w, Log: log, Loader: load, About: about}}
}

func proposed(res metaharness.Result) []metaharness.Candidate {
	var out []metaharness.Candidate
	for _, s := range res.Sessions {
		out = append(out, s.Candidates...)
	}
	return out
}

// The control draws the full number of different edits of the incoming harness, and the same ones whatever they score; the best is accepted.
func TestBestOfRandomIsBlind(t *testing.T) {
	cfg := metaharness.Config{Sessions: 4, Candidates: 3, CanaryEpisodes: 2}
	run := func(seed uint64, w *world) metaharness.Result {
		phase := withRunnersUp(t, t.TempDir(), 5)
		phase.RunSeed = seed
		res, err := bestOfRandom(cfg, w, newLog()).Run(context.Background(), phase)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := run(1, newWorld(15))
	seen := map[whale.ID]bool{}
	for _, c := range proposed(res) {
		if seen[c.ID] {
			t.Errorf("%s was drawn twice", c.Name)
		}
		seen[c.ID] = true
		if c.Parent != mustLoad(t, startProgram).ID() || len(c.Operators) < 1 || len(c.Operators) > 3 {
			t.Errorf("%s: got parent %s and operators %v, want up to three edits of the incoming harness", c.Name, c.Parent, c.Operators)
		}
	}
	if res.Proposed != 12 || res.Entry.Score.Mean < res.Incoming.Mean {
		t.Errorf("got %d proposed, %.3f accepted after %.3f", res.Proposed, res.Entry.Score.Mean, res.Incoming.Mean)
	}
	for _, s := range res.Sessions {
		for i, d := range s.Decisions {
			if d.Gate == metaharness.GateDuplicate || d.Gate == metaharness.GateLoad {
				t.Errorf("%s: rejected by gate %s: %s", s.Candidates[i].Name, d.Gate, d.Reason)
			}
		}
	}
	noisy := newWorld(15)
	noisy.noise = 3
	other, again := proposed(run(1, noisy)), proposed(run(2, newWorld(15)))
	same := 0
	for i, c := range proposed(res) {
		if other[i].Source != c.Source {
			t.Errorf("candidate %d depends on what was scored", i)
		}
		if again[i].Source == c.Source {
			same++
		}
	}
	if same > 6 {
		t.Errorf("another seed drew %d of 12 programs again in the same place", same)
	}
}

// A workspace of the control holds no score, no trajectory, no report and no program but the incoming one, also after sessions.
func TestBlindWorkspace(t *testing.T) {
	dir, w := t.TempDir(), newWorld(6)
	w.luck = passing(map[int]int{2: 3, 3: 5})
	p := proposes(t, []int{3}, []int{4})
	s := &metaharness.BestOfRandom{Config: metaharness.Config{Sessions: 2, Candidates: 1}, Deps: metaharness.Deps{Proposer: p, Evaluator: w, Log: newLog(), Loader: load, About: about}}
	if _, err := s.Run(context.Background(), phaseIn(t, dir, 1)); err != nil {
		t.Fatal(err)
	}
	start := string(mustLoad(t, startProgram).ID())
	want := map[string]bool{
		"README.md": true, "library.json": true, "index.jsonl": true, "harnesses/" + start + "/harness.star": true,
		"candidates/00-turns-4.star": true, "candidates/00-turns-4.json": true,
	}
	for name, data := range filesBelow(t, filepath.Join(dir, "sessions", "1")) {
		name = strings.TrimPrefix(name, "/")
		if !want[name] {
			t.Errorf("the workspace has %s", name)
		}
		delete(want, name)
		if name != "index.jsonl" {
			continue
		}
		for i, line := range strings.Split(strings.TrimSpace(data), "\n") {
			var l metaharness.IndexLine
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			if i == 0 && (l.Mean == nil || *l.Mean != 0) || i > 0 && (l.Mean != nil || l.Status != "hidden" || l.Hypothesis != "") || l.Sampled != 0 || l.Delta != nil || l.Accepted {
				t.Errorf("index: line %d tells of a result: %s", i+1, line)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("the workspace lacks %v", want)
	}
}

// Where only prompts may be changed, the control draws edits of prompts alone.
func TestBestOfRandomPromptOnly(t *testing.T) {
	cfg := metaharness.Config{Sessions: 2, Candidates: 3, PromptOnly: true}
	res, err := bestOfRandom(cfg, newWorld(6), newLog()).Run(context.Background(), phaseIn(t, t.TempDir(), 1))
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(startProgram, "TURNS = 2")
	for _, c := range proposed(res) {
		if !strings.HasSuffix(c.Source, "TURNS = 2"+body) {
			t.Errorf("%s changes more than prompts:\n%s", c.Name, c.Source)
		}
	}
	if res.Proposed != 6 {
		t.Errorf("got %d candidates, want 6", res.Proposed)
	}
}

func TestBestOfRandomResumes(t *testing.T) {
	t.Parallel()
	cfg := metaharness.Config{Sessions: 2, Candidates: 2, CanaryEpisodes: 2}
	reference, err := bestOfRandom(cfg, newWorld(6), newLog()).Run(context.Background(), phaseIn(t, t.TempDir(), 5))
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; ; at += 9 {
		dir, w, log := t.TempDir(), newWorld(6), newLog()
		k := &killer{at: at}
		w.fault, log.fault = k.fault, k.fault
		if _, err := bestOfRandom(cfg, w, log).Run(context.Background(), phaseIn(t, dir, 5)); err == nil {
			return
		} else if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		w.fault, log.fault = nil, nil
		res, err := bestOfRandom(cfg, w, log).Run(context.Background(), phaseIn(t, dir, 5))
		if err != nil || fmt.Sprint(decisions(res)) != fmt.Sprint(decisions(reference)) {
			t.Fatalf("killed at %d, run again: %v, other decisions", at, err)
		}
	}
}
