package hostile

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/seed-095d5d2b/whale"
)

// policy samples bytes: it always says the same, and rambles to its limit where it is asked to.
type policy struct{}

func (policy) ID() whale.ID { return "bytes" }

func (policy) Render(messages []whale.Message, _ []whale.ToolSpec, replies func(whale.ReplyRef) []int32) ([]int32, error) {
	var ids []int32
	for _, m := range messages {
		if m.Reply != 0 {
			if replies(m.Reply) == nil {
				return nil, errForeign
			}
			ids = append(ids, replies(m.Reply)...)
		}
		for _, b := range []byte(m.Content) {
			ids = append(ids, int32(b))
		}
	}
	return ids, nil
}

func (policy) Parse(ids []int32) (string, []whale.ToolCall) {
	b := make([]byte, len(ids))
	for i, id := range ids {
		b[i] = byte(id)
	}
	return string(b), nil
}

func (policy) StopIDs() []int32               { return nil }
func (policy) Count(text string) int          { return len(text) }
func (policy) Clip(text string, n int) string { return text[:min(n, len(text))] }
func (policy) Weights() whale.WeightsRef      { return whale.WeightsRef{ID: "w0"} }
func (policy) Close() error                   { return nil }
func (policy) Capabilities() whale.Capabilities {
	return whale.Capabilities{Access: whale.TokenExact, Seeds: true}
}

func (p policy) Sample(ctx context.Context, r whale.SampleRequest) (whale.Completion, error) {
	text := "I play e2e4. yes"
	if prompt, _ := p.Parse(r.Prompt); strings.Contains(prompt, "Ramble") {
		text = strings.Repeat("hm ", r.MaxTokens)
	}
	c := whale.Completion{Prompt: r.Prompt, Finish: whale.FinishStop, Weights: p.Weights()}
	for _, b := range []byte(text[:min(len(text), r.MaxTokens)]) {
		c.Tokens = append(c.Tokens, int32(b))
	}
	c.LogProbs = make([]float32, len(c.Tokens))
	c.SampleLogProbs = c.LogProbs
	return c, ctx.Err()
}

// task pays for a final reply that says yes. It declares moves as a pattern, and has a tool that echoes and one whose argument is authored.
type task struct{}

func (task) ID() whale.ID                                  { return "task" }
func (task) Name() string                                  { return "hostile" }
func (task) About() string                                 { return "" }
func (task) Examples(whale.Split) ([]whale.Example, error) { return nil, nil }
func (task) Verifier() whale.Verifier                      { return verifier{} }
func (task) NewEnv(context.Context, whale.Example, uint32) (whale.Env, error) {
	return env{}, nil
}

type verifier struct{}

func (verifier) ID() whale.ID { return "verifier" }
func (verifier) Verify(_ context.Context, _ whale.Example, e *whale.Episode) (whale.Verdict, error) {
	if s, ok := e.AnswerText(); ok && strings.HasSuffix(s, "yes") {
		return whale.Verdict{Reward: 1}, nil
	}
	return whale.Verdict{Reason: "no yes"}, nil
}

type env struct{}

func (env) Tools() []whale.ToolSpec {
	return []whale.ToolSpec{
		{Name: "echo", Description: "gives a text back", Parameters: []whale.ToolParameter{{Name: "text", Type: "string"}}},
		{Name: "move", Description: "makes a move", Parameters: []whale.ToolParameter{{Name: "uci", Type: "string", Required: true, Authored: true}}},
	}
}

func (env) Call(_ context.Context, _ string, args map[string]json.RawMessage) (whale.ToolResult, error) {
	var text string
	if err := json.Unmarshal(args["text"], &text); err != nil {
		text = "done"
	}
	return whale.ToolResult{Text: text}, nil
}

func (env) Render(string, map[string]json.RawMessage) (string, error) { return "legal: e2e4 d2d4", nil }
func (env) Close() error                                              { return nil }
func (env) Rules() whale.Rules {
	return whale.Rules{Patterns: []whale.Pattern{{Name: "move", Expr: regexp.MustCompile(`\b[a-h][1-8][a-h][1-8]\b`)}}}
}
