package process

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"golang.org/x/sync/semaphore"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/sandbox"
)

// Options say what a runtime may use.
type Options struct {
	Workers     int   // processes that Starlark programs share, at least 1
	Concurrency int   // episodes at once, at least 1; Starlark programs beyond it wait
	Processes   int   // processes at once of programs in other languages; 0 = Workers
	Memory      int64 // bytes a process may take beyond what it has when it is ready

	// Require refuses to run anything where a mechanism of isolation is missing.
	Require bool

	Command []string // the workers' program, as [sandbox.GroupOptions] has it; empty = this binary
	Python  string   // the interpreter of .py programs; "" = the first python3 of the usual places
	Node    string   // the interpreter of .js and .mjs programs; "" = the first node of the usual places
}

// Runtime runs harness programs in processes of its own. No process is started before the first episode, except to see what Require
// asks for. All methods may be called from many goroutines at once.
type Runtime struct {
	opt       Options
	processes *semaphore.Weighted // of programs in other languages

	// ctx ends at Close, and with it every process of a program in another language; running counts those until they are reaped.
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	group  *sandbox.Group // of Starlark programs; nil before the first
}

// Open makes a runtime. It must be closed.
func Open(opt Options) (*Runtime, error) {
	if opt.Processes == 0 {
		opt.Processes = opt.Workers
	}
	switch {
	case opt.Workers < 1:
		return nil, fmt.Errorf("harness processes: workers: got %d, want at least 1", opt.Workers)
	case opt.Concurrency < 1:
		return nil, fmt.Errorf("harness processes: concurrency: got %d, want at least 1", opt.Concurrency)
	case opt.Processes < 1:
		return nil, fmt.Errorf("harness processes: processes: got %d, want at least 1", opt.Processes)
	case opt.Memory < sandbox.MinMemory || opt.Memory > sandbox.MaxMemory:
		return nil, fmt.Errorf("harness processes: memory: got %d bytes, want %d to %d", opt.Memory, int64(sandbox.MinMemory), int64(sandbox.MaxMemory))
	}
	r := &Runtime{opt: opt, processes: semaphore.NewWeighted(int64(opt.Processes))}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	if opt.Require {
		if _, err := r.workers(); err != nil {
			r.cancel()
			return nil, err
		}
	}
	return r, nil
}

// workers gives the group of Starlark programs.
func (r *Runtime) workers() (*sandbox.Group, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, sandbox.ErrClosed
	}
	if r.group == nil {
		g, err := sandbox.NewGroup(sandbox.GroupOptions{
			Command: r.opt.Command, Entry: entryName, Memory: r.opt.Memory, MaxMessage: MaxMessage,
			Workers: r.opt.Workers, PerWorker: (r.opt.Concurrency + r.opt.Workers - 1) / r.opt.Workers,
			Require: r.opt.Require,
		})
		if err != nil {
			return nil, err
		}
		r.group = g
	}
	return r.group, nil
}

// New makes a harness of a source that runs in the runtime's processes; name's extension says in which language. The static gates are
// checked here, and nothing of the program is executed. The error is an *[harness.ExtensionError] or one of the language's gates.
func (r *Runtime) New(name string, src []byte) (whale.Harness, error) {
	switch filepath.Ext(name) {
	case ".py", ".js", ".mjs":
		return r.newForeign(name, src)
	}
	h, err := harness.New(name, src)
	if err != nil {
		return nil, err
	}
	p, ok := h.(*star.Program)
	if !ok {
		return nil, fmt.Errorf("harness processes: %s: got a program in %s, which has no process to run in", name, h.Language())
	}
	return newStarlark(r, p), nil
}

// Load reads a harness from a file, as [harness.Load] does.
func (r *Runtime) Load(path string) (whale.Harness, error) {
	src, err := harness.Read(path)
	if err != nil {
		return nil, err
	}
	return r.New(filepath.Base(path), src)
}

// Mechanisms says how programs are confined here, by trying it.
func (r *Runtime) Mechanisms(ctx context.Context) ([]sandbox.Mechanism, error) {
	return sandbox.Probe(ctx)
}

// Close kills every process at once and returns when they are reaped. Episodes that were running end with [sandbox.ErrClosed] or, where
// they wait for their host, with what it says.
func (r *Runtime) Close() {
	r.mu.Lock()
	r.closed = true
	group := r.group
	r.mu.Unlock()
	r.cancel()
	if group != nil {
		group.Close()
	}
	r.running.Wait()
}
