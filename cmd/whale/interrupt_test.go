package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInterrupt sends SIGINT and SIGTERM at moments of each phase: the process says how to go on, ends soon with its exit code, leaves no
// worker behind, and the run comes to what it would have come to. A secret in its environment is nowhere in what it wrote.
func TestInterrupt(t *testing.T) {
	const secret = "tell-nobody-4711"
	t.Setenv("WHALE_SECRET", secret)
	dir := t.TempDir()
	writeTest(t, dir)
	k := &killer{t: t, dir: dir, run: "straight"}
	k.finish("")
	want := fingerprint(t, filepath.Join(dir, "straight"))
	k = &killer{t: t, dir: dir, run: "stopped"}
	for _, tc := range []struct {
		after  string // of a line of JSON
		signal syscall.Signal
	}{
		{`"kind":"phase","phase":{"index":0`, syscall.SIGINT},
		{`"kind":"step"`, syscall.SIGTERM},
		{`"kind":"session"`, syscall.SIGINT},
		{`"at":"1-harness"`, syscall.SIGINT},
		{`"kind":"final"`, syscall.SIGTERM},
	} {
		interrupt(t, k, tc.after, tc.signal)
	}
	k.finish("")
	got := fingerprint(t, filepath.Join(dir, "stopped"))
	if d := differ(got, want); len(d) > 0 {
		t.Errorf("interrupted and resumed:\n%s", strings.Join(d, "\n"))
	}
	if strings.Contains(strings.Join(got["rollouts"], "\n"), secret) { // which lie compressed in the files below
		t.Error("a rollout holds the secret")
	}
	for _, path := range filesBelow(t, dir) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("%s holds the secret", path)
		}
	}
}

func interrupt(t *testing.T, k *killer, after string, signal syscall.Signal) {
	t.Helper()
	cmd := child(t, k.dir, "", k.args()...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("no line with %s: %v, %v: %s", after, err, cmd.Wait(), stderr.String())
		}
		if strings.Contains(line, after) && !strings.Contains(line, `"replayed":true`) {
			break
		}
	}
	workers := childrenOf(t, cmd.Process.Pid)
	start := time.Now()
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, lines); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("%v after %s: the process took %v to end, want 2 s at most", signal, after, took)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("%v after %s: got %v, want exit code %d", signal, after, err, exitInterrupted)
	}
	run := filepath.Join(k.dir, k.run)
	if got, want := stderr.String(), "whale: "+run+": interrupted; whale resume "+run+" goes on\n"; got != want {
		t.Errorf("%v after %s: got %q, want %q", signal, after, got, want)
	}
	for _, pid := range workers {
		awaitGone(t, pid)
	}
}
