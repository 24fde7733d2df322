package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
)

// testStream answers messages of the form "verb argument".
func testStream(ctx context.Context, m Messages) error {
	for {
		msg, err := m.Receive()
		if err != nil {
			return err
		}
		verb, arg, _ := strings.Cut(string(msg), " ")
		n, _ := strconv.Atoi(arg)
		switch verb {
		case "echo":
			err = m.Send([]byte(arg))
		case "end":
			return nil
		case "fail":
			return errors.New(arg)
		case "long":
			err = m.Send(bytes.Repeat([]byte("x"), n))
		case "hoard":
			var keep [][]byte
			for len(keep) < 1<<20 {
				keep = append(keep, bytes.Repeat([]byte("x"), 1<<20))
			}
		case "panic":
			panic(arg)
		case "exit":
			os.Exit(n)
		case "deaf": // does not listen to its context
			if err := m.Send([]byte("on")); err != nil {
				return err
			}
			time.Sleep(time.Duration(n) * time.Millisecond)
			return nil
		case "wait":
			if err := m.Send([]byte("on")); err != nil {
				return err
			}
			<-ctx.Done()
			return context.Cause(ctx)
		case "spin": // takes the processor
			for ctx.Err() == nil {
			}
		case "flood":
			for range n {
				if err = m.Send([]byte("drop")); err != nil {
					break
				}
			}
		case "tell": // speaks first
			err = m.Send([]byte("told"))
		default:
			return fmt.Errorf("unknown verb %q", verb)
		}
		if err != nil {
			return err
		}
	}
}

func newGroup(t testing.TB, change func(*GroupOptions)) *Group {
	t.Helper()
	opt := GroupOptions{Entry: "stream", Memory: 256 << 20, MaxMessage: 1 << 20, Workers: 1, PerWorker: 64}
	if change != nil {
		change(&opt)
	}
	g, err := NewGroup(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func open(t testing.TB, g *Group) *Conn {
	t.Helper()
	c, err := g.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func ask(c *Conn, msg string) (string, error) {
	if err := c.Send([]byte(msg)); err != nil {
		return "", err
	}
	got, err := c.Receive(context.Background())
	return string(got), err
}

// pidOf is the worker of a stream, as the parent knows it.
func pidOf(c *Conn) int { return c.in.proc.cmd.Process.Pid }

func wantEcho(t testing.TB, c *Conn, text string) {
	t.Helper()
	if got, err := ask(c, "echo "+text); err != nil || got != text {
		t.Errorf("got %q, %v, want %q", got, err, text)
	}
}

func wantIncident(t testing.TB, err error, reason whale.FailReason) *whale.Incident {
	t.Helper()
	var i *whale.Incident
	if !errors.As(err, &i) || i.Reason != reason {
		t.Fatalf("got %v, want an incident with reason %q", err, reason)
	}
	if i.Detail == "" || strings.Contains(i.Detail, "\n") {
		t.Errorf("got detail %q, want one line", i.Detail)
	}
	return i
}

func TestStreamEnds(t *testing.T) {
	g := newGroup(t, nil)
	if n := len(pids(&Pool{crew: g.crew})); n != 0 {
		t.Fatalf("got %d workers before the first stream, want none", n)
	}
	c := open(t, g)
	wantEcho(t, c, "hello")
	wantEcho(t, c, "")
	if _, err := ask(c, "end"); err != io.EOF {
		t.Errorf("got %v, want EOF", err)
	}
	if err := c.Send([]byte("echo x")); err != io.EOF {
		t.Errorf("got %v, want EOF", err)
	}
	c = open(t, g)
	var own *EntryError
	if _, err := ask(c, "fail for a reason"); !errors.As(err, &own) || own.Text != "for a reason" {
		t.Errorf("got %v, want an EntryError", err)
	}
	c = open(t, g)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Receive(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
	wantEcho(t, c, "still on")
	c.Close()
	if _, err := ask(c, "echo x"); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	if n := len(pids(&Pool{crew: g.crew})); n != 1 {
		t.Errorf("got %d workers, want 1", n)
	}
}
