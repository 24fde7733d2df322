package chat

import "fmt"

const (
	qwen25System = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."

	qwenTools = "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n" +
		"You are provided with function signatures within <tools></tools> XML tags:\n<tools>"
	qwenCalls = "\n</tools>\n\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n" +
		"<tool_call>\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call><|im_end|>\n"
)

// qwen25 is ChatML with a system prompt of its own, tools in the system message and their results in user blocks.
func qwen25() *Template {
	return &Template{
		Name: "qwen2.5", Revision: 1, Serves: "Qwen2.5-Instruct",
		Fingerprints: []string{
			"55b2f4a26ac9ee719330a61a0c39d9e538b0e9322212f048326318cff4f8674a",
		},
		Controls: []string{imStart, imEnd},
		Markers:  []string{callStart, callEnd, responseStart, responseEnd},
		Stop:     []string{imEnd, "<|endoftext|>"},
		Tools:    true,
		render:   renderQwen25,
		prompt:   promptChatML,
		parse:    func(text string, _ Options) Parsed { return parseHermes(text) },
	}
}

func renderQwen25(b *builder, c Conversation, _ Options) error {
	if len(c.Messages) == 0 {
		return errNoMessages
	}
	b.own("<|im_start|>system\n")
	if isSystem(c.Messages, 0) {
		b.say(c.Messages[0].Content)
	} else {
		b.own(qwen25System)
	}
	if len(c.Tools) > 0 {
		b.own("\n\n")
		if err := offerQwen(b, c.Tools); err != nil {
			return err
		}
	} else {
		b.own("<|im_end|>\n")
	}
	for i, m := range c.Messages {
		switch {
		case m.Reply != 0:
			promptChatML(b, Options{})
			b.reply(m.Reply)
			b.own("\n")
		case m.Role == "system" && i == 0:
		case m.Role == "tool":
			toolResult(b, c.Messages, i, true, m.Content)
		case len(m.Calls) > 0:
			b.own("<|im_start|>assistant")
			if m.Content != "" {
				b.own("\n")
				b.say(m.Content)
			}
			for _, call := range m.Calls {
				b.own("\n")
				if err := callHermes(b, call); err != nil {
					return fmt.Errorf("messages[%d]: %w", i, err)
				}
			}
			b.own("<|im_end|>\n")
		default:
			b.own("<|im_start|>" + m.Role + "\n")
			b.say(m.Content)
			b.own("<|im_end|>\n")
		}
	}
	return nil
}

// offerQwen lists the tools and ends the system message.
func offerQwen(b *builder, tools []Tool) error {
	b.own(qwenTools)
	for _, t := range tools {
		text, err := t.function(0)
		if err != nil {
			return err
		}
		b.own("\n")
		b.say(text)
	}
	b.own(qwenCalls)
	return nil
}

// callHermes is one tool call in its tags. The templates put the name between the quotes as it is.
func callHermes(b *builder, c Call) error {
	args, err := c.arguments()
	if err != nil {
		return err
	}
	b.own("<tool_call>\n{\"name\": \"")
	b.say(c.Name)
	b.own("\", \"arguments\": ")
	b.say(args)
	b.own("}\n</tool_call>")
	return nil
}

// toolResult renders message i, a tool's result; results in a row share one user block, which the first opens.
func toolResult(b *builder, messages []Message, i int, open bool, content string) {
	if open && (i == 0 || messages[i-1].role() != "tool") {
		b.own("<|im_start|>user")
	}
	b.own("\n<tool_response>\n")
	b.say(content)
	b.own("\n</tool_response>")
	if i == len(messages)-1 || messages[i+1].role() != "tool" {
		b.own("<|im_end|>\n")
	}
}
