package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"testing"
)

// inWorker runs the inside of a worker in this process: what goes into in, comes out of out, and the exit status.
func inWorker(t *testing.T, entry StreamEntry) (in *streamWriter, hangUp func(), out *bufio.Reader, status <-chan int) {
	t.Helper()
	fromParent, toWorker := io.Pipe()
	fromWorker, toParent := io.Pipe()
	t.Cleanup(func() { toWorker.Close(); fromWorker.Close() })
	done := make(chan int, 1)
	go func() { done <- serveStreams(fromParent, toParent, entry, 1000) }()
	return newStreamWriter(toWorker, 1<<20), func() { toWorker.Close() }, bufio.NewReader(fromWorker), done
}

func TestStreamServer(t *testing.T) {
	block := make(chan struct{})
	in, hangUp, out, status := inWorker(t, func(ctx context.Context, m Messages) error {
		err := testStream(ctx, m)
		if err != nil && err.Error() == "block" {
			<-block
		}
		return err
	})
	tell := func(kind byte, stream uint32, text string) {
		t.Helper()
		if err := in.write(streamFrame{kind, stream, []byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(kind byte, stream uint32, text string) {
		t.Helper()
		f, err := readStreamFrame(out, 1000)
		if err != nil || f.kind != kind || f.stream != stream || string(f.payload) != text {
			t.Fatalf("got %q of stream %d with %.40q, %v, want %q of %d with %.40q", f.kind, f.stream, f.payload, err, kind, stream, text)
		}
	}
	tell(streamOpen, 7, "")
	tell(streamMessage, 7, "echo hello")
	want(streamMessage, 7, "hello")
	tell(streamMessage, 8, "echo nobody is there")
	tell(streamCancel, 8, "")
	tell(streamMessage, 7, "end")
	want(streamEnd, 7, "")
	tell(streamMessage, 7, "echo it has ended")
	tell(streamOpen, 9, "")
	tell(streamCancel, 9, "")
	want(streamError, 9, errGivenUp.Error())
	tell(streamOpen, 10, "")
	tell(streamMessage, 10, "fail with words")
	want(streamError, 10, "with words")
	tell(streamOpen, 11, "")
	tell(streamMessage, 11, "fail block")
	hangUp()
	if got := <-status; got != 0 {
		t.Errorf("the parent is gone: got status %d, want 0", got)
	}
	close(block) // only in this process the stream outlives the worker
	want(streamError, 11, "block")
}

func TestStreamServerLongError(t *testing.T) {
	in, hangUp, out, status := inWorker(t, func(context.Context, Messages) error { return fmt.Errorf("%0100000d", 1) })
	if err := in.write(streamFrame{kind: streamOpen, stream: 1}); err != nil {
		t.Fatal(err)
	}
	f, err := readStreamFrame(out, 10)
	if err != nil || f.kind != streamError || len(f.payload) != maxText {
		t.Errorf("got %q with %d bytes, %v, want an error of %d", f.kind, len(f.payload), err, maxText)
	}
	hangUp()
	<-status
}
