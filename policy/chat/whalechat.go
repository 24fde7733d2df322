package chat

import (
	"fmt"
	"sort"
	"strings"
)

// The control tokens of whale-chat, in the order of their ids.
const (
	TokenEnd       = "<|end|>"
	TokenSystem    = "<|system|>"
	TokenUser      = "<|user|>"
	TokenAssistant = "<|assistant|>"
	TokenTool      = "<|tool|>"
)

// Whale is the template of whale-tiny:
//
//	<|system|>text<|end|> <|user|>text<|end|> <|tool|>text<|end|> <|assistant|>reply<|end|> … <|assistant|>
//
// (without the spaces). Tools that are offered natively are listed in a leading system message, and called as
// <tool_call>{"name": …, "arguments": {…}}</tool_call> in the reply's text.
func Whale() *Template {
	return &Template{
		Name: "whale-chat", Revision: 1, Serves: "whale-tiny and models of whale model pretrain",
		Controls: []string{TokenEnd, TokenSystem, TokenUser, TokenAssistant, TokenTool},
		Stop:     []string{TokenEnd},
		Tools:    true,
		render:   renderWhale,
		prompt:   func(b *builder, _ Options) { b.own(TokenAssistant) },
		parse:    func(text string, _ Options) Parsed { return parseHermes(text) },
	}
}

func renderWhale(b *builder, c Conversation, _ Options) error {
	if len(c.Tools) > 0 {
		list, err := listTools(c.Tools)
		if err != nil {
			return err
		}
		b.own(TokenSystem)
		b.say(list)
		b.own(TokenEnd)
	}
	for i, m := range c.Messages {
		if m.Reply != 0 {
			b.own(TokenAssistant)
			b.reply(m.Reply)
			continue
		}
		b.own("<|" + m.Role + "|>") // Render has checked the role
		b.say(m.Content)
		for j, call := range m.Calls {
			args, err := call.arguments()
			if err != nil {
				return fmt.Errorf("messages[%d]: %w", i, err)
			}
			if j > 0 || m.Content != "" {
				b.own("\n")
			}
			b.own(`<tool_call>{"name": `)
			b.say(quote(call.Name))
			b.own(`, "arguments": `)
			b.say(args)
			b.own("}</tool_call>")
		}
		b.own(TokenEnd)
	}
	return nil
}

// listTools is one line a tool: name, parameters in the order of the alphabet, description.
func listTools(tools []Tool) (string, error) {
	var b strings.Builder
	b.WriteString("Tools:")
	for _, t := range tools {
		names, err := t.parameterNames()
		if err != nil {
			return "", err
		}
		sort.Strings(names)
		fmt.Fprintf(&b, "\n%s(%s): %s", t.Name, strings.Join(names, ", "), t.Description)
	}
	return b.String(), nil
}

// parameterNames lists the properties of the schema.
func (t Tool) parameterNames() ([]string, error) {
	if len(t.Parameters) == 0 {
		return nil, nil
	}
	v, err := parseJSON(t.Parameters)
	if err != nil {
		return nil, fmt.Errorf("tool %.60q: parameters: %w", t.Name, err)
	}
	schema, ok := v.(*object)
	if !ok {
		return nil, fmt.Errorf("tool %.60q: parameters: got %.60q, want a JSON schema", t.Name, t.Parameters)
	}
	properties, ok := schema.values["properties"].(*object)
	if !ok {
		return nil, nil
	}
	return append([]string(nil), properties.keys...), nil
}

// WhaleControls lists the control tokens that a tokenizer must have for [Whale], in the order of their ids.
func WhaleControls() []string { return Whale().Controls }
