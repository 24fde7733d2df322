package chat

import "fmt"

// The control tokens of ChatML.
const (
	imStart = "<|im_start|>"
	imEnd   = "<|im_end|>"
)

// chatML is the plain form: every message in its own block, no default system prompt, no tools.
func chatML() *Template {
	return &Template{
		Name: "chatml", Revision: 1, Serves: "models with plain ChatML, such as OpenHermes-2.5",
		Fingerprints: []string{
			"fcf7a096fe99a48fd9ad2b250bf9237e96e8f48bffec1c7ea4d3f225176cd40e", // \n as an escape
			"153280e3ff55d19da1398bdb3914ee2a51b80429bfaedde11d7d216c39db80f3", // \n as a line end
		},
		Controls: []string{imStart, imEnd},
		Stop:     []string{imEnd},
		render: func(b *builder, c Conversation, _ Options) error {
			blocks(b, c.Messages)
			return nil
		},
		prompt: promptChatML,
		parse:  func(text string, _ Options) Parsed { return parseHermesList(text) },
	}
}

// smolLM2 is ChatML with a system prompt of its own. Its models were trained on tools described in the system message, with calls as a
// list in <tool_call> tags; the template itself has no tools.
func smolLM2() *Template {
	return &Template{
		Name: "smollm2", Revision: 1, Serves: "SmolLM2-Instruct (135M, 360M, 1.7B)",
		Fingerprints: []string{
			"872be49dbb638044ad01b60388f48d469ff2980e5f0dccdc22ec907db54d0788",
		},
		Controls: []string{imStart, imEnd},
		Stop:     []string{imEnd, "<|endoftext|>"},
		render: func(b *builder, c Conversation, _ Options) error {
			if len(c.Messages) == 0 {
				return nil
			}
			if !isSystem(c.Messages, 0) {
				b.own("<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n")
			}
			blocks(b, c.Messages)
			return nil
		},
		prompt: promptChatML,
		parse:  func(text string, _ Options) Parsed { return parseHermesList(text) },
	}
}

func promptChatML(b *builder, _ Options) { b.own("<|im_start|>assistant\n") }

// blocks renders each message as its role and its text.
func blocks(b *builder, messages []Message) {
	for _, m := range messages {
		if m.Reply != 0 {
			promptChatML(b, Options{})
			b.reply(m.Reply)
			b.own("\n")
			continue
		}
		b.own("<|im_start|>" + m.Role + "\n")
		b.say(m.Content)
		b.own("<|im_end|>\n")
	}
}

// role is a message's role: a reply is the assistant's.
func (m Message) role() string {
	if m.Reply != 0 {
		return "assistant"
	}
	return m.Role
}

// isSystem says whether message i is a system message.
func isSystem(messages []Message, i int) bool {
	return i < len(messages) && messages[i].role() == "system"
}

// errNoMessages is what the templates that look at the first message answer where there is none.
var errNoMessages = fmt.Errorf("messages: got none, want at least one")
