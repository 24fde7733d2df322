package conformance

import (
	"encoding/json"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

// loopCases are about the module loop, which the Python library has twice over.
func loopCases() []Case {
	const ask = `{"role":"user","content":"Q: q"}`
	left := `{"op":"left"}`
	first := `{"op":"chat","messages":[{"role":"system","content":"s"},` + ask + `],"max_tokens":50,"stop":["END"]}`
	replies := func(r ...harnesstest.Reply) func() *harnesstest.Host {
		return func() *harnesstest.Host {
			h := withTools(func(_ string, args map[string]json.RawMessage) (whale.ToolResult, error) {
				return whale.ToolResult{Text: "ran " + string(args["code"])}, nil
			})()
			h.Replies = r
			return h
		}
	}
	block := "```python\n2+3\n```"
	return []Case{{
		Name: "loop.run with code",
		Star: `def run(task, model, env):
    return loop.run(task, model, env, system = "s", user = "Q: {question}", turns = 3, act = loop.code(), observe = loop.clip_observe(6),
        done = loop.has_box, nudge = "box it", max_tokens = 50, stop = ["END"])
`,
		Host:   replies(harnesstest.Reply{Text: block}, harnesstest.Reply{Text: "5"}, harnesstest.Reply{Text: "\\boxed{5}"}),
		Answer: 3,
		Requests: []string{left, first, left, `{"op":"tool","name":"calculator","args":{"code":"2+3"}}`, left,
			`{"op":"chat","messages":[{"role":"system","content":"s"},` + ask + `,{"role":"assistant","reply":1},{"role":"tool","content":"ran \"2"}],"max_tokens":50,"stop":["END"]}`,
			left,
			`{"op":"chat","messages":[{"role":"system","content":"s"},` + ask + `,{"role":"assistant","reply":1},{"role":"tool","content":"ran \"2"},{"role":"assistant","reply":2},{"role":"user","content":"box it"}],"max_tokens":50,"stop":["END"]}`,
		},
	}, {
		Name: "loop.run with tool calls, a final message and a short memory",
		Star: `def run(task, model, env):
    return loop.run(task, model, env, user = "Q: {question}", turns = 3, final = "now", keep = 1, tools = env.tools[:0])
`,
		Host: replies(harnesstest.Reply{Text: "x", ToolCalls: []whale.ToolCall{
			{Name: "calculator", Args: args(`{"code":"1"}`)}, {Name: "calculator", Args: args(`{"code":"2"}`)},
		}}),
		Answer: 3,
		Requests: []string{left, `{"op":"chat","messages":[` + ask + `]}`,
			left, `{"op":"tool","name":"calculator","args":{"code":"1"}}`, left, `{"op":"tool","name":"calculator","args":{"code":"2"}}`,
			left, `{"op":"chat","messages":[` + ask + `,{"role":"assistant","reply":1},{"role":"tool","content":"ran \"1\""},{"role":"tool","content":"ran \"2\""}]}`,
			left, `{"op":"tool","name":"calculator","args":{"code":"1"}}`, left, `{"op":"tool","name":"calculator","args":{"code":"2"}}`,
			left, `{"op":"chat","messages":[` + ask + `,{"role":"assistant","reply":2},{"role":"tool","content":"ran \"1\""},{"role":"tool","content":"ran \"2\""},{"role":"user","content":"now"}]}`,
			"…",
		},
	}, {
		Name: "loop.run tells what is wrong with its arguments",
		Star: `def run(task, model, env):
    pass
    return loop.run(task, model, env, act = 3)
`,
		Reason: whale.FailProgram, Detail: "loop.run: argument act: got int, want function:act", Line: true, Requests: []string{},
	}, {
		Name: "a wrong argument's name",
		Star: `def run(task, model, env):
    pass
    return model.chat([chat.user("a")], temperature = 1)
`,
		Reason: whale.FailProgram, Detail: "model.chat: got an argument temperature, want messages, tools, max_tokens, stop", Line: true, Requests: []string{},
	}, {
		Name: "a text where a message belongs",
		Star: `def run(task, model, env):
    pass
    return model.chat([chat.user("a"), "b"])
`,
		Reason: whale.FailProgram, Detail: "model.chat: messages[1]: got a string, want a reply or a dict (write chat.user(text))", Line: true,
	}, {
		Name: "a reply inside of a message",
		Star: `def run(task, model, env):
    r = model.chat([chat.user("a")])
    return model.chat([{"role": "user", "content": r}])
`,
		Reason: whale.FailProgram, Detail: `model.chat: messages[0]: "content": got a reply, want a string (put the reply itself into the list)`, Line: true,
	}, {
		Name: "a field that replies do not have",
		Star: `def run(task, model, env):
    r = model.chat([chat.user("a")])
    return r.content
`,
		Reason: whale.FailProgram, Detail: "its text is reply.text", Line: true, Requests: []string{askOne},
	}, {
		Name: "an argument that JSON cannot carry",
		Star: `def run(task, model, env):
    pass
    env.call("calculator", x = [float("nan")])
`,
		Reason: whale.FailProgram, Detail: "env.call: argument x: got the float nan, want a finite one", Line: true, Requests: []string{},
	}}
}
