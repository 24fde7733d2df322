package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/policy/chat"
)

// usage counts tokens: a prompt once, however many choices continue it.
type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

func usageOf(prompts [][]int32, list []*choice) usage {
	var u usage
	for _, p := range prompts {
		u.PromptTokens += len(p)
	}
	for _, c := range list {
		u.CompletionTokens += len(c.result.Tokens)
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u
}

// head is what every reply begins with.
type head struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
	Mark    string `json:"system_fingerprint"`
}

type chatReply struct {
	head
	Choices []chatChoice `json:"choices"`
	Usage   usage        `json:"usage"`
	Prompt  []int32      `json:"prompt_token_ids,omitempty"`
}

type chatChoice struct {
	Index    int           `json:"index"`
	Message  chatMessage   `json:"message"`
	LogProbs *chatLogProbs `json:"logprobs"`
	Finish   string        `json:"finish_reason"`
	TokenIDs []int32       `json:"token_ids,omitempty"`
}

type chatMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"` // null where there is nothing but tool calls
	Refusal   *string    `json:"refusal"`
	Reasoning string     `json:"reasoning_content,omitempty"` // vLLM's name
	Calls     []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	Index    *int   `json:"index,omitempty"` // in chunks alone
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"` // JSON
	} `json:"function"`
}

// chat answers /v1/chat/completions.
func (s *Server) chat(ctx context.Context, w http.ResponseWriter, body []byte) *failure {
	r, f := parseChat(body, s.opt.Sampling)
	if f != nil {
		return f
	}
	if f := s.checkModel(r.model); f != nil {
		return f
	}
	id, seed := s.next("chatcmpl-")
	prompt, err := s.talk.RenderChat(chat.Conversation{Messages: r.messages, Tools: r.tools})
	if err != nil {
		return unrendered(err)
	}
	prompts := [][]int32{prompt}
	list, f := s.choices(&r.request, seed, prompts, "messages")
	if f != nil {
		return f
	}
	defer s.logRequest(id, &r.request, prompts, list)()
	h := s.head(id, "chat.completion")
	if r.stream {
		h.Object = "chat.completion.chunk"
		return s.stream(ctx, w, &r.request, prompts, list, &chatChunks{s: s, head: h, request: &r})
	}
	if err := s.sample(ctx, list, func() {})(); err != nil {
		return s.failed(ctx, err)
	}
	reply := chatReply{head: h, Usage: usageOf(prompts, list)}
	if r.ids {
		reply.Prompt = prompt
	}
	for _, c := range list {
		said, finish := s.read(&r, c.result)
		out := chatChoice{Index: c.index, Finish: finish, Message: chatMessage{Role: whale.RoleAssistant, Content: &said.Content, Reasoning: said.Reasoning}}
		out.Message.Calls = chatCalls(id, c.index, said.Calls)
		if said.Content == "" && len(said.Calls) > 0 {
			out.Message.Content = nil
		}
		if r.logprobs {
			out.LogProbs = s.chatLogProbs(c.result)
		}
		if r.ids {
			out.TokenIDs = c.result.Tokens
		}
		reply.Choices = append(reply.Choices, out)
	}
	writeJSON(w, http.StatusOK, reply)
	return nil
}

// unrendered is what a template has no words for. Its error begins with the field.
func unrendered(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	f = refuse("", "%v", err)
	f.param = "messages"
	if strings.HasPrefix(f.message, "tool") {
		f.param = "tools"
	}
	return f
}

// read gives what a completion says to the client. Tool calls count only where tools were offered; otherwise their text stays text.
func (s *Server) read(r *chatRequest, c whale.Completion) (said chat.Parsed, finish string) {
	said = s.talk.ParseChat(c.Tokens)
	finish = c.Finish
	if len(r.tools) == 0 {
		said.Content, said.Calls = said.Text, nil
	}
	var found bool
	said.Content, found = cut(said.Content, r.stop)
	switch {
	case found:
		finish, said.Calls = whale.FinishStop, nil // what follows a stop text was not asked for
	case len(said.Calls) > 0 && finish == whale.FinishStop:
		finish = "tool_calls"
	}
	return said, finish
}

func chatCalls(reply string, index int, calls []whale.ToolCall) []chatCall {
	var list []chatCall
	for i, c := range calls {
		out := chatCall{ID: fmt.Sprintf("call_%s_%d_%d", reply[len("chatcmpl-"):][:16], index, i), Type: "function"}
		out.Function.Name = c.Name
		args, err := json.Marshal(c.Args)
		if err != nil || c.Args == nil {
			args = []byte("{}")
		}
		out.Function.Arguments = string(args)
		list = append(list, out)
	}
	return list
}

func (s *Server) head(id, object string) head {
	return head{ID: id, Object: object, Created: s.opt.Now().Unix(), Model: s.model.Name, Mark: s.mark}
}

func (s *Server) checkModel(name string) *failure {
	if name == "" || name == s.model.Name {
		return nil
	}
	f := refuse("model", "got %q, want %q", clip(name), s.model.Name)
	f.status, f.code = http.StatusNotFound, "model_not_found"
	return f
}

// logRequest gives what notes a request once it is done.
func (s *Server) logRequest(id string, r *request, prompts [][]int32, list []*choice) (done func()) {
	start := s.opt.Now()
	return func() {
		u := usageOf(prompts, list)
		line := fmt.Sprintf("%s  prompt %d  sampled %d  %.2f s", id, u.PromptTokens, u.CompletionTokens, s.opt.Now().Sub(start).Seconds())
		if r.user != "" {
			line += fmt.Sprintf("  user %q", clip(r.user))
		}
		s.opt.Log(line)
	}
}
