package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
	"github.com/seed-095d5d2b/whale/harness/star"
)

// behaviour is a program and what is special about its host.
type behaviour struct {
	name   string
	source string
	host   func(h *harnesstest.Host)
}

// behaviours are all that the interpreter's own tests run, and what a pipe could change.
func behaviours(t testing.TB) []behaviour {
	t.Helper()
	data, err := os.ReadFile("../star/testdata/run.star")
	if err != nil {
		t.Fatal(err)
	}
	var out []behaviour
	for i, part := range strings.Split(string(data), "\n---\n") {
		out = append(out, behaviour{name: fmt.Sprintf("chunk %d", i+1), source: part})
	}
	if len(out) < 50 {
		t.Fatalf("got %d programs, want at least 50", len(out))
	}
	body := func(lines ...string) string {
		return "def run(task, model, env):\n    " + strings.Join(lines, "\n    ") + "\n"
	}
	broken := errors.New("the server is down")
	refuse := func(op string, err error) func(h *harnesstest.Host) {
		return func(h *harnesstest.Host) {
			h.Before = func(r whale.Request) error {
				if r.Op == op {
					return err
				}
				return nil
			}
		}
	}
	everything := body(
		`print("x")`, `model.count("a")`, `model.clip("a", 1)`, `env.render("board", size = 1)`, `left = getattr(env, "left", None)`, `hasattr(env, "left")`,
		`sorted([1], key = lambda x: env.call("calculator", code = "1").text)`, `re.sub("a", lambda m: model.chat([chat.user("a")]).text, "a")`, `fail("went on")`)
	for _, op := range []string{"chat", "count", "clip", "tool", "render", "left", "print"} {
		out = append(out,
			behaviour{"infrastructure in " + op, everything, refuse(op, broken)},
			behaviour{"failure in " + op, everything, refuse(op, &whale.HarnessError{Failure: whale.Failure{Reason: whale.FailContext, Detail: "too long: " + op}})})
	}
	return append(out,
		behaviour{name: "requests", source: body(
			`model.chat([chat.tool("2", name = "calculator")], tools = [{"name": "move", "description": "d", "parameters": [{"name": "uci", "type": "string", "description": "a move", "required": True, "authored": True}]}, {"name": "bare"}, {"name": "none", "parameters": []}] + env.tools, max_tokens = 7, stop = ("a", "b"))`,
			`env.call("calculator", name = "x", code = "é<&>\u2028\U0001F600", list = [1, 2.0, None, True, {"b": 1, "a": "<"}], big = 123456789012345678901234567890)`,
			`env.call("calculator", data = {"�": 1, "é"[1:]: 2, "è"[1:]: 3})`,
			`env.call("calculator")`, `print("é"[:1], "b\n\t\x00\x7f")`, `model.clip("é"[1:], 3)`, `env.call("")`)},
		behaviour{name: "no requests", source: body("pass")},
		behaviour{name: "steps run out", source: body("while True:", "    pass")},
		behaviour{name: "steps run out after calls", source: body("model.chat([chat.user(task.question)])", "print(env.left)", `re.findall("a*?b|a", "a" * 200000)`)},
		behaviour{name: "calls run out", source: body("while True:", "    model.chat([chat.user(task.question)])")},
		behaviour{name: "tokens run out", source: body("while True:", "    print(model.chat([chat.user(task.question)]).finish_reason)"), host: func(h *harnesstest.Host) { h.Limits.Tokens = 4 }},
		behaviour{name: "messages too long", source: body(`model.chat([chat.user("é" * 5000)])`)},
		behaviour{name: "a large argument", source: body(`env.call("calculator", code = "x" * 900000)`)},
		behaviour{name: "a hidden refusal", source: body("for i in range(9):", `    getattr(env, "left", None)`, "print(1)", "return None"), host: refuse("left", broken)},
		behaviour{name: "prints", source: body("for i in range(50):", `    print("line", i)`, "return model.chat([chat.user(task.question)])")},
		behaviour{name: "deep data", source: body(`env.call("calculator", code = "1")`), host: func(h *harnesstest.Host) {
			h.Tool = func(string, map[string]json.RawMessage) (whale.ToolResult, error) {
				return whale.ToolResult{Data: json.RawMessage(strings.Repeat("[", 100) + strings.Repeat("]", 100))}, nil
			}
		}},
		behaviour{name: "odd replies", source: body(`r = model.chat([chat.user("a")])`, `print(r.tool_calls, r.text)`, `print(env.call("calculator", **r.tool_calls[0].args).text)`, "return r"), host: func(h *harnesstest.Host) {
			h.Replies = []harnesstest.Reply{{Text: "\x00\u2028<b>\U0001F600", ToolCalls: []whale.ToolCall{{Name: "calculator", Args: map[string]json.RawMessage{
				"code": json.RawMessage(`"\ud800 \u00e9 \ud83d\ude00"`), "more": json.RawMessage(`{"a": [1, 2.50, -0, 1E5], "a": {"b": null}}`),
			}}}}}
		}},
	)
}

// outcome is all that an episode leaves behind.
type outcome struct {
	Ref      whale.ReplyRef
	Err      string
	Failure  *whale.Failure
	Requests []whale.Request
	Log      string
	Usage    whale.Usage
}

func (o outcome) String() string {
	data, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func outcomeOf(h *harnesstest.Host, ref whale.ReplyRef, err error) outcome {
	o := outcome{Ref: ref, Requests: h.Requests, Log: h.Log, Usage: h.Usage}
	if err != nil {
		o.Err = err.Error()
	}
	var failed *whale.HarnessError
	if errors.As(err, &failed) {
		o.Failure = &failed.Failure
	}
	return o
}

// An episode in a worker is the episode in process, to the byte and the step.
func TestWorkerIsTheSame(t *testing.T) { testSame(t, inMemory(t, newCache())) }

// runner runs a program in some other way than in process.
type runner func(ctx context.Context, name string, source []byte, h whale.Host) (whale.ReplyRef, error)

func testSame(t *testing.T, run runner) {
	for _, b := range behaviours(t) {
		hosts := [2]*harnesstest.Host{harnesstest.Sums(), harnesstest.Sums()}
		if b.host != nil {
			b.host(hosts[0])
			b.host(hosts[1])
		}
		p, err := star.Load("h.star", []byte(b.source))
		if err != nil {
			t.Errorf("%s: %v", b.name, err)
			continue
		}
		ref, err := p.Run(t.Context(), hosts[0])
		want := outcomeOf(hosts[0], ref, err)
		ref, err = run(t.Context(), "h.star", []byte(b.source), hosts[1])
		got := outcomeOf(hosts[1], ref, err)
		if got.String() != want.String() {
			t.Errorf("%s:\n got %s\nwant %s", b.name, got, want)
		}
		var incident *whale.Incident
		if errors.As(err, &incident) {
			t.Errorf("%s: got the incident %v", b.name, incident)
		}
		for i, r := range hosts[1].Requests { // JSON hides what is empty and what is absent
			if w := hosts[0].Requests[i]; fmt.Sprintf("%#v", r) != fmt.Sprintf("%#v", w) {
				t.Errorf("%s: request %d:\n got %#v\nwant %#v", b.name, i+1, r, w)
			}
		}
	}
}
