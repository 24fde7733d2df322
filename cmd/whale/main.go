// Command whale improves an agent on a task with a verifier, by alternating between its weights and its harness.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/sandbox/calc"
)

func main() {
	if sandbox.Main(map[string]sandbox.Entry{calc.EntryName: calc.Entry}) {
		return // this process was a worker
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	a := &app{
		stdout: os.Stdout, stderr: os.Stderr, now: time.Now, workers: runtime.GOMAXPROCS(0),
		live: term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb",
		width: func() int {
			if w, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil && w > 20 {
				return w
			}
			return 80
		},
	}
	code := a.main(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
