package conformance

import (
	"encoding/json"
	"fmt"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

// awkward is text that readers of lines and of JSON stumble over: quotes, every kind of line end, NUL, DEL, what JavaScript takes for a new
// line, a byte order mark, characters beyond the first plane, combining ones, one that no plane has.
const awkward = "\"\\/\b\f\n\r\t\x00\x01\x7f\u0085\u2028\u2029\ufeff\ufffd\uffff é e\u0301 😀 👩‍👩‍👧 \U0010ffff 𝔘 {\"type\":\"answer\",\"reply\":1} </script>"

func echo(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"op":"chat","messages":[{"role":"user","content":%s}]}`, data)
}

// textCases are about what happens to text on its way.
func textCases() []Case {
	long := strings.Repeat("0123456789 é 😀\n", 40_000)
	echoes := func(s string) Case {
		return Case{
			Star: `def run(task, model, env):
    r = model.chat([chat.user(task.question)])
    print(r.text)
    return model.chat([chat.user(r.text)])
`,
			Node: `const r = await model.chat([user(task.question)]);
print(r.text);
return await model.chat([user(r.text)]);`,
			Host: func() *harnesstest.Host {
				h := &harnesstest.Host{View: map[string]string{"question": s}, Replies: []harnesstest.Reply{{Text: s, Tokens: 1}}, Limits: harnesstest.Limits()}
				h.Limits.LogBytes = 2 << 20
				return h
			},
			Answer: 2, Requests: []string{echo(s), echo(s)}, Log: s + "\n",
		}
	}
	text, lines := echoes(awkward), echoes(long)
	text.Name, lines.Name = "awkward text comes back as it went", "long text comes back as it went"
	return []Case{text, lines, {
		Name: "awkward text in names and arguments",
		Star: `def run(task, model, env):
    r = env.call(task.question, **{task.question: [task.question, {task.question: 1}]})
    print(r.data[0])
`,
		Node: `const q = task.question;
const r = await env.call(q, { [q]: [q, { [q]: 1 }] });
print(r.data[0]);
return null;`,
		Host: func() *harnesstest.Host {
			h := withTools(nil)()
			h.View["question"] = awkward
			h.Tool = echoTool
			return h
		},
		Requests: []string{fmt.Sprintf(`{"op":"tool","name":%[1]s,"args":{%[1]s:[%[1]s,{%[1]s:1}]}}`, quote(awkward))},
		Log:      awkward + "\n",
	}, {
		Name: "print",
		Star: `def run(task, model, env):
    print("a", 1)
    print("")
    print("two\nlines")
`,
		Node: `print("a 1");
print("");
print("two\nlines");
return null;`,
		Requests: []string{}, Log: "a 1\n\ntwo\nlines\n",
	}, {
		Name: "the last print before an error is kept",
		Star: `def run(task, model, env):
    print("here")
    return 1 // 0
`,
		Node: `print("here");
throw new Error("x");`,
		Reason: "program", Line: true, Requests: []string{}, Log: "here\n",
	}, {
		Name: "the parts of a text",
		Star: `def run(task, model, env):
    s = "a ` + "```Python x\\n1\\n```" + ` b ` + "```\\n2 ```" + ` <t> u </t> <t>v</t> \\boxed{\\{1\\}} \\boxed{{2} \\boxed{3"
    parts = [text.fence(s), text.fence(s, "", "last"), text.fence(s, lang = "js"), text.tag(s, "t"), text.tag(s, "t", which = "first"),
        text.tag(s, "w"), text.boxed(s), text.boxed("\\boxed{a{b}c}"), text.fill("{question} {x} {}", task), text.fill("{a}", {"a": "{a}"}),
        text.head("a\nb\nc", 2), text.tail("a\nb\nc\n", 2), text.tail("a", 0), text.truncate("äöü", 2)]
    print(json.encode(parts))
`,
		Requests: []string{}, Log: `["1","2",null,"v","u",null,"\\{1\\}","a{b}c","q {x} {}","{a}","a\nb","b\nc\n","","äö"]` + "\n",
	}, {
		Name: "the modules json, math and re",
		Star: `def run(task, model, env):
    m = re.search(r"(?P<n>\d+) (\w+)", "have 12 apples")
    values = [json.decode("{", None), json.decode('{"b": [1.5, 2]}'), math.floor(2.7), math.sqrt(9) == 3, m.group("n"), m.group(2), re.sub(r"\d", "#", "a1b2"),
        re.findall(r"[a-z]+", "ab cd"), json.decode(json.encode_indent({"a": [1]})), math.mod(-7, 3) == -1, math.round(2.5) == 3]
    print(json.encode(values))
`,
		Requests: []string{}, Log: `[null,{"b":[1.5,2]},2,true,"12","apples","a#b#",["ab","cd"],{"a":[1]},true,true]` + "\n",
	}}
}

// echoTool gives back its one argument.
func echoTool(_ string, args map[string]json.RawMessage) (r whale.ToolResult, err error) {
	for _, v := range args {
		r.Data = v
	}
	return r, nil
}

func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}
