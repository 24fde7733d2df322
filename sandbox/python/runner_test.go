package python

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale/sandbox"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if sandbox.Main(sandbox.Entries{}) {
		return
	}
	goleak.VerifyTestMain(m)
}

func newRunner(t *testing.T, change func(*Limits)) *Runner {
	t.Helper()
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("no bubblewrap: ", err)
	}
	l := DefaultLimits()
	if _, err := os.Stat(l.Program); err != nil {
		t.Skip("no interpreter: ", err)
	}
	if change != nil {
		change(&l)
	}
	r, err := New(l, 2)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func run(t *testing.T, r *Runner, code string) Result {
	t.Helper()
	got, err := r.Run(t.Context(), code, "")
	if err != nil {
		t.Fatalf("%q: %v", code, err)
	}
	return got
}

func TestRun(t *testing.T) {
	r := newRunner(t, nil)
	for _, c := range []struct{ name, code, stdout, stderr, err string }{
		{"prints", "print(2**10)", "1024\n", "", ""},
		{"nothing", "x = 1", "", "", ""},
		{"empty", "", "", "", ""},
		{"library", "import math, fractions, itertools, json\nprint(math.comb(10, 3), fractions.Fraction(1, 3))", "120 1/3\n", "", ""},
		{"unicode", "print('π ≈ 3')", "π ≈ 3\n", "", ""},
		{"stderr alone", "import sys; print('warn', file=sys.stderr)", "", "warn\n", ""},
		{"exception", "print('before')\nprint(1/0)", "before\n", "ZeroDivisionError: division by zero", "exit status 1: ZeroDivisionError: division by zero"},
		{"syntax", "print(", "", "SyntaxError", "exit status 1: SyntaxError: '(' was never closed"},
		{"exit status", "import sys; sys.exit(3)", "", "", "exit status 3"},
		{"exit text", "raise SystemExit('bye')", "", "bye", "exit status 1: bye"},
		{"not UTF-8", "print('\xff')", "", "SyntaxError", "exit status 1"},
		{"main", "print(__name__)", "__main__\n", "", ""},
		{"signal", "import os; os.abort()", "", "", "stopped: signal 6"},
		{"recursion", "def f(): return f()\nf()", "", "RecursionError", "exit status 1: RecursionError"},
		{"stdin is empty", "print(input())", "", "EOFError", "exit status 1: EOFError"},
		{"the same hashes", "print(hash('a') == hash('a'), len({'a', 'b'}))", "True 2\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := run(t, r, c.code)
			if got.Stdout != c.stdout || !strings.Contains(got.Stderr, c.stderr) || (c.stderr == "") != (got.Stderr == "") || !strings.HasPrefix(got.Error, c.err) || (c.err == "") != (got.Error == "") || strings.Contains(got.Error, "\n") {
				t.Errorf("got %+v, want %q, %q, %q", got, c.stdout, c.stderr, c.err)
			}
		})
	}
	first := run(t, r, "print(hash('abc'))").Stdout
	if again := run(t, r, "print(hash('abc'))").Stdout; again != first {
		t.Errorf("the hash of a text: got %q and %q, want the same", first, again)
	}
	if got, err := r.Run(t.Context(), "print(input()[::-1])", "abc\n"); err != nil || got.Stdout != "cba\n" {
		t.Errorf("with an input: got %+v, %v", got, err)
	}
	output, errText, err := r.Do(t.Context(), "import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(1)")
	if output != "out\nerr" || errText != "exit status 1: err" || err != nil {
		t.Errorf("Do: got %q, %q, %v", output, errText, err)
	}
}

// What the code breaks is told to the model, in a line, and soon.
func TestRunLimits(t *testing.T) {
	r := newRunner(t, func(l *Limits) {
		l.CPUSeconds, l.WallSeconds, l.MemoryBytes, l.OutputBytes, l.SourceBytes = 1, 60, 64<<20, 1000, 2000
	})
	hasty := newRunner(t, func(l *Limits) { l.CPUSeconds, l.WallSeconds = 1, 1.5 })
	for _, c := range []struct{ name, code, err string }{
		{"processor time", "while True: pass", "out of time: more than 1 s of processor time"},
		{"memory", "x = bytearray(1 << 30)", "out of memory: more than 64 MiB"},
		{"memory by and by", "x = []\nwhile True: x.append(' ' * 100000)", "out of memory"},
		{"big number", "10**10**10", "out of "},
		{"output", "while True: print('x' * 10000)", "stopped: it prints more than"},
		{"source", "#" + strings.Repeat("x", 2000), "the code has 2001 bytes, more than 2000"},
		{"wall time", "print('soon', flush=True)\nimport time; time.sleep(100)", "out of time: more than 1.5 s"},
		{"kills itself", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			r := r
			if c.name == "wall time" {
				r = hasty
			}
			got := run(t, r, c.code)
			if got.Error == "" || !strings.HasPrefix(got.Error, c.err) || strings.Contains(got.Error, "\n") {
				t.Errorf("got %+v, want error %q", got, c.err)
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %v", took)
			}
			if c.name == "wall time" && got.Stdout != "soon\n" {
				t.Errorf("got output %q, want what was printed before the end", got.Stdout)
			}
		})
	}
	got := run(t, r, "print('é' * 3000)\nimport sys\nprint('y' * 100000, file=sys.stderr)")
	if !strings.HasSuffix(got.Stdout, "\n[cut: 1000 of 6001 bytes shown]") || len(got.Stdout) > 1100 || len(got.Stderr) > 20000 || !strings.Contains(got.Stderr, "…") {
		t.Errorf("long output: got %d bytes that end in %q, and %d of stderr", len(got.Stdout), got.Stdout[max(0, len(got.Stdout)-50):], len(got.Stderr))
	}
}

