package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// Frames of many goroutines arrive whole, and those of each in order, however slowly the other side reads.
func TestStreamWriter(t *testing.T) {
	for _, waits := range []bool{true, false} {
		t.Run(fmt.Sprint("waits=", waits), func(t *testing.T) {
			r, to, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			w := newStreamWriter(to, 1000)
			var spawned sync.WaitGroup
			if !waits {
				w.limit, w.try = 100<<20, nowWriter(to)
				w.spawn = func(f func()) bool { spawned.Go(f); return true }
			}
			const streams, each = 20, 30
			size := func(stream uint32, n int) int { return (int(stream)*7919 + n*104729) % 20_000 }
			var wg sync.WaitGroup
			for i := range streams {
				wg.Go(func() {
					for n := range each {
						stream := uint32(i)
						payload := bytes.Repeat([]byte{byte(n)}, size(stream, n))
						if err := w.write(streamFrame{kind: streamMessage, stream: stream, payload: payload}); err != nil {
							t.Error(err)
						}
					}
				})
			}
			in := bufio.NewReader(r)
			next := map[uint32]int{}
			for i := range streams * each {
				f, err := readStreamFrame(in, 20_000)
				if err != nil {
					t.Fatal(err)
				}
				n := next[f.stream]
				if len(f.payload) != size(f.stream, n) || strings.Trim(string(f.payload), string(rune(n))) != "" {
					t.Fatalf("stream %d, frame %d: got another", f.stream, n)
				}
				next[f.stream]++
				if i%100 == 0 {
					time.Sleep(time.Millisecond)
				}
			}
			wg.Wait()
			spawned.Wait()
			to.Close()
			if _, err := readStreamFrame(in, 0); err != io.EOF {
				t.Errorf("got %v, want nothing more", err)
			}
			if err := w.write(streamFrame{kind: streamEnd}); err == nil {
				t.Error("after the end: got no error")
			}
		})
	}
}

func FuzzReadStreamFrame(f *testing.F) {
	for _, frame := range []streamFrame{
		{kind: streamOpen, stream: 1}, {kind: streamMessage, stream: 1, payload: []byte("hello")}, {kind: streamCancel, stream: 1<<32 - 1},
		{kind: streamEnd, stream: 2}, {kind: streamError, stream: 3, payload: []byte("why")}, {kind: streamEnd, payload: []byte("too much")},
		{kind: streamMessage, payload: make([]byte, 65)}, {kind: 'z'},
	} {
		f.Add(frame.appendTo(nil))
	}
	f.Add([]byte{0, 0, 0, 4, streamMessage, 0, 0, 0, 1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, streamMessage, 0, 0, 0, 1})
	f.Add(append(streamFrame{kind: streamMessage, stream: 9, payload: []byte("a")}.appendTo(nil), streamFrame{kind: streamEnd, stream: 9}.appendTo(nil)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 64
		r := bufio.NewReaderSize(bytes.NewReader(data), 16)
		at := 0
		for {
			frame, err := readStreamFrame(r, limit)
			if err != nil {
				var bad *badFrame
				if err == io.EOF && at != len(data) || errors.As(err, &bad) && at+streamHeader > len(data) {
					t.Fatalf("after %d of %d bytes: got %v", at, len(data), err)
				}
				return
			}
			if frame.kind == streamMessage && len(frame.payload) > limit || frame.kind != streamMessage && frame.kind != streamError && len(frame.payload) > 0 {
				t.Fatalf("frame of kind %q: got %d bytes", frame.kind, len(frame.payload))
			}
			again := frame.appendTo(nil)
			if !bytes.HasPrefix(data[at:], again) {
				t.Fatalf("frame %q became %q", data[at:], again)
			}
			at += len(again)
		}
	})
}
