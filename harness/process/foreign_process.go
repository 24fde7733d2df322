package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/sandbox"
)

// child is a process of a program in another language, for one episode or one check.
type child struct {
	*sandbox.Command
	runtime *Runtime
	ended   chan struct{} // closed when nothing of it is left
	err     error         // what Wait said, valid after ended
}

// start starts a process once there is room for it. It ends at the latest with ctx or the runtime. The caller must call give.
func (r *Runtime) start(ctx context.Context, spec sandbox.CommandSpec) (*child, error) {
	if err := r.processes.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		r.processes.Release(1)
		return nil, sandbox.ErrClosed
	}
	r.running.Add(1)
	r.mu.Unlock()
	c, err := sandbox.StartCommand(ctx, spec)
	if err != nil {
		r.running.Done()
		r.processes.Release(1)
		return nil, err
	}
	p := &child{Command: c, runtime: r, ended: make(chan struct{})}
	stop := context.AfterFunc(r.ctx, c.Kill)
	go func() { // ends when the process is reaped, which Close waits for
		defer r.running.Done()
		p.err = c.Wait()
		stop()
		close(p.ended)
		r.processes.Release(1)
	}()
	return p, nil
}

// give ends the process, and closes its pipes, without waiting for it.
func (p *child) give() {
	p.Kill()
	p.Stdin.Close()
	p.Stdout.Close()
}

// lines is the transport to the process: its lines, and after them what its end means.
func (p *child) lines(name string, most int) *pipes {
	return &pipes{lines: newLines(p.Stdout, p.Stdin, most), child: p, name: name}
}

// pipes is the transport of an episode.
type pipes struct {
	*lines
	child *child
	name  string
}

// Receive implements transport.
func (p *pipes) Receive(ctx context.Context) ([]byte, error) {
	line, err := p.lines.Receive(ctx)
	if err == nil || ctx.Err() != nil || errors.Is(err, errTooLong) {
		return line, err
	}
	return nil, p.child.verdict(ctx, p.name)
}

// Close implements transport: the process is killed, and its pipes are closed.
func (p *pipes) Close() {
	p.child.give()
	p.lines.Close()
}

// verdict says what it means that a program's pipe has ended before its answer: io.EOF where the program left in order, its failure where it
// left in disorder, an *whale.Incident where it was ended from outside or ran out of memory. It waits until that is known: bubblewrap holds the
// pipe too, so that its end is the end of everything in there, and a program that only closes it is a stall for its host's clock.
func (p *child) verdict(ctx context.Context, name string) error {
	select {
	case <-p.ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	var exit *sandbox.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case p.runtime.ctx.Err() != nil:
		return sandbox.ErrClosed
	case p.err == nil:
		return io.EOF
	case errors.As(p.err, &exit):
		return fail(whale.FailProgram, "%s: the program ended with status %d: %s", name, exit.Code, complaint(p.Stderr(), exit.Detail))
	}
	var incident *whale.Incident
	if errors.As(p.err, &incident) {
		detail := incident.Detail
		if !strings.HasPrefix(detail, name+":") { // as the Python library begins it, with the line
			detail = name + ": " + detail
		}
		return &whale.Incident{Reason: incident.Reason, Detail: oneLine(detail)}
	}
	return fmt.Errorf("%s: %w", name, p.err)
}
