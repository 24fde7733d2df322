package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// leftBehind is how long a program that has ended may keep its output open through others that it started.
const leftBehind = time.Second

// runPlain runs a program as this process's user, in a process group of its own that ends with it.
func runPlain(ctx context.Context, s Spec, stdin []byte) (Output, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cmd := exec.CommandContext(ctx, s.Args[0], s.Args[1:]...)
	cmd.Dir, cmd.Env = s.Dir, s.Env
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would mean this process's own
	}
	cmd.Stdin = bytes.NewReader(stdin)
	stdout := &bounded{most: s.Output, flood: func() { stop(errFlood) }}
	stderr := &tail{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd) }
	cmd.WaitDelay = leftBehind
	if err := cmd.Start(); err != nil {
		return Output{}, &StartError{err}
	}
	err := cmd.Wait()
	_ = killGroup(cmd) // what it left behind
	out := Output{Stdout: stdout.data, Cut: stdout.cut, Detail: lastLine(string(stderr.data))}
	var exit *exec.ExitError
	switch {
	case stdout.cut:
		return out, nil
	case err == nil:
		return out, nil
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		out.Code = exit.ExitCode()
		return out, nil
	case errors.Is(err, exec.ErrWaitDelay):
		return Output{}, &Stopped{"it ended, but left a process behind that holds its output"}
	}
	return Output{}, &Stopped{fmt.Sprintf("%v: %s", err, out.Detail)}
}
