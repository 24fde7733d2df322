package chat

import (
	"encoding/json"
	"strings"

	"github.com/seed-095d5d2b/whale"
)

// The markers of tool calls and results in the style that Hermes models brought up and Qwen kept.
const (
	callStart     = "<tool_call>"
	callEnd       = "</tool_call>"
	responseStart = "<tool_response>"
	responseEnd   = "</tool_response>"
)

// parseHermes finds <tool_call>{"name": …, "arguments": {…}}</tool_call>. A call that is not valid JSON stays text.
func parseHermes(text string) Parsed {
	return parseTagged(text, func(body string) []whale.ToolCall {
		if call, ok := readCall([]byte(body)); ok {
			return []whale.ToolCall{call}
		}
		return nil
	})
}

// parseHermesList is parseHermes where a pair of tags may also hold a list of calls.
func parseHermesList(text string) Parsed {
	return parseTagged(text, func(body string) []whale.ToolCall {
		if call, ok := readCall([]byte(body)); ok {
			return []whale.ToolCall{call}
		}
		var list []json.RawMessage
		if json.Unmarshal([]byte(body), &list) != nil {
			return nil
		}
		var calls []whale.ToolCall
		for _, raw := range list {
			call, ok := readCall(raw)
			if !ok {
				return nil
			}
			calls = append(calls, call)
		}
		return calls
	})
}

// parseTagged reads what stands between the tags; where read gives nothing, the whole is text.
func parseTagged(text string, read func(body string) []whale.ToolCall) Parsed {
	p := Parsed{Text: text}
	var content strings.Builder
	rest := text
	for {
		before, after, ok := strings.Cut(rest, callStart)
		body, tail, closed := strings.Cut(after, callEnd)
		if !ok || !closed {
			content.WriteString(rest)
			break
		}
		content.WriteString(before)
		if calls := read(body); len(calls) > 0 {
			p.Calls = append(p.Calls, calls...)
		} else {
			content.WriteString(rest[len(before) : len(rest)-len(tail)])
		}
		rest = tail
	}
	p.Content = content.String()
	if len(p.Calls) > 0 {
		p.Content = strings.TrimSpace(p.Content)
	}
	return p
}

func readCall(data []byte) (whale.ToolCall, bool) {
	var c struct {
		Name      string                     `json:"name"`
		Arguments map[string]json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(data, &c) != nil || c.Name == "" {
		return whale.ToolCall{}, false
	}
	return whale.ToolCall{Name: c.Name, Args: c.Arguments}, true
}
