// Command whale improves an agent on a task with a verifier, by alternating between its weights and its harness.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/seed-095d5d2b/whale/harness/process"
	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/sandbox/calc"
)

func main() {
	if sandbox.Main(workerEntries()) {
		return // this process was a worker
	}
	// A run's garbage is mostly weights and keys and values of policies that were replaced: collecting it early takes a third off the
	// peak and no time that was measured. GOGC, where it is set, decides.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(40)
	}
	os.Exit(newApp().underSignals(os.Args[1:]))
}

// workerEntries are what worker processes of this binary can do.
func workerEntries() sandbox.Entries {
	return sandbox.Entries{Calls: map[string]sandbox.Entry{calc.EntryName: calc.Entry}, Streams: process.Entries()}
}

func newApp() *app {
	binary, err := os.Executable()
	if err != nil {
		binary = ""
	}
	return &app{
		binary: binary,
		stdout: os.Stdout, stderr: os.Stderr, now: time.Now, workers: runtime.GOMAXPROCS(0),
		live: term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb",
		width: func() int {
			if w, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil && w > 20 {
				return w
			}
			return 80
		},
	}
}

// underSignals runs a command line that SIGINT and SIGTERM interrupt. The second signal ends the process at once: whatever hangs, the
// run directory bears it.
func (a *app) underSignals(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return a.main(ctx, args)
}
