package local

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm/token"
	"github.com/seed-095d5d2b/whale/policy/chat"
)

// testTokenizer has every control token of the families. Markers are tokens of their own, special or not, or plain text.
func testTokenizer(t testing.TB, markers string) *token.Tokenizer {
	t.Helper()
	var specials, added []string
	for _, tmpl := range chat.Templates() {
		for _, name := range slices.Concat(tmpl.Controls, tmpl.Stop) {
			if !slices.Contains(specials, name) {
				specials = append(specials, name)
			}
		}
		for _, name := range tmpl.Markers {
			if markers != "text" && !slices.Contains(added, name) {
				added = append(added, name)
			}
		}
	}
	texts := []string{"What is 12 + 30?\n\n", "You are a helpful assistant.\nuser\nassistant\n", "</think>\n\n<tool_response>", "the the\n\n\nthe"}
	tok, err := token.Train(slices.Values(texts), token.TrainOptions{Vocab: 400, Special: append(specials, added...), Split: token.Qwen})
	if err != nil {
		t.Fatal(err)
	}
	if markers != "added" {
		return tok
	}
	var file bytes.Buffer
	if err := tok.WriteJSON(&file); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	for _, name := range added {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, spelled := range []string{string(quoted), `"` + name + `"`} {
			i := strings.Index(text, `"content": `+spelled)
			if i < 0 {
				continue
			}
			text = text[:i] + strings.Replace(text[i:], `"special": true`, `"special": false`, 1)
			break
		}
	}
	if tok, err = token.ReadJSON(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	for _, name := range added {
		if _, special := tok.Special(name); special {
			t.Fatalf("%s is special still", name)
		}
	}
	return tok
}

func templateRenderer(t testing.TB, tok *token.Tokenizer, name string, o chat.Options) *Renderer {
	t.Helper()
	tmpl, err := chat.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewTemplateRenderer(tok, tmpl, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestIdsOfTheOriginals tokenises what the original templates render, control tokens recognised, and compares with the renderer's ids. The
// conversations that forge control tokens are where the two must differ.
func TestIdsOfTheOriginals(t *testing.T) {
	var recordings []struct {
		Template string
		Cases    []struct {
			Conversation string
			Thinking     *bool  `json:"enable_thinking"`
			Date         string `json:"date_string"`
			Prompt       bool
			Text         string
		}
	}
	var conversations []struct {
		Name     string
		Messages []whale.Message
		Tools    []any
	}
	for file, to := range map[string]any{"renderings": &recordings, "conversations": &conversations} {
		data, err := os.ReadFile("../chat/testdata/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, to); err != nil {
			t.Fatal(err)
		}
	}
	tokenizers := map[string]*token.Tokenizer{}
	for _, markers := range []string{"text", "added", "special"} {
		tokenizers[markers] = testTokenizer(t, markers)
	}
	compared := 0
	for _, rec := range recordings {
		for _, c := range rec.Cases {
			i := slices.IndexFunc(conversations, func(x struct {
				Name     string
				Messages []whale.Message
				Tools    []any
			}) bool {
				return x.Name == c.Conversation
			})
			simple := len(conversations[i].Tools) == 0 && !strings.Contains(c.Conversation, "call") && !strings.Contains(c.Conversation, "apart")
			if !c.Prompt || !simple || c.Text == "" {
				continue
			}
			for markers, tok := range tokenizers {
				r := templateRenderer(t, tok, rec.Template, chat.Options{NoThinking: c.Thinking != nil, Date: c.Date})
				got, err := r.Render(conversations[i].Messages, nil, none)
				if err != nil {
					t.Errorf("%s: %q: %v", rec.Template, c.Conversation, err)
					continue
				}
				same := slices.Equal(got, tok.EncodeWithSpecials(c.Text))
				switch {
				case c.Conversation == "forged":
					if same {
						t.Errorf("%s: a message forged control tokens: %q", rec.Template, tok.DecodeAll(got))
					}
				case markers == "special" && spellsMarkers(conversations[i].Messages): // plain text here, control tokens there
				case !same:
					t.Errorf("%s: %q, markers as %s: got %q, want %q", rec.Template, c.Conversation, markers, tok.DecodeAll(got), c.Text)
				}
				compared++
			}
		}
	}
	if compared < 500 {
		t.Errorf("only %d renderings were compared", compared)
	}
}

func spellsMarkers(messages []whale.Message) bool {
	return slices.ContainsFunc(messages, func(m whale.Message) bool {
		return strings.Contains(m.Content, "think>") || strings.Contains(m.Content, "tool_response>")
	})
}

// TestEveryTemplateExtends is TestLaterPromptExtendsEarlier for all templates that promise it, on ids.
func TestEveryTemplateExtends(t *testing.T) {
	for _, markers := range []string{"text", "added", "special"} {
		tok := testTokenizer(t, markers)
		for _, tmpl := range chat.Templates() {
			for _, o := range []chat.Options{{}, {KeepReasoning: true}, {KeepReasoning: true, NoThinking: true}} {
				if tmpl.Check(o) != nil || !tmpl.PreservesPrefixes(o) {
					continue
				}
				r := templateRenderer(t, tok, tmpl.Name, o)
				rapid.Check(t, func(t *rapid.T) {
					history := []whale.Message{{Role: whale.RoleUser, Content: "start"}}
					var sampled [][]int32
					var before []int32
					for turn := range 3 {
						prompt, err := r.Render(history, nil, func(ref whale.ReplyRef) []int32 { return sampled[ref-1] })
						if err != nil {
							t.Fatal(err)
						}
						if len(prompt) < len(before) || !slices.Equal(prompt[:len(before)], before) {
							t.Fatalf("%s %+v: turn %d does not extend what came before", tmpl.Name, o, turn)
						}
						ids := rapid.SliceOf(rapid.Int32Range(0, int32(tok.Vocab()+2))).Draw(t, "ids")
						sampled = append(sampled, append([]int32{}, ids...))
						before = append(slices.Clone(prompt), ids...)
						role := rapid.SampledFrom([]string{whale.RoleUser, whale.RoleAssistant, whale.RoleTool}).Draw(t, "role")
						history = append(history, whale.Message{Reply: whale.ReplyRef(turn + 1)}, whale.Message{Role: role, Content: rapid.String().Draw(t, "text")})
					}
				})
			}
		}
	}
}

// TestEarlierReasoningIsDropped splices what was sampled after the reasoning, and no other ids.
func TestEarlierReasoningIsDropped(t *testing.T) {
	for _, markers := range []string{"text", "added", "special"} {
		tok := testTokenizer(t, markers)
		for _, name := range []string{"qwen3", "qwen3.5"} {
			r := templateRenderer(t, tok, name, chat.Options{})
			encode := func(s string) []int32 { return tok.EncodeWithSpecials(s) }
			for _, tc := range []struct{ said, left string }{
				{"<think>\nwhy\n</think>\n\nthe the<|im_end|>", "the the<|im_end|>"},
				{"<think>\nwhy</think>\n\n\n\n\nthe", "the<|im_end|>"},
				{"<think>a</think>b</think>", "<|im_end|>"},
				{"<think>\nwhy\n</think>\n\n<|im_end|>", "<|im_end|>"},
			} {
				sampled := encode(tc.said)
				ids, err := r.Render([]whale.Message{{Role: "user", Content: "q"}, {Reply: 1}, {Role: "user", Content: "again"}}, nil, func(whale.ReplyRef) []int32 { return sampled })
				if err != nil {
					t.Fatal(err)
				}
				want := "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n" + tc.left + "\n<|im_start|>user\nagain<|im_end|>\n<|im_start|>assistant\n"
				if got := tok.DecodeAll(ids); !strings.HasPrefix(got, want) {
					t.Errorf("%s, markers as %s: %q: got %q, want %q", name, markers, tc.said, got, want)
				}
			}
			// Reasoning that never ended stays in Qwen3, whose reply opens it, and is all there is in Qwen3.5, whose prompt does.
			ids, err := r.Render([]whale.Message{{Role: "user", Content: "q"}, {Reply: 1}, {Role: "user", Content: "again"}}, nil, func(whale.ReplyRef) []int32 { return encode("the the") })
			if err != nil {
				t.Fatal(err)
			}
			if got := tok.DecodeAll(ids); strings.Contains(got, "the the") != (name == "qwen3") {
				t.Errorf("%s: got %q", name, got)
			}
			latest, err := r.Render([]whale.Message{{Role: "user", Content: "q"}, {Reply: 1}, {Role: "tool", Content: "again"}}, nil, func(whale.ReplyRef) []int32 { return encode("x</think>\n\ny") })
			if err != nil {
				t.Fatal(err)
			}
			if got := tok.DecodeAll(latest); !strings.Contains(got, "x</think>\n\ny<|im_end|>") {
				t.Errorf("%s: the latest turn's reasoning is gone: %q", name, got)
			}
		}
	}
}

// TestMarkersAreReadWhereverTheyComeFrom parses replies with markers as tokens, special ones too, and as text.
func TestMarkersAreReadWhereverTheyComeFrom(t *testing.T) {
	said := "<think>\nwhy\n</think>\n\nsee <tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call><|im_end|>"
	for _, markers := range []string{"text", "added", "special"} {
		tok := testTokenizer(t, markers)
		p := templateRenderer(t, tok, "qwen3", chat.Options{}).ParseChat(tok.EncodeWithSpecials(said))
		if p.Reasoning != "why" || p.Content != "see" || len(p.Calls) != 1 || p.Calls[0].Name != "f" {
			t.Errorf("markers as %s: got %+v", markers, p)
		}
	}
}

// TestRendererIdentity differs in whatever changes what is rendered.
func TestRendererIdentity(t *testing.T) {
	tok, other := testTokenizer(t, "added"), testTokenizer(t, "text")
	seen := map[whale.ID]string{}
	add := func(name string, r *Renderer) {
		if old, ok := seen[r.ID()]; ok {
			t.Errorf("%s and %s have the same identity", name, old)
		}
		seen[r.ID()] = name
	}
	for _, tmpl := range chat.Templates() {
		add(tmpl.Name, templateRenderer(t, tok, tmpl.Name, chat.Options{}))
		add(tmpl.Name+" with another tokenizer", templateRenderer(t, other, tmpl.Name, chat.Options{}))
	}
	add("no thinking", templateRenderer(t, tok, "qwen3", chat.Options{NoThinking: true}))
	add("keep reasoning", templateRenderer(t, tok, "qwen3", chat.Options{KeepReasoning: true}))
	add("date", templateRenderer(t, tok, "llama3.2", chat.Options{Date: "1 Jan 2030"}))
	r, err := NewTemplateRenderer(tok, templateRenderer(t, tok, "qwen3", chat.Options{}).Template(), chat.Options{}, []int32{3})
	if err != nil {
		t.Fatal(err)
	}
	add("another end", r)
	if !slices.Contains(r.StopIDs(), 3) {
		t.Errorf("the model's own end 3 is not among %v", r.StopIDs())
	}
	b, err := Open("whale-tiny")
	if err != nil {
		t.Fatal(err)
	}
	if want := whale.ID("e51c9d51b7a56968d14f4a0a7325144b"); b.Renderer.ID() != want {
		t.Errorf("whale-tiny's renderer: got %s, want %s, which runs and rollouts on disk were made with", b.Renderer.ID(), want)
	}
}
