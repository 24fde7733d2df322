package serve

import (
	"strings"

	"github.com/seed-095d5d2b/whale"
)

// chunk is an event of a stream; Usage is in the last one alone, where it was asked for.
type chunk[C any] struct {
	head
	Choices []C     `json:"choices"`
	Usage   *usage  `json:"usage,omitempty"`
	Prompt  []int32 `json:"prompt_token_ids,omitempty"`
}

type chatDelta struct {
	Index int `json:"index"`
	Delta struct {
		Role      string     `json:"role,omitempty"`
		Content   *string    `json:"content,omitempty"`
		Reasoning string     `json:"reasoning_content,omitempty"`
		Calls     []chatCall `json:"tool_calls,omitempty"`
	} `json:"delta"`
	LogProbs *chatLogProbs `json:"logprobs"`
	Finish   *string       `json:"finish_reason"`
	TokenIDs []int32       `json:"token_ids,omitempty"`
}

// chatChunks are the chunks of /v1/chat/completions.
type chatChunks struct {
	s       *Server
	head    head
	request *chatRequest
}

func (f *chatChunks) chunk(d chatDelta) chunk[chatDelta] {
	return chunk[chatDelta]{head: f.head, Choices: []chatDelta{d}}
}

func (f *chatChunks) first(c *choice) any {
	d := chatDelta{Index: c.index}
	d.Delta.Role = whale.RoleAssistant
	d.Delta.Content = new(string)
	out := f.chunk(d)
	if f.request.ids {
		out.Prompt = c.request.Prompt
	}
	return out
}

// said holds a reply back where it may be a tool call, which has to be whole, and where log-probabilities are wanted, which come with the result.
func (f *chatChunks) said(tokens []int32) (said, bool) {
	if len(f.request.tools) > 0 || f.request.logprobs {
		return said{}, true
	}
	p := f.s.talk.ParseChat(tokens)
	return said{p.Reasoning, withoutOpenTag(p.Text)}, false
}

func (f *chatChunks) delta(c *choice, added said, ids []int32) any {
	d := chatDelta{Index: c.index, TokenIDs: ids}
	d.Delta.Reasoning = added.reasoning
	if added.text != "" || added.reasoning == "" {
		d.Delta.Content = &added.text
	}
	return f.chunk(d)
}

func (f *chatChunks) last(c *choice, shown said, ids []int32) any {
	end, finish := f.s.read(f.request, c.result)
	d := chatDelta{Index: c.index, TokenIDs: ids, Finish: &finish}
	if rest := (said{end.Reasoning, end.Content}).after(shown); rest != nil {
		d.Delta.Reasoning = rest.reasoning
		if rest.text != "" {
			d.Delta.Content = &rest.text
		}
	}
	d.Delta.Calls = chatCalls(f.head.ID, c.index, end.Calls)
	for i := range d.Delta.Calls {
		d.Delta.Calls[i].Index = &i
	}
	if f.request.logprobs {
		d.LogProbs = f.s.chatLogProbs(c.result)
	}
	return f.chunk(d)
}

func (f *chatChunks) usage(u usage) any {
	return chunk[chatDelta]{head: f.head, Choices: []chatDelta{}, Usage: &u}
}

// textChunks are the chunks of /v1/completions.
type textChunks struct {
	s       *Server
	head    head
	request *completionRequest
}

func (f *textChunks) chunk(c textChoice) chunk[textChoice] {
	return chunk[textChoice]{head: f.head, Choices: []textChoice{c}}
}

func (f *textChunks) first(c *choice) any {
	if !f.request.ids {
		return nil
	}
	return f.chunk(textChoice{Index: c.index, Prompt: c.request.Prompt})
}

func (f *textChunks) said(tokens []int32) (said, bool) {
	return said{text: f.s.model.Text.Decode(tokens)}, f.request.logprobs
}

func (f *textChunks) delta(c *choice, added said, ids []int32) any {
	return f.chunk(textChoice{Index: c.index, Text: added.text, TokenIDs: ids})
}

func (f *textChunks) last(c *choice, shown said, ids []int32) any {
	text, finish := f.s.readText(f.request, c.result)
	out := textChoice{Index: c.index, Finish: &finish, TokenIDs: ids, Text: strings.TrimPrefix(text, shown.text)}
	if f.request.logprobs {
		out.LogProbs = f.s.textLogProbs(c.result)
	}
	return f.chunk(out)
}

func (f *textChunks) usage(u usage) any {
	return chunk[textChoice]{head: f.head, Choices: []textChoice{}, Usage: &u}
}
