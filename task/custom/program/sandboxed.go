package program

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/sandbox"
)

// What a sandboxed program may use beside its memory.
const (
	reserve   int64 = 1 << 30 // of address space; interpreters reserve much and use little
	tmpBytes  int64 = 16 << 20
	tmpFiles        = 1000
	openFiles       = 64
)

// runSandboxed runs a program under bubblewrap.
func runSandboxed(ctx context.Context, s Spec, stdin []byte) (Output, error) {
	c, err := sandbox.StartCommand(ctx, sandbox.CommandSpec{
		Program: s.Args[0], Args: s.Args[1:], Env: s.Env, Files: s.Files, Memory: s.Memory,
		Reserve: reserve, Tmp: tmpBytes, TmpFiles: tmpFiles, OpenFiles: openFiles,
		CPU: max(s.Timeout, time.Second).Round(time.Second) + time.Second,
	})
	if err != nil {
		return Output{}, &StartError{err}
	}
	var writing sync.WaitGroup
	writing.Go(func() {
		_, _ = c.Stdin.Write(stdin) // a program need not read it
		_ = c.Stdin.Close()
	})
	stdout := &bounded{most: s.Output, flood: c.Kill}
	_, _ = io.Copy(stdout, c.Stdout) // ends with the program, which the context ends
	err = c.Wait()
	_ = c.Stdout.Close()
	writing.Wait()
	out := Output{Stdout: stdout.data, Cut: stdout.cut, Detail: lastLine(c.Stderr())}
	var exit *sandbox.ExitError
	var incident *whale.Incident
	switch {
	case stdout.cut, err == nil:
		return out, nil
	case errors.As(err, &exit):
		out.Code = exit.Code
		return out, nil
	case errors.As(err, &incident):
		return Output{}, &Stopped{incident.Error()}
	}
	return Output{}, &StartError{err}
}
