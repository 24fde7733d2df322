package chat

import (
	"strings"
	"unicode"
)

// The markers of reasoning.
const (
	thinkStart = "<think>"
	thinkEnd   = "</think>"
)

// splitThinking takes an assistant's text apart as the Qwen templates do where the reasoning is not given apart: the reasoning stands
// before the first </think>, after the last <think> before it; the content after the last </think>.
func splitThinking(text string) (reasoning, content string) {
	first := strings.Index(text, thinkEnd)
	if first < 0 {
		return "", text
	}
	reasoning = strings.TrimRight(text[:first], "\n")
	if i := strings.LastIndex(reasoning, thinkStart); i >= 0 {
		reasoning = reasoning[i+len(thinkStart):]
	}
	last := strings.LastIndex(text, thinkEnd)
	return strings.TrimLeft(reasoning, "\n"), strings.TrimLeft(text[last+len(thinkEnd):], "\n")
}

// parseThinking reads a sampled reply: its reasoning, then the rest by parse. inside says that the prompt had opened the reasoning. Reasoning
// without an end is all there is.
func parseThinking(text string, inside bool, parse func(string) Parsed) Parsed {
	last := strings.LastIndex(text, thinkEnd)
	opened := strings.HasPrefix(strings.TrimLeftFunc(text, unicode.IsSpace), thinkStart)
	if last < 0 && !opened && !inside {
		return parse(text)
	}
	reasoning, rest := text, ""
	if last >= 0 {
		reasoning, rest = text[:last], strings.TrimLeft(text[last+len(thinkEnd):], "\n")
	}
	if _, after, ok := strings.Cut(reasoning, thinkStart); ok && opened {
		reasoning = after
	}
	p := parse(rest)
	p.Reasoning = strings.Trim(reasoning, "\n")
	return p
}

// lastQuery is the index of the latest user message that is no tool result in disguise, or of the last message where there is none:
// reasoning after it is kept.
func lastQuery(messages []Message, text func(Message) string) (index int, found bool) {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].role() != "user" {
			continue
		}
		if s := text(messages[i]); !(strings.HasPrefix(s, responseStart) && strings.HasSuffix(s, responseEnd)) {
			return i, true
		}
	}
	return len(messages) - 1, false
}

// trim is Python's str.strip.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f })
}
