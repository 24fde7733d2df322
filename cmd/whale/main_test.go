package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-095d5d2b/whale/sandbox"
)

// A test process with childEnv set is the whale command itself. With a number in it, the process kills itself at that reading of its clock:
// the journal reads the clock inside of every transaction, so that such a kill lies between two records, and can be repeated.
const childEnv = "WHALE_TEST_CHILD"

func TestMain(m *testing.M) {
	if sandbox.Main(workerEntries()) {
		return
	}
	if at, ok := os.LookupEnv(childEnv); ok {
		if at == "disk" {
			os.Exit(childDisk(os.Args[1]))
		}
		a := newApp()
		clock := killingClock(at)
		a.now = clock.now
		code := a.underSignals(os.Args[1:])
		if at == "count" {
			fmt.Fprintf(os.Stderr, "clock %d\n", clock.read.Load())
		}
		os.Exit(code)
	}
	goleak.VerifyTestMain(m)
}

type countingClock struct {
	read atomic.Int64
	kill int64
}

func killingClock(at string) *countingClock {
	kill, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		kill = -1
	}
	return &countingClock{kill: kill}
}

func (c *countingClock) now() time.Time {
	if c.read.Add(1) == c.kill {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return time.Now()
}

// child is the whale command in a process of its own, in a folder.
func child(t testing.TB, dir, clock string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), childEnv+"="+clock)
	return cmd
}

// command runs a command line in this process.
func command(t testing.TB, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	a := &app{stdout: &out, stderr: &errs, now: time.Now, workers: 2, width: func() int { return 80 }}
	code = a.main(context.Background(), args)
	return code, out.String(), errs.String()
}

// must is command that has to succeed.
func must(t testing.TB, args ...string) (stdout string) {
	t.Helper()
	code, out, errs := command(t, args...)
	if code != exitOK {
		t.Fatalf("whale %s: got exit code %d: %s", strings.Join(args, " "), code, errs)
	}
	return out
}

// testHarness is a program under which the embedded model has some success on the test problems, so that there is something to learn,
// and under which some episodes fail.
const testHarness = `SYSTEM_PROMPT = ""
USER_PROMPT = "{question}\nPut the final answer in \\boxed{}."
TURNS = 3

def run(task, model, env):
    if len(task.question) % 5 == 0:
        fail("texts of this length are too hard")
    return loop.run(task, model, env, system = SYSTEM_PROMPT, user = USER_PROMPT, turns = TURNS, act = loop.code(), done = loop.has_box, nudge = "Put the final answer in \\boxed{}.")
`

// testConfig is a run of every kind of phase in a second or two.
const testConfig = `name: tiny
seed: 1
harness: h.star
task:
  math:
    generator:
      seed: 11
      two_step: 0
      bare: 1
      counts: {train: 16, search: 4, validation: 2, test: 4}
limits:
  tokens: 64
  model_calls: 4
  tool_calls: 4
schedule:
  epochs: 1
  sessions: 1
  total_epochs: 2
weight:
  batch: 8
  group: 2
  minibatch: 8
  learning_rate: 2e-4
search:
  candidates: 2
evaluation:
  draws: 2
concurrency: 16
`

// writeTest fills a folder with the test config and harness, and gives the config's path. edits are pairs of old and new text.
func writeTest(t testing.TB, dir string, edits ...string) string {
	t.Helper()
	config := testConfig
	for i := 0; i+1 < len(edits); i += 2 {
		if !strings.Contains(config, edits[i]) {
			t.Fatalf("the test config has no %q", edits[i])
		}
		config = strings.Replace(config, edits[i], edits[i+1], 1)
	}
	write(t, filepath.Join(dir, "h.star"), testHarness)
	path := filepath.Join(dir, "c.yaml")
	write(t, path, config)
	return path
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
