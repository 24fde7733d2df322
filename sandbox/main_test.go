package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// testEntries is what the tests' workers can do, mostly harm.
var testEntries = Entries{Calls: map[string]Entry{"test": testEntry}, Streams: map[string]StreamEntry{"stream": testStream}}

// testEntry reads "verb argument".
func testEntry(_ context.Context, req []byte, lim Limits) ([]byte, error) {
	verb, arg, _ := strings.Cut(string(req), " ")
	n, _ := strconv.Atoi(arg)
	switch verb {
	case "echo":
		return []byte(arg), nil
	case "fail":
		return nil, errors.New(arg)
	case "steps":
		return fmt.Append(nil, lim.Steps), nil
	case "long":
		return bytes.Repeat([]byte("x"), n), nil
	case "sleep":
		time.Sleep(time.Duration(n) * time.Millisecond)
		return []byte("slept"), nil
	case "alloc":
		b := make([]byte, n<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		return fmt.Append(nil, len(b)>>20), nil
	case "hoard":
		var keep [][]byte
		for {
			keep = append(keep, bytes.Repeat([]byte("x"), 1<<20))
			if len(keep) > 1<<20 {
				return nil, errors.New("no limit")
			}
		}
	case "panic":
		panic(arg)
	case "exit":
		os.Exit(n)
	case "deep":
		return fmt.Append(nil, deep(1<<40)), nil
	case "once":
		// Dies the first time, told by a file that the parent made and that this removes.
		if os.Remove(arg) == nil {
			os.Exit(7)
		}
		return []byte("alive"), nil
	case "busy":
		mark := filepath.Join(arg, fmt.Sprint(os.Getpid()))
		if err := os.WriteFile(mark, nil, 0o600); err != nil {
			return nil, err
		}
		time.Sleep(20 * time.Millisecond)
		return nil, os.Remove(mark)
	case "count":
		// Dies the first time; then counts who else is busy for a while.
		if os.Remove(filepath.Join(arg, "first")) == nil {
			os.Exit(7)
		}
		busy := 0
		for range 30 {
			others, err := os.ReadDir(arg)
			if err != nil {
				return nil, err
			}
			busy += len(others)
			time.Sleep(5 * time.Millisecond)
		}
		return fmt.Append(nil, busy), nil
	case "garbage":
		os.Stdout.WriteString("not a frame at all, but long enough to be taken for one")
		time.Sleep(time.Minute)
	case "huge":
		os.Stdout.Write([]byte{0xff, 0xff, 0xff, 0xff, 'a'})
		time.Sleep(time.Minute)
	case "child":
		cmd := exec.Command("/bin/sleep", "1000")
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		return fmt.Append(nil, cmd.Process.Pid), nil
	case "try":
		return tryAll(arg), nil
	case "churn":
		return churn(n)
	case "leave":
		// The worker itself is the only program that it has. What it starts leaves its group.
		_, err := os.StartProcess("/worker", []string{"/worker", "__sleep", arg}, &os.ProcAttr{
			Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: &syscall.SysProcAttr{Setsid: true},
		})
		return []byte("left"), err
	case "look":
		return look()
	case "write":
		return nil, os.WriteFile(arg, []byte("xxxx"), 0o600)
	}
	return nil, fmt.Errorf("unknown verb %q", verb)
}

//go:noinline
func deep(n int) int {
	if n == 0 {
		return 0
	}
	return deep(n-1) + n%7
}

// look lists what a worker got from its parent.
func look() ([]byte, error) {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	for _, n := range names {
		target, _ := os.Readlink(filepath.Join("/proc/self/fd", n.Name()))
		fmt.Fprintf(&out, "fd %s\n", target)
	}
	wd, err := os.Getwd()
	pgid, _ := syscall.Getpgid(0)
	fmt.Fprintf(&out, "env %d\nwd %s\nleader %v\n", len(os.Environ()), wd, pgid == os.Getpid())
	return []byte(out.String()), err
}

func TestMain(m *testing.M) {
	if Main(testEntries) {
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "__hostile" {
		hostileWorker(os.Args[2])
	}
	if len(os.Args) == 2 && os.Args[1] == "__parent" {
		parentThatDies()
	}
	if len(os.Args) == 3 && os.Args[1] == "__sleep" {
		time.Sleep(time.Hour)
	}
	if len(os.Args) == 3 && os.Args[1] == "__parentofcommand" {
		parentOfCommand(os.Args[2])
		return
	}
	goleak.VerifyTestMain(m)
}

var testSpec = Spec{Entry: "test", Memory: 256 << 20, Wall: 5 * time.Second, Steps: 1234, MaxOutput: 1 << 20}

func newPool(t *testing.T, workers int, change func(*Spec)) *Pool {
	t.Helper()
	spec := testSpec
	if change != nil {
		change(&spec)
	}
	p, err := NewPool(Options{Spec: spec, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// newOpenPool makes a pool whose workers have no limits but that of memory, so that tests can look around in them and hear from them
// by way of files.
func newOpenPool(t *testing.T, workers int) *Pool {
	t.Helper()
	p, err := NewPool(Options{Spec: testSpec, Workers: workers, without: []string{MechanismLandlock, MechanismSeccomp, MechanismNamespaces}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func do(t *testing.T, p *Pool, req string) (string, error) {
	t.Helper()
	got, err := p.Do(t.Context(), []byte(req))
	return string(got), err
}

func pids(p *Pool) (ids []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.all {
		ids = append(ids, w.cmd.Process.Pid)
	}
	return ids
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
