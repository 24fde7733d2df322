package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// startTimeout bounds how long a new worker may take to say that it is ready. It takes some 10 ms; a machine that needs
// this long is in trouble.
const startTimeout = 20 * time.Second

// worker is one running process. One goroutine at a time uses it; kill may be called by any.
type worker struct {
	cmd    *exec.Cmd
	to     *os.File      // its standard input
	from   *os.File      // its standard output
	reaped chan struct{} // closed when the process is gone and its standard error read
	stderr headBuffer    // valid after reaped
	state  error         // of Wait, valid after reaped

	mechanisms []Mechanism // that confine it, as it tells after greet

	mu   sync.Mutex
	gone bool // waited for: its process id may belong to somebody else
}

// incident is the end of a worker during a request: not yet a verdict.
type incident struct {
	reason Reason
	detail string
}

func (e *incident) Error() string { return string(e.reason) + ": " + e.detail }

// earlyDeath is the end of a worker before it was ready. It is deliberately not an incident: no request is involved.
type earlyDeath struct{ detail string }

func (e *earlyDeath) Error() string { return ErrStart.Error() + ": " + e.detail }
func (e *earlyDeath) Unwrap() error { return ErrStart }

// launch starts the process without waiting until it is ready, in namespaces of its own if the system grants them. It must run on the
// starter's thread.
func launch(command, without []string) (*worker, error) {
	s := stage{Without: without, Parent: thisUser()}
	if s.leavesOut(MechanismNamespaces) {
		return launchStage(command, s, 0)
	}
	w, err := launchStage(command, s, workerNamespaces)
	if err != nil {
		if s.Namespaces = noNamespaces(err); s.Namespaces != "" {
			return launchStage(command, s, 0)
		}
	}
	return w, err
}

func launchStage(command []string, s stage, namespaces uintptr) (*worker, error) {
	var files []*os.File
	ok := false
	defer func() {
		if !ok {
			for _, f := range files {
				f.Close()
			}
		}
	}()
	pipe := func() (r, w *os.File, err error) {
		if r, w, err = os.Pipe(); err == nil {
			files = append(files, r, w)
		}
		return r, w, err
	}
	stdin, to, err := pipe()
	if err != nil {
		return nil, err
	}
	from, stdout, err := pipe()
	if err != nil {
		return nil, err
	}
	complaints, stderr, err := pipe()
	if err != nil {
		return nil, err
	}
	w := &worker{to: to, from: from, reaped: make(chan struct{})}
	w.cmd = exec.Command(command[0], append(command[1:len(command):len(command)], s.arguments()...)...)
	w.cmd.Env = []string{} // empty: nil would inherit the parent's
	w.cmd.Dir = "/"
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = stdin, stdout, stderr
	w.cmd.SysProcAttr = attributes(namespaces, workerCapabilities())
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	ok = true
	stdin.Close()
	stdout.Close()
	stderr.Close()
	go w.reap(complaints)
	return w, nil
}

// reap waits for the end of the process and for the last of its standard error.
func (w *worker) reap(complaints *os.File) {
	defer close(w.reaped)
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&w.stderr, complaints) // ends when nobody holds the other end
	}()
	awaitExit(w.cmd.Process.Pid)
	w.mu.Lock()
	killGroup(w.cmd.Process.Pid) // what it may have started; its own process id is still taken
	w.state = w.cmd.Wait()
	w.gone = true
	w.mu.Unlock()
	select {
	case <-read:
	case <-time.After(time.Second): // a process that left the group holds the pipe
	}
	complaints.Close()
	<-read
}

// greet tells the worker its task and limits and waits until it is confined and ready.
func (w *worker) greet(ctx context.Context, h hello) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	kind, payload, err := w.exchange(ctx, startTimeout, frameHello, text, maxText)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &earlyDeath{err.Error()}
	case kind == frameError:
		return fmt.Errorf("%w: %s", ErrStart, payload)
	case kind != frameReady:
		return fmt.Errorf("%w: got a frame of kind %q, want %q", ErrStart, kind, frameReady)
	}
	if err := json.Unmarshal(payload, &w.mechanisms); err != nil {
		return fmt.Errorf("%w: its mechanisms: %w", ErrStart, err)
	}
	return nil
}

