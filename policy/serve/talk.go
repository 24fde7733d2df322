package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/policy/chat"
)

// Talker renders what a whale.Renderer has no words for: tool calls and reasoning in earlier messages, tools with any JSON schema. Errors are the
// client's: they name what the template does not have.
type Talker interface {
	RenderChat(c chat.Conversation) ([]int32, error)
	ParseChat(ids []int32) chat.Parsed
}

// plain is the talker of a policy that is none: it refuses what a whale.Message cannot say.
type plain struct{ whale.Renderer }

func (p plain) RenderChat(c chat.Conversation) ([]int32, error) {
	var messages []whale.Message
	for i, m := range c.Messages {
		if len(m.Calls) > 0 || m.Reasoning != "" {
			return nil, fmt.Errorf("messages[%d]: got tool calls or reasoning, which this model's template cannot render", i)
		}
		messages = append(messages, whale.Message{Role: m.Role, Content: m.Content})
	}
	var tools []whale.ToolSpec
	for i, t := range c.Tools {
		spec := whale.ToolSpec{Name: t.Name, Description: t.Description}
		if t.Parameters != nil {
			ps, err := readSchema(fmt.Sprintf("tools[%d].function.parameters", i), t.Parameters)
			if err != nil {
				return nil, err
			}
			spec.Parameters = ps
		}
		tools = append(tools, spec)
	}
	return p.Render(messages, tools, func(whale.ReplyRef) []int32 { return nil })
}

func (p plain) ParseChat(ids []int32) chat.Parsed {
	text, calls := p.Parse(ids)
	return chat.Parsed{Text: text, Content: text, Calls: calls}
}

// readSchema reads a JSON schema that a ToolSpec can describe: named values of simple types. Anything that would not reach the model, such as an
// enum or a nested object, is refused.
func readSchema(path string, raw json.RawMessage) ([]whale.ToolParameter, *failure) {
	o := readObject(path, raw)
	o.only("type", "arguments have names", `"object"`)
	o.only("additionalProperties", "a tool takes the arguments that it lists", "false")
	o.take("title") // an annotation, as clients generate it
	var required []string
	decode(o, "required", "a list of names", &required)
	var ps []whale.ToolParameter
	if props := o.take("properties"); props != nil {
		list := readObject(o.at("properties"), props)
		for _, name := range keysInOrder(props) {
			p, err := readParameter(list.at(clip(name)), name, list.take(name))
			list.join(err)
			p.Required = slices.Contains(required, name)
			ps = append(ps, p)
		}
		o.join(list.err)
	}
	return ps, o.close()
}

func readParameter(path, name string, raw json.RawMessage) (whale.ToolParameter, *failure) {
	o := readObject(path, raw)
	p := whale.ToolParameter{Name: name, Type: o.text("type"), Description: o.text("description")}
	if !slices.Contains([]string{"string", "integer", "number", "boolean"}, p.Type) {
		o.fail("type", "got %q, want string, integer, number or boolean", clip(p.Type))
	}
	o.take("title")
	return p, o.close()
}

// keysInOrder gives the keys of a JSON object, each once, as they stand: the order in which a template lists them.
func keysInOrder(raw json.RawMessage) []string {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var keys []string
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		var skip json.RawMessage
		if err != nil || !ok || d.Decode(&skip) != nil {
			return keys
		}
		if !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	return keys
}
