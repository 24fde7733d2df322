package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestStalledHarness interrupts and kills episodes whose harness never ends: the command does not wait for it, and no process is left, in
// whatever language it is written.
func TestStalledHarness(t *testing.T) {
	dir := t.TempDir()
	config := writeTest(t, dir)
	programs := map[string]string{
		"loops.star": "def run(task, model, env):\n    x = 3\n    while True:\n        x = x * x\n",
		"loops.py":   "def run(task, model, env):\n    while True:\n        pass\n",
		"sleeps.py":  "import signal, time\n\ndef run(task, model, env):\n    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))\n    time.sleep(10000)\n",
		"loops.mjs":  "for (;;) {}\n",
	}
	for name, src := range programs {
		if language := map[string]string{".py": "/usr/bin/python3", ".mjs": "/usr/bin/node"}[filepath.Ext(name)]; language != "" {
			if _, err := exec.LookPath("bwrap"); err != nil {
				continue
			}
			if _, err := os.Stat(language); err != nil {
				continue
			}
		}
		write(t, filepath.Join(dir, name), src)
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
			cmd := child(t, dir, "", "harness", "run", name, "--config", config)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			workers := awaitWorkers(t, cmd.Process.Pid)
			start := time.Now()
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("%s: %v: took %v to end", name, signal, took)
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || signal != syscall.SIGKILL && exit.ExitCode() != exitInterrupted {
				t.Errorf("%s: %v: got %v %s, want exit code %d", name, signal, err, stderr.String(), exitInterrupted)
			}
			for _, pid := range workers {
				awaitGone(t, pid)
			}
		}
	}
}

// awaitWorkers waits until the command has a process below it that stays, and gives all that it has then, down to the last.
func awaitWorkers(t *testing.T, parent int) []int {
	t.Helper()
	var seen []int
	for range 400 {
		time.Sleep(25 * time.Millisecond)
		now := below(t, parent)
		if len(now) > 0 && len(now) == len(seen) {
			return now
		}
		seen = now
	}
	t.Fatal("the command started no process that stays")
	return nil
}

func below(t *testing.T, parent int) []int {
	var out []int
	for _, pid := range childrenOf(t, parent) {
		out = append(append(out, pid), below(t, pid)...)
	}
	return out
}
