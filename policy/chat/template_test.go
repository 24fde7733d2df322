package chat

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
)

// openHermes is the plain ChatML template, which is one line.
const openHermes = `{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`

func TestIdentify(t *testing.T) {
	for _, text := range []string{openHermes, openHermes + "\n", openHermes + "\r\n"} {
		if got, err := Identify(text); err != nil || got.Name != "chatml" {
			t.Errorf("got %v %v, want chatml", got, err)
		}
	}
	for _, text := range []string{openHermes + " ", openHermes + "\n\n", "", strings.Replace(openHermes, "role", "rôle", 1)} {
		_, err := Identify(text)
		var unknown *UnknownError
		if !errors.As(err, &unknown) || unknown.Fingerprint != Fingerprint(text) {
			t.Errorf("%.20q: got %v, want an unknown template", text, err)
			continue
		}
		for _, want := range append(Names(), unknown.Fingerprint, "policy.template", "--template") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q in it", err, want)
			}
		}
	}
}

func TestByName(t *testing.T) {
	fingerprints := map[string]string{}
	for _, tmpl := range Templates() {
		for _, name := range []string{tmpl.Name, tmpl.ID()} {
			if got, err := ByName(name); err != nil || got.Name != tmpl.Name {
				t.Errorf("%s: got %v %v", name, got, err)
			}
		}
		for _, f := range tmpl.Fingerprints {
			if len(f) != 64 || fingerprints[f] != "" {
				t.Errorf("%s: fingerprint %q is none, or that of %s too", tmpl.Name, f, fingerprints[f])
			}
			fingerprints[f] = tmpl.Name
		}
	}
	for name, want := range map[string]string{"qwen-3": `did you mean "qwen3"?`, "": "whale-chat, ", "qwen3/0": "qwen3"} {
		if _, err := ByName(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q in it", name, err, want)
		}
	}
}

// TestRenderRefuses has what a template has no words for.
func TestRenderRefuses(t *testing.T) {
	user := Message{Role: whale.RoleUser, Content: "q"}
	called := Message{Role: whale.RoleAssistant, Calls: []Call{{"f", json.RawMessage(`{}`)}}}
	for _, tc := range []struct {
		template string
		c        Conversation
		o        Options
		want     string
	}{
		{"chatml", Conversation{Messages: []Message{user}, Tools: []Tool{{Name: "f"}}}, Options{}, "tools: got 1, want none: the chat template chatml cannot offer tools"},
		{"smollm2", Conversation{Messages: []Message{user, called}}, Options{}, "messages[1]: got tool calls"},
		{"llama3", Conversation{Messages: []Message{user, called}}, Options{}, "messages[1]: got tool calls"},
		{"qwen3", Conversation{Messages: []Message{user, {Role: "developer"}}}, Options{}, `messages[1]: role: got "developer"`},
		{"qwen3", Conversation{Messages: []Message{{Role: "user", Calls: called.Calls}}}, Options{}, "messages[0]: got tool calls or reasoning in a user message"},
		{"qwen2.5", Conversation{Messages: []Message{user, {Role: "assistant", Reasoning: "r"}}}, Options{}, "messages[1]: got reasoning"},
		{"qwen2.5", Conversation{}, Options{}, "messages: got none"},
		{"qwen3", Conversation{}, Options{}, "messages: got none"},
		{"llama3.1", Conversation{}, Options{}, "messages: got none"},
		{"qwen2.5", Conversation{Messages: []Message{user}}, Options{NoThinking: true}, "thinking: got off"},
		{"qwen2.5", Conversation{Messages: []Message{user}}, Options{KeepReasoning: true}, "keep_reasoning: got true"},
		{"qwen3", Conversation{Messages: []Message{user}}, Options{Date: "x"}, `date: got "x"`},
		{"qwen2.5", Conversation{Messages: []Message{user, {Role: "assistant", Calls: []Call{{"f", json.RawMessage(`[1]`)}}}}}, Options{}, `messages[1]: tool call "f": arguments: got "[1]", want a JSON object`},
		{"qwen3", Conversation{Messages: []Message{user, {Role: "assistant", Calls: []Call{{"f", json.RawMessage(`{`)}}}}}, Options{}, `messages[1]: tool call "f": arguments: json: `},
		{"qwen3", Conversation{Messages: []Message{user}, Tools: []Tool{{Name: "f", Parameters: json.RawMessage(`x`)}}}, Options{}, `tool "f": parameters: json: `},
		{"llama3.1", Conversation{Messages: []Message{{Reply: 1}, user}, Tools: []Tool{{Name: "f"}}}, Options{}, "messages[0]: got a reply, want a user message"},
		{"llama3.1", Conversation{Messages: []Message{user, {Role: "assistant", Calls: append(called.Calls, called.Calls...)}}}, Options{}, "messages[1]: got 2 tool calls, want 1"},
	} {
		tmpl, err := ByName(tc.template)
		if err != nil {
			t.Fatal(err)
		}
		_, err = tmpl.Render(tc.c, tc.o, true)
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q in it", tc.template, err, tc.want)
		}
	}
}

// TestSpecsAsSchemas describes tools as transformers' get_json_schema does.
func TestSpecsAsSchemas(t *testing.T) {
	tools, err := FromSpecs([]whale.ToolSpec{{Name: "calc", Description: "d", Parameters: []whale.ToolParameter{
		{Name: "z", Type: "string", Description: "the \"code\"", Required: true, Authored: true}, {Name: "a", Type: "integer", Description: "n"},
	}}, {Name: "now", Description: "t"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`{"type": "function", "function": {"name": "calc", "description": "d", "parameters": {"type": "object", "properties": {"z": {"type": "string", "description": "the \"code\""}, "a": {"type": "integer", "description": "n"}}, "required": ["z"]}}}`,
		`{"type": "function", "function": {"name": "now", "description": "t", "parameters": {"type": "object", "properties": {}, "required": []}}}`,
	} {
		if got, err := tools[i].function(0); err != nil || got != want {
			t.Errorf("got %s %v, want %s", got, err, want)
		}
	}
}

// TestWhaleChat pins the template that whale-tiny was trained on.
func TestWhaleChat(t *testing.T) {
	tools, err := FromSpecs([]whale.ToolSpec{{Name: "calc", Description: "counts", Parameters: []whale.ToolParameter{{Name: "z"}, {Name: "a"}}}})
	if err != nil {
		t.Fatal(err)
	}
	c := Conversation{Tools: tools, Messages: []Message{{Role: "system", Content: "s"}, {Role: "user", Content: "u"}, {Reply: 1}, {Role: "tool", Content: "r"}, {Role: "assistant", Content: "mine"}}}
	segments, err := Whale().Render(c, Options{}, true)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(flatten(segments, []sampledReply{{"sampled"}}, true), " ")
	want := "<|system|> text:Tools:\ncalc(a, z): counts <|end|> <|system|> text:s <|end|> <|user|> text:u <|end|> <|assistant|> sampled <|end|> <|tool|> text:r <|end|> <|assistant|> text:mine <|end|> <|assistant|>"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
