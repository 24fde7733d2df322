package chat

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
)

func call(name string, pairs ...string) whale.ToolCall {
	c := whale.ToolCall{Name: name, Args: map[string]json.RawMessage{}}
	for i := 0; i < len(pairs); i += 2 {
		c.Args[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return c
}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		template string
		options  Options
		text     string
		want     Parsed
	}{
		{"chatml", Options{}, "plain", Parsed{Text: "plain", Content: "plain"}},
		{"smollm2", Options{}, `<tool_call>[{"name": "a", "arguments": {"x": 1}}, {"name": "b", "arguments": {}}]</tool_call>`,
			Parsed{Text: `<tool_call>[{"name": "a", "arguments": {"x": 1}}, {"name": "b", "arguments": {}}]</tool_call>`, Calls: []whale.ToolCall{call("a", "x", "1"), call("b")}}},
		{"smollm2", Options{}, `<tool_call>[{"name": "a", "arguments": {}}, 3]</tool_call>`,
			Parsed{Text: `<tool_call>[{"name": "a", "arguments": {}}, 3]</tool_call>`, Content: `<tool_call>[{"name": "a", "arguments": {}}, 3]</tool_call>`}},
		{"qwen2.5", Options{}, "see\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": \"</y>\"}}\n</tool_call>\n<tool_call>\n{\"name\": \"g\", \"arguments\": {}}\n</tool_call>",
			Parsed{Text: "see\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": \"</y>\"}}\n</tool_call>\n<tool_call>\n{\"name\": \"g\", \"arguments\": {}}\n</tool_call>",
				Content: "see", Calls: []whale.ToolCall{call("f", "x", `"</y>"`), call("g")}}},
		{"qwen2.5", Options{}, "a<tool_call>{broken</tool_call>b<tool_call>{\"name\":\"f\"", Parsed{Text: "a<tool_call>{broken</tool_call>b<tool_call>{\"name\":\"f\"", Content: "a<tool_call>{broken</tool_call>b<tool_call>{\"name\":\"f\""}},
		{"qwen2.5", Options{}, "<think>x</think>y", Parsed{Text: "<think>x</think>y", Content: "<think>x</think>y"}},
		{"qwen3", Options{}, "<think>\nwhy\n</think>\n\nanswer", Parsed{Text: "answer", Content: "answer", Reasoning: "why"}},
		{"qwen3", Options{}, "<think>\nwhy <think>\n</think> more </think>\n\nanswer", Parsed{Text: "answer", Content: "answer", Reasoning: "why <think>\n</think> more "}},
		{"qwen3", Options{}, "<think>\nnever ends <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>", Parsed{Reasoning: "never ends <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>"}},
		{"qwen3", Options{NoThinking: true}, "answer", Parsed{Text: "answer", Content: "answer"}},
		{"qwen3", Options{}, "no opening</think>answer", Parsed{Text: "answer", Content: "answer", Reasoning: "no opening"}},
		{"qwen3", Options{}, "<think>\nr\n</think>\n\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": [1, {}]}}\n</tool_call>",
			Parsed{Text: "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": [1, {}]}}\n</tool_call>", Reasoning: "r", Calls: []whale.ToolCall{call("f", "x", "[1, {}]")}}},
		{"qwen3.5", Options{}, "why\n</think>\n\nanswer", Parsed{Text: "answer", Content: "answer", Reasoning: "why"}},
		{"qwen3.5", Options{}, "never ends", Parsed{Reasoning: "never ends"}},
		{"qwen3.5", Options{NoThinking: true}, "answer", Parsed{Text: "answer", Content: "answer"}},
		{"qwen3.5", Options{NoThinking: true}, "<tool_call>\n<function=f>\n<parameter=code>\nprint(1)\nprint(2)\n</parameter>\n<parameter=n>\n3\n</parameter>\n<parameter=on>\nTrue\n</parameter>\n</function>\n</tool_call>",
			Parsed{Text: "<tool_call>\n<function=f>\n<parameter=code>\nprint(1)\nprint(2)\n</parameter>\n<parameter=n>\n3\n</parameter>\n<parameter=on>\nTrue\n</parameter>\n</function>\n</tool_call>",
				Calls: []whale.ToolCall{call("f", "code", `"print(1)\nprint(2)"`, "n", "3", "on", "true")}}},
		{"qwen3.5", Options{NoThinking: true}, "<tool_call>\n<function=f>\n<parameter=x>\n1\n</function>\n</tool_call>",
			Parsed{Text: "<tool_call>\n<function=f>\n<parameter=x>\n1\n</function>\n</tool_call>", Content: "<tool_call>\n<function=f>\n<parameter=x>\n1\n</function>\n</tool_call>"}},
		{"llama3", Options{}, `{"name": "f", "parameters": {}}`, Parsed{Text: `{"name": "f", "parameters": {}}`, Content: `{"name": "f", "parameters": {}}`}},
		{"llama3.1", Options{}, "\n" + `{"name": "f", "parameters": {"x": "1"}} `, Parsed{Text: "\n" + `{"name": "f", "parameters": {"x": "1"}} `, Calls: []whale.ToolCall{call("f", "x", `"1"`)}}},
		{"llama3.2", Options{}, `{"name": "f", "parameters": {}}; {"name": "g", "arguments": {}}`,
			Parsed{Text: `{"name": "f", "parameters": {}}; {"name": "g", "arguments": {}}`, Calls: []whale.ToolCall{call("f"), call("g")}}},
		{"llama3.1", Options{}, `Here: {"name": "f", "parameters": {}}`, Parsed{Text: `Here: {"name": "f", "parameters": {}}`, Content: `Here: {"name": "f", "parameters": {}}`}},
		{"llama3.1", Options{}, `{"name": "f", "parameters": {}} and so on`, Parsed{Text: `{"name": "f", "parameters": {}} and so on`, Content: `{"name": "f", "parameters": {}} and so on`}},
		{"llama3.1", Options{}, `{"answer": 4}`, Parsed{Text: `{"answer": 4}`, Content: `{"answer": 4}`}},
		{"whale-chat", Options{}, `x <tool_call>{"name": "c", "arguments": {"code": "1+1"}}</tool_call>`,
			Parsed{Text: `x <tool_call>{"name": "c", "arguments": {"code": "1+1"}}</tool_call>`, Content: "x", Calls: []whale.ToolCall{call("c", "code", `"1+1"`)}}},
	} {
		tmpl, err := ByName(tc.template)
		if err != nil {
			t.Fatal(err)
		}
		if got := tmpl.Parse(tc.text, tc.options); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %q:\n got %+v\nwant %+v", tc.template, tc.text, got, tc.want)
		}
	}
}

