package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Message is one entry of a conversation.
type Message struct {
	Role    string `json:"role"` // system, user or assistant
	Content string `json:"content"`
}

// Request asks for a completion.
type Request struct {
	Messages    []Message
	Temperature float64
	TopP        float64 // 0 = the server's
	MaxTokens   int     // 0 = the configuration's
	Seed        *uint32 // nil = the server's
	Stop        []string
}

// Reply is a completion.
type Reply struct {
	Text          string
	Reasoning     string // what a server gives apart as the model's thinking
	Finish        string // stop, length, …, as the server says
	PromptTokens  int    // as the server counts; 0 where it does not say
	SampledTokens int
}

// chatRequest is a request as it is sent.
type chatRequest struct {
	Model       string    `json:"model"`
	Messages    []Message `json:"messages"`
	Temperature float64   `json:"temperature"` // always sent: servers differ in what they take for none
	TopP        float64   `json:"top_p,omitempty"`
	MaxTokens   int       `json:"max_tokens"`
	Seed        *uint32   `json:"seed,omitempty"`
	Stop        []string  `json:"stop,omitempty"`
}

// chatReply is an answer as it comes.
type chatReply struct {
	Choices []struct {
		Message *struct {
			Content          json.RawMessage `json:"content"`
			Reasoning        *string         `json:"reasoning"`
			ReasoningContent *string         `json:"reasoning_content"`
		} `json:"message"`
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
}

// parse reads a server's answer.
func parse(body []byte) (Reply, error) {
	var in chatReply
	if err := json.Unmarshal(body, &in); err != nil {
		return Reply{}, fmt.Errorf("got a body that is no chat completion: %w", err)
	}
	if len(in.Choices) == 0 || in.Choices[0].Message == nil {
		return Reply{}, errors.New("got a chat completion without a message")
	}
	c := in.Choices[0]
	text, err := content(c.Message.Content)
	if err != nil {
		return Reply{}, err
	}
	out := Reply{Text: text}
	switch {
	case c.Message.ReasoningContent != nil:
		out.Reasoning = *c.Message.ReasoningContent
	case c.Message.Reasoning != nil:
		out.Reasoning = *c.Message.Reasoning
	}
	if c.FinishReason != nil {
		out.Finish = *c.FinishReason
	}
	if in.Usage != nil {
		out.PromptTokens, out.SampledTokens = max(in.Usage.PromptTokens, 0), max(in.Usage.CompletionTokens, 0)
	}
	return out, nil
}

// content reads a message's content: a text, a list of parts of which the texts count, or nothing (a model that only thought).
func content(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", errors.New("message.content: got neither a text nor a list of parts")
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "text" {
			b.WriteString(p.Text)
		}
	}
	return b.String(), nil
}
