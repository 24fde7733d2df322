package export

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-095d5d2b/whale/harness/process"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/sandbox/calc"
)

// A test process with childEnv set exports onto a small disk of its own.
const childEnv = "WHALE_EXPORT_CHILD"

func TestMain(m *testing.M) {
	if sandbox.Main(sandbox.Entries{Calls: map[string]sandbox.Entry{calc.EntryName: calc.Entry}, Streams: process.Entries()}) {
		return
	}
	if os.Getenv(childEnv) != "" {
		os.Exit(childDisk(os.Args[1], os.Args[2]))
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		for _, f := range []*fixture{&full, &adapter, &stopped} {
			if f.dir != "" {
				os.RemoveAll(f.dir)
			}
		}
		os.Exit(code)
	}))
}

const testHarness = `SYSTEM_PROMPT = ""
USER_PROMPT = "{question}\nPut the final answer in \\boxed{}."
TURNS = 3

def run(task, model, env):
    return loop.run(task, model, env, system = SYSTEM_PROMPT, user = USER_PROMPT, turns = TURNS, act = loop.code(), done = loop.has_box)
`

// fixture is a run of one cycle that tests look at and do not touch.
type fixture struct {
	once sync.Once
	dir  string // temporary folder
	run  string // run directory
	rank int    // of an adapter; 0 trains all weights
	stop bool   // at the first rollout step
	fail error
}

var (
	full    fixture
	adapter = fixture{rank: 2}
	stopped = fixture{stop: true}
)

// make runs it once, in about a second.
func (f *fixture) make(t testing.TB) string {
	t.Helper()
	f.once.Do(func() { f.fail = f.build() })
	if f.fail != nil {
		t.Fatal(f.fail)
	}
	return f.run
}

func (f *fixture) build() (err error) {
	if f.dir, err = os.MkdirTemp("", "export"); err != nil {
		return err
	}
	f.run = filepath.Join(f.dir, "run")
	c := recipe.Default()
	c.Name, c.Seed, c.Harness = "tiny", 1, filepath.Join(f.dir, "h.star")
	if err := os.WriteFile(c.Harness, []byte(testHarness), 0o644); err != nil {
		return err
	}
	g := &c.Task.Math.Generator
	g.Seed, g.TwoStep, g.Bare = 11, 0, 1
	g.Counts.Train, g.Counts.Search, g.Counts.Validation, g.Counts.Test = 16, 4, 0, 4
	c.Limits.Tokens, c.Limits.ModelCalls, c.Limits.ToolCalls = 64, 3, 3
	c.Schedule.Epochs, c.Schedule.Sessions, c.Schedule.TotalEpochs = 1, 1, 1
	c.Weight.Batch, c.Weight.Group, c.Weight.Minibatch, c.Weight.LearningRate, c.Weight.LoRA.Rank = 8, 2, 2, 2e-4, f.rank
	c.Search.Candidates, c.Evaluation.Draws, c.Concurrency = 1, 2, 16
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	r, err := recipe.Start(ctx, c, f.run, recipe.Options{Now: time.Now, Workers: 2, Build: "0123abcd", Observe: func(e recipe.Event) {
		if f.stop && e.Kind == recipe.EventStep {
			stop()
		}
	}})
	if err != nil {
		return err
	}
	_, err = r.Execute(ctx)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	if f.stop {
		if err == nil {
			return fmt.Errorf("the run was not stopped")
		}
		return nil
	}
	return err
}

// copied is a copy of the run that a test may spoil.
func (f *fixture) copied(t *testing.T) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(to, os.DirFS(f.make(t))); err != nil {
		t.Fatal(err)
	}
	return to
}

// story is what the run did.
func (f *fixture) story(t *testing.T) *recipe.Story {
	t.Helper()
	st, err := recipe.ReadStory(t.Context(), f.make(t))
	if err != nil {
		t.Fatal(err)
	}
	return st
}
