package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
)

// A round trip of a message of 200 bytes, from one goroutine and from many at once.
func BenchmarkStreamRoundTrip(b *testing.B) {
	for _, streams := range []int{1, 64} {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) {
			g := newGroup(b, func(o *GroupOptions) { o.Workers = 1 })
			conns := make([]*Conn, streams)
			for i := range conns {
				conns[i] = open(b, g)
				wantEcho(b, conns[i], "warm")
			}
			msg := append([]byte("echo "), make([]byte, 195)...)
			b.ResetTimer()
			var left atomic.Int64
			left.Store(int64(b.N))
			done := make(chan error, streams)
			for _, c := range conns {
				go func() { done <- pingUntil(c, msg, &left) }()
			}
			for range conns {
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func pingUntil(c *Conn, msg []byte, left *atomic.Int64) error {
	for left.Add(-1) >= 0 {
		if err := c.Send(msg); err != nil {
			return err
		}
		if _, err := c.Receive(context.Background()); err != nil {
			return err
		}
	}
	return nil
}

// The life of a stream with one message: open, ask, end.
func BenchmarkStreamLife(b *testing.B) {
	for _, streams := range []int{1, 32} {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) {
			g := newGroup(b, func(o *GroupOptions) { o.Workers = 2 })
			wantEcho(b, open(b, g), "warm")
			b.ResetTimer()
			var left atomic.Int64
			left.Store(int64(b.N))
			done := make(chan error, streams)
			for range streams {
				go func() {
					for left.Add(-1) >= 0 {
						if err := oneLife(g); err != nil {
							done <- err
							return
						}
					}
					done <- nil
				}()
			}
			for range streams {
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func oneLife(g *Group) error {
	c, err := g.Open(context.Background())
	if err != nil {
		return err
	}
	defer c.Close()
	if got, err := ask(c, "echo x"); err != nil || got != "x" {
		return fmt.Errorf("got %q, %w", got, err)
	}
	if _, err := ask(c, "end"); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
