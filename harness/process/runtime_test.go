package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/sandbox"
)

const testMemory = 512 << 20

// open opens a runtime for a test.
func open(t testing.TB, set func(o *Options)) *Runtime {
	t.Helper()
	o := Options{Workers: 2, Concurrency: 64, Memory: testMemory}
	if set != nil {
		set(&o)
	}
	r, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// An episode in a worker process is the episode in process.
func TestRuntimeIsTheSame(t *testing.T) {
	r := open(t, nil)
	testSame(t, func(ctx context.Context, name string, source []byte, h whale.Host) (whale.ReplyRef, error) {
		p, err := r.New(name, source)
		if err != nil {
			return 0, err
		}
		return p.Run(ctx, h)
	})
}

// program makes a harness of a body of run.
func program(t testing.TB, r *Runtime, body string) whale.Harness {
	t.Helper()
	h, err := r.New("h.star", []byte("def run(task, model, env):\n    "+strings.ReplaceAll(body, "\n", "\n    ")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// endless is a program that never ends, under a host that lets it.
const endless = "while True:\n    pass"

func endlessHost() *harnesstest.Host {
	h := harnesstest.Sums()
	h.Limits.Steps = 1 << 62
	return h
}

func TestNew(t *testing.T) {
	r := open(t, nil)
	src := []byte("def run(task, model, env):\n    pass\n")
	h, err := r.New("h.star", src)
	if err != nil {
		t.Fatal(err)
	}
	want, err := star.Load("h.star", src)
	if err != nil {
		t.Fatal(err)
	}
	if h.ID() != want.ID() || h.Language() != whale.LanguageStar || string(h.Source()) != string(src) {
		t.Errorf("got %s %s %q", h.ID(), h.Language(), h.Source())
	}
	var unknown *harness.ExtensionError
	if h, err := r.New("h.txt", src); h != nil || !errors.As(err, &unknown) {
		t.Errorf("h.txt: got %v, %v", h, err)
	}
	var found star.Errors
	if h, err := r.New("h.star", []byte("def run(task):\n    pass\n")); h != nil || !errors.As(err, &found) {
		t.Errorf("a bad program: got %v, %v", h, err)
	}
	file := filepath.Join(t.TempDir(), "x.star")
	if err := os.WriteFile(file, src, 0o600); err != nil {
		t.Fatal(err)
	}
	if h, err := r.Load(file); err != nil || h.ID() != want.ID() {
		t.Errorf("got %v, %v", h, err)
	}
	if _, err := r.Load(filepath.Join(t.TempDir(), "x.star")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
	if r.group != nil {
		t.Error("workers were made before the first episode")
	}
}

func TestOptions(t *testing.T) {
	good := Options{Workers: 1, Concurrency: 1, Memory: testMemory}
	for want, set := range map[string]func(o *Options){
		"workers: got 0, want at least 1":     func(o *Options) { o.Workers = 0 },
		"concurrency: got 0, want at least 1": func(o *Options) { o.Concurrency = 0 },
		"processes: got -1, want at least 1":  func(o *Options) { o.Processes = -1 },
		"memory: got 1 bytes, want ":          func(o *Options) { o.Memory = 1 },
	} {
		o := good
		set(&o)
		if _, err := Open(o); err == nil || !strings.HasPrefix(err.Error(), "harness processes: "+want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Many episodes of several programs share two workers and nothing else.
func TestParallelEpisodes(t *testing.T) {
	r := open(t, nil)
	var programs []whale.Harness
	for i := range 3 {
		programs = append(programs, program(t, r, fmt.Sprintf("print(%d, task.question)\nreply = model.chat([chat.user(task.question)])\nprint(reply.text)\nreturn reply", i)))
	}
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			h := harnesstest.Sums()
			h.View["question"], h.Limits.LogBytes = fmt.Sprint(i), 1<<10
			h.Replies = []harnesstest.Reply{{Text: fmt.Sprint(i * i)}}
			ref, err := programs[i%3].Run(t.Context(), h)
			if err != nil || ref != 1 {
				t.Errorf("got %d, %v", ref, err)
			}
			if want := fmt.Sprintf("%d %d\n%d\n", i%3, i, i*i); h.Log != want {
				t.Errorf("got the log %q, want %q", h.Log, want)
			}
		})
	}
	wg.Wait()
}

// A worker that dies is an incident for its episodes, and the next episode has a new one. The same program alone meets it again.
func TestMemoryBomb(t *testing.T) {
	r := open(t, func(o *Options) { o.Workers = 1; o.Memory = 256 << 20 })
	bomb := program(t, r, `x = "a" * (1 << 20)`+"\nwhile True:\n    x = x + x")
	for _, ctx := range []context.Context{t.Context(), whale.WithAlone(t.Context())} {
		_, err := bomb.Run(ctx, endlessHost())
		var incident *whale.Incident
		if !errors.As(err, &incident) || incident.Reason != whale.FailMemory || strings.Contains(incident.Detail, "\n") {
			t.Errorf("alone %v: got %v, want an incident of memory", whale.IsAlone(ctx), err)
		}
		if ref, err := program(t, r, "return model.chat([chat.user(task.question)])").Run(ctx, harnesstest.Sums()); ref != 1 || err != nil {
			t.Errorf("the next episode: got %d, %v", ref, err)
		}
	}
}

// A neighbour that dies takes no verdict with it: what ran beside it is an incident, or done.
func TestNeighbourOfABomb(t *testing.T) {
	r := open(t, func(o *Options) { o.Workers = 1; o.Memory = 256 << 20 })
	good := program(t, r, "for i in range(4):\n    reply = model.chat([chat.user(task.question)])\nreturn reply")
	bomb := program(t, r, `x = "a" * (1 << 20)`+"\nwhile True:\n    x = x + x")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			ref, err := good.Run(t.Context(), harnesstest.Sums())
			var incident *whale.Incident
			if errors.As(err, &incident) {
				ref, err = good.Run(whale.WithAlone(t.Context()), harnesstest.Sums())
			}
			if ref != 4 || err != nil {
				t.Errorf("got %d, %v", ref, err)
			}
		})
	}
	wg.Go(func() { _, _ = bomb.Run(t.Context(), endlessHost()) })
	wg.Wait()
}

// The end of the context ends an episode at once, even inside an operation that nothing can interrupt, and the runtime goes on.
func TestContextEndsInWorker(t *testing.T) {
	r := open(t, func(o *Options) { o.Workers = 1 })
	for name, body := range map[string]string{"loop": endless, "one operation": `int("9" * (1 << 21))`} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		begin := time.Now()
		_, err := program(t, r, body).Run(ctx, endlessHost())
		took := time.Since(begin)
		cancel()
		if err != context.DeadlineExceeded {
			t.Errorf("%s: got %v, want %v", name, err, context.DeadlineExceeded)
		}
		if took > 3*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
	}
	begin := time.Now()
	for {
		ref, err := program(t, r, "return model.chat([chat.user(task.question)])").Run(t.Context(), harnesstest.Sums())
		var incident *whale.Incident
		if errors.As(err, &incident) && time.Since(begin) < 20*time.Second {
			continue // the worker that was stuck took it along
		}
		if ref != 1 || err != nil {
			t.Errorf("the next episode: got %d, %v", ref, err)
		}
		return
	}
}

// Close does not wait for a program.
func TestCloseWhileRunning(t *testing.T) {
	r := open(t, nil)
	ended := make(chan error, 1)
	started := make(chan struct{})
	h := endlessHost()
	h.Before = func(whale.Request) error { close(started); return nil }
	p := program(t, r, "env.left\n"+endless)
	go func() {
		_, err := p.Run(t.Context(), h)
		ended <- err
	}()
	<-started
	begin := time.Now()
	r.Close()
	if err := <-ended; !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("got %v, want %v", err, sandbox.ErrClosed)
	}
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
	if _, err := p.Run(t.Context(), harnesstest.Sums()); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("after Close: got %v, want %v", err, sandbox.ErrClosed)
	}
}

// Require opens a runtime exactly where every mechanism of a worker is in force.
func TestRequire(t *testing.T) {
	r := open(t, nil)
	all, err := r.Mechanisms(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	missing := ""
	for _, m := range all {
		if !m.InForce && m.Name != sandbox.MechanismBubblewrap {
			missing += m.Name
		}
	}
	required, err := Open(Options{Workers: 1, Concurrency: 1, Memory: testMemory, Require: true})
	if (err == nil) != (missing == "") {
		t.Errorf("got %v with %q missing", err, missing)
	}
	if err != nil {
		return
	}
	defer required.Close()
	if ref, err := program(t, required, "return model.chat([chat.user(task.question)])").Run(t.Context(), harnesstest.Sums()); ref != 1 || err != nil {
		t.Errorf("got %d, %v", ref, err)
	}
}
