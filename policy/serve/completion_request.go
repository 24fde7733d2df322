package serve

import (
	"encoding/json"

	"github.com/seed-095d5d2b/whale"
)

// maxPrompts bounds the prompts of one request of /v1/completions.
const maxPrompts = maxN

// defaultMaxTokens is OpenAI's for /v1/completions.
const defaultMaxTokens = 16

// completionRequest is a request of /v1/completions.
type completionRequest struct {
	request
	prompts []prompt
}

// prompt is a text or token ids.
type prompt struct {
	text string
	ids  []int32 // nil for a text
}

func parseCompletion(body []byte, absent whale.Sampling) (completionRequest, *failure) {
	o := readObject("", body)
	r := completionRequest{request: readCommon(o, absent), prompts: readPrompts(o)}
	if r.maxTokens == 0 {
		r.maxTokens = defaultMaxTokens
	}
	var logprobs int
	if decode(o, "logprobs", "a whole number", &logprobs) {
		if logprobs != 0 {
			o.fail("logprobs", "got %d, want 0: only the sampled token's log-probability is kept", logprobs)
		}
		r.logprobs = true
	}
	o.only("echo", "the prompt is not repeated", "false")
	o.only("suffix", "the model only continues", `""`)
	o.only("best_of", "every choice is returned; ask for n", "1")
	if len(r.prompts)*r.n > maxN {
		o.fail("n", "got %d choices for %d prompts, want at most %d choices in all", r.n, len(r.prompts), maxN)
	}
	return r, o.close()
}

// readPrompts reads OpenAI's four forms: a text, texts, token ids, lists of token ids.
func readPrompts(o *object) []prompt {
	raw := o.take("prompt")
	var text string
	var texts []string
	var ids []int32
	var lists [][]int32
	switch {
	case raw == nil:
		o.fail("prompt", "got none, want a text, token ids, or a list of either")
	case json.Unmarshal(raw, &text) == nil:
		return []prompt{{text: text}}
	case json.Unmarshal(raw, &texts) == nil && len(texts) > 0:
		return countPrompts(o, texts, func(s string) prompt { return prompt{text: s} })
	case json.Unmarshal(raw, &ids) == nil && len(ids) > 0:
		return []prompt{{ids: ids}}
	case json.Unmarshal(raw, &lists) == nil && len(lists) > 0:
		return countPrompts(o, lists, func(ids []int32) prompt { return prompt{ids: append([]int32{}, ids...)} })
	default:
		o.fail("prompt", "got %s, want a text, token ids, or a list of either", brief(raw))
	}
	return nil
}

func countPrompts[T any](o *object, list []T, make func(T) prompt) []prompt {
	if len(list) > maxPrompts {
		o.fail("prompt", "got %d prompts, want at most %d", len(list), maxPrompts)
		return nil
	}
	var ps []prompt
	for _, p := range list {
		ps = append(ps, make(p))
	}
	return ps
}
