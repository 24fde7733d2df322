package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-095d5d2b/whale/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main(sandbox.Entries{})
	goleak.VerifyTestMain(m)
}

func shell(script string) Spec {
	return Spec{Args: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin", "A=b"}, Timeout: 5 * time.Second, Output: 1000}
}

// gone says whether a process has ended; one that nobody has collected yet has.
func gone(pid string) bool {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return true
	}
	_, after, _ := strings.Cut(string(data), ") ")
	return strings.HasPrefix(after, "Z")
}

// What programs do, and what is told of it.
func TestRun(t *testing.T) {
	for _, tc := range []struct {
		script, stdin, stdout string
		code                  int
		cut                   bool
		detail, stopped       string
	}{
		{script: "cat", stdin: "x\ny", stdout: "x\ny"},
		{script: "exit 3", code: 3},
		{script: "echo no >&2; echo such word >&2; exit 1", code: 1, detail: "such word"},
		{script: "true", stdin: strings.Repeat("x", 1<<20)}, // does not read
		{script: "echo $A $HOME", stdout: "b\n"},
		{script: "yes", stdout: strings.Repeat("y\n", 500), cut: true},
		{script: "yes | head -c 1000000 >&2; echo the last >&2; echo done", stdout: "done\n", detail: "the last"},
		{script: "kill -9 $$", stopped: "signal: killed"},
		{script: "trap '' TERM INT; sleep 60", stopped: "no end within"},
		{script: "sleep 60 & exit 0", stopped: "left a process behind"},
	} {
		s := shell(tc.script)
		if strings.HasPrefix(tc.stopped, "no end") {
			s.Timeout = 200 * time.Millisecond
		}
		began := time.Now()
		got, err := Run(t.Context(), s, []byte(tc.stdin))
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("%s: took %v", tc.script, took)
		}
		var stopped *Stopped
		if tc.stopped != "" {
			if !errors.As(err, &stopped) || !strings.Contains(stopped.Detail, tc.stopped) {
				t.Errorf("%s: got %+v, %v, want it stopped: %s", tc.script, got, err, tc.stopped)
			}
			continue
		}
		if err != nil || string(got.Stdout) != tc.stdout || got.Code != tc.code || got.Cut != tc.cut || got.Detail != tc.detail {
			t.Errorf("%s: got %.40q %+v (%v), want %.40q, status %d, %q", tc.script, got.Stdout, got.Code, err, tc.stdout, tc.code, tc.detail)
		}
	}
}

// Nothing that a program started is left when Run returns.
func TestGroupEnds(t *testing.T) {
	for _, end := range []string{"exit 0", "exit 1", "sleep 60", "yes"} {
		s := shell("sleep 60 >/dev/null 2>&1 & echo $!; " + end)
		s.Timeout = 500 * time.Millisecond
		path := t.TempDir() + "/pid"
		s.Args[2] = strings.Replace(s.Args[2], "echo $!", "echo $! | tee "+path, 1)
		_, _ = Run(t.Context(), s, nil)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pid := strings.TrimSpace(string(data))
		for wait := 0; !gone(pid); wait++ {
			if wait == 100 {
				t.Fatalf("%s: process %s is still there", end, pid)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := Run(ctx, shell("sleep 60"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	var start *StartError
	if _, err := Run(t.Context(), Spec{Args: []string{"/no/such"}, Timeout: time.Second, Output: 1}, nil); !errors.As(err, &start) {
		t.Errorf("no program: got %v, want that it cannot start", err)
	}
}

// The bound on output is kept to the byte, however it is written.
func TestBounded(t *testing.T) {
	floods := 0
	b := &bounded{most: 5, flood: func() { floods++ }}
	for range 4 {
		fmt.Fprint(b, "xy")
	}
	if string(b.data) != "xyxyx" || !b.cut || floods != 1 {
		t.Errorf("got %q, cut %v, told %d times; want xyxyx, true, once", b.data, b.cut, floods)
	}
	exact := &bounded{most: 2, flood: func() { t.Error("2 bytes of 2 are no flood") }}
	fmt.Fprint(exact, "xy")
}
