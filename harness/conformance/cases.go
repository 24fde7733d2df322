package conformance

import (
	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

// Cases lists the behaviours.
func Cases() []Case {
	var all []Case
	for _, part := range [][]Case{answerCases(), chatCases(), toolCases(), limitCases(), textCases(), loopCases()} {
		all = append(all, part...)
	}
	for i := range all {
		if all[i].Host == nil {
			all[i].Host = func() *harnesstest.Host { return &harnesstest.Host{View: map[string]string{"question": "q"}} }
		}
	}
	return all
}

const askOne = `{"op":"chat","messages":[{"role":"user","content":"a"}]}`

// answerCases are about what an episode ends with.
func answerCases() []Case {
	return []Case{{
		Name: "the answer is a reply",
		Star: `def run(task, model, env):
    return model.chat([chat.user("a")])
`,
		Node:   `return await model.chat([user("a")]);`,
		Answer: 1, Requests: []string{askOne},
	}, {
		Name: "the answer is an earlier reply",
		Star: `def run(task, model, env):
    replies = [model.chat([chat.user("a")]) for _ in range(3)]
    return replies[1]
`,
		Node: `const replies = [];
for (let i = 0; i < 3; i++) replies.push(await model.chat([user("a")]));
return replies[1];`,
		Answer: 2, Requests: []string{askOne, askOne, askOne},
	}, {
		Name: "no answer",
		Star: `def run(task, model, env):
    model.chat([chat.user("a")])
`,
		Node:     `await model.chat([user("a")]); return null;`,
		Requests: []string{askOne},
	}, {
		Name: "no request at all",
		Star: `def run(task, model, env):
    return None
`,
		Node:     `return null;`,
		Requests: []string{},
	}, {
		Name: "an answer that the harness wrote",
		Star: `def run(task, model, env):
    model.chat([chat.user("a")])
    return "five"
`,
		Node:   `await model.chat([user("a")]); return "five";`,
		Reason: whale.FailAnswer, Detail: "run returned a string, want a reply or None", Requests: []string{askOne},
	}, {
		Name: "the text of a reply is no reply",
		Star: `def run(task, model, env):
    return model.chat([chat.user("a")]).text
`,
		Node:   `return (await model.chat([user("a")])).text;`,
		Reason: whale.FailAnswer, Detail: "run returned a string, want a reply or None",
	}, {
		Name: "a number is no reply",
		Star: `def run(task, model, env):
    model.chat([chat.user("a")])
    return 2
`,
		Node:   `await model.chat([user("a")]); return 2;`,
		Reason: whale.FailAnswer, Detail: "run returned",
	}, {
		Name: "a list of replies is no reply",
		Star: `def run(task, model, env):
    return [model.chat([chat.user("a")])]
`,
		Node:   `return [await model.chat([user("a")])];`,
		Reason: whale.FailAnswer, Detail: "run returned a list, want a reply or None",
	}, {
		Name: "an error of the program has a line",
		Star: `def run(task, model, env):
    model.chat([chat.user("a")])
    return [][5]
`,
		Node: `await model.chat([user("a")]);
return missing[5];`,
		Reason: whale.FailProgram, Line: true, Requests: []string{askOne},
	}, {
		Name: "an error in a function that the library calls is shown in the program",
		Star: `def run(task, model, env):
    def act(reply, env):
        return reply.text + 1
    return loop.run(task, model, env, act = act)
`,
		Node: `const act = (reply) => {
throw new Error(reply.text); };
act(await model.chat([user("q")]));`,
		Reason: whale.FailProgram, Line: true,
	}, {
		Name: "fail ends the episode",
		Star: `def run(task, model, env):
    pass
    fail("no", "way")
`,
		Node: `
throw "fail: no way";`,
		Reason: whale.FailProgram, Detail: "fail: no way", Requests: []string{},
	}, {
		Name: "an unknown field of the task",
		Star: `def run(task, model, env):
    pass
    return task.answer
`,
		Node: `
if (!("answer" in task)) throw new Error("task has no .answer: it has .question");`,
		Reason: whale.FailProgram, Detail: "task has no .answer: it has .question", Line: true, Requests: []string{},
	}}
}

// chatCases are about model calls that succeed.
func chatCases() []Case {
	return []Case{{
		Name: "a reply in messages stands for itself",
		Star: `def run(task, model, env):
    r = model.chat([chat.system("s"), chat.user(task.question)])
    r = model.chat([chat.user(task.question), r, chat.tool("t", name = "calculator"), chat.user("b"), r])
    return r
`,
		Node: `let r = await model.chat([{role: "system", content: "s"}, user(task.question)]);
return await model.chat([user(task.question), shown(r), {role: "tool", content: "t", name: "calculator"}, user("b"), shown(r)]);`,
		Answer: 2,
		Requests: []string{
			`{"op":"chat","messages":[{"role":"system","content":"s"},{"role":"user","content":"q"}]}`,
			`{"op":"chat","messages":[{"role":"user","content":"q"},{"role":"assistant","reply":1},{"role":"tool","content":"t","name":"calculator"},{"role":"user","content":"b"},{"role":"assistant","reply":1}]}`,
		},
	}, {
		Name: "a reply that is typed again is context",
		Star: `def run(task, model, env):
    r = model.chat([chat.user("a")])
    return model.chat([chat.user("a"), chat.assistant(r.text)])
`,
		Node: `const r = await model.chat([user("a")]);
return await model.chat([user("a"), { role: "assistant", content: r.text }]);`,
		Answer: 2,
		Requests: []string{askOne,
			`{"op":"chat","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"one"}]}`},
	}, {
		Name: "what a reply holds",
		Star: `def run(task, model, env):
    r = model.chat([chat.user("a")], max_tokens = 2)
    call = r.tool_calls[0]
    print(r.text + "|" + r.finish_reason + "|" + str(r.tokens) + "|" + call.name + "|" + json.encode(call.args))
    return r
`,
		Node: `const r = await model.chat([user("a")], { max_tokens: 2 });
const call = r.tool_calls[0];
print([r.text, r.finish_reason, r.tokens, call.name, JSON.stringify(call.args)].join("|"));
return r;`,
		Host: func() *harnesstest.Host {
			return &harnesstest.Host{Replies: []harnesstest.Reply{{Text: "one two three", ToolCalls: []whale.ToolCall{
				{Name: "f", Args: args(`{"b":[1,{"c":null}],"a":"x"}`)},
			}}}}
		},
		Answer: 1, Requests: []string{`{"op":"chat","messages":[{"role":"user","content":"a"}],"max_tokens":2}`},
		Log: `one two |length|2|f|{"a":"x","b":[1,{"c":null}]}` + "\n",
	}, {
		Name: "max_tokens, stop and tools",
		Star: `def run(task, model, env):
    p = {"name": "x", "type": "integer", "description": "a number", "required": True}
    own = {"name": "own", "description": "mine", "parameters": [p]}
    return model.chat([chat.user("a")], tools = [own, env.tools[0]], max_tokens = 5, stop = ["</a>", "\n"])
`,
		Node: `const p = { name: "x", type: "integer", description: "a number", required: true };
const own = { name: "own", description: "mine", parameters: [p] };
return await model.chat([user("a")], { tools: [own, env.tools[0]], max_tokens: 5, stop: ["</a>", "\n"] });`,
		Host: withTools(nil), Answer: 1,
		Requests: []string{`{"op":"chat","messages":[{"role":"user","content":"a"}],"tools":[` +
			`{"name":"own","description":"mine","parameters":[{"name":"x","type":"integer","description":"a number","required":true}]},` +
			`{"name":"calculator","description":"computes","parameters":[{"name":"code","type":"string","description":"a program","required":true,"authored":true}]}` +
			`],"max_tokens":5,"stop":["</a>","\n"]}`},
	}, {
		Name: "count and clip",
		Star: `def run(task, model, env):
    print(str(model.count("one two three")) + model.clip("one two three", 2) + str(model.count("")))
`,
		Node: `print((await model.count("one two three")) + (await model.clip("one two three", 2)) + (await model.count("")));
return null;`,
		Requests: []string{`{"op":"count","text":"one two three"}`, `{"op":"clip","text":"one two three","max_tokens":2}`, `{"op":"count"}`},
		Log:      "3one two 0\n",
	}, {
		Name: "what is left is asked anew",
		Star: `def run(task, model, env):
    for _ in range(2):
        left = env.left
        print(str(left.tokens) + " " + str(left.model_calls) + " " + str(left.tool_calls))
        r = model.chat([chat.user("a")])
    return r
`,
		Node: `let r;
for (let i = 0; i < 2; i++) {
  const left = await env.left();
  print([left.tokens, left.model_calls, left.tool_calls].join(" "));
  r = await model.chat([user("a")]);
}
return r;`,
		Answer: 2, Requests: []string{`{"op":"left"}`, askOne, `{"op":"left"}`, askOne},
		Log: "10000 16 16\n9999 15 16\n",
	}, {
		Name: "many messages",
		Star: `def run(task, model, env):
    return model.chat([chat.user(str(i)) for i in range(3000)])
`,
		Node:   `return await model.chat(Array.from({ length: 3000 }, (_, i) => user(String(i))));`,
		Answer: 1, Requests: []string{many(3000)},
	}, {
		Name: "a message of an unknown role",
		Star: `def run(task, model, env):
    return model.chat([{"role": "developer", "content": "a"}])
`,
		Node:   `return await model.chat([{ role: "developer", content: "a" }]);`,
		Reason: whale.FailProgram, Raw: whale.FailContract, Detail: `role: got "developer", want "system", "user", "assistant" or "tool"`, Requests: []string{},
	}}
}
