package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
)

func TestStreamsOfAKilledWorker(t *testing.T) {
	g := newGroup(t, func(o *GroupOptions) { o.Workers, o.PerWorker = 2, 8 })
	byPid := map[int][]*Conn{}
	var victim int
	for range 16 {
		c := open(t, g)
		wantEcho(t, c, "x")
		pid := pidOf(c)
		byPid[pid] = append(byPid[pid], c)
		victim = pid
	}
	if len(byPid) != 2 {
		t.Fatalf("got %d workers, want 2", len(byPid))
	}
	ends := make(chan error, 16)
	for _, c := range byPid[victim] {
		if got, err := ask(c, "wait"); err != nil || got != "on" {
			t.Fatalf("got %q, %v", got, err)
		}
		go func() {
			_, err := c.Receive(context.Background())
			ends <- err
		}()
	}
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range byPid[victim] {
		i := wantIncident(t, <-ends, whale.FailWorker)
		if !strings.Contains(i.Detail, "killed") {
			t.Errorf("got detail %q, want the signal", i.Detail)
		}
	}
	for pid, conns := range byPid {
		for _, c := range conns {
			if pid != victim {
				wantEcho(t, c, "undisturbed")
			} else if err := c.Send([]byte("echo x")); err == nil {
				t.Error("sending to a dead worker: got no error")
			}
		}
	}
	c := open(t, g) // in a new worker
	wantEcho(t, c, "x")
	if pid := pidOf(c); byPid[pid] != nil {
		t.Errorf("got worker %d, want a new one", pid)
	}
}

func TestStreamBombs(t *testing.T) {
	g := newGroup(t, func(o *GroupOptions) { o.PerWorker = 51 })
	for _, c := range []struct {
		msg    string
		reason whale.FailReason
		detail string
	}{
		{"hoard", whale.FailMemory, "memory"}, {"panic with words", whale.FailWorker, "with words"}, {"exit 3", whale.FailWorker, "3"},
	} {
		t.Run(c.msg, func(t *testing.T) {
			good := make([]*Conn, 50)
			for i := range good {
				good[i] = open(t, g)
				wantEcho(t, good[i], "before")
			}
			bomb := open(t, g)
			_, err := ask(bomb, c.msg)
			if i := wantIncident(t, err, c.reason); !strings.Contains(i.Detail, c.detail) && !raceDetector { // which has words of its own
				t.Errorf("got detail %q, want one with %q", i.Detail, c.detail)
			}
			for _, n := range good {
				_, err := n.Receive(context.Background())
				wantIncident(t, err, c.reason)
			}
			// The good ones finish when they are opened again, and the bomb alone ends the same way.
			var wg sync.WaitGroup
			for range good {
				wg.Go(func() {
					again := open(t, g)
					wantEcho(t, again, "after")
					if _, err := ask(again, "end"); err != io.EOF {
						t.Errorf("got %v, want EOF", err)
					}
				})
			}
			alone, err := g.Open(whale.WithAlone(context.Background()))
			if err != nil {
				t.Fatal(err)
			}
			defer alone.Close()
			_, err = ask(alone, c.msg)
			wantIncident(t, err, c.reason)
			wg.Wait()
		})
	}
}

func TestStreamGivenUp(t *testing.T) {
	g := newGroup(t, func(o *GroupOptions) { o.Grace = time.Second })
	beside := open(t, g)
	wantEcho(t, beside, "x")
	// One that listens ends, and its neighbours do not notice.
	c := open(t, g)
	if got, err := ask(c, "wait"); err != nil || got != "on" {
		t.Fatalf("got %q, %v", got, err)
	}
	received := make(chan error)
	go func() {
		_, err := c.Receive(context.Background())
		received <- err
	}()
	c.Close()
	if err := <-received; !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	if n := placesTaken(g, 1); n != 1 {
		t.Errorf("got %d places that are taken, want that of the neighbour", n)
	}
	c.in.mu.Lock()
	if c.grace == nil || c.grace.Stop() {
		t.Error("the clock of its grace goes on")
	}
	c.in.mu.Unlock()
	// One that does not is killed, and the others with it.
	c = open(t, g)
	if got, err := ask(c, "deaf 60000"); err != nil || got != "on" {
		t.Fatalf("got %q, %v", got, err)
	}
	start := time.Now()
	c.Close()
	wantEcho(t, beside, "still on") // Close does not wait
	_, err := beside.Receive(context.Background())
	if i := wantIncident(t, err, whale.FailWorker); !strings.Contains(i.Detail, "given up") {
		t.Errorf("got detail %q, want the reason", i.Detail)
	}
	if took := time.Since(start); took < time.Second {
		t.Errorf("killed after %v, want the grace", took)
	}
	wantEcho(t, open(t, g), "a new worker")
}

