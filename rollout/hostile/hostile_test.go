package hostile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/harness/process"
	"github.com/seed-095d5d2b/whale/rollout"
	"github.com/seed-095d5d2b/whale/sandbox"
)

var errForeign = errors.New("got a reply that is none of this episode")

func TestMain(m *testing.M) {
	if sandbox.Main(sandbox.Entries{Streams: process.Entries()}) {
		return
	}
	os.Exit(m.Run())
}

const (
	memory    = 256 << 20
	workers   = 2 // of Starlark programs
	processes = 2 // of programs in other languages
	slack     = 300 << 20
)

func limits() whale.Limits {
	return whale.Limits{
		Steps: 2_000_000, ModelCalls: 8, ToolCalls: 8, Tokens: 64, MessageBytes: 256 << 10, LogBytes: 16 << 10, Requests: 2000,
		MemoryBytes: memory, WallSeconds: 10, ModelSeconds: 60, ToolSeconds: 60,
	}
}

// wellBehaved are programs that must score whatever runs beside them.
var wellBehaved = map[string]string{
	"good.star": `
def run(task, model, env):
    first = model.chat([chat.user("Your move?")])
    env.call("move", uci = "e2e4")
    print(task.question, env.left.tool_calls)
    return model.chat([chat.user("Say yes."), first, chat.user(env.render("legal"))])
`,
	"good.py": `
def run(task, model, env):
    first = model.chat([{"role": "user", "content": "Your move?"}])
    env.call("move", uci = "e2e4")
    print(task.question, env.left.tool_calls)
    return model.chat([{"role": "user", "content": "Say yes."}, first, {"role": "user", "content": env.render("legal")}])
`,
}