// call runs one request. A nil error or an *EntryError or *Violation leaves the worker fit for the next one; after any
// other error it is dead.
func (w *worker) call(ctx context.Context, spec Spec, req []byte) ([]byte, error) {
	kind, payload, err := w.exchange(ctx, spec.Wall, frameRequest, req, max(spec.MaxOutput, maxText))
	if err != nil {
		return nil, err
	}
	switch kind {
	case frameReply:
		return payload, nil
	case frameError:
		return nil, &EntryError{Text: string(payload)}
	case frameOutput:
		return nil, &Violation{Reason: ReasonOutput, Detail: string(payload)}
	}
	w.kill()
	return nil, &incident{ReasonDied, fmt.Sprintf("got a frame of kind %q", kind)}
}

// exchange writes one frame and reads one. When the time is over or ctx ends the worker is killed, which ends both.
func (w *worker) exchange(ctx context.Context, wall time.Duration, kind byte, payload []byte, limit int) (byte, []byte, error) {
	var late atomic.Bool
	timer := time.AfterFunc(wall, func() {
		late.Store(true)
		w.kill()
	})
	defer timer.Stop()
	stop := context.AfterFunc(ctx, w.kill)
	defer stop()
	err := writeFrame(w.to, kind, payload)
	var gotKind byte
	var got []byte
	if err == nil {
		gotKind, got, err = readFrame(w.from, limit)
	}
	if err == nil {
		if timer.Stop() && stop() {
			return gotKind, got, nil
		}
		// The reply crossed with the kill. It is whole, but the worker is not fit for another; the verdict is the clock's.
	}
	w.kill()
	<-w.reaped
	switch {
	case ctx.Err() != nil:
		return 0, nil, ctx.Err()
	case late.Load():
		return 0, nil, &incident{ReasonWall, fmt.Sprintf("no reply within %v", wall)}
	}
	return 0, nil, w.autopsy(err)
}

// memorySigns are what the Go runtime (last, what that of the race detector) says when the kernel refuses memory or a stack is full.
var memorySigns = []string{
	"stack overflow", "goroutine stack exceeds", "out of memory", "cannot allocate memory", "errno=12", "errno: 12",
	"address space collisions",
}

// lastWords are what a worker wrote to its standard error, without what the race detector says at the start of a process that
// cannot see itself.
func (w *worker) lastWords() string {
	text := w.stderr.String()
	for strings.HasPrefix(text, "==") && strings.Contains(firstLine(text), "WARNING: reading executable name failed") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return strings.TrimSpace(text)
}

// autopsy tells why a reaped worker died.
func (w *worker) autopsy(err error) *incident {
	text := w.lastWords()
	for _, sign := range memorySigns {
		if strings.Contains(text, sign) {
			// Not in its own words, which name amounts that differ each time: what is told becomes evidence.
			if strings.Contains(sign, "stack") {
				return &incident{ReasonMemory, "out of memory: the stack is full"}
			}
			return &incident{ReasonMemory, "out of memory: the process reached its limit"}
		}
	}
	var exit *exec.ExitError
	if errors.As(w.state, &exit) && text == "" {
		return &incident{ReasonDied, exit.Error()}
	}
	if text == "" && err != nil {
		text = err.Error()
	}
	return &incident{ReasonDied, firstLine(text)}
}

// kill ends the process and its group; reaped is closed soon after.
func (w *worker) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.gone {
		killGroup(w.cmd.Process.Pid)
	}
	// Should anything else hold the other ends, this process must not wait for it. Closing twice does no harm.
	w.to.Close()
	w.from.Close()
}

// dead reports whether the process has ended.
func (w *worker) dead() bool {
	select {
	case <-w.reaped:
		return true
	default:
		return false
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.ToValidUTF8(line[:min(len(line), 200)], "")
}

// headBuffer keeps the beginning of what is written and counts the rest as written. (It does not embed its buffer, whose ReadFrom
// would keep all when something is copied into it.)
type headBuffer struct{ kept bytes.Buffer }

func (b *headBuffer) Write(p []byte) (int, error) {
	const limit = 4 << 10
	b.kept.Write(p[:max(0, min(len(p), limit-b.kept.Len()))])
	return len(p), nil
}

func (b *headBuffer) Len() int       { return b.kept.Len() }
func (b *headBuffer) String() string { return b.kept.String() }