// Code reaches nothing but its own process.
func TestRunConfined(t *testing.T) {
	t.Setenv("WHALE_SECRET", "secret")
	r := newRunner(t, nil)
	got := run(t, r, `
import os, socket, subprocess, threading
def attempt(name, what):
    try:
        print(name, "done", what())
    except BaseException as e:
        print(name, type(e).__name__)
attempt("fork", os.fork)
attempt("spawn", lambda: subprocess.run(["/bin/echo", "x"]))
attempt("socket", socket.socket)
attempt("passwd", lambda: open("/etc/passwd").read())
attempt("home", lambda: os.listdir("/root"))
attempt("write", lambda: open("/usr/x", "w"))
attempt("processes", lambda: os.listdir("/proc"))
print("environment", "WHALE_SECRET" in os.environ)
print("files", os.listdir("/harness"))
open("/tmp/a", "w").write("mine")
print("tmp", open("/tmp/a").read(), os.listdir("/tmp"))
`)
	for line := range strings.Lines(got.Stdout) {
		if strings.Contains(line, " done ") {
			t.Errorf("got %q", line)
		}
	}
	for _, want := range []string{"fork ", "socket ", "environment False\n", "files ['main.py']\n", "tmp mine ['a']\n"} {
		if !strings.Contains(got.Stdout, want) {
			t.Errorf("got %+v, want %q in it", got, want)
		}
	}
	if again := run(t, r, "import os; print(os.listdir('/tmp'))"); again.Stdout != "[]\n" {
		t.Errorf("a second call sees %q of the first", again.Stdout)
	}
}

func TestRunPackages(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "whale") // not below /tmp, where a checkout may lie
	if err != nil {
		t.Skipf("no folder outside of /tmp: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.CopyFS(dir, os.DirFS("testdata/packages")); err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, func(l *Limits) { l.Packages = []string{dir} })
	if got := run(t, r, "import mine; print(mine.answer)"); got.Stdout != "42\n" {
		t.Errorf("got %+v, want 42", got)
	}
}

// The context ends calls that run and calls that wait, with its own error; nothing is left behind (goleak).
func TestRunContext(t *testing.T) {
	r := newRunner(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var all sync.WaitGroup
	start := time.Now()
	for range 5 {
		all.Go(func() {
			if got, err := r.Run(ctx, "import time; time.sleep(60)", ""); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %+v, %v, want the context's error", got, err)
			}
		})
	}
	all.Wait()
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	if got := run(t, r, "print(1)"); got.Stdout != "1\n" {
		t.Errorf("afterwards: got %+v", got)
	}
}

func TestNoInterpreter(t *testing.T) {
	r := newRunner(t, func(l *Limits) { l.Program = "/usr/bin/python-that-is-not-there" })
	if got, err := r.Run(t.Context(), "print(1)", ""); !errors.Is(err, sandbox.ErrStart) {
		t.Errorf("got %+v, %v, want an error of the infrastructure", got, err)
	}
}

func TestLimitsValidate(t *testing.T) {
	for _, c := range []struct {
		change func(*Limits)
		want   string
	}{
		{func(l *Limits) { l.Program = "python3" }, `program: got "python3"`},
		{func(l *Limits) { l.MemoryBytes = 1 }, "memory_bytes: got 1"},
		{func(l *Limits) { l.CPUSeconds = 0 }, "cpu_seconds: got 0"},
		{func(l *Limits) { l.WallSeconds = 1 }, "wall_seconds: got 1"},
		{func(l *Limits) { l.SourceBytes = 0 }, "source_bytes: got 0"},
		{func(l *Limits) { l.OutputBytes = 1 << 30 }, "output_bytes: got 1073741824"},
		{func(l *Limits) { l.Packages = []string{"lib"} }, `packages: got "lib"`},
		{func(l *Limits) { l.Packages = []string{"/tmp/lib"} }, `packages: got "/tmp/lib"`},
	} {
		l := DefaultLimits()
		c.change(&l)
		if _, err := New(l, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want one with %q", err, c.want)
		}
	}
	if _, err := New(DefaultLimits(), 0); err == nil {
		t.Error("concurrency 0: got no error")
	}
}
