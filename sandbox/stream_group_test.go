package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	whale "github.com/seed-095d5d2b/whale"
)

// play is what one stream does in TestStreamSchedules: a sequence of steps, the last of which ends it.
type play struct {
	steps []string
	last  string // end, fail, close, leave (close while an answer is due)
	hurry bool   // its Open has a context that ends at any time
}

func (p play) run(g *Group, name string) error {
	ctx := context.Background()
	if p.hurry {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(len(p.steps))*300*time.Microsecond)
		defer cancel()
	}
	c, err := g.Open(ctx)
	if err != nil {
		if p.hurry && errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		return err
	}
	defer c.Close()
	for i, step := range p.steps {
		want := fmt.Sprint(name, "-", i, step)
		if got, err := ask(c, "echo "+want); err != nil || got != want {
			return fmt.Errorf("echo: got %.40q, %w, want %.40q", got, err, want)
		}
	}
	switch p.last {
	case "end":
		if _, err := ask(c, "end"); err != io.EOF {
			return fmt.Errorf("end: got %w, want EOF", err)
		}
	case "fail":
		_, err := ask(c, "fail "+name)
		var own *EntryError
		if !errors.As(err, &own) || own.Text != name {
			return fmt.Errorf("fail: got %w, want the entry's error %q", err, name)
		}
	case "leave":
		return c.Send([]byte("wait"))
	}
	return nil
}

