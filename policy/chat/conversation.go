package chat

import (
	"encoding/json"
	"fmt"

	"github.com/seed-095d5d2b/whale"
)

// Conversation is what a prompt is made of.
type Conversation struct {
	Messages []Message
	Tools    []Tool
}

// Message is one entry. With Reply set it stands for that sampled reply, and its other fields are ignored.
type Message struct {
	Role      string // system, user, assistant or tool
	Content   string
	Reasoning string // of an assistant message that a program wrote: its reasoning, where that is apart from Content
	Calls     []Call // of an assistant message that a program wrote: the tool calls in it
	Reply     whale.ReplyRef
}

// Call is a tool call as a program writes it into an assistant message.
type Call struct {
	Name      string
	Arguments json.RawMessage // a JSON object; its order is kept
}

// Tool is a tool offered to the model.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // a JSON schema; its order is kept
}

// Options are the choices that a template leaves open. An option that a template does not have is refused by [Template.Check].
type Options struct {
	NoThinking    bool   // ask the model to answer without reasoning
	KeepReasoning bool   // keep the reasoning of earlier turns, which the template would drop: what is rendered once stays as it is
	Date          string // the date that a template tells the model; empty means the one in the template's own text
}

// FromMessages takes messages as a harness sends them.
func FromMessages(messages []whale.Message) []Message {
	out := make([]Message, len(messages))
	for i, m := range messages {
		out[i] = Message{Role: m.Role, Content: m.Content, Reply: m.Reply}
	}
	return out
}

// FromSpecs describes tools by JSON schemas, in the form and order of transformers' get_json_schema.
func FromSpecs(specs []whale.ToolSpec) ([]Tool, error) {
	var out []Tool
	for _, s := range specs {
		properties, required := &object{}, []any{}
		for _, p := range s.Parameters {
			property := &object{}
			property.set("type", p.Type)
			property.set("description", p.Description)
			properties.set(p.Name, property)
			if p.Required {
				required = append(required, p.Name)
			}
		}
		schema := &object{}
		schema.set("type", "object")
		schema.set("properties", properties)
		schema.set("required", required)
		text, err := format(schema, 0)
		if err != nil {
			return nil, fmt.Errorf("tool %.60q: %w", s.Name, err)
		}
		out = append(out, Tool{Name: s.Name, Description: s.Description, Parameters: json.RawMessage(text)})
	}
	return out, nil
}

// function is the tool as the templates print it.
func (t Tool) function(indent int) (string, error) {
	f := &object{}
	f.set("name", t.Name)
	if t.Description != "" {
		f.set("description", t.Description)
	}
	if len(t.Parameters) > 0 {
		schema, err := parseJSON(t.Parameters)
		if err != nil {
			return "", fmt.Errorf("tool %.60q: parameters: %w", t.Name, err)
		}
		f.set("parameters", schema)
	}
	whole := &object{}
	whole.set("type", "function")
	whole.set("function", f)
	return format(whole, indent)
}

// arguments gives the call's arguments as Python's json.dumps prints them.
func (c Call) arguments() (string, error) {
	v, err := parseJSON(c.Arguments)
	if err != nil {
		return "", fmt.Errorf("tool call %.60q: arguments: %w", c.Name, err)
	}
	if _, ok := v.(*object); !ok {
		return "", fmt.Errorf("tool call %.60q: arguments: got %.60q, want a JSON object", c.Name, c.Arguments)
	}
	return format(v, 0)
}
