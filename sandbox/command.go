package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// CommandSpec says what foreign program to run and what it may use. It runs under bubblewrap, in namespaces of its own: as nobody,
// without network, capabilities, environment and other processes to see; it can neither start another process nor make a socket. It sees,
// read-only, /usr and its own files in [FilesDir]; in /dev it has null, zero and urandom; it may write to /tmp, which is its own and
// ends with it. There is no /proc.
type CommandSpec struct {
	// Program is the absolute path of an interpreter, or of any other program. Where it is not under /usr, the directory above that of
	// the program (links resolved) is shown too, since that is where an interpreter has its library.
	Program string
	Args    []string
	Env     []string // "NAME=value"; nothing else is set but PWD
	Files   []File   // that appear in FilesDir
	Show    []string // further absolute paths of this system that the program may read

	// Memory is how many bytes of writable memory of its own the program may have in all, with what it has at its start (RLIMIT_DATA).
	Memory int64
	// Reserve is how many bytes of address space it may have over Memory (RLIMIT_AS): for its code and libraries, and for what it reserves
	// and does not use. Shared memory counts here only.
	Reserve   int64
	Tmp       int64         // bytes in /tmp
	TmpFiles  int           // files and directories there
	OpenFiles int           // descriptors, with the three that it starts with
	CPU       time.Duration // processor time, in whole seconds; a guard beside the wall clock, which is the caller's
}

// File is a file that a command can read.
type File struct {
	Name string // without a directory
	Data []byte
}

// FilesDir is where a command finds its files.
const FilesDir = "/harness"

// Bounds of a spec.
const (
	MinCommandMemory int64 = 32 << 20
	maxFiles               = 32
	maxFileBytes           = 16 << 20
)

// Python is the spec of a python3, less what it is to run, with memory as [CommandSpec].Memory. The arguments keep it from looking for
// modules outside its own library. An empty program means the system's.
func Python(program string, memory int64) CommandSpec {
	if program == "" {
		program = "/usr/bin/python3"
	}
	return CommandSpec{
		Program: program, Args: []string{"-I", "-S", "-B"}, Env: []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8"},
		Memory: memory, Reserve: 128 << 20, Tmp: 16 << 20, TmpFiles: 1000, OpenFiles: 64, CPU: time.Minute,
	}
}

// Node is the spec of a node, less what it is to run, with memory as [CommandSpec].Memory. It reserves a lot of address space.
func Node(program string, memory int64) CommandSpec {
	if program == "" {
		program = "/usr/bin/node"
	}
	return CommandSpec{
		// Two threads less; and the collector has to know the limit, since it would go on until memory is refused, which ends the process.
		Program: program, Args: []string{"--v8-pool-size=1", fmt.Sprintf("--max-old-space-size=%d", max(16, memory>>21))},
		Env:    []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8"},
		Memory: memory, Reserve: 1 << 30, Tmp: 16 << 20, TmpFiles: 1000, OpenFiles: 64, CPU: time.Minute,
	}
}

func (s CommandSpec) check() error {
	bad := func(format string, args ...any) error { return fmt.Errorf("sandbox command: "+format, args...) }
	switch {
	case !path.IsAbs(s.Program):
		return bad("program: got %q, want an absolute path", s.Program)
	case s.Memory < MinCommandMemory || s.Memory > MaxMemory:
		return bad("memory: got %d bytes, want %d to %d", s.Memory, MinCommandMemory, MaxMemory)
	case s.Reserve < 0 || s.Reserve > MaxMemory:
		return bad("reserve: got %d bytes, want 0 to %d", s.Reserve, MaxMemory)
	case s.Tmp < 4<<10 || s.Tmp > MaxMemory:
		return bad("tmp: got %d bytes, want %d to %d", s.Tmp, 4<<10, MaxMemory)
	case s.TmpFiles < 1:
		return bad("files in tmp: got %d, want 1 or more", s.TmpFiles)
	case s.OpenFiles < 16 || s.OpenFiles > 1024:
		return bad("open files: got %d, want 16 to 1024", s.OpenFiles)
	case s.CPU < time.Second:
		return bad("processor time: got %v, want 1s or more", s.CPU)
	case len(s.Files) > maxFiles:
		return bad("files: got %d, want at most %d", len(s.Files), maxFiles)
	}
	seen, size := map[string]bool{}, 0
	for _, f := range s.Files {
		switch {
		case f.Name == "" || f.Name == "." || f.Name == ".." || strings.ContainsAny(f.Name, "/\x00"):
			return bad("file: got the name %q, want one without a directory", f.Name)
		case seen[f.Name]:
			return bad("file %s: got it twice", f.Name)
		}
		seen[f.Name] = true
		if size += len(f.Data); size > maxFileBytes {
			return bad("files: got more than %d bytes", maxFileBytes)
		}
	}
	for _, e := range s.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" || strings.Contains(e, "\x00") {
			return bad("environment: got %q, want NAME=value", e)
		}
	}
	for _, p := range s.Show {
		if !path.IsAbs(p) {
			return bad("show: got %q, want an absolute path", p)
		}
	}
	if all := strings.Join(slices.Concat([]string{s.Program}, s.Args, s.Show), ""); strings.Contains(all, "\x00") {
		return bad("program, arguments or show: got a zero byte")
	}
	return nil
}

// Command is a foreign program that runs. Kill and Wait may be called from any goroutine.
type Command struct {
	Stdin  *os.File // its standard input, for the caller to write and close
	Stdout *os.File // its standard output, for the caller to read and close

	ctx    context.Context
	proc   commandProcess
	done   chan struct{}
	stderr edgesBuffer // valid after done
	err    error       // valid after done

	mu     sync.Mutex
	killed bool
}

// ErrKilled is what Wait returns after Kill.
var ErrKilled = errors.New("the command was killed")

// StartCommand starts a program under bubblewrap; the way there leads through this binary, which must call [Main]. It is killed when ctx ends. An error is [ErrStart], about the system, or about the
// spec; that bubblewrap itself or the program could not start shows in Wait, as [ErrStart] too.
//
// The caller must read Stdout to its end or call Kill, call Wait, and close Stdin and Stdout.
func StartCommand(ctx context.Context, spec CommandSpec) (*Command, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	if err := checkMain(os.Args); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return startCommand(ctx, spec)
}

// Kill ends the program with everything that belongs to it. It does not wait.
func (c *Command) Kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.killed = true
	c.kill()
}

func (c *Command) wasKilled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.killed
}

// Wait returns when nothing of the program is left: nil for exit status 0, [*ExitError], the context's error, [ErrKilled] after Kill,
// [ErrStart], or a [*whale.Incident], which says that the program ran out of memory or processor time or was ended by a signal, by its own
// doing or not.
func (c *Command) Wait() error {
	<-c.done
	return c.err
}

// Stderr waits for the end and returns the first and the last few KiB of what the program wrote to its standard error.
func (c *Command) Stderr() string {
	<-c.done
	return c.stderr.String()
}
