package calc

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-095d5d2b/whale/sandbox"
)

func TestMain(m *testing.M) {
	if sandbox.Main(sandbox.Entries{Calls: map[string]sandbox.Entry{EntryName: Entry, "raw": rawEntry, "broken": brokenEntry}}) {
		return
	}
	goleak.VerifyTestMain(m)
}

func newPool(t *testing.T, spec sandbox.Spec, workers int) *sandbox.Pool {
	t.Helper()
	p, err := sandbox.NewPool(sandbox.Options{Spec: spec, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func newCalculator(t *testing.T, workers int) *Calculator {
	t.Helper()
	c, err := New(newPool(t, Spec(DefaultLimits, testMemory, 10*time.Second), workers), DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const testMemory = 256 << 20

// children counts the processes whose parent is this one.
func children(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, task := range tasks {
		list, err := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		if err != nil {
			continue // the thread has ended
		}
		for _, c := range list {
			if c == ' ' {
				n++
			}
		}
	}
	return n
}
