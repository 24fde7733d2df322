package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// commandProcess is bubblewrap, which is the first process of a name space of processes (and makes another one in it): all others in there
// end with it, and it is not reaped before they are. Its own ways to that (--die-with-parent) have gaps in its first moments.
type commandProcess struct {
	cmd  *exec.Cmd
	gone bool // reaped; guarded by the mutex of the command
}

// startCommand runs the command in a goroutine with a thread of its own: the kernel sends the death signal when the thread that started
// the process ends, and a thread that waits for a process is taken anyway.
func startCommand(ctx context.Context, spec CommandSpec) (*Command, error) {
	c := &Command{ctx: ctx, done: make(chan struct{})}
	started := make(chan error, 1)
	go c.live(spec, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// live starts the program and sees it to its end.
func (c *Command) live(spec CommandSpec, started chan<- error) {
	runtime.LockOSThread() // the thread ends with the goroutine
	defer close(c.done)
	complaints, status, err := c.launch(spec)
	started <- err
	if err != nil {
		return
	}
	stop := context.AfterFunc(c.ctx, c.Kill)
	defer stop()
	var read sync.WaitGroup
	code, ran := 0, false
	read.Go(func() { _, _ = io.Copy(&c.stderr, complaints) })
	read.Go(func() { code, ran = exitStatus(status) })
	pid := c.proc.cmd.Process.Pid
	awaitExit(pid)
	c.mu.Lock()
	killGroup(pid) // its own process id is still taken
	state := c.proc.cmd.Wait()
	c.proc.gone = true
	c.mu.Unlock()
	read.Wait() // nobody is left who holds the other ends
	complaints.Close()
	status.Close()
	switch {
	case c.ctx.Err() != nil:
		c.err = c.ctx.Err()
	case c.wasKilled():
		c.err = ErrKilled
	default:
		c.err = c.outcome(code, ran, exitOf(state))
	}
}

func exitOf(state error) string {
	var exit *exec.ExitError
	if !errors.As(state, &exit) {
		return "exit status 0"
	}
	return exit.Error() // "exit status 1", "signal: killed"
}

// launch starts the process.
func (c *Command) launch(spec CommandSpec) (complaints, status *os.File, err error) {
	arguments, files, err := bubblewrap(spec)
	var ends, kept []*os.File
	defer func() {
		for _, f := range append(files, ends...) {
			f.Close()
		}
		if err != nil {
			for _, f := range kept {
				f.Close()
			}
		}
	}()
	if err != nil {
		return nil, nil, err
	}
	for _, toChild := range []bool{true, false, false, false} {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrStart, err)
		}
		if toChild {
			r, w = w, r
		}
		kept, ends = append(kept, r), append(ends, w)
	}
	cmd := exec.Command(arguments[0], arguments[1:]...)
	cmd.Env = []string{} // empty: nil would inherit the parent's
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ends[0], ends[1], ends[2]
	cmd.ExtraFiles = append([]*os.File{ends[3]}, files...)
	cmd.SysProcAttr = attributes(commandNamespaces, commandCapabilities())
	if err := cmd.Start(); err != nil {
		if why := noNamespaces(err); why != "" {
			return nil, nil, fmt.Errorf("%w: namespaces: %s", ErrStart, why)
		}
		return nil, nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	c.proc.cmd = cmd
	c.Stdin, c.Stdout = kept[0], kept[1]
	return kept[2], kept[3], nil
}

// exitStatus reads what bubblewrap tells: the exit status of the program, if that was ever started.
func exitStatus(status io.Reader) (code int, ran bool) {
	lines := json.NewDecoder(bufio.NewReader(status))
	for {
		var line struct {
			Exit *int `json:"exit-code"`
		}
		if err := lines.Decode(&line); err != nil {
			return code, ran
		}
		if line.Exit != nil {
			code, ran = *line.Exit, true
		}
	}
}

// kill kills everything in the name space. It needs the mutex.
func (c *Command) kill() {
	if !c.proc.gone {
		killGroup(c.proc.cmd.Process.Pid)
	}
}

// bubblewrap makes the command line. The files are those that it names by descriptors, from 4 on; 3 is the status.
func bubblewrap(spec CommandSpec) (arguments []string, files []*os.File, err error) {
	program, err := findBubblewrap()
	if err != nil {
		return nil, nil, err
	}
	filter, err := commandFilter()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: filter of system calls: %w", ErrStart, err)
	}
	add := func(name string, data []byte) (fd string, err error) {
		f, err := inMemory(name, data)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrStart, err)
		}
		files = append(files, f)
		return fmt.Sprint(statusPipe + len(files)), nil
	}
	a := []string{
		program, "--unshare-all", "--hostname", "sandbox", "--unshare-user", "--uid", fmt.Sprint(nobody), "--gid", fmt.Sprint(nobody), "--cap-drop", "ALL",
		"--die-with-parent", "--new-session", "--clearenv", "--json-status-fd", fmt.Sprint(statusPipe),
	}
	fd, err := add("filter", filter)
	if err != nil {
		return nil, files, err
	}
	a = append(a, "--seccomp", fd)
	for _, e := range spec.Env {
		name, value, _ := strings.Cut(e, "=")
		a = append(a, "--setenv", name, value)
	}
	show, inside, err := shown(spec)
	if err != nil {
		return nil, files, err
	}
	a = append(a, show...)
	a = append(a, "--bind", boundedDir, "/tmp", "--dir", "/dev", "--dir", FilesDir)
	for _, name := range []string{"null", "zero", "urandom"} {
		a = append(a, "--dev-bind", "/dev/"+name, "/dev/"+name)
	}
	for _, f := range spec.Files {
		fd, err := add(f.Name, f.Data)
		if err != nil {
			return nil, files, err
		}
		a = append(a, "--perms", "0444", "--file", fd, FilesDir+"/"+f.Name)
	}
	a = append(a, "--remount-ro", "/", "--chdir", "/tmp", "--", inside)
	first, err := spec.firstStage(statusPipe + 1 + len(files))
	if err != nil {
		return nil, files, fmt.Errorf("%w: %w", ErrStart, err)
	}
	return append(first, append(a, spec.Args...)...), files, nil
}

// inMemory makes a file that exists in memory only and gives it, open at its beginning.
func inMemory(name string, data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("file %s: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err = f.Write(data); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("file %s: %w", name, err)
	}
	return f, nil
}

func findBubblewrap() (string, error) { return findProgram("bwrap") }

// findProgram looks for a program of the system in the usual places, and then in the path.
func findProgram(name string) (string, error) {
	for _, dir := range []string{"/usr/bin/", "/bin/"} {
		if info, err := os.Stat(dir + name); err == nil && info.Mode().IsRegular() {
			return dir + name, nil
		}
	}
	program, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrStart, err)
	}
	return filepath.Abs(program)
}
