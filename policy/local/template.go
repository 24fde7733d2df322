package local

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm/token"
)

// The control tokens of whale-tiny's chat template. Text can never contain them: the tokenizer reads specials in text as plain bytes.
const (
	TokenEnd       = "<|end|>"
	TokenSystem    = "<|system|>"
	TokenUser      = "<|user|>"
	TokenAssistant = "<|assistant|>"
	TokenTool      = "<|tool|>"
)

// Specials are the control tokens in the order of their ids.
var specials = [...]string{TokenEnd, TokenSystem, TokenUser, TokenAssistant, TokenTool}

// Specials lists the control tokens a tokenizer must have for this template.
func Specials() []string { return append([]string(nil), specials[:]...) }

// TemplateName is the template's name and version, part of the renderer's identity.
const TemplateName = "whale-chat/1"

// Renderer renders conversations for whale-tiny:
//
//	<|system|>text<|end|> <|user|>text<|end|> <|tool|>text<|end|> <|assistant|>reply<|end|> … <|assistant|>
//
// (without the spaces). A later prompt that only appends to an earlier one and its completion extends it token for token.
// Tools that are offered natively are listed in a leading system message, and called as
// <tool_call>{"name": …, "arguments": {…}}</tool_call> in the reply's text.
type Renderer struct {
	tok   *token.Tokenizer
	id    whale.ID
	roles map[string]int32
	end   int32
}

// NewRenderer checks that the tokenizer has the template's control tokens.
func NewRenderer(tok *token.Tokenizer) (*Renderer, error) {
	r := &Renderer{tok: tok, roles: map[string]int32{}}
	find := func(name string) (int32, error) {
		id, ok := tok.Special(name)
		if !ok {
			return 0, fmt.Errorf("tokenizer: control token %s is missing, want all of %s", name, strings.Join(specials[:], " "))
		}
		return id, nil
	}
	var err error
	for role, name := range map[string]string{whale.RoleSystem: TokenSystem, whale.RoleUser: TokenUser, whale.RoleAssistant: TokenAssistant, whale.RoleTool: TokenTool} {
		if r.roles[role], err = find(name); err != nil {
			return nil, err
		}
	}
	if r.end, err = find(TokenEnd); err != nil {
		return nil, err
	}
	r.id = whale.HashOf("renderer", []string{TemplateName, tok.Hash()})
	return r, nil
}

// ID is the content hash of template and tokenizer.
func (r *Renderer) ID() whale.ID { return r.id }

// StopIDs is the end-of-message token.
func (r *Renderer) StopIDs() []int32 { return []int32{r.end} }

// Count is the number of tokens of a text.
func (r *Renderer) Count(text string) int { return len(r.tok.Encode(text)) }

// Clip is the longest prefix of at most that many whole tokens.
func (r *Renderer) Clip(text string, tokens int) string { return r.tok.Clip(text, tokens) }

// Render gives the prompt ids, ending with the assistant's control token.
func (r *Renderer) Render(messages []whale.Message, tools []whale.ToolSpec, replies func(whale.ReplyRef) []int32) ([]int32, error) {
	var ids []int32
	block := func(role, text string) {
		ids = append(ids, r.roles[role])
		ids = append(ids, r.tok.Encode(text)...)
		ids = append(ids, r.end)
	}
	if len(tools) > 0 {
		block(whale.RoleSystem, describeTools(tools))
	}
	for i, m := range messages {
		if m.Reply != 0 {
			sampled := replies(m.Reply)
			if sampled == nil {
				return nil, fmt.Errorf("messages[%d]: reply %d: no such reply in this episode", i, m.Reply)
			}
			ids = append(ids, r.roles[whale.RoleAssistant])
			ids = append(ids, sampled...)
			if len(sampled) == 0 || sampled[len(sampled)-1] != r.end {
				ids = append(ids, r.end) // a reply that was cut off is closed by context, not by a sampled token
			}
			continue
		}
		if _, ok := r.roles[m.Role]; !ok {
			return nil, fmt.Errorf("messages[%d]: role: got %q, want system, user, assistant or tool", i, m.Role)
		}
		block(m.Role, m.Content)
	}
	return append(ids, r.roles[whale.RoleAssistant]), nil
}

// Parse gives the text without control tokens and the native tool calls in it. A call that is not valid JSON stays text.
func (r *Renderer) Parse(ids []int32) (string, []whale.ToolCall) {
	text := r.tok.Decode(ids)
	var calls []whale.ToolCall
	rest := text
	for {
		_, after, ok := strings.Cut(rest, "<tool_call>")
		if !ok {
			return text, calls
		}
		body, tail, ok := strings.Cut(after, "</tool_call>")
		if !ok {
			return text, calls
		}
		var c struct {
			Name      string                     `json:"name"`
			Arguments map[string]json.RawMessage `json:"arguments"`
		}
		if json.Unmarshal([]byte(body), &c) == nil && c.Name != "" {
			calls = append(calls, whale.ToolCall{Name: c.Name, Args: c.Arguments})
		}
		rest = tail
	}
}

func describeTools(tools []whale.ToolSpec) string {
	var b strings.Builder
	b.WriteString("Tools:")
	for _, t := range tools {
		params := make([]string, len(t.Parameters))
		for i, p := range t.Parameters {
			params[i] = p.Name
		}
		sort.Strings(params)
		fmt.Fprintf(&b, "\n%s(%s): %s", t.Name, strings.Join(params, ", "), t.Description)
	}
	return b.String()
}
