package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
)

// workerArg is the first argument of a worker. Inheriting it by accident is impossible, unlike an environment variable.
const workerArg = "__worker"

// hello is what a worker is told before the first request.
type hello struct {
	Entry     string `json:"entry"`
	Memory    int64  `json:"memory"`
	Steps     uint64 `json:"steps"`
	MaxOutput int    `json:"max_output"`
}

// Main makes this process a worker if it was started as one: then it serves the named entry until its input ends and exits
// without returning. Otherwise it returns false. Call it at the beginning of main, before anything else opens files or
// starts goroutines.
func Main(entries map[string]Entry) bool {
	if len(os.Args) != 2 || os.Args[1] != workerArg {
		return false
	}
	os.Exit(serve(os.Stdin, os.Stdout, entries))
	return true
}

// serve is the life of a worker. It returns the exit status.
func serve(in io.Reader, out io.Writer, entries map[string]Entry) int {
	entry, lim, err := prepare(in, entries)
	if err != nil {
		// The parent reads this instead of the ready frame; if that fails too it sees the death of the worker.
		_ = writeFrame(out, frameError, []byte(err.Error()))
		return 1
	}
	if err := writeFrame(out, frameReady, nil); err != nil {
		return 1
	}
	for req := range requests(in) {
		if err := answer(out, entry, req, lim); err != nil {
			return 1
		}
	}
	return 0
}

// prepare reads the hello and confines the process, in that order, before anything untrusted comes in.
func prepare(in io.Reader, entries map[string]Entry) (Entry, Limits, error) {
	// One request at a time: more threads would only take turns from the other workers.
	runtime.GOMAXPROCS(1)
	// A crash is reported by its first line; stacks of the interpreter help nobody and can be long.
	debug.SetTraceback("none")
	kind, payload, err := readFrame(in, maxText)
	if err != nil {
		return nil, Limits{}, err
	}
	var h hello
	if kind != frameHello {
		return nil, Limits{}, fmt.Errorf("first frame: got kind %q, want %q", kind, frameHello)
	}
	if err := json.Unmarshal(payload, &h); err != nil {
		return nil, Limits{}, fmt.Errorf("hello: %w", err)
	}
	entry, ok := entries[h.Entry]
	if !ok {
		return nil, Limits{}, fmt.Errorf("unknown entry %q", h.Entry)
	}
	if err := confine(h.Memory); err != nil {
		return nil, Limits{}, err
	}
	// Collect before the kernel says no: garbage must not count as use.
	debug.SetMemoryLimit(h.Memory / 4 * 3)
	return entry, Limits{Steps: h.Steps, MaxOutput: h.MaxOutput}, nil
}

// requests reads ahead in a goroutine of its own, for one purpose: when the parent is gone the input ends, and the
// worker exits even in the middle of a request.
func requests(in io.Reader) <-chan []byte {
	ch := make(chan []byte)
	go func() {
		for {
			kind, payload, err := readFrame(in, maxFrame)
			if err != nil || kind != frameRequest {
				os.Exit(0)
			}
			ch <- payload
		}
	}()
	return ch
}

func answer(out io.Writer, entry Entry, req []byte, lim Limits) error {
	reply, err := entry(context.Background(), req, lim)
	switch {
	case err != nil:
		text := err.Error()
		return writeFrame(out, frameError, []byte(text[:min(len(text), maxText)]))
	case len(reply) > lim.MaxOutput:
		return writeFrame(out, frameOutput, fmt.Appendf(nil, "got %d bytes, want at most %d", len(reply), lim.MaxOutput))
	}
	return writeFrame(out, frameReply, reply)
}
