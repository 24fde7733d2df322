package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
	"github.com/seed-095d5d2b/whale/harness/scaffold"
	"github.com/seed-095d5d2b/whale/sandbox"
)

// ungated makes a harness without its gates, which cost as much as an episode.
func ungated(t testing.TB, r *Runtime, name string, src []byte) whale.Harness {
	t.Helper()
	language := harness.LanguageOf(name)
	ip, err := r.interpreter(t.Context(), language)
	if err != nil {
		t.Fatal(err)
	}
	return &foreign{runtime: r, name: name, language: language, source: src, interpreter: ip}
}

// runForeign runs a program on a host with one reply.
func runForeign(t *testing.T, r *Runtime, name, src string) (*harnesstest.Host, whale.ReplyRef, error) {
	t.Helper()
	h := ungated(t, r, name, []byte(src))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	host := &harnesstest.Host{View: map[string]string{"question": "q"}, Replies: []harnesstest.Reply{{Text: "one"}}}
	answer, err := h.Run(ctx, host)
	return host, answer, err
}

func TestForeignIdentity(t *testing.T) {
	r := open(t, nil)
	needs(t, r, whale.LanguagePython)
	src := []byte("def run(task, model, env):\n    return None\n")
	h, err := r.New("a.py", src)
	if err != nil {
		t.Fatal(err)
	}
	if h.ID() != whale.HarnessIDIn(whale.LanguagePython, src) || h.ID() == whale.HarnessID(src) || string(h.Source()) != string(src) || h.Language() != whale.LanguagePython {
		t.Errorf("got %s %s %q", h.ID(), h.Language(), h.Source())
	}
}

// What a program can see and reach inside of its process.
func TestForeignSees(t *testing.T) {
	r := open(t, nil)
	needs(t, r, whale.LanguagePython)
	t.Setenv("WHALE_TEST_SECRET", "hunter2")
	host, _, err := runForeign(t, r, "look.py", `import os, sys
def attempt(f):
    try:
        return repr(f())
    except BaseException as e:
        return type(e).__name__

def run(task, model, env):
    print(sorted(os.environ), "secret" if "hunter2" in str(os.environ) else "none")
    print(attempt(lambda: open("/etc/passwd").read()), attempt(lambda: os.listdir("/proc")), attempt(lambda: os.listdir("/root")))
    print(sorted(os.listdir("/harness")), os.listdir("/tmp"), os.getuid(), os.getpid() < 5)
    print(attempt(lambda: open("/harness/look.py", "a")), attempt(lambda: open("/usr/x", "w")), attempt(lambda: open("/x", "w")))
    open("/tmp/left", "w").write("for the next episode")
    print(len(open("/tmp/left").read()), sys.argv, sys.flags.hash_randomization, hash("a"))
    print(attempt(lambda: __import__("socket").socket()), attempt(os.fork), attempt(lambda: __import__("subprocess").run(["/usr/bin/true"])))
`)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := runForeign(t, r, "look.py", "import os\ndef run(task, model, env):\n    print(os.listdir('/tmp'), hash('a'))\n")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(host.Log, "\n")
	hash := lines[4][strings.LastIndexByte(lines[4], ' ')+1:]
	for i, want := range []string{
		"none",
		"FileNotFoundError FileNotFoundError FileNotFoundError",
		"['look.py', 'whale.py'] [] 65534 True",
		"PermissionError OSError OSError",
		"20 ['/harness/look.py'] 0",
		"PermissionError PermissionError PermissionError",
	} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d: got %q, want %q", i+1, lines[i], want)
		}
	}
	if want := "[] " + hash + "\n"; second.Log != want {
		t.Errorf("the second episode saw %q, want %q: the first one's file gone, and the same hashes", second.Log, want)
	}
}

// Programs that take too much memory end with an incident, which the rollout repeats alone.
func TestForeignMemory(t *testing.T) {
	r := open(t, func(o *Options) { o.Memory = sandbox.MinMemory })
	for _, tt := range []struct{ name, file, src string }{
		{"a list", "a.py", "def run(task, model, env):\n    x = []\n    while True: x.append('a' * 100000)\n"},
		{"a string", "a.py", "def run(task, model, env):\n    return 'a' * (1 << 40)\n"},
		{"an int", "a.py", "def run(task, model, env):\n    return 1 << (1 << 36)\n"},
		{"caught and made again", "a.py", "def run(task, model, env):\n    x = ['a']\n    while True:\n        try: x += x\n        except MemoryError: x.append(bytearray(1 << 20))\n"},
		{"strings in node", "a.mjs", "const x = [];\nfor (let i = 0; ; i++) x.push('a'.repeat(1e5) + i + Math.random());\n"},
		{"a buffer in node", "a.mjs", "const x = [];\nfor (;;) x.push(Buffer.alloc(1 << 26, 1));\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			needs(t, r, harness.LanguageOf(tt.file))
			_, answer, err := runForeign(t, r, tt.file, tt.src)
			var incident *whale.Incident
			if !errors.As(err, &incident) || incident.Reason != whale.FailMemory {
				t.Errorf("got %d, %v; want an incident of memory", answer, err)
			}
		})
	}
}

