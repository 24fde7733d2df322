package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/seed-095d5d2b/whale"
)

const (
	qwen35Tools = "# Tools\n\nYou have access to the following functions:\n\n<tools>"
	qwen35Calls = "\n</tools>\n\nIf you choose to call a function ONLY reply in the following format with NO suffix:\n\n" +
		"<tool_call>\n<function=example_function_name>\n<parameter=example_parameter_1>\nvalue_1\n</parameter>\n<parameter=example_parameter_2>\n" +
		"This is the value for the second parameter\nthat can span\nmultiple lines\n</parameter>\n</function>\n</tool_call>\n\n" +
		"<IMPORTANT>\nReminder:\n" +
		"- Function calls MUST follow the specified format: an inner <function=...></function> block must be nested within <tool_call></tool_call> XML tags\n" +
		"- Required parameters MUST be specified\n" +
		"- You may provide optional reasoning for your function call in natural language BEFORE the function call, but NOT after\n" +
		"- If there is no function call available, answer the question like normal with your current knowledge and do not tell the user about function calls\n" +
		"</IMPORTANT>"
)

// qwen35 is Qwen3's form with calls in XML and a prompt that opens the reasoning itself. Images and videos are not rendered.
func qwen35() *Template {
	return &Template{
		Name: "qwen3.5", Revision: 1, Serves: "Qwen3.5 (text)",
		Fingerprints: []string{
			"a4aee8afcf2e0711942cf848899be66016f8d14a889ff9ede07bca099c28f715",
		},
		Controls: []string{imStart, imEnd},
		Markers:  []string{callStart, callEnd, responseStart, responseEnd, thinkStart, thinkEnd},
		Stop:     []string{imEnd, "<|endoftext|>"},
		Tools:    true,
		Thinking: true,
		render:   renderQwen35,
		prompt:   promptQwen35,
		parse: func(text string, o Options) Parsed {
			return parseThinking(text, !o.NoThinking, func(rest string) Parsed { return parseTagged(rest, readXMLCall) })
		},
	}
}

func promptQwen35(b *builder, o Options) {
	b.own("<|im_start|>assistant\n<think>\n")
	if o.NoThinking {
		b.own("\n</think>\n\n")
	}
}

func renderQwen35(b *builder, c Conversation, o Options) error {
	if len(c.Messages) == 0 {
		return errNoMessages
	}
	system := ""
	if isSystem(c.Messages, 0) {
		system = trim(c.Messages[0].Content)
	}
	switch {
	case len(c.Tools) > 0:
		b.own("<|im_start|>system\n" + qwen35Tools)
		for _, t := range c.Tools {
			text, err := t.function(0)
			if err != nil {
				return err
			}
			b.own("\n")
			b.say(text)
		}
		b.own(qwen35Calls)
		if system != "" {
			b.own("\n\n")
			b.say(system)
		}
		b.own("<|im_end|>\n")
	case isSystem(c.Messages, 0):
		b.own("<|im_start|>system\n")
		b.say(system)
		b.own("<|im_end|>\n")
	}
	query, found := lastQuery(c.Messages, func(m Message) string { return trim(m.Content) })
	if !found {
		return errors.New("messages: got no user message, want one: the chat template qwen3.5 asks for it")
	}
	for i, m := range c.Messages {
		switch {
		case m.Reply != 0 && (i > query || o.KeepReasoning):
			promptQwen35(b, o)
			b.reply(m.Reply)
			b.own("\n")
		case m.Reply != 0:
			b.own("<|im_start|>assistant\n")
			b.answer(m.Reply, !o.NoThinking)
			b.own("\n")
		case m.Role == "system" && i > 0:
			return fmt.Errorf("messages[%d]: got a system message, want it first: the chat template qwen3.5 has no other", i)
		case m.Role == "system":
		case m.Role == "tool":
			toolResult(b, c.Messages, i, i > 0, trim(m.Content)) // the original opens no block for a first message
		case m.Role == "assistant":
			if err := assistantQwen35(b, m, i > query || o.KeepReasoning); err != nil {
				return fmt.Errorf("messages[%d]: %w", i, err)
			}
		default:
			b.own("<|im_start|>user\n")
			b.say(trim(m.Content))
			b.own("<|im_end|>\n")
		}
	}
	return nil
}