// A stream that nobody reads, or that sends without being asked, harms no other.
func TestStreamFloods(t *testing.T) {
	g := newGroup(t, func(o *GroupOptions) { o.Grace = 5 * time.Second })
	beside, slow, flood, long := open(t, g), open(t, g), open(t, g), open(t, g)
	for range StreamAhead {
		if err := slow.Send([]byte("tell")); err != nil {
			t.Fatal(err)
		}
	}
	if err := flood.Send([]byte("flood 1000")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // together longer than a message may be
		if err := long.Send([]byte("long 600000")); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 {
		wantEcho(t, beside, "undisturbed")
	}
	for range StreamAhead {
		if got, err := slow.Receive(context.Background()); err != nil || string(got) != "told" {
			t.Errorf("got %q, %v, want what it told", got, err)
		}
	}
	wantEcho(t, slow, "good as ever")
	for name, c := range map[string]*Conn{"many": flood, "long": long} {
		var err error
		for n := 0; err == nil; n++ {
			if n > StreamAhead {
				t.Fatalf("%s: got %d messages, want at most %d", name, n, StreamAhead)
			}
			_, err = c.Receive(context.Background())
		}
		wantIncident(t, err, whale.FailWorker)
	}
	// The other way round it is the worker that says no.
	c := open(t, g)
	if got, err := ask(c, "wait"); err != nil || got != "on" {
		t.Fatalf("got %q, %v", got, err)
	}
	for range StreamAhead + 1 {
		if err := c.Send([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	var own *EntryError
	if _, err := c.Receive(context.Background()); !errors.As(err, &own) {
		t.Errorf("got %v, want an EntryError", err)
	}
	wantEcho(t, beside, "undisturbed")
}

// What all streams of a worker may leave unread is bounded too, and whoever exceeds it breaks alone.
func TestStreamBudget(t *testing.T) {
	const limit, length, streams = 8 << 20, 7 << 20, 4
	g := newGroup(t, func(o *GroupOptions) { o.MaxMessage, o.PerWorker = limit, streams })
	if got, want := g.budget(), streams<<20+2*limit; got != want {
		t.Fatalf("got a budget of %d, want %d", got, want)
	}
	conns := make([]*Conn, streams)
	for i := range conns {
		conns[i] = open(t, g)
		wantEcho(t, conns[i], "x")
	}
	for _, c := range conns[:3] { // two fit
		if err := c.Send([]byte(fmt.Sprint("long ", length))); err != nil {
			t.Fatal(err)
		}
	}
	broken := 0
	for _, c := range conns[:3] {
		for { // until it has arrived or is broken
			c.mu.Lock()
			arrived, end := len(c.queue), c.end
			c.mu.Unlock()
			if end != nil {
				wantIncident(t, end, whale.FailWorker)
				broken++
			}
			if arrived > 0 || end != nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	if broken != 1 {
		t.Errorf("got %d broken streams of 3, want 1", broken)
	}
	for _, c := range conns[:3] {
		if got, err := c.Receive(context.Background()); err == nil && len(got) != length {
			t.Errorf("got %d bytes, want %d", len(got), length)
		}
	}
	wantEcho(t, conns[3], "undisturbed")
	if got := conns[3].in.kept.Load(); got != 0 {
		t.Errorf("got %d bytes that wait, want none", got)
	}
}

func TestStreamMessageBounds(t *testing.T) {
	g := newGroup(t, func(o *GroupOptions) { o.MaxMessage = 300_000 })
	var wg sync.WaitGroup
	for range 8 { // longer than a pipe takes at once
		wg.Go(func() {
			c := open(t, g)
			for range 5 {
				text := strings.Repeat("long", 70_000)
				if got, err := ask(c, "echo "+text); err != nil || got != text {
					t.Errorf("got %d bytes, %v, want %d", len(got), err, len(text))
				}
			}
		})
	}
	wg.Wait()
	c := open(t, g)
	if err := c.Send(make([]byte, 300_001)); err == nil {
		t.Error("a message too long: got no error")
	}
	wantEcho(t, c, "fine")
	var own *EntryError
	if _, err := ask(c, "long 300001"); !errors.As(err, &own) {
		t.Errorf("got %v, want an EntryError", err)
	}
}

// A stream that takes the processor makes its neighbours slow and nothing else.
func TestStreamBesideABusyOne(t *testing.T) {
	g := newGroup(t, nil)
	busy, beside := open(t, g), open(t, g)
	wantEcho(t, beside, "x")
	if err := busy.Send([]byte("spin")); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for range 5 {
		wantEcho(t, beside, "x")
	}
	t.Logf("a round trip beside it: %v", time.Since(start)/5)
	busy.Close()
	if n := placesTaken(g, 1); n != 1 {
		t.Errorf("got %d places that are taken, want that of the other", n)
	}
	wantEcho(t, beside, "undisturbed")
}

// hostileWorker greets like a good one and then does what a worker might do that was taken over.
func hostileWorker(how string) {
	if _, _, err := readFrame(os.Stdin, maxText); err != nil {
		os.Exit(1)
	}
	_ = writeFrame(os.Stdout, frameReady, []byte("[]")) // with no mechanism in force
	send := func(f streamFrame) { _, _ = os.Stdout.Write(f.appendTo(nil)) }
	first, err := readStreamFrame(bufio.NewReader(os.Stdin), 1<<20)
	if err != nil {
		os.Exit(1)
	}
	switch how {
	case "garbage":
		_, _ = os.Stdout.WriteString("not a frame at all, but long enough to be taken for one")
	case "oversize":
		_, _ = os.Stdout.Write([]byte{0xff, 0xff, 0xff, 0xff, streamMessage, 0, 0, 0, 1})
	case "undersize":
		_, _ = os.Stdout.Write([]byte{0, 0, 0, 4, streamMessage, 0, 0, 0, 1})
	case "stranger":
		send(streamFrame{kind: streamMessage, stream: first.stream + 1000, payload: []byte("for somebody else")})
	case "twice":
		send(streamFrame{kind: streamEnd, stream: first.stream})
		send(streamFrame{kind: streamEnd, stream: first.stream})
	case "opens":
		send(streamFrame{kind: streamOpen, stream: first.stream})
	case "close":
		os.Stdout.Close()
	case "cut":
		_, _ = os.Stdout.Write([]byte{0, 0, 0, 100, streamMessage, 0, 0, 0, 1, 'x'})
		os.Stdout.Close()
	case "flood":
		for {
			send(streamFrame{kind: streamMessage, stream: first.stream, payload: bytes.Repeat([]byte("x"), 1000)})
		}
	case "mute": // and deaf
	}
	time.Sleep(time.Minute)
	os.Exit(0)
}

func TestHostileWorkers(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"garbage", "oversize", "undersize", "stranger", "twice", "opens", "close", "cut", "flood", "mute"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			g := newGroup(t, func(o *GroupOptions) {
				o.Command, o.PerWorker, o.Grace = []string{self, "__hostile", how}, 3, 200*time.Millisecond
			})
			first, beside := open(t, g), open(t, g)
			err := first.Send([]byte("x"))
			if err != nil {
				t.Fatal(err)
			}
			switch how {
			case "mute": // a worker that does not read must not hold its parent
				start := time.Now()
				for err == nil {
					err = first.Send(make([]byte, 1<<20))
				}
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("sending took %v", took)
				}
				if i := wantIncident(t, err, whale.FailWorker); !strings.Contains(i.Detail, "does not read") {
					t.Errorf("got detail %q, want the reason", i.Detail)
				}
			case "twice":
				if _, err := first.Receive(context.Background()); err != io.EOF {
					t.Errorf("got %v, want EOF", err)
				}
			case "flood": // only that stream, until it does not end
				for err == nil {
					_, err = first.Receive(context.Background())
				}
				wantIncident(t, err, whale.FailWorker)
			default:
				_, err := first.Receive(context.Background())
				wantIncident(t, err, whale.FailWorker)
			}
			_, err = beside.Receive(context.Background())
			i := wantIncident(t, err, whale.FailWorker)
			t.Log(i.Detail)
			if n := placesTaken(g, 0); n != 0 {
				t.Errorf("got %d places that are still taken", n)
			}
		})
	}
}
