package store

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// children are the programs that tests run in a process of their own: the test binary started again.
var children = map[string]func(args []string) error{
	"write": childWrite,
	"post":  childPost,
	"hold":  childHold,
}

const childEnv = "STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		run, ok := children[name]
		if !ok {
			run = diskChildren[name]
		}
		if err := run(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// Each check of the model opens databases several times; the usual hundred would take most of the suite's time.
	if err := flag.Set("rapid.checks", "25"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

func child(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), childEnv+"="+name)
	return cmd
}

var testOptions = Options{Now: func() time.Time { return time.Unix(1700000000, 42) }}

func newRun(t *testing.T) *Run {
	t.Helper()
	r, err := Create(t.TempDir(), []byte("name: test\n"), testOptions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// reopen closes r and opens its directory again.
func reopen(t *testing.T, r *Run) *Run {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(r.Dir(), testOptions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() })
	return again
}

func row(i int) (RolloutRow, []byte) {
	reward := float64(i % 2)
	r := RolloutRow{
		Key: fmt.Sprintf("key-%06d", i), Purpose: "weight", Phase: "w0", Step: i / 8, ExampleID: fmt.Sprint("x", i%100), Draw: i % 8,
		Harness: "h0", Weights: "w0", State: "scored", Reward: &reward, Usage: json.RawMessage(fmt.Sprintf(`{"tokens":%d}`, i)),
	}
	return r, trajectory(i)
}

func trajectory(i int) []byte {
	return fmt.Appendf(nil, `{"i":%d,"text":"step %d of the agent says something that compresses, %x"}`, i, i, i*i*7919)
}
