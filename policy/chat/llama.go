package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-095d5d2b/whale"
)

// The control tokens of Llama 3.
const (
	llamaBegin = "<|begin_of_text|>"
	llamaHead  = "<|start_header_id|>"
	llamaText  = "<|end_header_id|>"
	llamaEnd   = "<|eot_id|>"
)

// llamaDate is the date that the templates fall back to. Llama 3.2's asks for today's where it can; a prompt that depends on the day
// could not be repeated.
const llamaDate = "26 Jul 2024"

// llama3 is the form of Llama 3: blocks without a default system prompt, no tools.
func llama3() *Template {
	return llama("llama3", "Llama-3-Instruct", "ba03a121d097859c7b5b9cd03af99aafe95275210d2876f642ad9929a150f122")
}

// llama31 has a system block with dates, and tools in the first user message.
func llama31() *Template {
	return llama("llama3.1", "Llama-3.1-Instruct and Llama-3.3-Instruct", "93c0e9aa3629bbd77e68dbc0f5621f6e6b23aa8d74b932595cdb8d64684526d7")
}

// llama32 is Llama 3.1's form without built-in tools.
func llama32() *Template {
	return llama("llama3.2", "Llama-3.2-Instruct", "d82792f95932f1c9cef5c4bd992f171225e3bf8c7b609b4557c9e1ec96be819f")
}

func llama(name, serves string, fingerprints ...string) *Template {
	t := &Template{
		Name: name, Revision: 1, Serves: serves, Fingerprints: fingerprints,
		Controls: []string{llamaBegin, llamaHead, llamaText, llamaEnd},
		Stop:     []string{llamaEnd, "<|eom_id|>", "<|end_of_text|>"},
		prompt:   promptLlama,
		render:   renderLlama3,
		parse:    func(text string, _ Options) Parsed { return Parsed{Text: text, Content: text} },
	}
	if name != "llama3" {
		t.Tools, t.Dated = true, true
		t.render, t.parse = renderLlama31, func(text string, _ Options) Parsed { return parseLlama(text) }
	}
	return t
}

func promptLlama(b *builder, _ Options) { headLlama(b, "assistant") }

func headLlama(b *builder, role string) {
	b.own("<|start_header_id|>" + role + "<|end_header_id|>\n\n")
}

func blockLlama(b *builder, role, text string) {
	headLlama(b, role)
	b.say(text)
	b.own(llamaEnd)
}

func renderLlama3(b *builder, c Conversation, _ Options) error {
	for i, m := range c.Messages {
		if i == 0 {
			b.own(llamaBegin)
		}
		if m.Reply != 0 {
			promptLlama(b, Options{})
			b.reply(m.Reply)
			continue
		}
		blockLlama(b, m.Role, trim(m.Content))
	}
	return nil
}

func renderLlama31(b *builder, c Conversation, o Options) error {
	messages := c.Messages
	if len(messages) == 0 {
		return errNoMessages
	}
	b.own(llamaBegin)
	headLlama(b, "system")
	if len(c.Tools) > 0 {
		b.own("Environment: ipython\n")
	}
	b.own("Cutting Knowledge Date: December 2023\nToday Date: ")
	if o.Date != "" {
		b.say(o.Date)
	} else {
		b.own(llamaDate)
	}
	b.own("\n\n")
	first := 0
	if isSystem(messages, 0) {
		b.say(trim(messages[0].Content))
		first = 1
	}
	b.own(llamaEnd)
	if len(c.Tools) > 0 {
		if first == len(messages) {
			return errors.New("messages: got no user message, want one: the chat template puts tools into it")
		}
		if err := offerLlama(b, c.Tools, messages[first]); err != nil {
			return fmt.Errorf("messages[%d]: %w", first, err)
		}
		first++
	}
	for i := first; i < len(messages); i++ {
		switch m := messages[i]; {
		case m.Reply != 0:
			promptLlama(b, o)
			b.reply(m.Reply)
		case m.Role == "tool":
			blockLlama(b, "ipython", quote(m.Content)) // the template prints whatever can be iterated over as JSON, and a text can
		case len(m.Calls) > 0:
			if err := callLlama(b, m.Calls); err != nil {
				return fmt.Errorf("messages[%d]: %w", i, err)
			}
		default:
			blockLlama(b, m.Role, trim(m.Content))
		}
	}
	return nil
}

// offerLlama puts the tools before the text of the message after the system message, whatever its role.
func offerLlama(b *builder, tools []Tool, m Message) error {
	if m.Reply != 0 {
		return errors.New("got a reply, want a user message: the chat template puts tools into it")
	}
	headLlama(b, "user")
	b.own("Given the following functions, please respond with a JSON for a function call with its proper arguments that best answers the given prompt.\n\n")
	b.own("Respond in the format {\"name\": function name, \"parameters\": dictionary of argument name and its value}.Do not use variables.\n\n")
	for _, t := range tools {
		text, err := t.function(4)
		if err != nil {
			return err
		}
		b.say(text)
		b.own("\n\n")
	}
	b.say(trim(m.Content))
	b.own(llamaEnd)
	return nil
}

// callLlama renders a message of one call; its text is left out.
func callLlama(b *builder, calls []Call) error {
	if len(calls) != 1 {
		return fmt.Errorf("got %d tool calls, want 1: the chat template has no parallel calls", len(calls))
	}
	args, err := calls[0].arguments()
	if err != nil {
		return err
	}
	headLlama(b, "assistant")
	b.own(`{"name": "`)
	b.say(calls[0].Name)
	b.own(`", "parameters": `)
	b.say(args)
	b.own("}" + llamaEnd)
	return nil
}

// parseLlama reads a reply that is nothing but calls, {"name": …, "parameters": {…}}, one or several with semicolons between.
func parseLlama(text string) Parsed {
	p := Parsed{Text: text, Content: text}
	rest := strings.TrimSpace(text)
	var calls []whale.ToolCall
	for rest != "" {
		d := json.NewDecoder(strings.NewReader(rest))
		var c struct {
			Name       string                     `json:"name"`
			Parameters map[string]json.RawMessage `json:"parameters"`
			Arguments  map[string]json.RawMessage `json:"arguments"`
		}
		if err := d.Decode(&c); err != nil || c.Name == "" || errors.Is(err, io.EOF) {
			return p
		}
		if c.Parameters == nil {
			c.Parameters = c.Arguments
		}
		if c.Parameters == nil {
			return p
		}
		calls = append(calls, whale.ToolCall{Name: c.Name, Args: c.Parameters})
		rest = strings.TrimSpace(rest[d.InputOffset():])
		if rest != "" {
			var ok bool
			if rest, ok = strings.CutPrefix(rest, ";"); !ok {
				return p
			}
			rest = strings.TrimSpace(rest)
		}
	}
	if len(calls) > 0 {
		p.Calls, p.Content = calls, ""
	}
	return p
}
