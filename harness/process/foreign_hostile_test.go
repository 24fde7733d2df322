package process

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

// raw stands before the programs below: it gives them the pipes that the library keeps away from programs.
const raw = `import os, sys, time, json as J, whale
E = whale._episode
W = E.sink
def send(b):
    b = b if isinstance(b, bytes) else b.encode()
    while b:
        b = b[os.write(W, b):]
def line(x):
    send(J.dumps(x) + "\n")
def read():
    return J.loads(E.source.readline())
ASK = {"type": "request", "id": 1, "op": "chat", "messages": [{"role": "user", "content": "a"}]}
def run(task, model, env):
`

// hostile are programs that break the protocol, or try to get out of their process. Each must end for the reason that is written beside it.
var hostile = []struct {
	name, body string
	reason     whale.FailReason
	detail     string
}{
	{"garbage", `send("hello\n"); time.sleep(9)`, whale.FailProtocol, "message 1: "},
	{"an empty line", `send("\n"); time.sleep(9)`, whale.FailProtocol, "message 1: "},
	{"binary garbage", `send(bytes(range(256)) + b"\n"); time.sleep(9)`, whale.FailProtocol, "message 1: "},
	{"invalid UTF-8", `send(b'{"type":"print","text":"\xff\xfe"}\n'); time.sleep(9)`, whale.FailProtocol, "UTF-8"},
	{"an overlong encoding", `send(b'{"type":"print","text":"\xc0\x80"}\n'); time.sleep(9)`, whale.FailProtocol, "UTF-8"},
	{"half of a surrogate pair", `send('{"type":"print","text":"\\ud800"}\n'); time.sleep(9)`, whale.FailProtocol, "surrogate"},
	{"a raw control character", `send(b'{"type":"print","text":"\x01"}\n'); time.sleep(9)`, whale.FailProtocol, "0x01"},
	{"a line that is no object", `send("[1]\n"); time.sleep(9)`, whale.FailProtocol, "want an object"},
	{"half a line, then the end", `send('{"type":"ans'); os._exit(0)`, whale.FailProtocol, "end of the pipe"},
	{"an answer without a newline", `send('{"type":"answer","reply":null}'); os._exit(0)`, whale.FailProtocol, "end of the pipe"},
	{"a line of 100 MB", "for _ in range(100): send(b'x' * 1000000)\n    time.sleep(9)", whale.FailProtocol, "too long"},
	{"a message of 100 MB", "send('{\"type\":\"print\",\"text\":\"')\n    for _ in range(100): send('x' * 1000000)\n    time.sleep(9)", whale.FailProtocol, "too long"},
	{"deep nesting", `send('{"type":"request","id":1,"op":"tool","name":"t","args":{"x":' + "[" * 100000 + "]" * 100000 + "}}\n"); time.sleep(9)`, whale.FailProtocol, "nested deeper"},
	{"a number of a million digits", `send('{"type":"request","id":1,"op":"tool","name":"t","args":{"x":' + "1" * 1000000 + "}}\n"); time.sleep(9)`, whale.FailProtocol, "want at most 1000"},
	{"an infinite number", `send('{"type":"request","id":1,"op":"tool","name":"t","args":{"x":1e999}}\n'); time.sleep(9)`, whale.FailProtocol, "number"},
	{"NaN", `send('{"type":"request","id":1,"op":"tool","name":"t","args":{"x":NaN}}\n'); time.sleep(9)`, whale.FailProtocol, "message 1: "},
	{"two messages on a line", `send('{"type":"print","text":"a"}{"type":"answer","reply":null}\n'); time.sleep(9)`, whale.FailProtocol, "after the message"},
	{"an unknown type", `line({"type": "sudo"}); time.sleep(9)`, whale.FailProtocol, "message 1: "},
	{"the host's type", `line({"type": "response", "id": 1}); time.sleep(9)`, whale.FailProtocol, "message 1: "},
	{"a worker's type", `line({"type": "need"}); time.sleep(9)`, whale.FailProtocol, "message 1: "},
	{"an unknown operation", `line({"type": "request", "id": 1, "op": "verify"}); time.sleep(9)`, whale.FailProtocol, "verify"},
	{"an unknown field", `line({**ASK, "temperature": 0}); time.sleep(9)`, whale.FailProtocol, "temperature"},
	{"a field given twice", `send('{"type":"answer","reply":1,"reply":null}\n'); time.sleep(9)`, whale.FailProtocol, "twice"},
	{"a field of another type", `line({**ASK, "messages": "a"}); time.sleep(9)`, whale.FailProtocol, "want a list"},
	{"steps of its own", `line({**ASK, "steps": 1}); time.sleep(9)`, whale.FailProtocol, "steps"},
	{"an id too high", `line({**ASK, "id": 2}); time.sleep(9)`, whale.FailProtocol, "id 2, want 1"},
	{"an id twice", `line(ASK); line(ASK); time.sleep(9)`, whale.FailProtocol, "id 1, want 2"},
	{"an id below one", `line({**ASK, "id": 0}); time.sleep(9)`, whale.FailProtocol, "message 1: "},
	{"a huge id", `line({**ASK, "id": 10**30}); time.sleep(9)`, whale.FailProtocol, "message 1: "},
	{"an exit without an answer", `os._exit(0)`, whale.FailProtocol, "end of the pipe"},
	{"an exit in disorder", `sys.stderr.write("FooError: it broke\n"); os._exit(7)`, whale.FailProgram, "status 7: FooError: it broke"},
	{"a failure for a limit that the host counts", `line({"type": "failure", "reason": "limit:steps", "detail": "x"}); time.sleep(9)`, whale.FailProtocol, "limit:steps"},
	{"a failure as infrastructure", `line({"type": "failure", "reason": "error", "detail": "x"}); time.sleep(9)`, whale.FailProtocol, "reason"},
	{"a forged answer", `line({"type": "answer", "reply": 1}); time.sleep(9)`, whale.FailAnswer, "reply 1, the episode has 0"},
	{"a negative answer", `line({"type": "answer", "reply": -1}); time.sleep(9)`, whale.FailAnswer, "the number -1"},
	{"a fractional answer", `line({"type": "answer", "reply": 1.5}); time.sleep(9)`, whale.FailAnswer, "the number 1.5"},
	{"an answer of text", `line({"type": "answer", "reply": "five"}); time.sleep(9)`, whale.FailAnswer, "a string"},
	{"a forged reply in messages", `line({**ASK, "messages": [{"role": "assistant", "reply": 1}]}); time.sleep(9)`, whale.FailContract, "reply: got 1, the episode has 0"},
	{"a reply with words of its own", `line(ASK); read(); line({**ASK, "id": 2, "messages": [{"role": "assistant", "reply": 1, "content": "b"}]}); time.sleep(9)`, whale.FailContract, "reply with content"},
	{"a reply object of its own making", `return whale.Reply(99, {"text": "x"})`, whale.FailAnswer, "reply 99, the episode has 0"},
	{"a reply with another number", "r = model.chat([chat.user('a')]); object.__setattr__(r, '_ref', 7); return r", whale.FailAnswer, "reply 7, the episode has 1"},
	{"writes to its own input", "os.write(E.source.fileno(), b'x')", whale.FailProgram, "OSError"},
	{"writes to descriptor 0", "os.write(0, b'x')", whale.FailProgram, "OSError"},
	{"exit", `sys.exit(0)`, whale.FailProgram, "the program left by exit"},
	{"an interrupt", `raise KeyboardInterrupt`, whale.FailProgram, "KeyboardInterrupt"},
	{"endless recursion", `return run(task, model, env)`, whale.FailProgram, "RecursionError"},
	{"an exception that cannot be shown", "class X(BaseException):\n        def __str__(self): raise self\n    raise X()", whale.FailProgram, "X: "},
	{"input", `input()`, whale.FailProgram, "EOFError"},
	{"a socket", "import socket; socket.create_connection(('127.0.0.1', 80))", whale.FailProgram, "PermissionError"},
	{"a subprocess", "import subprocess; subprocess.run(['/usr/bin/true'])", whale.FailProgram, "Error"},
	{"a fork", `os.fork()`, whale.FailProgram, "Error"},
	{"a bomb of forks", "while True: os.fork()", whale.FailProgram, "Error"},
	{"a bomb of threads", "import threading\n    while True: threading.Thread(target=time.sleep, args=(1e6,)).start()", whale.FailProgram, "can't start new thread"},
	{"a bomb of files", "n = 0\n    while True:\n        n += 1\n        open('/tmp/%d' % n, 'w').close()", whale.FailProgram, "OSError"},
	{"a full disk", "f = open('/tmp/x', 'wb')\n    while True: f.write(b'x' * 1000000)", whale.FailProgram, "OSError"},
	{"the home of the user", `open(os.path.expanduser('~/x'), 'w')`, whale.FailProgram, "Error"},
	{"other processes", `os.kill(os.getppid(), 9) or os.kill(1, 9); open('/proc/1/environ').read()`, "", ""},
}