// Programs that end their own process are incidents: a program cannot be told from a machine that killed it.
func TestForeignDies(t *testing.T) {
	r := open(t, nil)
	needs(t, r, whale.LanguagePython)
	for _, body := range []string{
		"import os; os.abort()",
		"import ctypes; ctypes.string_at(0)",
	} {
		_, answer, err := runForeign(t, r, "a.py", "def run(task, model, env):\n    "+body+"\n")
		var incident *whale.Incident
		if !errors.As(err, &incident) || incident.Reason != whale.FailWorker || !strings.HasPrefix(incident.Detail, "a.py: signal ") {
			t.Errorf("%s: got %d, %v; want an incident of the worker", body, answer, err)
		}
	}
}

// Where memory is short, ordinary programs run: the least that a runtime takes is enough for each language.
func TestForeignLeastMemory(t *testing.T) {
	r := open(t, func(o *Options) { o.Memory = sandbox.MinMemory })
	for _, lang := range []string{"python", "node"} {
		name, src, err := scaffold.New(lang)
		if err != nil {
			t.Fatal(err)
		}
		needs(t, r, lang)
		if _, answer, err := runForeign(t, r, name, string(src)); err != nil || answer == 0 {
			t.Errorf("%s: got %d, %v", lang, answer, err)
		}
	}
}

// Python's strings can hold halves of characters, which no message can.
func TestPythonSurrogates(t *testing.T) {
	r := open(t, nil)
	needs(t, r, whale.LanguagePython)
	host, _, err := runForeign(t, r, "a.py", `def run(task, model, env):
    s = "\ud83d\ude00 \ud800 \udc00."
    print(s)
    env.call(s, **{s: [s]})
    return model.chat([chat.user(s)], stop=[s])
`)
	if err != nil {
		t.Fatal(err)
	}
	const want = "😀 \ufffd \ufffd."
	call, chat := host.Requests[1], host.Requests[2]
	if host.Log != want+"\n" || call.Name != want || string(call.Args[want]) != `["`+want+`"]` || chat.Messages[0].Content != want || chat.Stop[0] != want {
		t.Errorf("got %q, %+v, %+v", host.Log, call, chat)
	}
}

// Threads of a program take turns at the pipe, and a signal that breaks off a request does not mix up the answers.
func TestPythonThreadsAndSignals(t *testing.T) {
	r := open(t, nil)
	needs(t, r, whale.LanguagePython)
	for name, src := range map[string]string{
		"threads": `import threading
def run(task, model, env):
    wrong = []
    def work(n):
        for i in range(50):
            if model.count("x " * (n * 50 + i)) != n * 50 + i:
                wrong.append(n)
    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    print("wrong", wrong)
`,
		"signals": `import signal, time
def run(task, model, env):
    armed = []
    def stop(*_):
        if armed:
            raise TimeoutError
    signal.signal(signal.SIGALRM, stop)
    wrong, broken = [], 0
    began = time.monotonic()
    for n in range(20):
        model.clip("x " * 20000, 1000000)
    took = (time.monotonic() - began) / 20
    for n in range(400):
        s = "x " * (20000 + n)
        try:
            armed.append(n)
            signal.setitimer(signal.ITIMER_REAL, took * (n % 40 + 1) / 20)
            if model.clip(s, 1000000) != s:
                wrong.append(n)
            armed.clear()
        except TimeoutError:
            broken += 1
        armed.clear()
    print("wrong", wrong if broken > 10 else "nothing was broken off")
`,
	} {
		host, _, err := runForeign(t, r, "a.py", src)
		if err != nil || host.Log != "wrong []\n" {
			t.Errorf("%s: got %q, %v", name, host.Log, err)
		}
	}
}

