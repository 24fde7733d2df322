package serve

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/policy/chat"
)

const (
	maxMessages = 4096
	maxParts    = 256
)

// chatRequest is a request of /v1/chat/completions.
type chatRequest struct {
	request
	messages []chat.Message
	tools    []chat.Tool // none where the request's tool_choice is "none"
}

func parseChat(body []byte, absent whale.Sampling) (chatRequest, *failure) {
	o := readObject("", body)
	r := chatRequest{request: readCommon(o, absent)}
	if v := int(o.integer("max_completion_tokens", 0, 1, math.MaxInt32)); v != 0 {
		if r.maxTokens != 0 && r.maxTokens != v {
			o.fail("max_completion_tokens", "got %d beside max_tokens %d, want one of them", v, r.maxTokens)
		}
		r.maxTokens = v
	}
	r.logprobs = o.flag("logprobs", false)
	o.only("top_logprobs", "only the sampled token's log-probability is kept; leave it out", "0")
	o.only("response_format", "answers are free text", `{"type":"text"}`)
	o.only("parallel_tool_calls", "the model calls as many tools as it likes", "true")
	o.only("store", "nothing is stored", "false")
	o.only("modalities", "the model writes text", `["text"]`)
	r.messages = readMessages(o)
	r.tools = readTools(o)
	readToolChoice(o, &r)
	return r, o.close()
}

func readMessages(o *object) []chat.Message {
	list := o.list("messages", maxMessages)
	if len(list) == 0 {
		o.fail("messages", "got none, want at least one message")
	}
	var messages []chat.Message
	called := map[string]string{} // id of a tool call → tool
	for i, raw := range list {
		m, err := readMessage(fmt.Sprintf("%s[%d]", o.at("messages"), i), raw, called)
		if err != nil {
			o.join(err)
			return nil
		}
		messages = append(messages, m)
	}
	return messages
}

func readMessage(path string, raw json.RawMessage, called map[string]string) (chat.Message, *failure) {
	o := readObject(path, raw)
	m := chat.Message{Role: o.text("role")}
	var given bool
	m.Content, given = readContent(o)
	switch m.Role {
	case "developer": // OpenAI's newer name
		m.Role = whale.RoleSystem
	case whale.RoleSystem, whale.RoleUser:
	case whale.RoleAssistant:
		o.only("refusal", "the model has no channel for refusals")
		m.Reasoning = o.text("reasoning_content")
		m.Calls = readCalls(o, called)
	case whale.RoleTool:
		id := o.text("tool_call_id")
		if called[id] == "" {
			o.fail("tool_call_id", "got %q, want the id of a tool call of an earlier message", clip(id))
		}
	default:
		o.fail("role", "got %q, want system, developer, user, assistant or tool", clip(m.Role))
	}
	if !given && len(m.Calls) == 0 {
		o.fail("content", "got none, want a text")
	}
	return m, o.close()
}

// readContent reads a text, or a list of text parts, which are joined by line breaks.
func readContent(o *object) (content string, given bool) {
	raw := o.take("content")
	if raw == nil {
		return "", false
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, true
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil || len(parts) > maxParts {
		o.fail("content", "got %s, want a text or a list of at most %d parts", brief(raw), maxParts)
		return "", true
	}
	texts := make([]string, len(parts))
	for i, raw := range parts {
		p := readObject(fmt.Sprintf("%s[%d]", o.at("content"), i), raw)
		if kind := p.text("type"); kind != "text" {
			p.fail("type", "got %q, want \"text\": the model reads nothing else", clip(kind))
		}
		texts[i] = p.text("text")
		o.join(p.close())
	}
	return strings.Join(texts, "\n"), true
}