// Whatever a program sends, its episode ends at once and for the reason that fits.
func TestHostilePrograms(t *testing.T) {
	r := open(t, func(o *Options) { o.Processes = 4 })
	needs(t, r, whale.LanguagePython)
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := ungated(t, r, "hostile.py", []byte(raw+"    "+tt.body+"\n"))
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
			defer cancel()
			answer, err := h.Run(ctx, &harnesstest.Host{Replies: []harnesstest.Reply{{Text: "one"}}})
			var failed *whale.HarnessError
			switch {
			case tt.reason == "" && err == nil:
				t.Errorf("answered %d, want anything but that", answer)
			case tt.reason == "":
			case !errors.As(err, &failed):
				t.Errorf("got %d, %v; want a failure for %s", answer, err, tt.reason)
			case failed.Failure.Reason != tt.reason || !strings.Contains(failed.Failure.Detail, tt.detail):
				t.Errorf("got %v, want %s: %q", err, tt.reason, tt.detail)
			}
		})
	}
}

// stalling are programs that never end by themselves.
var stalling = []struct{ name, body string }{
	{"sleep", `time.sleep(1e6)`},
	{"a busy loop", `while True: pass`},
	{"one operation that never ends", `9 ** 9 ** 9`},
	{"a pattern that never matches", `re.match("(a*)*b", "a" * 100)`},
	{"half a line, then silence", `send('{"type":"answer","reply":null'); time.sleep(1e6)`},
	{"a slow drip of bytes", "for _ in range(10**9):\n        send(' '); time.sleep(0.01)"},
	{"a slow drip of prints", "for _ in range(10**9):\n        print('x'); time.sleep(0.01)"},
	{"requests whose answers it never reads", "for i in range(10**9):\n        line({'type': 'request', 'id': i + 1, 'op': 'clip', 'text': 'x ' * 100000, 'max_tokens': 100000})"},
	{"a flood of prints", "while True: print('x' * 10000)"},
	{"a flood of complaints", "while True: os.write(2, b'x' * 65536)"},
	{"exceptions that it catches all", "while True:\n        try:\n            time.sleep(1e6)\n        except BaseException: pass"},
	{"its pipe closed, and it goes on", `os.close(W); os.close(E.source.fileno()); time.sleep(1e6)`},
	{"a thread that goes on", "import threading; threading.Thread(target=time.sleep, args=(1e6,)).start(); time.sleep(1e6)"},
	{"signals ignored", "import signal\n    for s in range(1, 65):\n        try: signal.signal(s, signal.SIG_IGN)\n        except (OSError, ValueError): pass\n    time.sleep(1e6)"},
}

// A program that stalls is left behind as soon as the context ends, and its process is gone soon after.
func TestStallingPrograms(t *testing.T) {
	r := open(t, func(o *Options) { o.Processes = 14 })
	needs(t, r, whale.LanguagePython)
	var wg sync.WaitGroup
	for _, tt := range stalling {
		wg.Go(func() {
			h := ungated(t, r, "stall.py", []byte(raw+"    "+tt.body+"\n"))
			ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
			defer cancel()
			_, err := h.Run(ctx, &harnesstest.Host{})
			end, _ := ctx.Deadline()
			if late := time.Since(end); !errors.Is(err, context.DeadlineExceeded) || late > 2*time.Second {
				t.Errorf("%s: got %v, %v after the context's end; want that the context has ended, at once", tt.name, err, late)
			}
		})
	}
	wg.Wait()
}
