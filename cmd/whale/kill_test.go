package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestKillAnywhere is invariant 7: a run that is killed again and again, and resumed, comes to what a run that is left alone comes to. It
// is killed at moments of three kinds: any time, any reading of the clock (that is, inside any transaction of the journal), and right
// after each new thing that it tells.
func TestKillAnywhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeTest(t, dir, "seed: 1\n", "seed: 3\n") // a seed with which the search finds something
	start := time.Now()
	k := &killer{t: t, dir: dir, run: "straight"}
	stderr := k.finish("count")
	whole := time.Since(start)
	readings := clockReadings(t, stderr)
	want := fingerprint(t, filepath.Join(dir, k.run))
	if pairs := pairsOf(t, want); pairs[0].Weights == pairs[3].Weights || pairs[0].Harness == pairs[3].Harness {
		t.Errorf("the run learns or finds nothing, so that a lost step would not show: %+v", pairs)
	}
	if !strings.Contains(strings.Join(want["rollouts"], "\n"), "texts of this length are too hard") {
		t.Error("no episode of the run fails by the harness's fault")
	}
	t.Logf("a run that is left alone takes %v and reads its clock %d times", whole.Round(time.Millisecond), readings)

	var total atomic.Int64
	t.Cleanup(func() {
		if n := total.Load(); n < 10 {
			t.Errorf("got %d kills, want 10 or more", n)
		}
	})
	for i, way := range []struct {
		name string
		kill func(k *killer, rng *rand.Rand) bool
	}{
		{"time", func(k *killer, rng *rand.Rand) bool { return k.after(time.Duration(rng.Int64N(int64(whole / 4)))) }},
		{"clock", func(k *killer, rng *rand.Rand) bool { return k.atReading(1 + rng.IntN(readings/3)) }},
		{"line", func(k *killer, _ *rand.Rand) bool { return k.afterNews() }},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			k := &killer{t: t, dir: dir, run: way.name}
			rng := rand.New(rand.NewPCG(7, uint64(i)))
			n := 0
			for n < 40 && way.kill(k, rng) {
				n++
			}
			k.finish("")
			if d := differ(fingerprint(t, filepath.Join(dir, way.name)), want); len(d) > 0 {
				t.Errorf("after %d kills:\n%s", n, strings.Join(d, "\n"))
			}
			t.Logf("%d kills", n)
			total.Add(int64(n))
		})
	}
}

// A comparison that is killed again and again, and given again, comes to the runs and the report of one that is left alone.
func TestKillComparison(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeTest(t, dir, "seed: 1\n", "seed: 3\n") // a seed with which the search finds something
	start := time.Now()
	straight := &killer{t: t, dir: dir, run: "straight", compare: true}
	straight.finish("")
	whole := time.Since(start)
	want := comparisonPrint(t, filepath.Join(dir, "straight"))
	k := &killer{t: t, dir: dir, run: "killed", compare: true}
	rng := rand.New(rand.NewPCG(7, 3))
	n := 0
	for n < 12 && k.after(time.Duration(rng.Int64N(int64(whole/2)))) {
		n++
	}
	k.finish("")
	if n == 0 {
		t.Error("nothing was killed")
	}
	if d := differ(comparisonPrint(t, filepath.Join(dir, "killed")), want); len(d) > 0 {
		t.Errorf("after %d kills:\n%s", n, strings.Join(d, "\n"))
	}
	t.Logf("%d kills in comparisons of %v", n, whole.Round(time.Millisecond))
}

// comparisonPrint is the fingerprint of every run of a comparison, and its report's table of results.
func comparisonPrint(t *testing.T, dir string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, run := range []string{"whale-3", "whale-4", "stagewise-3", "stagewise-4"} {
		for section, lines := range fingerprint(t, filepath.Join(dir, run)) {
			out[run+" "+section] = lines
		}
	}
	for _, name := range []string{"accuracy.csv", "curve.csv", "differences.csv", "passing.csv"} {
		data, err := os.ReadFile(filepath.Join(dir, "report", name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = strings.Split(string(data), "\n")
	}
	return out
}

func clockReadings(t *testing.T, stderr string) int {
	t.Helper()
	m := regexp.MustCompile(`clock (\d+)`).FindStringSubmatch(stderr)
	if m == nil {
		t.Fatalf("the child does not say how often it read its clock: %s", stderr)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// killer starts and kills whale processes of one run.
type killer struct {
	t       *testing.T
	dir     string
	run     string
	compare bool            // the run is a comparison, which the same command goes on with
	told    map[string]bool // what a process was killed for telling
}

// args goes on with the run, or begins it where the killed process had not come so far.
func (k *killer) args() []string {
	if k.compare {
		return []string{"compare", "c.yaml", "--dir", k.run, "--methods", "whale,stagewise", "--seeds", "2", "--json", "--workers", "2"}
	}
	if _, err := os.Stat(filepath.Join(k.dir, k.run, "config.yaml")); err == nil {
		return []string{"resume", k.run, "--json", "--workers", "2"}
	}
	return []string{"run", "c.yaml", "--dir", k.run, "--json", "--workers", "2"}
}

// finish lets a process come to the end, and gives what it says on stderr.
func (k *killer) finish(clock string) string {
	k.t.Helper()
	cmd := child(k.t, k.dir, clock, k.args()...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		k.t.Fatalf("%s: %v: %s", k.run, err, stderr.String())
	}
	return stderr.String()
}

// after kills a process after some time.
func (k *killer) after(d time.Duration) bool {
	k.t.Helper()
	cmd := child(k.t, k.dir, "", k.args()...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	time.Sleep(d)
	return k.killed(cmd, &stderr)
}

// atReading lets a process kill itself.
func (k *killer) atReading(n int) bool {
	k.t.Helper()
	cmd := child(k.t, k.dir, strconv.Itoa(n), k.args()...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	return k.ended(cmd, &stderr)
}

// afterNews kills a process as soon as it tells something that no process of the run was killed for.
func (k *killer) afterNews() bool {
	k.t.Helper()
	if k.told == nil {
		k.told = map[string]bool{}
	}
	cmd := child(k.t, k.dir, "", k.args()...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return k.ended(cmd, &stderr)
		}
		line = strings.ReplaceAll(line, `,"replayed":true`, "")
		if !k.told[line] {
			k.told[line] = true
			break
		}
	}
	return k.killed(cmd, &stderr)
}

// killed kills a process, and checks that its workers end with it. It is false where the process had ended by itself.
func (k *killer) killed(cmd *exec.Cmd, stderr *bytes.Buffer) bool {
	k.t.Helper()
	_ = cmd.Process.Signal(syscall.SIGSTOP) // so that no worker starts between the look and the kill
	workers := childrenOf(k.t, cmd.Process.Pid)
	_ = cmd.Process.Kill()
	going := k.ended(cmd, stderr)
	for _, pid := range workers {
		awaitGone(k.t, pid)
	}
	return going
}

// ended waits for a process, and says whether it was killed. Any other end than that or success is a failure.
func (k *killer) ended(cmd *exec.Cmd, stderr *bytes.Buffer) bool {
	k.t.Helper()
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
		return true
	}
	k.t.Fatalf("%s: %v: %s", k.run, err, stderr.String())
	return false
}

// childrenOf lists the processes that a process started and that live.
func childrenOf(t testing.TB, parent int) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skipf("no /proc to look for processes in: %v", err)
	}
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if state, ppid, ok := processState(pid); ok && ppid == parent && state != 'Z' {
			out = append(out, pid)
		}
	}
	return out
}

// processState reads a process's state and parent.
func processState(pid int) (state byte, parent int, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, false
	}
	_, rest, found := bytes.Cut(stat, []byte(") ")) // the name before it may hold anything, but ours has no such thing
	if !found {
		return 0, 0, false
	}
	if _, err := fmt.Sscanf(string(rest), "%c %d", &state, &parent); err != nil {
		return 0, 0, false
	}
	return state, parent, true
}

// awaitGone waits until a process has ended; a zombie has.
func awaitGone(t testing.TB, pid int) {
	t.Helper()
	for range 200 {
		if state, _, ok := processState(pid); !ok || state == 'Z' {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d outlives the killed process that started it", pid)
}
