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
	// Streams says that the entry is a [StreamEntry]; then Steps and MaxOutput mean nothing.
	Streams    bool `json:"streams,omitempty"`
	MaxMessage int  `json:"max_message,omitempty"`
}

// Entries are what the workers of a program can do, by name.
type Entries struct {
	Calls   map[string]Entry       // for a [Pool]
	Streams map[string]StreamEntry // for a [Group]
}

// Main makes this process a worker if it was started as one: then it serves the named entry until its input ends and exits
// without returning. Otherwise it returns false. Call it at the beginning of main, before anything else opens files or
// starts goroutines.
func Main(entries Entries) bool {
	if len(os.Args) > 3 && os.Args[1] == commandArg {
		fmt.Fprintln(os.Stderr, "sandbox:", becomeCommand(os.Args))
		os.Exit(1)
	}
	s, ok, err := workerStage(os.Args)
	if !ok {
		return false
	}
	if err == nil {
		err = enter(s)
	}
	if err != nil {
		_ = writeFrame(os.Stdout, frameError, []byte(err.Error())) // as in serve
		os.Exit(1)
	}
	os.Exit(serve(pollable(os.Stdin), pollable(os.Stdout), entries, s))
	return true
}

// serve is the life of a worker. It returns the exit status.
func serve(in io.Reader, out io.Writer, entries Entries, s stage) int {
	h, ready, err := prepare(in, entries, s)
	if err != nil {
		// The parent reads this instead of the ready frame; if that fails too it sees the death of the worker.
		_ = writeFrame(out, frameError, []byte(err.Error()))
		return 1
	}
	if err := writeFrame(out, frameReady, ready); err != nil {
		return 1
	}
	if h.Streams {
		return serveStreams(in, out, entries.Streams[h.Entry], h.MaxMessage)
	}
	entry, lim := entries.Calls[h.Entry], Limits{Steps: h.Steps, MaxOutput: h.MaxOutput}
	for req := range requests(in) {
		if err := answer(out, entry, req, lim); err != nil {
			return 1
		}
	}
	return 0
}

// prepare reads the hello and confines the process, in that order, before anything untrusted comes in. ready is what the parent is told.
func prepare(in io.Reader, entries Entries, s stage) (h hello, ready []byte, err error) {
	// The requests of a worker take turns: more threads would only take them from the other workers.
	runtime.GOMAXPROCS(1)
	// A crash is reported by its first line; stacks of the interpreter help nobody and can be long.
	debug.SetTraceback("none")
	kind, payload, err := readFrame(in, maxText)
	if err != nil {
		return h, nil, err
	}
	if kind != frameHello {
		return h, nil, fmt.Errorf("first frame: got kind %q, want %q", kind, frameHello)
	}
	if err := json.Unmarshal(payload, &h); err != nil {
		return h, nil, fmt.Errorf("hello: %w", err)
	}
	known := entries.Calls[h.Entry] != nil || h.Entry == probeEntry
	if h.Streams {
		known = entries.Streams[h.Entry] != nil
	}
	if !known {
		return h, nil, fmt.Errorf("unknown entry %q", h.Entry)
	}
	mechanisms, err := confine(s, h.Memory)
	if err != nil {
		return h, nil, err
	}
	// Collect before the kernel says no: garbage must not count as use.
	debug.SetMemoryLimit(h.Memory / 4 * 3)
	ready, err = json.Marshal(mechanisms)
	return h, ready, err
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
