package chat

import (
	"fmt"
	"strings"
)

// qwen3 is ChatML with reasoning in <think> tags. The reasoning of turns before the latest user message is dropped.
func qwen3() *Template {
	return &Template{
		Name: "qwen3", Revision: 1, Serves: "Qwen3 (the models that both think and do not)",
		Fingerprints: []string{
			"87a2728cb8dc9fe424d624542f6060ec05a1d285ebbec578bb078900e33396b5",
		},
		Controls: []string{imStart, imEnd},
		Markers:  []string{callStart, callEnd, responseStart, responseEnd, thinkStart, thinkEnd},
		Stop:     []string{imEnd, "<|endoftext|>"},
		Tools:    true,
		Thinking: true,
		render:   renderQwen3,
		prompt:   promptQwen3,
		parse: func(text string, _ Options) Parsed {
			return parseThinking(text, false, parseHermes)
		},
	}
}

func promptQwen3(b *builder, o Options) {
	b.own("<|im_start|>assistant\n")
	if o.NoThinking {
		b.own("<think>\n\n</think>\n\n")
	}
}

func renderQwen3(b *builder, c Conversation, o Options) error {
	if len(c.Messages) == 0 {
		return errNoMessages
	}
	if len(c.Tools) > 0 {
		b.own("<|im_start|>system\n")
		if isSystem(c.Messages, 0) {
			b.say(c.Messages[0].Content)
			b.own("\n\n")
		}
		if err := offerQwen(b, c.Tools); err != nil {
			return err
		}
	} else if isSystem(c.Messages, 0) {
		b.own("<|im_start|>system\n")
		b.say(c.Messages[0].Content)
		b.own("<|im_end|>\n")
	}
	query, _ := lastQuery(c.Messages, func(m Message) string { return m.Content })
	for i, m := range c.Messages {
		switch {
		case m.Reply != 0 && (i > query || o.KeepReasoning):
			promptQwen3(b, o)
			b.reply(m.Reply)
			b.own("\n")
		case m.Reply != 0:
			b.own("<|im_start|>assistant\n")
			b.answer(m.Reply, false)
			b.own("\n")
		case m.Role == "system" && i == 0:
		case m.Role == "tool":
			toolResult(b, c.Messages, i, true, m.Content)
		case m.Role == "assistant":
			recent, last := i > query, i == len(c.Messages)-1
			if o.KeepReasoning { // then nothing may depend on what comes later
				recent, last = true, false
			}
			if err := assistantQwen3(b, m, recent, last); err != nil {
				return fmt.Errorf("messages[%d]: %w", i, err)
			}
		default:
			b.own("<|im_start|>" + m.Role + "\n")
			b.say(m.Content)
			b.own("<|im_end|>\n")
		}
	}
	return nil
}

// assistantQwen3 renders a message that a program wrote. recent says that it is after the latest query.
func assistantQwen3(b *builder, m Message, recent, last bool) error {
	reasoning, content := m.Reasoning, m.Content
	if reasoning == "" {
		reasoning, content = splitThinking(m.Content)
	}
	b.own("<|im_start|>assistant\n")
	if recent && (last || reasoning != "") {
		b.own("<think>\n")
		b.say(strings.Trim(reasoning, "\n"))
		b.own("\n</think>\n\n")
		b.say(strings.TrimLeft(content, "\n"))
	} else {
		b.say(content)
	}
	for j, call := range m.Calls {
		if j > 0 || content != "" {
			b.own("\n")
		}
		if err := callHermes(b, call); err != nil {
			return err
		}
	}
	b.own("<|im_end|>\n")
	return nil
}
