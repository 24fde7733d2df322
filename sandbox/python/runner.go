package python

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/sandbox"
	"golang.org/x/sync/semaphore"
)

// Runner runs code on this machine. It may be used from many goroutines.
type Runner struct {
	limits Limits
	slots  *semaphore.Weighted
	most   int64
}

// New gives a runner of at most so many calls at a time; further ones wait.
func New(l Limits, concurrency int) (*Runner, error) {
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("python: %w", err)
	}
	if concurrency < 1 {
		return nil, fmt.Errorf("python: concurrency: got %d, want 1 or more", concurrency)
	}
	return &Runner{limits: l, slots: semaphore.NewWeighted(int64(concurrency)), most: int64(concurrency)}, nil
}

// Do runs code and gives what it printed and, in a line, what it did wrong.
func (r *Runner) Do(ctx context.Context, code string) (output, errText string, err error) {
	result, err := r.Run(ctx, code, "")
	return strings.TrimSuffix(result.Text(), "\n"), result.Error, err
}

// Run runs code with a text as its standard input. The error is the infrastructure's, or the context's.
//
// An end that may be the machine's doing as well as the code's (out of wall time, killed) is not believed at once: the code is run again while nothing else of this
// runner runs, and only if it ends so again it is the code's.
func (r *Runner) Run(ctx context.Context, code, stdin string) (Result, error) {
	if len(code) > r.limits.SourceBytes {
		return Result{Error: fmt.Sprintf("the code has %d bytes, more than %d", len(code), r.limits.SourceBytes)}, nil
	}
	result, doubtful, err := r.once(ctx, code, stdin, 1)
	if err == nil && doubtful {
		result, _, err = r.once(ctx, code, stdin, r.most)
	}
	if err != nil {
		return Result{}, fmt.Errorf("python: %w", err)
	}
	return result, nil
}

// flood is how many times the output that is kept may be printed before the code is stopped.
const flood = 1024

// once runs code while it holds so many slots.
func (r *Runner) once(ctx context.Context, code, stdin string, slots int64) (_ Result, doubtful bool, err error) {
	if err := r.slots.Acquire(ctx, slots); err != nil {
		return Result{}, false, err
	}
	defer r.slots.Release(slots)
	limited, cancel := context.WithTimeout(ctx, time.Duration(r.limits.WallSeconds*float64(time.Second)))
	defer cancel()
	c, err := sandbox.StartCommand(limited, r.limits.command(code))
	if err != nil {
		return Result{}, false, r.own(ctx, err)
	}
	fed := make(chan struct{})
	go func() { // ends with the program: the pipe breaks then
		defer close(fed)
		_, _ = io.WriteString(c.Stdin, stdin)
		c.Stdin.Close()
	}()
	kept := make([]byte, r.limits.OutputBytes)
	n, readErr := io.ReadFull(c.Stdout, kept)
	total := int64(n)
	flooded := false
	if readErr == nil { // there may be more
		room := int64(flood) * int64(r.limits.OutputBytes)
		more, err := io.Copy(io.Discard, io.LimitReader(c.Stdout, room))
		total += more
		if flooded = more == room; flooded {
			c.Kill()
		}
		readErr = err
	}
	if readErr != nil && !errors.Is(readErr, io.EOF) && !errors.Is(readErr, io.ErrUnexpectedEOF) {
		c.Kill() // nothing of it can be read any more
	}
	ended := c.Wait()
	c.Stdout.Close()
	<-fed
	result := Result{Stdout: cut(string(kept[:n]), r.limits.OutputBytes, total), Stderr: strings.ToValidUTF8(c.Stderr(), "\uFFFD")}
	if flooded {
		result.Error = fmt.Sprintf("stopped: it prints more than %d bytes", total)
		return result, false, nil
	}
	result.Error, doubtful, err = r.judge(ended, result.Stderr)
	return result, doubtful, r.own(ctx, err)
}

// own tells of an error of the context first.
func (r *Runner) own(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

const killed = 128 + 9

// judge says how code ended: in a line for the model, "" if all is well; doubtful if that may not be its own doing.
func (r *Runner) judge(ended error, stderr string) (line string, doubtful bool, err error) {
	var exit *sandbox.ExitError
	var incident *whale.Incident
	switch {
	case ended == nil:
		return "", false, nil
	case errors.As(ended, &exit):
		if exit.Code > 128 {
			return fmt.Sprintf("ended by signal %d", exit.Code-128), exit.Code == killed, nil
		}
		return failed(exit.Code, stderr), false, nil
	case errors.As(ended, &incident):
		switch incident.Reason {
		case whale.FailMemory:
			return fmt.Sprintf("out of memory: more than %d MiB", r.limits.MemoryBytes>>20), false, nil
		case whale.FailWall:
			return fmt.Sprintf("out of time: more than %d s of processor time", r.limits.CPUSeconds), false, nil
		}
		return "stopped: " + strings.TrimSuffix(strings.TrimSpace(incident.Detail), ":"), true, nil
	case errors.Is(ended, context.DeadlineExceeded):
		return fmt.Sprintf("out of time: more than %g s", r.limits.WallSeconds), true, nil
	}
	return "", false, ended
}