// Whatever many streams do at the same time, each gets its own answers, and afterwards no place is lost.
func TestStreamSchedules(t *testing.T) {
	groups := map[int]*Group{}
	for _, workers := range []int{1, 2} {
		groups[workers] = newGroup(t, func(o *GroupOptions) { o.Workers, o.PerWorker = workers, 5 })
		groups[workers].recycle = 20
	}
	pads := []string{"", "x", fmt.Sprintf("%5000d", 0), fmt.Sprintf("%70000d", 0)}
	genPlay := rapid.Custom(func(t *rapid.T) play {
		return play{
			steps: rapid.SliceOfN(rapid.SampledFrom(pads), 0, 6).Draw(t, "steps"),
			last:  rapid.SampledFrom([]string{"end", "fail", "close", "leave"}).Draw(t, "last"),
			hurry: rapid.IntRange(0, 4).Draw(t, "hurry") == 0,
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		g := groups[rapid.SampledFrom([]int{1, 2}).Draw(t, "workers")]
		plays := rapid.SliceOfN(genPlay, 1, 24).Draw(t, "plays")
		var wg sync.WaitGroup
		errs := make([]error, len(plays))
		for i, p := range plays {
			wg.Go(func() { errs[i] = p.run(g, fmt.Sprint("stream", i)) })
		}
		wg.Wait()
		for i, err := range errs {
			if err != nil {
				t.Errorf("stream %d: %v", i, err)
			}
		}
		if left := placesTaken(g, 0); left != 0 {
			t.Errorf("got %d places that are still taken, want none", left)
		}
	})
}

// placesTaken waits a while until as many places of a group are taken as are wanted, and returns how many are.
func placesTaken(g *Group, want int) (taken int) {
	for range 1000 {
		taken = 0
		g.mu.Lock()
		for _, m := range g.workers {
			if !m.leaving {
				taken += m.load
			}
			if m.load < 0 || m.load > g.opt.PerWorker {
				taken += 1_000_000
			}
		}
		n := len(g.workers)
		g.mu.Unlock()
		if n > g.opt.Workers {
			return -n
		}
		if taken == want {
			return taken
		}
		time.Sleep(2 * time.Millisecond)
	}
	return taken
}

func TestStreamsShareWorkers(t *testing.T) {
	g := newGroup(t, func(o *GroupOptions) { o.Workers, o.PerWorker = 2, 3 })
	count := map[int]int{}
	for range 6 {
		count[pidOf(open(t, g))]++
	}
	for _, n := range count {
		if n != 3 {
			t.Errorf("got workers with streams %v, want two with three each", count)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	if _, err := g.Open(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a seventh stream: got %v, want the context's error", err)
	}
}

func TestStreamWaitsForAPlace(t *testing.T) {
	g := newGroup(t, func(o *GroupOptions) { o.PerWorker = 1 })
	first := open(t, g)
	wantEcho(t, first, "x")
	order := make(chan int, 3)
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			c, err := g.Open(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			order <- i
			wantEcho(t, c, "y")
			c.Close()
		})
		for waiting := 0; waiting <= i; { // they come in order
			time.Sleep(time.Millisecond)
			g.mu.Lock()
			waiting = len(g.waiting)
			g.mu.Unlock()
		}
	}
	first.Close()
	wg.Wait()
	for want := range 3 {
		if got := <-order; got != want {
			t.Errorf("got stream %d, want %d: first come, first served", got, want)
		}
	}
}

func TestStreamAlone(t *testing.T) {
	g := newGroup(t, nil)
	shared := open(t, g)
	ctx := whale.WithAlone(context.Background())
	seen := map[int]bool{pidOf(shared): true}
	for _, last := range []string{"end", "", "wait", "exit 3"} {
		c, err := g.Open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		wantEcho(t, c, "alone")
		pid := pidOf(c)
		if seen[pid] {
			t.Fatalf("got worker %d, want a fresh one, not of %v", pid, seen)
		}
		seen[pid] = true
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		if _, err := g.Open(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second one alone: got %v, want the context's error", err)
		}
		cancel()
		if last != "" {
			_, err = ask(c, last)
		}
		switch last {
		case "end":
			if err != io.EOF {
				t.Errorf("got %v, want EOF", err)
			}
		case "exit 3":
			wantIncident(t, err, whale.FailWorker)
		}
		c.Close()
		for i := 0; alive(pid); i++ {
			if i > 1000 {
				t.Fatalf("worker %d outlives its only stream", pid)
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
	wantEcho(t, shared, "undisturbed")
}

// An Open that is given up while its worker starts leaves nothing behind.
func TestStreamAloneGivenUpEarly(t *testing.T) {
	g := newGroup(t, nil)
	for range 5 {
		ctx, cancel := context.WithTimeout(whale.WithAlone(context.Background()), time.Millisecond)
		if c, err := g.Open(ctx); err == nil {
			c.Close()
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
		cancel()
	}
	c, err := g.Open(whale.WithAlone(context.Background()))
	if err != nil {
		t.Fatal(err)
	}
	wantEcho(t, c, "x")
	c.Close()
}

func TestStreamWorkersAreReplaced(t *testing.T) {
	g := newGroup(t, nil)
	g.recycle = 3
	var before int
	for i := range 7 {
		c := open(t, g)
		pid := pidOf(c)
		if same := pid == before; i > 0 && same != (i%3 != 0) {
			t.Errorf("stream %d: the worker is the same: got %v", i, same)
		}
		before = pid
		if _, err := ask(c, "end"); err != io.EOF {
			t.Fatal(err)
		}
		// Its place is given back just after the end.
		if left := placesTaken(g, 0); left != 0 {
			t.Fatalf("got %d places that are still taken", left)
		}
	}
}

// An Open that meets a worker that is about to die waits for the next one.
func TestStreamBesideDeath(t *testing.T) {
	g := newGroup(t, nil)
	c := open(t, g)
	c.in.mu.Lock()
	c.in.doomed = true
	c.in.mu.Unlock()
	time.AfterFunc(20*time.Millisecond, func() { c.in.kill(&whale.Incident{Reason: whale.FailWorker, Detail: "by the test"}) })
	again := open(t, g)
	wantEcho(t, again, "x")
	if again.in == c.in {
		t.Error("got the worker that was killed")
	}
	_, err := c.Receive(context.Background())
	wantIncident(t, err, whale.FailWorker)
}

func TestGroupClose(t *testing.T) {
	g := newGroup(t, func(o *GroupOptions) { o.Workers, o.PerWorker, o.Grace = 2, 2, time.Hour })
	var wg sync.WaitGroup
	begun := make(chan struct{}, 10)
	for i := range 7 { // four run, two wait for a place, one runs alone
		wg.Go(func() {
			ctx := context.Background()
			if i == 6 {
				ctx = whale.WithAlone(ctx)
			}
			c, err := g.Open(ctx)
			if err == nil {
				defer c.Close()
				if _, err = ask(c, "deaf 60000"); err != nil {
					t.Errorf("got %v", err)
				}
				begun <- struct{}{}
				_, err = c.Receive(context.Background())
			}
			if !errors.Is(err, ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
		})
	}
	for range 5 {
		<-begun
	}
	ids := pids(&Pool{crew: g.crew})
	start := time.Now()
	g.Close()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("Close took %v", took)
	}
	wg.Wait()
	for _, id := range ids {
		if syscall.Kill(id, 0) == nil && alive(id) {
			t.Errorf("worker %d is still there", id)
		}
	}
	if _, err := g.Open(context.Background()); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	if _, err := g.Open(whale.WithAlone(context.Background())); !errors.Is(err, ErrClosed) {
		t.Errorf("alone: got %v, want ErrClosed", err)
	}
	g.Close()
}

func TestGroupCannotStart(t *testing.T) {
	for name, change := range map[string]func(*GroupOptions){
		"no program":    func(o *GroupOptions) { o.Command = []string{"/does/not/exist"} },
		"not a worker":  func(o *GroupOptions) { o.Command = []string{"/bin/false"} },
		"unknown entry": func(o *GroupOptions) { o.Entry = "nothing" },
		"entry of call": func(o *GroupOptions) { o.Entry = "test" },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, change)
			var wg sync.WaitGroup
			for i := range 4 {
				wg.Go(func() {
					ctx := context.Background()
					if i == 0 {
						ctx = whale.WithAlone(ctx)
					}
					if _, err := g.Open(ctx); !errors.Is(err, ErrStart) {
						t.Errorf("got %v, want ErrStart", err)
					}
				})
			}
			wg.Wait()
		})
	}
}

func TestGroupOptionsRefused(t *testing.T) {
	for name, change := range map[string]func(*GroupOptions){
		"entry": func(o *GroupOptions) { o.Entry = "" }, "memory": func(o *GroupOptions) { o.Memory = MinMemory - 1 },
		"huge memory": func(o *GroupOptions) { o.Memory = 1<<63 - 1 }, "message": func(o *GroupOptions) { o.MaxMessage = 0 },
		"huge message": func(o *GroupOptions) { o.MaxMessage = MaxReply + 1 }, "workers": func(o *GroupOptions) { o.Workers = 0 },
		"per worker": func(o *GroupOptions) { o.PerWorker = 0 }, "alone": func(o *GroupOptions) { o.Alone = -1 },
		"grace": func(o *GroupOptions) { o.Grace = -1 },
	} {
		opt := GroupOptions{Entry: "stream", Memory: 256 << 20, MaxMessage: 1 << 20, Workers: 1, PerWorker: 1}
		change(&opt)
		if g, err := NewGroup(opt); err == nil {
			g.Close()
			t.Errorf("%s: got nil, want an error", name)
		}
	}
}