func assistantQwen35(b *builder, m Message, recent bool) error {
	reasoning, content := m.Reasoning, trim(m.Content)
	if reasoning == "" {
		reasoning, content = splitThinking(content)
	}
	b.own("<|im_start|>assistant\n")
	if recent {
		b.own("<think>\n")
		b.say(trim(reasoning))
		b.own("\n</think>\n\n")
	}
	b.say(content)
	for j, call := range m.Calls {
		switch {
		case j > 0:
			b.own("\n")
		case trim(content) != "":
			b.own("\n\n")
		}
		if err := callXML(b, call); err != nil {
			return err
		}
	}
	b.own("<|im_end|>\n")
	return nil
}

func callXML(b *builder, c Call) error {
	v, err := parseJSON(c.Arguments)
	if err != nil {
		return fmt.Errorf("tool call %.60q: arguments: %w", c.Name, err)
	}
	args, ok := v.(*object)
	if !ok {
		return fmt.Errorf("tool call %.60q: arguments: got %.60q, want a JSON object", c.Name, c.Arguments)
	}
	b.own("<tool_call>\n<function=")
	b.say(c.Name)
	b.own(">\n")
	for _, k := range args.keys {
		text, err := pyString(args.values[k])
		if err != nil {
			return fmt.Errorf("tool call %.60q: %w", c.Name, err)
		}
		b.own("<parameter=")
		b.say(k)
		b.own(">\n")
		b.say(text)
		b.own("\n</parameter>\n")
	}
	b.own("</function>\n</tool_call>")
	return nil
}

// pyString is Python's str of a value, and JSON for lists and objects.
func pyString(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		if v {
			return "True", nil
		}
		return "False", nil
	case nil:
		return "None", nil
	}
	text, err := format(v, 0)
	return strings.Replace(text, "Infinity", "inf", 1), err
}

var (
	xmlFunction  = regexp.MustCompile(`^\s*<function=([^<>\n]+)>`)
	xmlParameter = regexp.MustCompile(`^\s*<parameter=([^<>\n]+)>\n?`)
	xmlEnd       = regexp.MustCompile(`^\s*</function>\s*$`)
)

// readXMLCall reads <function=NAME><parameter=NAME>value</parameter>…</function>. A value that is JSON (a number, a list) stays so; any
// other is a string.
func readXMLCall(body string) []whale.ToolCall {
	m := xmlFunction.FindStringSubmatch(body)
	if m == nil {
		return nil
	}
	call := whale.ToolCall{Name: m[1], Args: map[string]json.RawMessage{}}
	rest := body[len(m[0]):]
	for {
		m := xmlParameter.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		value, after, ok := strings.Cut(rest[len(m[0]):], "</parameter>")
		if !ok {
			return nil
		}
		call.Args[m[1]] = xmlValue(strings.TrimSuffix(value, "\n"))
		rest = after
	}
	if !xmlEnd.MatchString(rest) {
		return nil
	}
	return []whale.ToolCall{call}
}

func xmlValue(text string) json.RawMessage {
	if v, err := parseJSON([]byte(text)); err == nil {
		if _, isString := v.(string); !isString {
			return json.RawMessage(text)
		}
	}
	switch text { // as the template spells them
	case "True":
		return json.RawMessage("true")
	case "False":
		return json.RawMessage("false")
	case "None":
		return json.RawMessage("null")
	}
	return json.RawMessage(quote(strings.ToValidUTF8(text, "\ufffd")))
}
