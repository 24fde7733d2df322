package star_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const simple = `
def run(task, model, env):
    return loop.run(task, model, env, turns = 3, act = loop.code(), done = loop.has_box, nudge = "box it", tools = env.tools)
`

// A reply in messages travels as its reference; the same words retyped travel as text.
func TestReplyByReference(t *testing.T) {
	h := harnesstest.Sums()
	ref := run(t, h, `
def run(task, model, env):
    one = model.chat([chat.user("hi")])
    two = model.chat([chat.user("hi"), one])
    model.chat([chat.user("hi"), chat.assistant(one.text)])
    return model.chat((chat.user("hi"), one, chat.user("more"), two))
`)
	if ref != 4 {
		t.Errorf("got the answer %d, want 4", ref)
	}
	user := func(s string) whale.Message { return whale.Message{Role: "user", Content: s} }
	byRef := func(n whale.ReplyRef) whale.Message { return whale.Message{Role: "assistant", Reply: n} }
	for i, want := range [][]whale.Message{
		{user("hi")},
		{user("hi"), byRef(1)},
		{user("hi"), {Role: "assistant", Content: "let me compute"}},
		{user("hi"), byRef(1), user("more"), byRef(2)},
	} {
		if got := h.Messages(i + 1); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("call %d: got %v, want %v", i+1, got, want)
		}
	}
}

func TestAnswerNone(t *testing.T) {
	if ref := run(t, harnesstest.Sums(), "def run(task, model, env):\n    pass\n"); ref != 0 {
		t.Errorf("got %d, want 0", ref)
	}
}

// What a request holds is exactly what the program gave.
func TestRequests(t *testing.T) {
	h := harnesstest.Sums()
	run(t, h, `
def run(task, model, env):
    model.chat([chat.tool("2", name = "calculator")], tools = [{"name": "move", "description": "d", "parameters": [
        {"name": "uci", "type": "string", "description": "a move", "required": True}]}] + env.tools, max_tokens = 7, stop = ("a", "b"))
    env.call("calculator", name = "x", code = "é", list = [1, 2.0, None, True, {"b": 1, "a": "<"}], big = 123456789012345678901234567890)
    print("é"[:1], "b")
    model.clip("é"[1:], 3)
`)
	want := []string{
		`{"op":"chat","messages":[{"role":"tool","content":"2","name":"calculator"}],"tools":[{"name":"move","description":"d","parameters":[{"name":"uci","type":"string","description":"a move","required":true}]},{"name":"calculator","description":"computes","parameters":[{"name":"code","type":"string","description":"an expression","required":true}]}],"max_tokens":7,"stop":["a","b"]}`,
		`{"op":"tool","name":"calculator","args":{"big":123456789012345678901234567890,"code":"é","list":[1,2.0,null,true,{"b":1,"a":"\u003c"}],"name":"x"}}`,
		`{"op":"print","text":"� b"}`,
		`{"op":"clip","max_tokens":3,"text":"�"}`,
	}
	if len(h.Requests) != len(want) {
		t.Fatalf("got %d requests, want %d", len(h.Requests), len(want))
	}
	for i, r := range h.Requests {
		got, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want[i] {
			t.Errorf("request %d:\n got %s\nwant %s", i, got, want[i])
		}
	}
	if string(h.Requests[1].Args["list"]) != `[1,2.0,null,true,{"b":1,"a":"<"}]` {
		t.Errorf("got the argument %s", h.Requests[1].Args["list"])
	}
}

// An error of the infrastructure passes through unchanged, whatever the program does around it.
func TestHostErrorPassesThrough(t *testing.T) {
	broken := errors.New("the server is down")
	for _, op := range []string{"chat", "count", "clip", "tool", "render", "left", "print"} {
		h := harnesstest.Sums()
		h.Before = func(r whale.Request) error {
			if r.Op == op {
				return broken
			}
			return nil
		}
		_, err := load(t, `
def run(task, model, env):
    print("x")
    model.count("a")
    model.clip("a", 1)
    env.render("board", size = 1)
    left = getattr(env, "left", None)
    hasattr(env, "left")
    sorted([1], key = lambda x: env.call("calculator", code = "1").text)
    re.sub("a", lambda m: model.chat([chat.user("a")]).text, "a")
    fail("went on after " + str(left))
`).Run(context.Background(), h)
		if err != broken {
			t.Errorf("%s: got %v, want the host's own error", op, err)
		}
		if last := h.Requests[len(h.Requests)-1].Op; last != op {
			t.Errorf("%s: the program went on to %s", op, last)
		}
	}
}