// A flood to standard error harms nobody, and neither do threads that go on after the answer.
func TestForeignAnswersAnyway(t *testing.T) {
	r := open(t, nil)
	needs(t, r, whale.LanguagePython)
	for _, body := range []string{
		"import os\n    for _ in range(200): os.write(2, b'x' * 100000)",
		"import threading, time\n    [threading.Thread(target=time.sleep, args=(1e6,)).start() for _ in range(8)]",
		"import atexit, time\n    atexit.register(time.sleep, 1e6)",
		"import os\n    for _ in range(20): os.write(1, b'stray output\\n')",
		"import sys\n    sys.stdout = None; print('lost')",
		"import signal, time\n    def stop(*_): raise TimeoutError\n    signal.signal(signal.SIGALRM, stop); signal.setitimer(signal.ITIMER_REAL, 0.05)\n    try: time.sleep(9)\n    except TimeoutError: pass",
	} {
		_, answer, err := runForeign(t, r, "a.py", "def run(task, model, env):\n    "+body+"\n    return model.chat([chat.user('a')])\n")
		if err != nil || answer != 1 {
			t.Errorf("%s: got %d, %v", body, answer, err)
		}
	}
}

// What comes after an answer is not read.
func TestForeignFirstAnswerStands(t *testing.T) {
	r := open(t, nil)
	needs(t, r, whale.LanguagePython)
	for _, body := range []string{
		`line({"type": "answer", "reply": None}); line({"type": "answer", "reply": 1})`,
		`send('{"type":"answer","reply":null}\n{"type":"failure","detail":"x"}\n')`,
		`send('{"type":"answer","reply":null}\ngarbage\n')`,
	} {
		_, answer, err := runForeign(t, r, "a.py", raw+"    "+body+"; time.sleep(1e6)\n")
		if err != nil || answer != 0 {
			t.Errorf("%s: got %d, %v", body, answer, err)
		}
	}
}

