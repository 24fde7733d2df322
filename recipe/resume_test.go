package recipe

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/store"
)

// resume goes on with a run to its end, and gives the notices that it told.
func resume(t *testing.T, dir string) (*Summary, string) {
	t.Helper()
	var notices []string
	r, err := Resume(t.Context(), dir, nil, testOptions(func(e Event) {
		if e.Kind == EventNotice {
			notices = append(notices, e.Text)
		}
	}))
	return execute(t, r, err), strings.Join(notices, "\n")
}

// TestBrokenSnapshotFallsBack spoils the newest snapshot of a stopped run in several ways: the run goes back to the one before, trains the
// step again, puts a whole snapshot in the broken one's place, and comes to the same.
func TestBrokenSnapshotFallsBack(t *testing.T) {
	t.Parallel()
	want := finishedRun(t).summary
	stopped := stopAt(t, testConfig(t, t.TempDir()), atStep(2))
	for _, tc := range []struct {
		name   string
		spoil  func(snapshot string) error
		notice string
	}{
		{"missing", os.RemoveAll, "step 3 is trained again from its recorded rollouts"},
		{"without DONE", func(s string) error { return os.Remove(filepath.Join(s, "DONE")) }, "step 3 is trained again"},
		{"DONE is no JSON", func(s string) error { return os.WriteFile(filepath.Join(s, "DONE"), []byte("{"), 0o644) }, "step 3 is trained again"},
		{"truncated", func(s string) error { return os.Truncate(filepath.Join(s, "model.safetensors"), 5000) }, "step 3 is trained again"},
		{"a file is missing", func(s string) error { return os.Remove(filepath.Join(s, "optimizer.bin")) }, "step 3 is trained again"},
		{"a byte differs", func(s string) error {
			path := filepath.Join(s, "optimizer.bin")
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			data[len(data)/2] ^= 1
			return os.WriteFile(path, data, 0o644)
		}, "going back to the snapshot before it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(dir, os.DirFS(stopped)); err != nil {
				t.Fatal(err)
			}
			if err := tc.spoil(filepath.Join(dir, "weights", snapshotID(2))); err != nil {
				t.Fatal(err)
			}
			got, notices := resume(t, dir)
			same(t, got, want)
			mustContain(t, "notices", notices, tc.notice)
		})
	}
	t.Run("all", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(dir, os.DirFS(stopped)); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "weights")); err != nil {
			t.Fatal(err)
		}
		got, notices := resume(t, dir)
		same(t, got, want)
		mustContain(t, "notices", notices, "steps 1 to 3 are trained again from their recorded rollouts")
	})
}

// crashingTrainer stands for a process that dies in the middle of a step: an operation fails, and with it the run.
type crashingTrainer struct {
	whale.Trainer
	at           string // the operation that fails at its turn n, counted from 0
	n            int
	learningRate float64 // instead of the given one, where set
}

var errCrash = errors.New("crash")

func (c *crashingTrainer) turn(op string) error {
	if op != c.at {
		return nil
	}
	c.n--
	if c.n < 0 {
		return errCrash
	}
	return nil
}

func (c *crashingTrainer) Step(ctx context.Context, op string, rate float64) (whale.TrainStats, error) {
	if err := c.turn("step"); err != nil {
		return whale.TrainStats{}, err
	}
	if c.learningRate > 0 {
		rate = c.learningRate
	}
	return c.Trainer.Step(ctx, op, rate)
}

func (c *crashingTrainer) Snapshot(ctx context.Context, dir string) error {
	err := c.Trainer.Snapshot(ctx, dir) // files may be there, DONE is not
	return errors.Join(err, c.turn("snapshot"))
}

func (c *crashingTrainer) Publish(ctx context.Context) (whale.Policy, error) {
	p, err := c.Trainer.Publish(ctx)
	return &crashingPolicy{p, c}, err
}

// crashingPolicy fails to close: between the snapshot of a step and its prune.
type crashingPolicy struct {
	whale.Policy
	trainer *crashingTrainer
}

func (c *crashingPolicy) Close() error { return errors.Join(c.Policy.Close(), c.trainer.turn("close")) }

