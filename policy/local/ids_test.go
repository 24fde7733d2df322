package local

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/seed-095d5d2b/whale/lm/token"
	"github.com/seed-095d5d2b/whale/policy/chat"
)

// TestIdsOfTransformers renders conversations with tools, calls, results and reasoning into the ids that transformers makes of them with the
// original templates (testdata/record.py).
func TestIdsOfTransformers(t *testing.T) {
	var recorded []struct {
		Template, Tokenizer, Conversation string
		IDs                               []int32
	}
	var raw []struct {
		Name     string
		Messages []struct {
			chat.Message
			Calls []struct{ Function chat.Call } `json:"tool_calls"`
		}
		Tools []struct{ Function chat.Tool }
	}
	for path, to := range map[string]any{"testdata/ids.json": &recorded, "../chat/testdata/conversations.json": &raw} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, to); err != nil {
			t.Fatal(path, err)
		}
	}
	conversations := map[string]chat.Conversation{}
	for _, r := range raw {
		var c chat.Conversation
		for _, m := range r.Messages {
			for _, call := range m.Calls {
				m.Message.Calls = append(m.Message.Calls, call.Function)
			}
			c.Messages = append(c.Messages, m.Message)
		}
		for _, tool := range r.Tools {
			c.Tools = append(c.Tools, tool.Function)
		}
		conversations[r.Name] = c
	}
	compared := map[string]int{}
	for _, r := range recorded {
		f, err := os.Open("../../lm/token/testdata/families/" + r.Tokenizer + ".json")
		if err != nil {
			t.Fatal(err)
		}
		tok, err := token.ReadJSON(f)
		f.Close()
		if err != nil {
			t.Fatal(r.Tokenizer, err)
		}
		got, err := templateRenderer(t, tok, r.Template, chat.Options{}).RenderChat(conversations[r.Conversation])
		if err != nil {
			if r.Template == "smollm2" && len(conversations[r.Conversation].Tools) > 0 {
				continue // the original leaves tools and calls out
			}
			t.Errorf("%s: %q: %v", r.Template, r.Conversation, err)
			continue
		}
		if !slices.Equal(got, r.IDs) {
			t.Errorf("%s: %q:\n got %v (%q)\nwant %v (%q)", r.Template, r.Conversation, got, tok.DecodeAll(got), r.IDs, tok.DecodeAll(r.IDs))
		}
		compared[r.Template]++
	}
	for _, name := range []string{"smollm2", "qwen2.5", "qwen3", "llama3.1", "llama3.2"} {
		if compared[name] < 4 {
			t.Errorf("%s: only %d conversations were compared", name, compared[name])
		}
	}
}
