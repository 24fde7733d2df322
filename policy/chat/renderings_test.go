package chat

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// recording is what testdata/record.py writes.
type recording struct {
	Template    string `json:"template"`
	Source      string `json:"source"`
	Fingerprint string `json:"fingerprint"`
	Cases       []struct {
		Conversation string `json:"conversation"`
		Thinking     *bool  `json:"enable_thinking"`
		Date         string `json:"date_string"`
		Prompt       bool   `json:"prompt"`
		Text         string `json:"text"`
		Error        string `json:"error"`
	} `json:"cases"`
}

func readTestdata(t testing.TB, name string, v any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(name, err)
	}
}

// readConversations reads the conversations in the form of OpenAI's API, which is what the recorded templates saw.
func readConversations(t testing.TB) map[string]Conversation {
	t.Helper()
	var raw []struct {
		Name     string `json:"name"`
		Messages []struct {
			Role      string `json:"role"`
			Content   string `json:"content"`
			Reasoning string `json:"reasoning_content"`
			Calls     []struct {
				Function Call `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Function Tool `json:"function"`
		} `json:"tools"`
	}
	readTestdata(t, "conversations.json", &raw)
	out := map[string]Conversation{}
	for _, r := range raw {
		var c Conversation
		for _, m := range r.Messages {
			message := Message{Role: m.Role, Content: m.Content, Reasoning: m.Reasoning}
			for _, call := range m.Calls {
				message.Calls = append(message.Calls, call.Function)
			}
			c.Messages = append(c.Messages, message)
		}
		for _, tool := range r.Tools {
			c.Tools = append(c.Tools, tool.Function)
		}
		out[r.Name] = c
	}
	return out
}

// spell writes segments out, control tokens by name.
func spell(segments []Segment) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteString(s.Control + s.Text)
	}
	return b.String()
}

// beyond says why a template has no words for a conversation that the Jinja original renders by leaving something out.
func beyond(t *Template, c Conversation) bool {
	lost := func(m Message) bool {
		return len(m.Calls) > 0 && !t.Tools || m.Reasoning != "" && !t.Thinking
	}
	return len(c.Tools) > 0 && !t.Tools || slices.ContainsFunc(c.Messages, lost)
}

// TestRenderingsOfTheOriginals compares with what the families' Jinja templates render.
func TestRenderingsOfTheOriginals(t *testing.T) {
	conversations := readConversations(t)
	var recordings []recording
	readTestdata(t, "renderings.json", &recordings)
	seen := map[string]int{}
	for _, r := range recordings {
		tmpl, err := ByName(r.Template)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(tmpl.Fingerprints, r.Fingerprint) {
			t.Errorf("%s: %s has the fingerprint %s, the twin knows %v", r.Template, r.Source, r.Fingerprint, tmpl.Fingerprints)
		}
		for _, c := range r.Cases {
			conversation, ok := conversations[c.Conversation]
			if !ok {
				t.Fatalf("%s: no conversation %q", r.Template, c.Conversation)
			}
			o := Options{NoThinking: c.Thinking != nil && !*c.Thinking, Date: c.Date}
			got, err := tmpl.Render(conversation, o, c.Prompt)
			if c.Error != "" || beyond(tmpl, conversation) {
				if err == nil {
					t.Errorf("%s: %q: got %q, want an error; the original: %s", r.Source, c.Conversation, spell(got), c.Error)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %q: %v", r.Source, c.Conversation, err)
				continue
			}
			if text := spell(got); text != c.Text {
				t.Errorf("%s: %q (%+v, prompt %v):\n got %q\nwant %q", r.Source, c.Conversation, o, c.Prompt, text, c.Text)
			}
			seen[r.Template]++
		}
	}
	for _, tmpl := range Templates() {
		if tmpl.Name != "whale-chat" && seen[tmpl.Name] < 20 {
			t.Errorf("%s: only %d recorded renderings were compared", tmpl.Name, seen[tmpl.Name])
		}
	}
}
