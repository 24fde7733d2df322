package serve

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/policy/local"
)

// tiny is a server over the embedded model, and a policy of the room beside it over the same weights.
func tiny(t *testing.T) (*Server, *local.Policy, *local.Bundle) {
	t.Helper()
	b, err := local.Open("whale-tiny")
	if err != nil {
		t.Fatal(err)
	}
	opt := local.Options{MaxBatch: 8, CacheTokens: 1 << 12}
	p := NewEmbedded(b, lm.GeneratorOptions{MaxBatch: 8, CacheTokens: 1 << 12, MemoryBytes: 64 << 20})
	other := local.NewPolicy(b.Renderer, b.Model, opt)
	t.Cleanup(func() { p.Close(); other.Close() })
	s, err := New(Model{Name: "whale-tiny", Policy: p, Text: b.Tokenizer, Vocab: b.Tokenizer.Vocab()}, Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return s, other, b
}

// TestServedTokensAreThePolicys compares a served reply with the policy's own sample for the same seed.
func TestServedTokensAreThePolicys(t *testing.T) {
	s, p, b := tiny(t)
	body := `{"messages":[{"role":"user","content":"What is 12 + 30?"}],"seed":9,"max_tokens":40,"temperature":0.7,"top_k":20,"logprobs":true,"return_token_ids":true`
	r := ask[chatReply](t, s, chatPath, body+`}`)
	prompt, err := p.Render([]whale.Message{{Role: "user", Content: "What is 12 + 30?"}}, nil, func(whale.ReplyRef) []int32 { return nil })
	if err != nil {
		t.Fatal(err)
	}
	want, err := p.Sample(context.Background(), whale.SampleRequest{
		Prompt: prompt, MaxTokens: 40, StopIDs: p.StopIDs(), Seed: 9, Sampling: whale.Sampling{Temperature: 0.7, TopP: 1, TopK: 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := r.Choices[0]
	if !slices.Equal(r.Prompt, prompt) || !slices.Equal(c.TokenIDs, want.Tokens) || c.Finish != want.Finish {
		t.Errorf("got %v %v %s, want %v %v %s", r.Prompt, c.TokenIDs, c.Finish, prompt, want.Tokens, want.Finish)
	}
	for i, l := range c.LogProbs.Content {
		if l.LogProb != want.LogProbs[i] {
			t.Errorf("token %d: got log-probability %v, want %v", i, l.LogProb, want.LogProbs[i])
		}
	}
	var text string
	list := events[chunk[chatDelta]](t, s, chatPath, strings.Replace(body, `"logprobs":true,`, "", 1)+`,"stream":true}`)
	for _, e := range list {
		if p := e.Choices[0].Delta.Content; p != nil {
			text += *p
		}
	}
	if text != *c.Message.Content || text == "" {
		t.Errorf("streamed %q, want %q", text, *c.Message.Content)
	}
	if got := b.Tokenizer.Decode(want.Tokens); got != text {
		t.Errorf("text: got %q, want %q", text, got)
	}
}

// TestEmbeddedStopText holds the watch to its text, however it falls into tokens.
func TestEmbeddedStopText(t *testing.T) {
	s, _, _ := tiny(t)
	body := `{"prompt":"What is 12 + 30? The answer is","seed":3,"temperature":0,"max_tokens":60,"ignore_eos":true,"return_token_ids":true`
	whole := ask[textReply](t, s, textPath, body+`}`).Choices[0]
	if len(whole.Text) < 20 {
		t.Fatalf("got %q, want some text to stop in", whole.Text)
	}
	stop := whole.Text[8:13]
	cut := ask[textReply](t, s, textPath, body+`,"stop":`+string(mustJSON(t, stop))+`}`).Choices[0]
	want, _, _ := strings.Cut(whole.Text, stop)
	if cut.Text != want || *cut.Finish != "stop" || len(cut.TokenIDs) >= len(whole.TokenIDs) {
		t.Errorf("stop %q: got %q after %d tokens, want %q", stop, cut.Text, len(cut.TokenIDs), want)
	}
	if !slices.Equal(cut.TokenIDs, whole.TokenIDs[:len(cut.TokenIDs)]) {
		t.Errorf("a stop text changes what is sampled before it")
	}
}

// TestEmbeddedToolTurn has the template render an earlier call, its result, and a schema that no ToolSpec could describe.
func TestEmbeddedToolTurn(t *testing.T) {
	s, _, b := tiny(t)
	r := ask[chatReply](t, s, chatPath, `{"messages":[{"role":"user","content":"What is 12 + 30?"},
		{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"calc","arguments":"{\"code\": \"12+30\"}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"42"}],
		"tools":[{"type":"function","function":{"name":"calc","description":"computes","parameters":{"type":"object","properties":{"code":{"type":"string","enum":["a","b"]}}}}}],
		"max_tokens":4,"seed":1,"return_token_ids":true}`)
	got := b.Tokenizer.DecodeAll(r.Prompt)
	for _, want := range []string{"calc(code): computes", `<tool_call>{"name": "calc", "arguments": {"code": "12+30"}}</tool_call>`, "<|tool|>42<|end|><|assistant|>"} {
		if !strings.Contains(got, want) {
			t.Errorf("prompt: got %q, want …%s…", got, want)
		}
	}
}
