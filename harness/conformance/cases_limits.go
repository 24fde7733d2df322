package conformance

import (
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

// limited makes hosts with one limit changed.
func limited(change func(l *whale.Limits)) func() *harnesstest.Host {
	return func() *harnesstest.Host {
		h := withTools(nil)()
		h.Limits = harnesstest.Limits()
		change(&h.Limits)
		return h
	}
}

const endless = `def run(task, model, env):
    for _ in range(1000):
        r = model.chat([chat.user("a")])
    return r
`

const endlessNode = `let r;
for (let i = 0; i < 1000; i++) r = await model.chat([user("a")]);
return r;`

// limitCases are about the limits that the host counts, which no program can go on from.
func limitCases() []Case {
	longLog := strings.Repeat("é", 30)
	return []Case{{
		Name: "model calls", Star: endless, Node: endlessNode,
		Host:   limited(func(l *whale.Limits) { l.ModelCalls = 3 }),
		Reason: whale.FailModelCalls, Requests: []string{askOne, askOne, askOne, askOne},
	}, {
		Name: "tokens", Star: endless, Node: endlessNode,
		Host:   limited(func(l *whale.Limits) { l.Tokens = 2 }),
		Reason: whale.FailTokens, Requests: []string{askOne, askOne, askOne},
	}, {
		Name: "a limit cannot be caught",
		Star: endless,
		Python: `def run(task, model, env):
    while True:
        try:
            r = model.chat([chat.user("a")])
        except BaseException:
            return r
`,
		Node: `let r;
for (;;) { try { r = await model.chat([user("a")]); } catch { return r; } }`,
		Host:   limited(func(l *whale.Limits) { l.ModelCalls = 1 }),
		Reason: whale.FailModelCalls, Requests: []string{askOne, askOne},
	}, {
		Name: "tool calls",
		Star: `def run(task, model, env):
    for i in range(1000):
        env.call("calculator")
`,
		Node:   `for (let i = 0; i < 1000; i++) await env.call("calculator");`,
		Host:   limited(func(l *whale.Limits) { l.ToolCalls = 1 }),
		Reason: whale.FailToolCalls, Requests: []string{`{"op":"tool","name":"calculator"}`, `{"op":"tool","name":"calculator"}`},
	}, {
		Name: "message bytes",
		Star: `def run(task, model, env):
    model.chat([chat.user("a" * 60), chat.user("é" * 20)])
    model.chat([chat.user("a" * 60), chat.user("é" * 20 + "b")])
`,
		Node: `await model.chat([user("a".repeat(60)), user("é".repeat(20))]);
await model.chat([user("a".repeat(60)), user("é".repeat(20) + "b")]);`,
		Host:   limited(func(l *whale.Limits) { l.MessageBytes = 100 }),
		Reason: whale.FailMessageBytes,
		Requests: []string{
			`{"op":"chat","messages":[{"role":"user","content":"` + strings.Repeat("a", 60) + `"},{"role":"user","content":"` + strings.Repeat("é", 20) + `"}]}`,
			"…",
		},
	}, {
		// So far beyond the limit that no host would read the line: a library says so in time, who has none breaks the protocol.
		Name: "far more message bytes than a line may have",
		Star: `def run(task, model, env):
    model.chat([chat.user("a" * 50), chat.user("b" * 3000000)])
`,
		Node:   `await model.chat([user("a".repeat(50)), user("b".repeat(3000000))]);`,
		Host:   limited(func(l *whale.Limits) { l.MessageBytes = 1000 }),
		Reason: whale.FailMessageBytes, Raw: whale.FailProtocol,
	}, {
		Name: "message bytes where every character is escaped",
		Star: `def run(task, model, env):
    model.chat([chat.user("\x01" * 200000)])
    model.chat([chat.user("\x01" * 200001)])
`,
		Node: `await model.chat([user("\x01".repeat(200000))]);
await model.chat([user("\x01".repeat(200001))]);`,
		Host:   limited(func(l *whale.Limits) { l.MessageBytes = 200_000 }),
		Reason: whale.FailMessageBytes,
	}, {
		Name: "the log is cut",
		Star: `def run(task, model, env):
    print("` + longLog + `")
    print("more")
    return model.chat([chat.user("a")])
`,
		Node: `print("` + longLog + `");
print("more");
return await model.chat([user("a")]);`,
		Host:   limited(func(l *whale.Limits) { l.LogBytes = 50 }),
		Answer: 1, Requests: []string{askOne}, Log: strings.Repeat("é", 25),
	}, {
		Name: "no log at all",
		Star: `def run(task, model, env):
    print("a")
    return model.chat([chat.user("a")])
`,
		Node: `print("a");
return await model.chat([user("a")]);`,
		Host:   limited(func(l *whale.Limits) { l.LogBytes = 0 }),
		Answer: 1, Requests: []string{askOne},
	}}
}