// crashed starts a run that dies at a trainer's operation.
func crashed(t *testing.T, c Config, at string, n int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	r, err := Start(t.Context(), c, dir, testOptions(nil))
	if err != nil {
		t.Fatal(err)
	}
	crashing := &crashingTrainer{Trainer: r.trainer, at: at, n: n}
	r.trainer = crashing
	if _, err := r.Execute(t.Context()); !errors.Is(err, errCrash) {
		t.Fatalf("%s %d: got %v, want the crash", at, n, err)
	}
	crashing.at = ""
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestCrashInsideAStep dies at the seams of a weight step.
func TestCrashInsideAStep(t *testing.T) {
	t.Parallel()
	want := finishedRun(t).summary
	for _, tc := range []struct {
		at string
		n  int
	}{
		{"step", 2},     // gradients accumulated, not applied
		{"snapshot", 0}, // recorded, no snapshot; nothing to restore
		{"snapshot", 3}, // the same at a phase's end
		{"close", 1},    // snapshot, not pruned
	} {
		got, _ := resume(t, crashed(t, testConfig(t, t.TempDir()), tc.at, tc.n))
		same(t, got, want)
		if t.Failed() {
			t.Fatalf("after a crash at %s %d", tc.at, tc.n)
		}
	}
}

// TestCrashBeforeTheLastPrune: after the last step no other prunes what it left.
func TestCrashBeforeTheLastPrune(t *testing.T) {
	t.Parallel()
	c := testConfig(t, t.TempDir())
	c.Weight.Batch, c.Snapshots.Last, c.Schedule.TotalEpochs = 4, 1, 1 // four steps, of which each prunes a snapshot
	c.Schedule.Sessions, c.Evaluation.Curve, c.Evaluation.Draws = 0, false, 1
	r, err := Start(t.Context(), c, filepath.Join(t.TempDir(), "run"), testOptions(nil))
	want := execute(t, r, err)
	dir := crashed(t, c, "close", 3)
	if left, kept := snapshotsIn(t, dir), snapshotsIn(t, want.Dir); len(left) <= len(kept) {
		t.Errorf("the crash left %v, want more than %v: the test shows nothing", left, kept)
	}
	got, _ := resume(t, dir)
	same(t, got, want)
}

// TestStepThatComesOutOtherwiseStops: a recorded step that is made again under other arithmetic must not go unnoticed.
func TestStepThatComesOutOtherwiseStops(t *testing.T) {
	t.Parallel()
	dir := crashed(t, testConfig(t, t.TempDir()), "snapshot", 0)
	r, err := Resume(t.Context(), dir, nil, testOptions(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.trainer = &crashingTrainer{Trainer: r.trainer, learningRate: 1e-3}
	_, err = r.Execute(t.Context())
	if !errors.Is(err, store.ErrConflict) {
		t.Fatalf("got %v, want a conflict", err)
	}
	mustContain(t, "error", err.Error(), "came out otherwise", "other kernels")
}

// TestOtherKernelsAreTold: the journal holds the kernels of each opening.
func TestOtherKernelsAreTold(t *testing.T) {
	t.Parallel()
	dir := stopAt(t, testConfig(t, t.TempDir()), atStep(0))
	s, err := store.Open(dir, store.Options{Now: testOptions(nil).Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), kindOpen, "2", opened{Kernels: "abacus"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, notices := resume(t, dir)
	mustContain(t, "notices", notices, "also made with abacus")
	// The journal stays mixed, whatever machine comes next.
	_, notices = resume(t, dir)
	mustContain(t, "notices of a third opening", notices, "also made with abacus")
}

// TestAnotherBuildIsTold resumes under a binary of another name.
func TestAnotherBuildIsTold(t *testing.T) {
	t.Parallel()
	dir := stopAt(t, testConfig(t, t.TempDir()), atStep(0))
	var notices []string
	opt := testOptions(func(e Event) {
		if e.Kind == EventNotice {
			notices = append(notices, e.Text)
		}
	})
	opt.Build = "another"
	r, err := Resume(t.Context(), dir, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	mustContain(t, "notices", strings.Join(notices, "\n"), "another build")
}

// TestEditedRunDirectory changes what a run directory holds behind the run's back: each is refused with what changed, or mended.
func TestEditedRunDirectory(t *testing.T) {
	t.Parallel()
	whole := stopAt(t, testConfig(t, t.TempDir()), func(e Event) bool { return e.Kind == EventAccepted })
	edit := func(t *testing.T, change func(dir string)) (*Summary, error) {
		dir := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		change(dir)
		r, err := Resume(t.Context(), dir, nil, testOptions(nil))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return r.Execute(t.Context())
	}
	accepted := func(dir string) string {
		s, err := store.OpenReadOnly(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		events, err := s.Events(t.Context(), kindHarness)
		if err != nil || len(events) != 1 {
			t.Fatalf("got %d harness phases, %v", len(events), err)
		}
		var rec harnessRecord
		if err := json.Unmarshal(events[0].Data, &rec); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, "harness", string(rec.Accepted)+".star")
	}
	untouched, err := edit(t, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("config", func(t *testing.T) {
		_, err := edit(t, func(dir string) {
			path := filepath.Join(dir, "config.yaml")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(text), "\nseed: ", "\nseed: 4", 1)
			if changed == string(text) {
				t.Fatal("nothing to change")
			}
			if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
		})
		var ce *ChangedError
		if !errors.As(err, &ce) || !strings.HasPrefix(ce.Keys[0], "seed: ") {
			t.Fatalf("got %v, want a ChangedError that names seed", err)
		}
	})
	t.Run("harness removed", func(t *testing.T) {
		got, err := edit(t, func(dir string) {
			if err := os.Remove(accepted(dir)); err != nil {
				t.Fatal(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range got.Pairs {
			if want := untouched.Pairs[i]; p.Harness != want.Harness || p.Weights != want.Weights || p.Mean != want.Mean {
				t.Errorf("%s: got %s %s %g, want %s %s %g", p.Name, p.Weights, p.Harness, p.Mean, want.Weights, want.Harness, want.Mean)
			}
		}
	})
	t.Run("harness changed", func(t *testing.T) {
		_, err := edit(t, func(dir string) {
			if err := os.WriteFile(accepted(dir), []byte("def run(task, model, env):\n    return None\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		})
		if !errors.Is(err, store.ErrConflict) || !strings.Contains(err.Error(), "remove it") {
			t.Fatalf("got %v, want a conflict that says what to do", err)
		}
	})
}

// TestOptimizerReset stops a run whose optimiser forgets at each phase, before and after it did.
func TestOptimizerReset(t *testing.T) {
	t.Parallel()
	c := testConfig(t, t.TempDir())
	c.Weight.Optimizer.ResetEachPhase = true
	r, err := Start(t.Context(), c, filepath.Join(t.TempDir(), "run"), testOptions(nil))
	want := execute(t, r, err)
	if kept := finishedRun(t).summary; want.Pairs[3].Weights == kept.Pairs[3].Weights {
		t.Error("forgetting moments changes nothing: the test shows nothing")
	}
	got, _ := resume(t, stopAt(t, c, atStep(2))) // the first after the reset
	same(t, got, want)
}

// TestSnapshotRetention: phase ends and the best always, besides the last n.
func TestSnapshotRetention(t *testing.T) {
	t.Parallel()
	for _, last := range []int{1, 3} {
		c := testConfig(t, t.TempDir())
		c.Weight.Batch, c.Snapshots.Last = 4, last // eight steps, phase ends after 3 and 7
		c.Schedule.Sessions, c.Evaluation.Curve, c.Evaluation.Draws = 0, false, 1
		dir := filepath.Join(t.TempDir(), "run")
		steps, rewards := 0, []float64{}
		r, err := Start(t.Context(), c, dir, testOptions(func(e Event) {
			if e.Kind != EventStep {
				return
			}
			steps++
			rewards = append(rewards, e.Step.Reward)
			want := map[int]bool{}
			for s := max(0, steps-last); s < steps; s++ {
				want[s] = true
			}
			if steps > 3 {
				want[3] = true
			}
			best, reward := -1, -1.0 // the snapshot that the best step sampled from
			for s := 1; s < steps; s++ {
				if rewards[s] > reward {
					best, reward = s-1, rewards[s]
				}
			}
			if best >= 0 {
				want[best] = true
			}
			var list []int
			for s := range want {
				list = append(list, s)
			}
			slices.Sort(list)
			if got := snapshotsIn(t, dir); !slices.Equal(got, ids(list...)) {
				t.Errorf("last %d, after step %d: got %v, want %v", last, steps-1, got, list)
			}
		}))
		execute(t, r, err)
		if steps != 8 {
			t.Errorf("got %d steps, want 8", steps)
		}
	}
}

// TestReplacedPartsAreRefused changes what a stopped run was made with. It goes on only when that is back.
func TestReplacedPartsAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := testConfig(t, dir)
	c.Policy.Model = filepath.Join(dir, "model")
	if err := os.CopyFS(c.Policy.Model, os.DirFS("../policy/local/models/whale-tiny")); err != nil {
		t.Fatal(err)
	}
	c.Task.Math.Source = "files"
	c.Task.Math.Files = map[whale.Split][]string{}
	for split, rows := range map[whale.Split]string{
		whale.SplitTrain:  `{"problem": "What is 1 + 1?", "answer": "2"}` + "\n" + `{"problem": "What is 2 + 1?", "answer": "3"}` + "\n",
		whale.SplitSearch: `{"problem": "What is 4 + 1?", "answer": "5"}` + "\n",
		whale.SplitTest:   `{"problem": "What is 5 + 1?", "answer": "6"}` + "\n",
	} {
		path := filepath.Join(dir, string(split)+".jsonl")
		if err := os.WriteFile(path, []byte(rows), 0o644); err != nil {
			t.Fatal(err)
		}
		c.Task.Math.Files[split] = []string{path}
	}
	c.Weight.Batch = 2
	run := stopAt(t, c, atStep(0))
	train, model := filepath.Join(dir, "train.jsonl"), c.Policy.Model
	for _, tc := range []struct {
		name   string
		change func() error
		want   []string
		input  bool
	}{
		{"task", func() error {
			return os.WriteFile(train, []byte(`{"problem": "What is 1 + 1?", "answer": "3"}`+"\n"), 0o644)
		}, []string{run, "the task changed since the run began", "start a new run, or bring the old one back"}, false},
		{"task is gone", func() error { return os.Remove(train) }, []string{train, "no such file"}, true},
		{"model", func() error {
			data, err := os.ReadFile(filepath.Join(model, "model.safetensors"))
			if err != nil {
				return err
			}
			data[len(data)-1] ^= 1
			return os.WriteFile(filepath.Join(model, "model.safetensors"), data, 0o644)
		}, []string{run, "the base weights changed since the run began"}, false},
		{"model is gone", func() error { return os.RemoveAll(model) }, []string{"model " + model, "no such"}, true},
	} {
		saved := t.TempDir()
		if err := os.CopyFS(saved, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if err := tc.change(); err != nil {
			t.Fatal(err)
		}
		r, err := Resume(t.Context(), run, nil, testOptions(nil))
		if err == nil {
			r.Close()
			t.Errorf("%s: resumed", tc.name)
		} else {
			mustContain(t, tc.name, err.Error(), tc.want...)
			var replaced *ReplacedError
			var input *InputError
			if errors.As(err, &replaced) == tc.input || errors.As(err, &input) != tc.input {
				t.Errorf("%s: got an error of type %T", tc.name, err)
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(dir, os.DirFS(saved)); err != nil {
			t.Fatal(err)
		}
	}
	resume(t, run)
}

// TestResumeUsesTheRunsOwnHarness: the file of h_0 may change or go once the run has begun.
func TestResumeUsesTheRunsOwnHarness(t *testing.T) {
	t.Parallel()
	c := testConfig(t, t.TempDir())
	dir := stopAt(t, c, atStep(1))
	if err := os.WriteFile(c.Harness, []byte("broken ("), 0o644); err != nil {
		t.Fatal(err)
	}
	got, _ := resume(t, dir)
	same(t, got, finishedRun(t).summary)
}

// TestFullDiskIsNoProposersFailure: what a proposer cannot write must stop the phase, not be journaled as its result.
func TestFullDiskIsNoProposersFailure(t *testing.T) {
	for _, tc := range []struct {
		err   error
		stops bool
	}{
		{&os.PathError{Op: "write", Path: "candidates/a.star", Err: syscall.ENOSPC}, true},
		{errors.New("no new program in 200 tries"), false},
		{nil, false},
	} {
		ctx, stop := context.WithCancelCause(t.Context())
		p := &diskProposer{failingProposer{tc.err}, stop}
		if _, err := p.Propose(ctx, whale.Session{}); !errors.Is(err, tc.err) {
			t.Errorf("got %v, want %v", err, tc.err)
		}
		if cause := context.Cause(ctx); (cause != nil) != tc.stops || tc.stops && !errors.Is(cause, syscall.ENOSPC) {
			t.Errorf("%v: the phase's context has the cause %v, want it stopped: %v", tc.err, cause, tc.stops)
		}
		stop(nil)
	}
}

type failingProposer struct{ err error }

func (failingProposer) Name() string { return "failing" }
func (failingProposer) ID() whale.ID { return "failing" }
func (p failingProposer) Propose(context.Context, whale.Session) (whale.SessionCost, error) {
	return whale.SessionCost{}, p.err
}
