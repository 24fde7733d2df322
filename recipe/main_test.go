package recipe

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/process"
	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/sandbox/calc"
	"github.com/seed-095d5d2b/whale/store"
)

func TestMain(m *testing.M) {
	if sandbox.Main(sandbox.Entries{Calls: map[string]sandbox.Entry{calc.EntryName: calc.Entry}, Streams: process.Entries()}) {
		return
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if shared.dir != "" {
			os.RemoveAll(shared.dir)
		}
		os.Exit(code)
	}))
}

// testHarness is a program under which the embedded model has some success on the test problems, and some episodes fail.
const testHarness = `SYSTEM_PROMPT = ""
USER_PROMPT = "{question}\nPut the final answer in \\boxed{}."
TURNS = 3

def run(task, model, env):
    if len(task.question) % 5 == 0:
        fail("texts of this length are too hard")
    return loop.run(task, model, env, system = SYSTEM_PROMPT, user = USER_PROMPT, turns = TURNS, act = loop.code(), done = loop.has_box, nudge = "Put the final answer in \\boxed{}.")
`

// testConfig is a run of two cycles in about a second: two steps and one session each.
func testConfig(t testing.TB, dir string) Config {
	t.Helper()
	c := Default()
	c.Name, c.Seed, c.Harness = "tiny", 1, filepath.Join(dir, "h.star")
	if err := os.WriteFile(c.Harness, []byte(testHarness), 0o644); err != nil {
		t.Fatal(err)
	}
	g := &c.Task.Math.Generator
	g.Seed, g.TwoStep, g.Bare = 11, 0, 1
	g.Counts.Train, g.Counts.Search, g.Counts.Validation, g.Counts.Test = 16, 4, 2, 4
	c.Limits.Tokens, c.Limits.ModelCalls, c.Limits.ToolCalls = 64, 4, 4
	c.Schedule.Epochs, c.Schedule.Sessions, c.Schedule.TotalEpochs = 1, 1, 2
	c.Weight.Batch, c.Weight.Group, c.Weight.Minibatch, c.Weight.LearningRate = 8, 2, 2, 2e-4
	c.Search.Candidates, c.Evaluation.Draws, c.Concurrency = 2, 2, 16
	return c
}

func testOptions(observe func(Event)) Options {
	return Options{Now: time.Now, Workers: 2, Observe: observe}
}

// execute runs to the end what start opens.
func execute(t testing.TB, r *Run, err error) *Summary {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Execute(t.Context())
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stopAt starts a run, stops it at the first event that when accepts, and gives its directory.
func stopAt(t testing.TB, c Config, when func(Event) bool) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, err := Start(ctx, c, dir, testOptions(func(e Event) {
		if when(e) {
			stop()
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Execute(ctx); err == nil {
		t.Fatal("the run was not stopped")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func atStep(step int) func(Event) bool {
	return func(e Event) bool { return e.Kind == EventStep && e.Step.Step == step }
}

// sharedRun is one finished run that tests look at and do not touch.
type sharedRun struct {
	once    sync.Once
	dir     string
	run     string
	config  Config
	summary *Summary
}

var shared sharedRun

func finishedRun(t *testing.T) *sharedRun {
	t.Helper()
	shared.once.Do(func() {
		dir, err := os.MkdirTemp("", "recipe")
		if err != nil {
			t.Fatal(err)
		}
		shared.dir, shared.run = dir, filepath.Join(dir, "run")
		shared.config = testConfig(t, dir)
		r, err := Start(context.Background(), shared.config, shared.run, testOptions(nil))
		shared.summary = execute(t, r, err)
	})
	if shared.summary == nil {
		t.Fatal("the shared run failed")
	}
	return &shared
}

// open gives the finished run's store, to read.
func (s *sharedRun) open(t *testing.T) *store.Run {
	t.Helper()
	r, err := store.OpenReadOnly(s.run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// stored is a rollout with its place in the run.
type stored struct {
	row store.RolloutRow
	whale.Rollout
}

func rolloutsOf(t *testing.T, s *store.Run) []stored {
	t.Helper()
	var out []stored
	for row, err := range s.Rollouts(t.Context(), store.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		line, err := s.Trajectory(t.Context(), row.Key)
		if err != nil {
			t.Fatal(err)
		}
		r := stored{row: row}
		if err := json.Unmarshal(line, &r.Rollout); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		t.Fatal("the run has no rollouts")
	}
	return out
}

// record reads one entry of a run's journal.
func record(t *testing.T, s *store.Run, kind, op string, v any) {
	t.Helper()
	j, err := openJournal(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := j.Lookup(t.Context(), kind, op, v); err != nil || !ok {
		t.Fatalf("the journal has no %s %s (%v)", kind, op, err)
	}
}

// same compares what two runs came to: the final table, the ledger without seconds, and the snapshots that are kept.
func same(t *testing.T, got, want *Summary) {
	t.Helper()
	text := func(s *Summary) string {
		ledger := map[string]map[string]float64{}
		for purpose, counters := range s.Ledger {
			ledger[purpose] = map[string]float64{}
			for name, amount := range counters {
				if name != "seconds" {
					ledger[purpose][name] = amount
				}
			}
		}
		data, err := json.MarshalIndent([]any{s.Pairs, ledger, filepath.Base(s.Weights), filepath.Base(s.HarnessFile), s.Diff, snapshotsIn(t, s.Dir)}, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if g, w := text(got), text(want); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

// snapshotsIn lists a run's snapshots, and checks that each is whole.
func snapshotsIn(t *testing.T, dir string) []string {
	t.Helper()
	s, err := store.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	entries, err := os.ReadDir(filepath.Join(dir, "weights"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if err := s.VerifyWeights(e.Name()); err != nil {
			t.Error(err)
		}
		out = append(out, e.Name())
	}
	sort.Strings(out)
	return out
}

func mustContain(t *testing.T, what, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%s: got %q, want %q in it", what, got, w)
		}
	}
}

func ids(steps ...int) []string {
	out := []string{}
	for _, s := range steps {
		out = append(out, fmt.Sprintf("step-%06d", s))
	}
	return out
}