// TestCallsSurvive renders calls and parses what was rendered.
func TestCallsSurvive(t *testing.T) {
	args := `{"code": "print(\"<tool_call>\")\n", "n": 3, "list": [1, {"a": null}], "on": true}`
	for _, tmpl := range Templates() {
		if !tmpl.Tools {
			continue
		}
		m := Message{Role: whale.RoleAssistant, Calls: []Call{{"f", json.RawMessage(args)}}}
		c := Conversation{Messages: []Message{{Role: whale.RoleUser, Content: "q"}, m}}
		segments, err := tmpl.Render(c, Options{}, false)
		if err != nil {
			t.Fatal(tmpl.Name, err)
		}
		prompt, err := tmpl.Render(Conversation{Messages: c.Messages[:1]}, Options{}, true)
		if err != nil {
			t.Fatal(tmpl.Name, err)
		}
		reply := strings.TrimPrefix(spell(segments), strings.TrimSuffix(spell(prompt), "\n"))
		reply, _, _ = strings.Cut(reply, tmpl.Stop[0])
		got := tmpl.Parse(reply, Options{NoThinking: true}).Calls
		want := map[string]json.RawMessage{}
		if err := json.Unmarshal([]byte(args), &want); err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0].Name != "f" || !reflect.DeepEqual(got[0].Args, want) {
			t.Errorf("%s: got %s from %q", tmpl.Name, got, reply)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"<think>a</think>b", "<tool_call>{}</tool_call>", "</think></think>", "<tool_call>\n<function=f>\n<parameter=x>\n1\n</parameter>\n</function>\n</tool_call>",
		`{"name": "f", "parameters": {}};`, strings.Repeat("<tool_call>", 50), strings.Repeat("[", 200)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, tmpl := range Templates() {
			p := tmpl.Parse(text, Options{})
			if len(p.Text)+len(p.Reasoning) > len(text) || len(p.Content) > len(p.Text) {
				t.Errorf("%s: %q: got more than there is: %+v", tmpl.Name, text, p)
			}
			for _, c := range p.Calls {
				if _, err := json.Marshal(c); err != nil || c.Name == "" {
					t.Errorf("%s: %q: call %+v: %v", tmpl.Name, text, c, err)
				}
			}
		}
	})
}