// TestHostileProgramsEndAndHurtNobody runs the whole corpus beside a hundred good episodes.
func TestHostileProgramsEndAndHurtNobody(t *testing.T) {
	rt, err := process.Open(process.Options{Workers: workers, Concurrency: 32, Processes: processes, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	foreign := haveForeign(t)

	var jobs []rollout.Job
	var names []string
	wants := map[string]string{}
	add := func(name string, h whale.Harness) {
		names = append(names, name)
		jobs = append(jobs, rollout.Job{
			Harness: h, Example: whale.Example{ID: fmt.Sprint(len(jobs)), View: map[string]string{"question": "q"}},
			Split: whale.SplitTrain, Purpose: whale.PurposeWeight,
		})
	}
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) < 60 {
		t.Fatalf("got %d programs and %v, want at least 60", len(files), err)
	}
	good := 0
	addGood := func(name string) {
		h, err := rt.New(name, []byte(wellBehaved[name]))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		add(fmt.Sprintf("good-%d%s", good, filepath.Ext(name)), h)
		good++
	}
	for _, f := range files {
		language := harness.LanguageOf(f)
		if language != whale.LanguageStar && !foreign[language] {
			continue
		}
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		want := wanted(t, f, src)
		h, err := rt.New(filepath.Base(f), src)
		if gate, ok := strings.CutPrefix(want, "rejected:"); ok {
			found, other := harness.Findings(f, err)
			if other != nil || len(found) == 0 || string(found[0].Gate) != gate {
				t.Errorf("%s: got findings %v and %v, want the gate %s", f, found, other, gate)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: got %v, want a program that runs", f, err)
			continue
		}
		wants[filepath.Base(f)] = want
		add(filepath.Base(f), h)
		addGood("good.star") // between any two bombs
	}
	for good < 100 {
		addGood("good.star")
	}
	if foreign[whale.LanguagePython] {
		for range 10 {
			addGood("good.py")
		}
	}

	peak := watchMemory(t)
	start := time.Now()
	out := runAll(t, jobs, func(i int) bool { return strings.Contains(wants[names[i]], string(whale.FailWall)) })
	most := peak()
	reasons := map[whale.FailReason]int{}
	for i, ro := range out {
		want, hostile := wants[names[i]]
		if !hostile {
			if ro.State != whale.StateScored || ro.Reward() != 1 {
				t.Errorf("%s: got %s %+v %s, want scored 1", names[i], ro.State, ro.Episode.Failure, ro.Error)
			}
			continue
		}
		f := ro.Episode.Failure
		if ro.State != whale.StateFailed || !slices.Contains(strings.Split(want, "|"), string(f.Reason)) {
			t.Errorf("%s: got %s %+v %s, want failed by %s", names[i], ro.State, f, ro.Error, want)
			continue
		}
		reasons[f.Reason]++
		if f.Detail == "" || strings.Contains(f.Detail, "\n") {
			t.Errorf("%s: detail: got %q, want one line", names[i], f.Detail)
		}
	}
	bound := int64(memory*(workers+processes) + slack)
	if most > bound {
		t.Errorf("peak memory of all processes: got %d MiB, want at most %d", most>>20, bound>>20)
	}
	t.Logf("%d hostile and %d good episodes in %.1f s, peak memory %d MiB of %d; reasons %v", len(wants), good, time.Since(start).Seconds(), most>>20, bound>>20, reasons)
}

// runAll runs the jobs, and at the same time those that only a clock can stop, under a shorter one, for a test should end soon.
func runAll(t *testing.T, jobs []rollout.Job, forClock func(i int) bool) []*whale.Rollout {
	out := make([]*whale.Rollout, len(jobs))
	var groups [2][]int
	var errs [2]error
	for i := range jobs {
		g := 0
		if forClock(i) {
			g = 1
		}
		groups[g] = append(groups[g], i)
	}
	var wg sync.WaitGroup
	for g, list := range groups {
		wg.Go(func() {
			r := &rollout.Runner{Task: task{}, Policy: policy{}, Limits: limits(), Concurrency: 16, Retries: 1, RunSeed: 1}
			if g == 1 {
				r.Limits.WallSeconds = 0.7
			}
			mine := make([]rollout.Job, len(list))
			for k, i := range list {
				mine[k] = jobs[i]
			}
			done, err := r.Run(t.Context(), mine)
			if err != nil {
				errs[g] = err
				return
			}
			for k, i := range list {
				out[i] = done[k]
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func wanted(t *testing.T, file string, src []byte) string {
	line, _, _ := strings.Cut(string(src), "\n")
	_, want, ok := strings.Cut(line, "want: ")
	if !ok {
		t.Fatalf("%s: got the first line %q, want one with \"want: REASON\"", file, line)
	}
	return want
}

// haveForeign says which other languages this machine can run.
func haveForeign(t *testing.T) map[string]bool {
	out := map[string]bool{}
	missing := t.Logf
	if os.Getenv("WHALE_REQUIRE_SANDBOX") != "" {
		missing = t.Errorf
	}
	if _, err := exec.LookPath("bwrap"); err != nil {
		missing("no bubblewrap here: programs in Python and JavaScript are left out")
		return out
	}
	for language, bin := range map[string]string{whale.LanguagePython: "/usr/bin/python3", whale.LanguageNode: "/usr/bin/node"} {
		_, err := os.Stat(bin)
		if out[language] = err == nil; err != nil {
			missing("no %s here: its programs are left out", bin)
		}
	}
	return out
}

// watchMemory measures the memory of this process and all below it, until the returned function is called, which gives the peak in bytes.
func watchMemory(t *testing.T) func() int64 {
	ctx, cancel := context.WithCancel(t.Context())
	peak := make(chan int64, 1)
	go func() {
		var most int64
		for ctx.Err() == nil {
			most = max(most, treeMemory(os.Getpid()))
			time.Sleep(5 * time.Millisecond)
		}
		peak <- most
	}()
	return func() int64 { cancel(); return <-peak }
}

// treeMemory sums the anonymous and shared memory of a process and its descendants.
func treeMemory(root int) int64 {
	children := map[int][]int{}
	own := map[int]int64{}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0
	}
	for _, d := range dirs {
		data, err := os.ReadFile(d + "/status")
		if err != nil {
			continue
		}
		var pid, parent int
		var kib int64
		for line := range strings.Lines(string(data)) {
			var n int64
			switch {
			case scan(line, "Pid:", &n):
				pid = int(n)
			case scan(line, "PPid:", &n):
				parent = int(n)
			case scan(line, "RssAnon:", &n), scan(line, "RssShmem:", &n):
				kib += n
			}
		}
		own[pid] = kib << 10
		children[parent] = append(children[parent], pid)
	}
	var sum func(int) int64
	sum = func(pid int) int64 {
		total := own[pid]
		for _, c := range children[pid] {
			total += sum(c)
		}
		return total
	}
	return sum(root)
}

func scan(line, name string, n *int64) bool {
	if !strings.HasPrefix(line, name) {
		return false
	}
	_, err := fmt.Sscan(strings.TrimPrefix(line, name), n)
	return err == nil
}
