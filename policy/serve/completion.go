package serve

import (
	"context"
	"net/http"

	"github.com/seed-095d5d2b/whale"
)

type textReply struct {
	head
	Choices []textChoice `json:"choices"`
	Usage   usage        `json:"usage"`
}

type textChoice struct {
	Index    int           `json:"index"`
	Text     string        `json:"text"`
	LogProbs *textLogProbs `json:"logprobs"`
	Finish   *string       `json:"finish_reason"` // null in all chunks of a stream but the last
	Prompt   []int32       `json:"prompt_token_ids,omitempty"`
	TokenIDs []int32       `json:"token_ids,omitempty"`
}

// completions answers /v1/completions.
func (s *Server) completions(ctx context.Context, w http.ResponseWriter, body []byte) *failure {
	r, f := parseCompletion(body, s.opt.Sampling)
	if f != nil {
		return f
	}
	if f := s.checkModel(r.model); f != nil {
		return f
	}
	id, seed := s.next("cmpl-")
	var prompts [][]int32
	for _, p := range r.prompts {
		if p.ids == nil {
			p.ids = s.model.Text.Encode(p.text)
		}
		prompts = append(prompts, p.ids)
	}
	list, f := s.choices(&r.request, seed, prompts, "prompt")
	if f != nil {
		return f
	}
	defer s.logRequest(id, &r.request, prompts, list)()
	h := s.head(id, "text_completion")
	if r.stream {
		return s.stream(ctx, w, &r.request, prompts, list, &textChunks{s: s, head: h, request: &r})
	}
	if err := s.sample(ctx, list, func() {})(); err != nil {
		return s.failed(ctx, err)
	}
	reply := textReply{head: h, Usage: usageOf(prompts, list)}
	for _, c := range list {
		out := textChoice{Index: c.index}
		var finish string
		out.Text, finish = s.readText(&r, c.result)
		out.Finish = &finish
		if r.logprobs {
			out.LogProbs = s.textLogProbs(c.result)
		}
		if r.ids {
			out.Prompt, out.TokenIDs = c.request.Prompt, c.result.Tokens
		}
		reply.Choices = append(reply.Choices, out)
	}
	writeJSON(w, http.StatusOK, reply)
	return nil
}

func (s *Server) readText(r *completionRequest, c whale.Completion) (text, finish string) {
	text, found := cut(s.model.Text.Decode(c.Tokens), r.stop)
	if found {
		return text, whale.FinishStop
	}
	return text, c.Finish
}
