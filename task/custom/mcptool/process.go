package mcptool

import (
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

// process is a server over stdio: a process group of its own.
type process struct {
	cmd    *exec.Cmd
	stdin  *input
	stdout *output
	stderr *tail
	once   sync.Once
	ended  chan struct{} // closed when it was reaped
}

// grace is how long a server may take to end by itself once its input is closed.
const grace = time.Second

// start starts a server.
func start(o Options) (*process, error) {
	fromParent, toChild, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	fromChild, toParent, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, fromParent.Close(), toChild.Close())
	}
	p := &process{
		cmd: exec.Command(o.Args[0], o.Args[1:]...), stdin: &input{File: toChild}, stderr: &tail{}, ended: make(chan struct{}),
	}
	p.stdout = &output{File: fromChild, most: int64(flood) * int64(o.MessageBytes), stdin: p.stdin}
	p.cmd.Dir, p.cmd.Env = o.Dir, o.Env
	if p.cmd.Env == nil {
		p.cmd.Env = []string{}
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = fromParent, toParent, p.stderr
	p.cmd.WaitDelay = grace // others that hold its standard error are not waited for
	ownGroup(p.cmd)
	err = p.cmd.Start()
	_ = fromParent.Close()
	_ = toParent.Close()
	if err != nil {
		_ = toChild.Close()
		_ = fromChild.Close()
		return nil, fmt.Errorf("cannot start: %w", err)
	}
	go func() { // ends with the process, which kill ends
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// kill ends the server: by the end of its input, then by force with all of its group. It may be called more than once.
func (p *process) kill() {
	p.once.Do(func() {
		_ = p.stdin.Close()
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-p.ended:
		case <-timer.C:
		}
		_ = killGroup(p.cmd)
		<-p.ended
		_ = p.stdout.Close()
	})
}

// said is what a server that is of no use wrote last to its standard error, for a message.
func (p *process) said() string {
	<-p.ended // after kill
	if line := p.stderr.lastLine(); line != "" {
		return " (it says: " + line + ")"
	}
	return ""
}

// writeTime is how long a server may take to read what is written to it.
const writeTime = 10 * time.Second

// input is a server's standard input.
type input struct {
	*os.File
	writes atomic.Int64
}

func (i *input) Write(p []byte) (int, error) {
	i.writes.Add(1)
	if err := i.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return 0, err
	}
	return i.File.Write(p)
}

// flood is how many of the longest messages a server may send before anything more is said to it.
const flood = 8

// output is a server's standard output. A server that talks on and on unasked is cut off, since what it says is queued.
type output struct {
	*os.File
	stdin *input
	most  int64
	at    int64 // how much was written to it when the count began
	got   int64 // bytes since
}

func (o *output) Read(p []byte) (int, error) {
	if now := o.stdin.writes.Load(); now != o.at {
		o.at, o.got = now, 0
	}
	if o.got >= o.most {
		return 0, fmt.Errorf("it sent more than %d bytes unasked", o.most)
	}
	n, err := o.File.Read(p)
	o.got += int64(n)
	return n, err
}

var (
	_ io.ReadCloser  = (*output)(nil)
	_ io.WriteCloser = (*input)(nil)
)

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	data []byte
}

const tailBytes = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p[max(0, len(p)-tailBytes):]...)
	if over := len(t.data) - tailBytes; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

func (t *tail) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := ""
	for line := range strings.Lines(string(t.data)) {
		if line = oneLine(line, 300); line != "" {
			last = line
		}
	}
	return last
}
