package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

// corpus gives the lines of a file of testdata, and those of the example of the reference.
func corpus(f *testing.F, file string, host bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		f.Add(bytes.TrimSuffix(line, []byte("\n")))
	}
	for _, line := range exchange() {
		if line.host == host {
			f.Add([]byte(line.text))
		}
	}
}

// What the decoder takes is JSON that every reader understands alike, and stays the same when it is written and read again.
func FuzzDecodeProgram(f *testing.F) {
	corpus(f, "testdata/program.jsonl", false)
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, worker := range []bool{false, true} {
			m, err := decodeProgram(line, worker)
			if err != nil {
				var v *violation
				if !errors.As(err, &v) {
					t.Fatalf("got the error %v of type %T", err, err)
				}
				continue
			}
			if !json.Valid(line) {
				t.Fatalf("took what is no JSON: %q", line)
			}
			if m.kind != TypeRequest && m.kind != TypePrint {
				continue
			}
			if m.check(5) != nil {
				continue
			}
			again, err := appendRequest(nil, max(m.id, 1), m.steps, &m.request)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			second, err := decodeProgram(again, true)
			if err != nil {
				t.Fatalf("%q became %q: %v", line, again, err)
			}
			a, _ := json.Marshal(m.request)
			b, _ := json.Marshal(second.request)
			if !bytes.Equal(a, b) {
				t.Fatalf("%s became %s", a, b)
			}
		}
	})
}

// The worker's side takes no start that the host's side would not write again.
func FuzzDecodeHost(f *testing.F) {
	corpus(f, "testdata/host.jsonl", true)
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := decodeHost(line)
		if err != nil || m.kind != TypeStart {
			return
		}
		again, err := appendStart(nil, m.start, m.program)
		if err != nil {
			t.Fatal(err)
		}
		second, err := decodeHost(again)
		if err != nil {
			t.Fatalf("%q became %q: %v", line, again, err)
		}
		if !reflect.DeepEqual(m, second) {
			t.Fatalf("%+v became %+v", m, second)
		}
	})
}

// bytesTransport gives a program's bytes line by line, without goroutines.
type bytesTransport struct {
	lines  [][]byte
	sent   int
	closed bool
}

func (b *bytesTransport) Send(m []byte) error {
	if bytes.IndexByte(m, '\n') >= 0 || !json.Valid(m) {
		panic("sent what is no line: " + string(m))
	}
	b.sent++
	return nil
}

func (b *bytesTransport) Receive(context.Context) ([]byte, error) {
	if len(b.lines) == 0 {
		return nil, io.EOF
	}
	line := b.lines[0]
	b.lines = b.lines[1:]
	return line, nil
}

func (b *bytesTransport) Close() { b.closed = true }

// Whatever a program writes, its episode ends: with an answer that is a reply of it, or a failure with a reason of the closed set.
func FuzzServe(f *testing.F) {
	data, err := os.ReadFile("testdata/episodes.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, episode := range bytes.Split(data, []byte("\n---\n")) {
		f.Add(episode)
	}
	legal := map[whale.FailReason]bool{
		whale.FailProtocol: true, whale.FailContract: true, whale.FailAnswer: true, whale.FailProgram: true, whale.FailModelCalls: true,
		whale.FailToolCalls: true, whale.FailTokens: true, whale.FailMessageBytes: true,
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		begin := time.Now()
		h := harnesstest.Sums()
		transport := &bytesTransport{lines: bytes.Split(data, []byte("\n"))}
		ref, err := serve(t.Context(), transport, h, session{name: "h.py"})
		var failed *whale.HarnessError
		switch {
		case err == nil && (ref < 0 || int(ref) > h.Usage.ModelCalls):
			t.Fatalf("answered %d of %d", ref, h.Usage.ModelCalls)
		case err != nil && !errors.As(err, &failed):
			t.Fatalf("got the error %v, want a failure", err)
		case err != nil && (!legal[failed.Failure.Reason] || ref != 0):
			t.Fatalf("got %d, %v", ref, failed.Failure)
		case !transport.closed:
			t.Fatal("the transport stays open")
		case time.Since(begin) > 10*time.Second:
			t.Fatalf("it took %v", time.Since(begin))
		}
	})
}

// Lines come whole and bounded, however they are cut.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nbc\n\nlong line\n"), 5)
	f.Add([]byte("no newline"), 64)
	f.Add([]byte("\r\n\n"), 1)
	f.Fuzz(func(t *testing.T, data []byte, most int) {
		most = 1 + (most&0xff+256)%256
		l := newLines(io.NopCloser(bytes.NewReader(data)), discard{}, most)
		defer func() { l.Close(); <-l.read }()
		rest := data
		for {
			line, err := l.Receive(t.Context())
			if err == nil {
				if len(line) > most || !bytes.HasPrefix(rest, append(bytes.Clone(line), '\n')) {
					t.Fatalf("got the line %q of %q", line, rest)
				}
				rest = rest[len(line)+1:]
				continue
			}
			next, _, ok := bytes.Cut(rest, []byte("\n"))
			switch {
			case err == io.EOF && len(rest) == 0:
			case err == io.ErrUnexpectedEOF && len(rest) > 0 && !ok:
			case err == errTooLong && len(next) > most:
			default:
				t.Fatalf("got %v with %q left", err, rest)
			}
			return
		}
	})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }
