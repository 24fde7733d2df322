package sandbox

import (
	"context"
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"
)

// Whatever a worker writes, the parent ends the streams that it ended, keeps no more of the others than it must, and notices
// what no honest worker writes.
func FuzzStreamWorker(f *testing.F) {
	frames := func(all ...streamFrame) (b []byte) {
		for _, one := range all {
			b = one.appendTo(b)
		}
		return b
	}
	msg := streamFrame{streamMessage, 1, []byte("message")}
	f.Add(frames(msg, streamFrame{streamMessage, 2, nil}, streamFrame{streamEnd, 1, nil}, streamFrame{streamError, 2, []byte("why")}))
	f.Add(frames(msg, msg, msg, msg, msg, msg, streamFrame{streamEnd, 1, nil}, msg))
	f.Add(frames(streamFrame{streamMessage, 3, nil}))
	f.Add(frames(streamFrame{streamCancel, 1, nil}))
	f.Add(frames(streamFrame{streamMessage, 2, make([]byte, 60)}, streamFrame{streamMessage, 2, make([]byte, 60)}, msg))
	f.Add([]byte("garbage"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 32<<10 {
			return // more than a pipe takes while nobody reads
		}
		from, to, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		if _, err := to.Write(data); err != nil {
			t.Fatal(err)
		}
		to.Close()
		const limit = 64
		g := &Group{
			crew: &crew{}, recycle: recycleAfter, alone: semaphore.NewWeighted(1),
			opt: GroupOptions{MaxMessage: limit, PerWorker: 2, Workers: 1, Grace: time.Hour},
		}
		m := newStreamWorker(g)
		m.proc, m.out, m.load = &worker{from: from}, newStreamWriter(io.Discard, 1000), 2
		conns := []*Conn{m.add(), m.add()}
		if err := m.read(); err == nil {
			t.Fatal("got no error at the end of the input")
		}
		if m.load != len(m.open) {
			t.Fatalf("got %d places taken, want one for each of %d streams", m.load, len(m.open))
		}
		done, cancel := context.WithCancel(context.Background())
		cancel()
		for _, c := range conns {
			if c.grace != nil {
				c.grace.Stop()
			}
			bytes, n := 0, 0
			for {
				msg, err := c.Receive(done)
				if err != nil {
					if running := m.open[c.id] != nil && c.grace == nil; running != (err == context.Canceled) {
						t.Fatalf("stream %d: running is %v, got %v", c.id, running, err)
					}
					break
				}
				n++
				bytes += len(msg)
			}
			if n > StreamAhead || n > 1 && bytes > limit {
				t.Fatalf("stream %d: %d messages of %d bytes were kept, want at most %d of %d", c.id, n, bytes, StreamAhead, limit)
			}
		}
		if kept := m.kept.Load(); kept != 0 {
			t.Fatalf("got %d bytes that wait, want none", kept)
		}
	})
}
