package serve

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/seed-095d5d2b/whale/policy/chat"
)

const (
	maxTools       = 128
	maxSchemaBytes = 64 << 10
)

// toolName is what OpenAI allows, which no template can read as its own syntax.
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// readTools reads the functions that are offered to the model. Their schemas go to the template as they are.
func readTools(o *object) []chat.Tool {
	var tools []chat.Tool
	for i, raw := range o.list("tools", maxTools) {
		t := readObject(fmt.Sprintf("%s[%d]", o.at("tools"), i), raw)
		if kind := t.text("type"); kind != "function" {
			t.fail("type", "got %q, want \"function\"", clip(kind))
		}
		tool, err := readFunction(t.at("function"), t.take("function"))
		t.join(err)
		o.join(t.close())
		if slices.ContainsFunc(tools, func(other chat.Tool) bool { return other.Name == tool.Name }) {
			o.fail("tools", "got %q twice, want each name once", tool.Name)
		}
		tools = append(tools, tool)
	}
	return tools
}

func readFunction(path string, raw json.RawMessage) (chat.Tool, *failure) {
	o := readObject(path, raw)
	tool := chat.Tool{Name: o.text("name"), Description: o.text("description"), Parameters: o.take("parameters")}
	if !toolName.MatchString(tool.Name) {
		o.fail("name", "got %q, want 1 to 64 letters, digits, _ or -", clip(tool.Name))
	}
	o.only("strict", "nothing constrains what the model writes", "false")
	if len(tool.Parameters) > maxSchemaBytes {
		o.fail("parameters", "got %d bytes, want at most %d", len(tool.Parameters), maxSchemaBytes)
	} else if tool.Parameters != nil {
		o.join(readObject(o.at("parameters"), tool.Parameters).err)
	}
	return tool, o.close()
}

// readToolChoice knows what leaves the model its freedom: a choice of the client cannot be enforced.
func readToolChoice(o *object, r *chatRequest) {
	raw := o.take("tool_choice")
	if raw == nil {
		return
	}
	var choice string
	switch {
	case json.Unmarshal(raw, &choice) != nil || choice != "auto" && choice != "none":
		o.fail("tool_choice", `got %s, want "auto" or "none": nothing can make the model call a tool`, brief(raw))
	case len(r.tools) == 0:
		o.fail("tool_choice", "got %q without tools, want tools with it", choice)
	case choice == "none":
		r.tools = nil
	}
}

// readCalls reads the tool calls of an assistant's earlier message, and notes their ids.
func readCalls(o *object, called map[string]string) []chat.Call {
	var calls []chat.Call
	for i, raw := range o.list("tool_calls", maxTools) {
		c := readObject(fmt.Sprintf("%s[%d]", o.at("tool_calls"), i), raw)
		id := c.text("id")
		c.only("type", "tools are functions", `"function"`)
		f := readObject(c.at("function"), c.take("function"))
		call := chat.Call{Name: f.text("name")}
		args := f.text("arguments")
		if !toolName.MatchString(call.Name) {
			f.fail("name", "got %q, want 1 to 64 letters, digits, _ or -", clip(call.Name))
		}
		if args == "" {
			args = "{}"
		}
		if call.Arguments = json.RawMessage(args); readObject("", call.Arguments).err != nil {
			f.fail("arguments", "got %s, want a JSON object as a text", clip(args))
		}
		c.join(f.close())
		if id == "" || called[id] != "" {
			c.fail("id", "got %q, want one of its own", clip(id))
		}
		called[id] = call.Name
		o.join(c.close())
		calls = append(calls, call)
	}
	return calls
}
