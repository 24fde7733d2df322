package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestReplies(t *testing.T) {
	p := newPool(t, 1, nil)
	if n := len(pids(p)); n != 0 {
		t.Fatalf("got %d workers before the first request, want none", n)
	}
	for range 3 {
		if got, err := do(t, p, "echo hello"); err != nil || got != "hello" {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	first := pids(p)
	var own *EntryError
	if _, err := do(t, p, "fail for a reason"); !errors.As(err, &own) || own.Text != "for a reason" {
		t.Fatalf("got %v, want an EntryError", err)
	}
	if got, err := do(t, p, "steps"); err != nil || got != "1234" {
		t.Fatalf("got %q, %v, want the steps of the spec", got, err)
	}
	if got, err := do(t, p, "echo "); err != nil || got != "" {
		t.Fatalf("got %q, %v, want an empty reply", got, err)
	}
	if again := pids(p); len(again) != 1 || again[0] != first[0] {
		t.Fatalf("got workers %v after %v, want one and the same", again, first)
	}
}

func TestViolations(t *testing.T) {
	// The clock ends what sleeps alone: filling the memory of a busy machine takes its time.
	p := newPool(t, 2, func(s *Spec) { s.Wall = time.Minute; s.MaxOutput = 1000 })
	hasty := newPool(t, 1, func(s *Spec) { s.Wall = 700 * time.Millisecond })
	for _, c := range []struct {
		req  string
		want error
	}{
		{"alloc 400", ErrMemory}, {"alloc 8192", ErrMemory}, {"hoard", ErrMemory}, {"deep", ErrMemory},
		{"sleep 10000", ErrTimeout}, {"long 1001", ErrOutput}, {"long 10000000", ErrOutput},
		{"panic with words", ErrDied}, {"exit 3", ErrDied}, {"garbage", ErrDied}, {"huge", ErrDied},
	} {
		t.Run(c.req, func(t *testing.T) {
			in := p
			if c.want == ErrTimeout {
				in = hasty
			}
			_, err := do(t, in, c.req)
			var v *Violation
			if !errors.As(err, &v) || !errors.Is(err, c.want) {
				t.Fatalf("got %v, want a violation of kind %v", err, c.want)
			}
			for _, other := range []error{ErrMemory, ErrTimeout, ErrOutput, ErrDied, ErrStart, ErrClosed} {
				if other != c.want && errors.Is(err, other) {
					t.Errorf("%v is %v too", err, other)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line", err)
			}
			// The pool goes on.
			if got, err := do(t, p, "echo on"); err != nil || got != "on" {
				t.Fatalf("afterwards: got %q, %v", got, err)
			}
		})
	}
	if got, err := do(t, p, "long 1000"); err != nil || len(got) != 1000 {
		t.Fatalf("a reply of just the allowed length: got %d bytes, %v", len(got), err)
	}
}

func TestMemoryWithinTheLimit(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector's own memory counts")
	}
	p := newPool(t, 1, nil)
	for range 5 { // garbage of one request must not count against the next
		if got, err := do(t, p, "alloc 120"); err != nil || got != "120" {
			t.Fatalf("got %q, %v", got, err)
		}
	}
}

func TestOneDeathIsNoVerdict(t *testing.T) {
	p := newOpenPool(t, 1)
	mark := filepath.Join(t.TempDir(), "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := do(t, p, "once "+mark); err != nil || got != "alive" {
		t.Fatalf("got %q, %v, want the reply of the second try", got, err)
	}
}

// Workers are killed from outside while good requests run: none of them may be blamed.
func TestNeighboursAreNotBlamed(t *testing.T) {
	p := newPool(t, 4, func(s *Spec) { s.Wall = 20 * time.Second })
	var stop atomic.Bool
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := 0; n < 12; n++ {
				want := fmt.Sprint(i, "-", n)
				if got, err := do(t, p, "echo "+want); err != nil || got != want {
					t.Errorf("got %q, %v, want %q", got, err, want)
				}
				if got, err := do(t, p, "sleep 15"); err != nil || got != "slept" {
					t.Errorf("got %q, %v", got, err)
				}
			}
		})
	}
	var killer sync.WaitGroup
	killer.Go(func() {
		kills := 0
		for ; !stop.Load() && kills < 12; kills++ {
			p.mu.Lock()
			victim := 0
			busy := len(p.all) - len(p.idle)
			for w := range p.all {
				// One at a time, and never the only one: a repeated request that is killed as well would be at fault.
				if busy > 1 {
					victim = w.cmd.Process.Pid
				}
			}
			p.mu.Unlock()
			if victim != 0 {
				_ = syscall.Kill(victim, syscall.SIGKILL)
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	for range 3 {
		if _, err := do(t, p, "exit 9"); !errors.Is(err, ErrDied) {
			t.Errorf("the bad request: got %v, want ErrDied", err)
		}
	}
	wg.Wait()
	stop.Store(true)
	killer.Wait()
}

func TestRepeatedAlone(t *testing.T) {
	p := newOpenPool(t, 3)
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				if _, err := p.Do(t.Context(), []byte("busy "+dir)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if got, err := do(t, p, "count "+dir); err != nil || got == "0" {
		t.Errorf("beside others: got %q, %v: the test exercises nothing", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "first"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := do(t, p, "count "+dir); err != nil || got != "0" {
		t.Errorf("second try: got %q others, %v, want none", got, err)
	}
	stop()
	wg.Wait()
}

func TestContext(t *testing.T) {
	p := newPool(t, 1, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Do(ctx, []byte("sleep 60000")); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want the context's error", err)
	}
	if _, err := p.Do(ctx, []byte("echo x")); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want the context's error", err)
	}
	if got, err := do(t, p, "echo x"); err != nil || got != "x" {
		t.Fatalf("got %q, %v", got, err)
	}
}

func TestWorkerSeesNothing(t *testing.T) {
	// A descriptor without close-on-exec, as a careless parent leaves them.
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("answers"), 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open(secret, syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	t.Setenv("API_KEY", "secret")
	p := newOpenPool(t, 1)
	got, err := do(t, p, "look")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"env 0\n", "wd /\n", "leader true\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q", got, want)
		}
	}
	pipes := 0
	for line := range strings.Lines(got) {
		target, ok := strings.CutPrefix(strings.TrimSpace(line), "fd ")
		if !ok {
			continue
		}
		switch {
		case strings.HasPrefix(target, "pipe:"):
			pipes++
		case target == "", strings.HasPrefix(target, "/proc/"), strings.HasPrefix(target, "anon_inode:"),
			strings.HasPrefix(target, "/sys/fs/cgroup/"):
		default:
			t.Errorf("the worker holds %s", target)
		}
	}
	if pipes != 3 {
		t.Errorf("got %d pipes, want 3:\n%s", pipes, got)
	}
	var own *EntryError
	target := filepath.Join(t.TempDir(), "x")
	if _, err := do(t, p, "write "+target); err == nil || !errors.As(err, &own) && !errors.Is(err, ErrDied) {
		t.Errorf("writing a file: got %v, want an error", err)
	}
	if data, _ := os.ReadFile(target); len(data) > 0 {
		t.Errorf("the worker wrote %q", data)
	}
}

func TestCloseKillsEverything(t *testing.T) {
	p := newOpenPool(t, 3)
	grandchild, err := do(t, p, "child")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 5 { // three run, two wait
		wg.Go(func() {
			if _, err := p.Do(context.Background(), []byte("sleep 60000")); !errors.Is(err, ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
		})
	}
	for len(pids(p)) < 3 {
		time.Sleep(5 * time.Millisecond)
	}
	before := pids(p)
	p.Close()
	wg.Wait()
	if _, err := do(t, p, "echo x"); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	pid, err := strconv.Atoi(grandchild)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range before {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", id)); err == nil {
			t.Errorf("worker %d is still there", id)
		}
	}
	for i := 0; alive(pid); i++ { // its new parent reaps it
		if i > 200 {
			t.Fatalf("process %d that a worker started is still there", pid)
		}
		time.Sleep(5 * time.Millisecond)
	}
	p.Close()
}

// parentThatDies is a process of the next test: it starts a busy worker and reports it.
func parentThatDies() {
	p, err := NewPool(Options{Spec: testSpec, Workers: 1})
	if err != nil {
		panic(err)
	}
	go func() { _, _ = p.Do(context.Background(), []byte("sleep 60000")) }()
	for len(pids(p)) == 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond)
	fmt.Println(pids(p)[0])
	select {}
}

func TestWorkersDieWithTheirParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "__parent")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if !alive(pid) {
		t.Fatalf("worker %d is not there", pid)
	}
	// A worker that runs notices the end of its input; one that cannot must die as well.
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	for i := 0; alive(pid); i++ {
		if i > 400 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("worker %d outlives its parent", pid)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestInfrastructureErrors(t *testing.T) {
	for name, opt := range map[string]Options{
		"no program":    {Command: []string{"/does/not/exist"}, Spec: testSpec, Workers: 1},
		"not a worker":  {Command: []string{"/bin/false"}, Spec: testSpec, Workers: 1},
		"unknown entry": {Spec: Spec{Entry: "nothing", Memory: 256 << 20, Wall: time.Second, MaxOutput: 10}, Workers: 1},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := NewPool(opt)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			_, err = do(t, p, "echo x")
			if !errors.Is(err, ErrStart) || errors.As(err, new(*Violation)) {
				t.Fatalf("got %v, want ErrStart", err)
			}
			t.Log(err)
		})
	}
}

func TestOptionsRefused(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"entry": func(o *Options) { o.Spec.Entry = "" }, "memory": func(o *Options) { o.Spec.Memory = MinMemory - 1 },
		"huge memory": func(o *Options) { o.Spec.Memory = 1<<63 - 1 }, "huge output": func(o *Options) { o.Spec.MaxOutput = 2e18 },
		"wall": func(o *Options) { o.Spec.Wall = 0 }, "output": func(o *Options) { o.Spec.MaxOutput = 0 },
		"workers": func(o *Options) { o.Workers = 0 },
	} {
		opt := Options{Spec: testSpec, Workers: 1}
		change(&opt)
		if _, err := NewPool(opt); err == nil {
			t.Errorf("%s: got nil, want an error", name)
		}
	}
}

func BenchmarkDo(b *testing.B) {
	p, err := NewPool(Options{Spec: testSpec, Workers: 2})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for b.Loop() {
		if _, err := p.Do(context.Background(), []byte("echo x")); err != nil {
			b.Fatal(err)
		}
	}
}
