package conformance

import (
	"encoding/json"
	"fmt"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

// withTools makes hosts with a calculator, which answers by call, and with a block to render.
func withTools(call func(name string, args map[string]json.RawMessage) (whale.ToolResult, error)) func() *harnesstest.Host {
	return func() *harnesstest.Host {
		return &harnesstest.Host{
			View: map[string]string{"question": "q"},
			Tools: []whale.ToolSpec{{Name: "calculator", Description: "computes", Parameters: []whale.ToolParameter{
				{Name: "code", Type: "string", Description: "a program", Required: true, Authored: true},
			}}},
			Tool: call,
			Render: func(block string, args map[string]json.RawMessage) (string, error) {
				if block != "board" {
					return "", &whale.HarnessError{Failure: whale.Failure{Reason: whale.FailContract, Detail: "env.render: unknown block " + block}}
				}
				return fmt.Sprintf("board %s", args["side"]), nil
			},
		}
	}
}

func args(s string) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s), &out); err != nil {
		panic(err)
	}
	return out
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"user","content":"%d"}`, i)
	}
	return `{"op":"chat","messages":[` + b.String()[1:] + `]}`
}

// toolCases are about env.
func toolCases() []Case {
	return []Case{{
		Name: "the tools' specifications",
		Star: `def run(task, model, env):
    t = env.tools[0]
    p = t.parameters[0]
    print(str(len(env.tools)) + t.name + t.description + p.name + p.type + p.description + json.encode([p.required, p.authored]))
`,
		Node: `const t = env.tools[0];
const p = t.parameters[0];
print(env.tools.length + t.name + t.description + p.name + p.type + p.description + JSON.stringify([p.required, p.authored]));
return null;`,
		Host: withTools(nil), Requests: []string{}, Log: "1calculatorcomputescodestringa program[true,true]\n",
	}, {
		Name: "a tool's result",
		Star: `def run(task, model, env):
    r = env.call("calculator", code = "2+3", n = 4)
    print(r.text + json.encode(r.data) + "|" + r.error + "|" + json.encode(r.done))
`,
		Node: `const r = await env.call("calculator", { code: "2+3", n: 4 });
print(r.text + JSON.stringify(r.data) + "|" + (r.error ?? "") + "|" + JSON.stringify(r.done));
return null;`,
		Host: withTools(func(string, map[string]json.RawMessage) (whale.ToolResult, error) {
			return whale.ToolResult{Text: "5\n", Data: json.RawMessage(`{"v":[5,null,"é",1.5]}`), Done: true}, nil
		}),
		Requests: []string{`{"op":"tool","name":"calculator","args":{"code":"2+3","n":4}}`}, Log: "5\n" + `{"v":[5,null,"é",1.5]}||true` + "\n",
	}, {
		Name: "a tool's complaint ends nothing",
		Star: `def run(task, model, env):
    r = env.call("calculator", code = "2+")
    print(r.error + json.encode([r.data, r.done]))
    return model.chat([chat.tool(r.text + r.error)])
`,
		Node: `const r = await env.call("calculator", { code: "2+" });
print(r.error + JSON.stringify([r.data ?? null, r.done ?? false]));
return await model.chat([{ role: "tool", content: r.text + r.error }]);`,
		Host: withTools(func(string, map[string]json.RawMessage) (whale.ToolResult, error) {
			return whale.ToolResult{Error: "line 1: syntax error"}, nil
		}),
		Answer: 1, Log: "line 1: syntax error[null,false]\n",
		Requests: []string{`{"op":"tool","name":"calculator","args":{"code":"2+"}}`,
			`{"op":"chat","messages":[{"role":"tool","content":"line 1: syntax error"}]}`},
	}, {
		Name: "an unknown tool is the tool's complaint",
		Star: `def run(task, model, env):
    print(env.call("oracle").error)
`,
		Node:     `print((await env.call("oracle")).error); return null;`,
		Requests: []string{`{"op":"tool","name":"oracle"}`}, Log: "unknown tool \"oracle\"\n",
	}, {
		Name: "a tool's parameter may be called name",
		Star: `def run(task, model, env):
    env.call("calculator", name = "x", block = "y")
`,
		Node:     `await env.call("calculator", { name: "x", block: "y" }); return null;`,
		Requests: []string{`{"op":"tool","name":"calculator","args":{"name":"x","block":"y"}}`},
	}, {
		Name: "arguments of any shape",
		Star: `def run(task, model, env):
    env.call("calculator", a = [1, [2.5, {"b": None, "c": [True, False, "é\n"]}], (3,)], big = 123456789012345678901234567890, empty = {})
`,
		Node: `const big = JSON.parse("123456789012345678901234567890");
await env.call("calculator", { a: [1, [2.5, { b: null, c: [true, false, "é\n"] }], [3]], big, empty: {} });
return null;`,
		Requests: []string{`{"op":"tool","name":"calculator","args":{"a":[1,[2.5,{"b":null,"c":[true,false,"é\n"]}],[3]],"big":123456789012345678901234567890,"empty":{}}}`},
	}, {
		Name: "arguments nest 64 deep and no deeper",
		Star: `def run(task, model, env):
    x = []
    for _ in range(62):
        x = [x]
    env.call("calculator", x = x)
    env.call("calculator", x = [[x]])
`,
		Node: `const deep = (n) => JSON.parse("[".repeat(n) + "]".repeat(n));
await env.call("calculator", { x: deep(63) });
await env.call("calculator", { x: deep(66) });`,
		Requests: []string{`{"op":"tool","name":"calculator","args":{"x":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}}`},
		Detail:   "nested deeper than 64",
		Reason:   whale.FailProgram, Raw: whale.FailProtocol,
	}, {
		Name: "a rendered block",
		Star: `def run(task, model, env):
    print(env.render("board", side = "white") + env.render("board"))
`,
		Node:     `print((await env.render("board", { side: "white" })) + (await env.render("board"))); return null;`,
		Host:     withTools(nil),
		Requests: []string{`{"op":"render","name":"board","args":{"side":"white"}}`, `{"op":"render","name":"board"}`},
		Log:      "board \"white\"board \n",
	}, {
		Name: "a block that the task does not know",
		Star: `def run(task, model, env):
    env.render("oracle")
`,
		Node: `await env.render("oracle");`,
		Host: withTools(nil), Reason: whale.FailContract, Detail: "unknown block oracle", Requests: []string{`{"op":"render","name":"oracle"}`},
	}, {
		Name: "a task that renders nothing",
		Star: `def run(task, model, env):
    env.render("board")
`,
		Node:   `await env.render("board");`,
		Reason: whale.FailContract, Detail: "renders nothing",
	}}
}