// A reason that the host gives passes through unchanged too.
func TestHostFailurePassesThrough(t *testing.T) {
	want := &whale.HarnessError{Failure: whale.Failure{Reason: whale.FailContext, Detail: "a prompt of 9 tokens, want at most 8"}}
	h := harnesstest.Sums()
	h.Before = func(whale.Request) error { return want }
	_, err := load(t, simple).Run(context.Background(), h)
	if err != error(want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func TestTokensRunOut(t *testing.T) {
	h := harnesstest.Sums()
	h.Limits.Tokens = 4
	f := failure(t, h, `
def run(task, model, env):
    while True:
        r = model.chat([chat.user("hi")])
        print(r.finish_reason, r.tokens)
`)
	if f.Reason != whale.FailTokens || h.Log != "stop 3\nlength 1\n" {
		t.Errorf("got %v and the log %q", f, h.Log)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	h := harnesstest.Sums()
	h.Limits.Steps = 1 << 62
	start := time.Now()
	_, err := load(t, "def run(task, model, env):\n    while True:\n        pass\n").Run(ctx, h)
	if err != context.DeadlineExceeded {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("it took %v to stop", d)
	}
	if _, err := load(t, simple).Run(ctx, harnesstest.Sums()); err != context.DeadlineExceeded {
		t.Errorf("a context that has ended: got %v, want %v", err, context.DeadlineExceeded)
	}
}

// A regular expression is stopped by the context too, although it is one call.
func TestCancelInsideRe(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	h := harnesstest.Sums()
	h.Limits.Steps = 1 << 62
	start := time.Now()
	_, err := load(t, `
def run(task, model, env):
    re.findall("a*?b|a", "a" * 200000)
`).Run(ctx, h)
	if err != context.DeadlineExceeded {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("it took %v to stop", d)
	}
}

func TestStartIsChecked(t *testing.T) {
	h := harnesstest.Sums()
	h.Limits.Steps = 0
	if _, err := load(t, simple).Run(context.Background(), h); err == nil || err.Error() != "star: limits: got 0 steps, want at least 1" {
		t.Errorf("no steps: got %v", err)
	}
	if _, err := load(t, simple).Run(context.Background(), otherContract{harnesstest.Sums()}); err == nil || err.Error() != "star: contract: got version 2, want 1" {
		t.Errorf("another contract: got %v", err)
	}
}

type otherContract struct{ *harnesstest.Host }

func (o otherContract) Start() whale.Start {
	s := o.Host.Start()
	s.Contract = 2
	return s
}

// The number of steps is the same on each run, and it is the limit's measure to the step.
func TestStepsAreExact(t *testing.T) {
	src := `
TABLE = {str(i): i for i in range(10)}
def run(task, model, env):
    words = re.findall(r"\w+", "the quick brown fox " * 20)
    for w in set(words):
        TABLE[w] = text.fence("` + "```python\\nx\\n```" + `")
    reply = loop.run(task, model, env, turns = 3, act = loop.code(), done = loop.has_box, nudge = "box it")
    print(TABLE, json.encode(TABLE))
    return reply
`
	p := load(t, src)
	first := harnesstest.Sums()
	if _, err := p.Run(context.Background(), first); err != nil {
		t.Fatal(err)
	}
	steps := first.Usage.Steps
	if steps < 100 {
		t.Fatalf("got %d steps", steps)
	}
	for range 5 {
		h := harnesstest.Sums()
		if _, err := p.Run(context.Background(), h); err != nil {
			t.Fatal(err)
		}
		if h.Usage != first.Usage || h.Log != first.Log || fmt.Sprint(h.Requests) != fmt.Sprint(first.Requests) {
			t.Fatalf("got %v and the log %q, before it was %v and %q", h.Usage, h.Log, first.Usage, first.Log)
		}
	}
	h := harnesstest.Sums()
	h.Limits.Steps = steps
	if _, err := p.Run(context.Background(), h); err != nil {
		t.Errorf("with exactly the steps it needs: %v", err)
	}
	h = harnesstest.Sums()
	h.Limits.Steps = steps - 1
	if f := failure(t, h, src); f.Reason != whale.FailSteps {
		t.Errorf("with a step too few: got %v", f)
	}
	if h.Usage.Steps != steps-1 {
		t.Errorf("the record has %d steps, want the limit, %d", h.Usage.Steps, steps-1)
	}
}

// One program runs many episodes at once; they share nothing.
func TestParallelEpisodes(t *testing.T) {
	p := load(t, `
SEEN = []
PATTERN = re.compile(r"(\d)\+(\d)")
def run(task, model, env):
    SEEN.append(PATTERN.search(task.question).groups())
    reply = loop.run(task, model, env, turns = 3, act = loop.code(), tools = env.tools)
    print(SEEN)
    return reply
`)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			h := harnesstest.Sums()
			h.View["question"] = fmt.Sprintf("%d+%d", i%10, i%7)
			if _, err := p.Run(context.Background(), h); err != nil {
				t.Error(err)
			}
			if want := fmt.Sprintf("[(\"%d\", \"%d\")]\n", i%10, i%7); h.Log != want {
				t.Errorf("got the log %q, want %q", h.Log, want)
			}
		})
	}
	wg.Wait()
}

func TestHostMustAnswer(t *testing.T) {
	for op, want := range map[string]string{
		`model.chat([chat.user("a")])`: "star: host: got no reply to chat",
		`env.call("a")`:                "star: host: got no result of a tool call",
		`env.left`:                     "star: host: got no answer to left",
	} {
		_, err := load(t, "def run(task, model, env):\n    "+op+"\n").Run(context.Background(), silent{harnesstest.Sums()})
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", op, err, want)
		}
	}
	h := harnesstest.Sums()
	h.Tool = func(string, map[string]json.RawMessage) (whale.ToolResult, error) {
		return whale.ToolResult{Data: json.RawMessage(strings.Repeat("[", 100) + strings.Repeat("]", 100))}, nil
	}
	_, err := load(t, "def run(task, model, env):\n    env.call(\"a\")\n").Run(context.Background(), h)
	if err == nil || err.Error() != "star: result of a: data: json: nested deeper than 64" {
		t.Errorf("deep data: got %v", err)
	}
}

// silent answers every request with nothing.
type silent struct{ *harnesstest.Host }

func (silent) Do(context.Context, whale.Request) (whale.Response, error) {
	return whale.Response{}, nil
}