// Episodes leave neither descriptors nor processes behind, however they end.
func TestForeignLeavesNothing(t *testing.T) {
	r := open(t, func(o *Options) { o.Processes = 4 })
	needs(t, r, whale.LanguagePython)
	descriptors := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(list)
	}
	runForeign(t, r, "a.py", "def run(task, model, env): pass\n") // what is opened once is open now
	before := descriptors()
	for _, body := range []string{
		"return model.chat([chat.user('a')])", "raise ValueError", "import os; os._exit(3)", "import os; os.abort()", "return 'a'",
		"import whale, os; os.write(whale._episode.sink, b'x\\n')", "return 'a' * (1 << 40)", "model.count(1)",
	} {
		for range 2 {
			_, _, _ = runForeign(t, r, "a.py", "def run(task, model, env):\n    "+body+"\n")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, _ = ungated(t, r, "a.py", []byte("def run(task, model, env):\n    while True: pass\n")).Run(ctx, &harnesstest.Host{})
	r.Close()
	if after := descriptors(); after > before {
		t.Errorf("%d descriptors are open, were %d", after, before)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
	if err == nil && len(strings.Fields(string(children))) > 0 {
		t.Errorf("children are left: %s", children)
	}
}

// A program in Node that throws is its own failure, with what it said.
func TestNodeThrows(t *testing.T) {
	r := open(t, nil)
	needs(t, r, whale.LanguageNode)
	_, _, err := runForeign(t, r, "a.mjs", "throw new TypeError('so it goes');\n")
	if want := "harness: program: a.mjs: the program ended with status 1: TypeError: so it goes"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Who logs to standard output is told where to.
func TestNodeLogs(t *testing.T) {
	r := open(t, nil)
	needs(t, r, whale.LanguageNode)
	_, _, err := runForeign(t, r, "a.mjs", "console.log('debug');\n")
	want := "harness: protocol: a.mjs: message 1: byte 1: got 'd', want an object (standard output is the pipe to the host: log with a message of type print)"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The programs that new authors start from pass the gates and run.
func TestScaffold(t *testing.T) {
	r := open(t, nil)
	for _, lang := range scaffold.Languages() {
		name, src, err := scaffold.New(lang)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			if language := harness.LanguageOf(name); language != whale.LanguageStar {
				needs(t, r, language)
			}
			h, err := r.New(name, src)
			if err != nil {
				t.Fatal(err)
			}
			host := &harnesstest.Host{
				View:  map[string]string{"question": "What is {2} + 3?"},
				Tools: []whale.ToolSpec{{Name: "f", Description: "d", Parameters: []whale.ToolParameter{{Name: "x", Type: "integer"}}}},
				Replies: []harnesstest.Reply{
					{Text: "let me see", ToolCalls: []whale.ToolCall{{Name: "f", Args: nil}}}, {Text: "5"}, {Text: "\\boxed{5}"},
				},
			}
			answer, err := h.Run(t.Context(), host)
			if err != nil || answer != 3 {
				t.Fatalf("got %d, %v", answer, err)
			}
			last := host.Messages(3)
			if len(last) != 6 || last[1].Content != "What is {2} + 3?\nPut the final answer in \\boxed{}." || last[2].Reply != 1 ||
				last[3].Content != `unknown tool "f"` || last[4].Reply != 2 || last[5].Content != "Give the final answer in \\boxed{}." {
				t.Errorf("got the messages %+v", last)
			}
		})
	}
	if _, _, err := scaffold.New("cobol"); err == nil || !strings.Contains(err.Error(), `got the language "cobol", want star, python, node`) {
		t.Errorf("got %v", err)
	}
}

func TestForeignGates(t *testing.T) {
	r := open(t, nil)
	needs(t, r, whale.LanguagePython)
	needs(t, r, whale.LanguageNode)
	for _, tt := range []struct {
		file, src string
		want      string // of the first error; "" = none
	}{
		{"a.py", "def run(task, model, env):\n    return None\n", ""},
		{"whale.py", "def run(task, model, env):\n    return None\n", ""},
		{"a.py", "def run(task, model, env)\n    return None\n", "a.py:1:26: expected ':'"},
		{"a.py", "x = 1\nreturn x\n", "a.py:2:1: 'return' outside function"},
		{"a.py", "x = \"\x00\"\n", "a.py:1:1: source code string cannot contain null bytes"},
		{"a.py", "def ran(task, model, env):\n    return None\n", "a.py:1:1: run: not defined (define it at the top level: def run(task, model, env):)"},
		{"a.py", "def run(task, model):\n    return None\n", "a.py:1:5: run: got the parameters (task, model), want (task, model, env)"},
		{"a.py", "async def run(task, model, env):\n    return None\n", "a.py:1:11: run: got async def, want def (calls return when they are done)"},
		{"a.py", "é = 1; USER_PROMPT = f'{1}'\ndef run(task, model, env): pass\n", "a.py:1:22: USER_PROMPT: got an f-string, want a string literal (a prompt is a string literal or literals joined by +; fill it in run with text.fill)"},
		{"a.py", "if True:\n    USER_PROMPT = 'a'\ndef run(task, model, env): pass\n", "a.py:2:5: USER_PROMPT: got an assignment of another form, want one plain assignment at the top level (write NAME = \"…\" once, outside of any block)"},
		{"a.py", "x = " + strings.Repeat("(", 5000) + "\n", "a.py:1:20"},
		{"a.py", "x = " + strings.Repeat("-", 60000) + "1\ndef run(task, model, env): pass\n", "a.py:1:1: the "},
		{"a.py", "\xff", "a.py:1:1: program: got the byte 0xff, want UTF-8"},
		{"a.py", strings.Repeat("#", 70000), "a.py:1:1: program: got 70000 bytes, want at most 65536"},
		{"a.mjs", "const a = await 1;\n", ""},
		{"a.js", "const a = 1;\n", ""},
		{"a.mjs", "const a = 1;\nconst b = ];\n", "a.mjs:2:11: Unexpected token ']'"},
	} {
		_, err := r.New(tt.file, []byte(tt.src))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if tt.want == "" && got != "" || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s %.60q: got %q, want %q", tt.file, tt.src, got, tt.want)
		}
	}
}

func TestInterpreterMissing(t *testing.T) {
	script := filepath.Join(t.TempDir(), "python3")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := open(t, func(o *Options) { o.Python, o.Node = script, "/nowhere/node" })
	for file, want := range map[string]string{
		"a.py":  "apt-get install python3",
		"a.mjs": "apt-get install nodejs",
	} {
		_, err := r.New(file, []byte("def run(task, model, env): pass\n"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", file, err, want)
		}
	}
}

// Close ends episodes at once.
func TestForeignClose(t *testing.T) {
	r := open(t, nil)
	needs(t, r, whale.LanguagePython)
	h, err := r.New("a.py", []byte("import time\ndef run(task, model, env):\n    model.count('x')\n    time.sleep(1e6)\n"))
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		_, err := h.Run(context.Background(), &harnesstest.Host{Before: func(whale.Request) error { close(asked); return nil }})
		ended <- err
	}()
	<-asked
	start := time.Now()
	r.Close()
	if err := <-ended; !errors.Is(err, sandbox.ErrClosed) || time.Since(start) > 5*time.Second {
		t.Errorf("got %v after %v", err, time.Since(start))
	}
	if _, err := h.Run(t.Context(), &harnesstest.Host{}); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("a closed runtime: got %v", err)
	}
}
