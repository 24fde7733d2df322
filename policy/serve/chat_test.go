package serve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
)

const chatPath, textPath = "/v1/chat/completions", "/v1/completions"

func TestChat(t *testing.T) {
	s := newServer(t, says("Grüße!"), nil)
	r := ask[chatReply](t, s, chatPath, `{"model":"m","messages":[{"role":"system","content":"be"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}],"logprobs":true,"return_token_ids":true,"user":"me"}`)
	c := r.Choices[0]
	if *c.Message.Content != "Grüße!" || c.Finish != "stop" || c.Message.Role != "assistant" || r.Object != "chat.completion" || !strings.HasPrefix(r.ID, "chatcmpl-") {
		t.Errorf("got %+v", r)
	}
	if got := (fake{}).Decode(r.Prompt); got != "system:beuser:a\nb" {
		t.Errorf("prompt: got %q", got)
	}
	if r.Usage != (usage{len(r.Prompt), 9, len(r.Prompt) + 9}) || len(c.TokenIDs) != 9 {
		t.Errorf("usage: got %+v for %d prompt tokens and %d sampled", r.Usage, len(r.Prompt), len(c.TokenIDs))
	}
	l := c.LogProbs.Content
	if len(l) != 9 || l[2].LogProb != -2 || l[2].Bytes[0] != 0xc3 || l[8].Token != "<end>" || len(l[8].Bytes) != 0 {
		t.Errorf("log-probabilities: got %+v", l)
	}
}

func TestChatDefaults(t *testing.T) {
	var got whale.SampleRequest
	s := newServer(t, fake{say: func(r whale.SampleRequest) string { got = r; return "x" }}, nil)
	ask[chatReply](t, s, chatPath, `{"messages":[{"role":"user","content":"hi"}],"temperature":null}`)
	if got.Sampling != (whale.Sampling{Temperature: 1, TopP: 1}) || got.MaxTokens != fakeContext-len(got.Prompt) || got.StopIDs[0] != fakeEnd {
		t.Errorf("got %+v", got)
	}
	ask[chatReply](t, s, chatPath, `{"messages":[{"role":"user","content":"hi"}],"temperature":0,"top_p":0.5,"top_k":-1,"max_completion_tokens":3,"seed":5,"stop":"z","stop_token_ids":[65],"ignore_eos":true}`)
	if got.Sampling != (whale.Sampling{Temperature: 0, TopP: 0.5}) || got.MaxTokens != 3 || got.Seed != 5 || got.StopText[0] != "z" || len(got.StopIDs) != 1 || got.StopIDs[0] != 65 {
		t.Errorf("got %+v", got)
	}
}

func TestChoicesHaveSeedsOfTheirOwn(t *testing.T) {
	s := newServer(t, fake{say: func(r whale.SampleRequest) string { return fmt.Sprint(r.Seed) }}, nil)
	texts := func(body string) (list []string) {
		for _, c := range ask[chatReply](t, s, chatPath, body).Choices {
			if c.Index != len(list) {
				t.Errorf("choice %d stands at %d", c.Index, len(list))
			}
			list = append(list, *c.Message.Content)
		}
		return list
	}
	seeded := `{"messages":[{"role":"user","content":"hi"}],"n":4,"seed":11}`
	a, b := texts(seeded), texts(seeded)
	if fmt.Sprint(a) != fmt.Sprint(b) || a[0] != "11" {
		t.Errorf("the same seed gave %v and %v", a, b)
	}
	seen := map[string]bool{}
	for _, x := range append(a, texts(`{"messages":[{"role":"user","content":"hi"}],"n":4}`)...) {
		if seen[x] {
			t.Errorf("seed %s twice", x)
		}
		seen[x] = true
	}
}

func TestStopTexts(t *testing.T) {
	s := newServer(t, says("one two three"), nil)
	for _, c := range []struct{ stop, want, finish string }{
		{`"two"`, "one ", "stop"}, {`["three"," t"]`, "one", "stop"}, {`"four"`, "one two three", "stop"}, {`[]`, "one two three", "stop"}, {`"one"`, "", "stop"},
	} {
		body := `{"messages":[{"role":"user","content":"hi"}],"stop":` + c.stop + `}`
		r := ask[chatReply](t, s, chatPath, body)
		if got := *r.Choices[0].Message.Content; got != c.want || r.Choices[0].Finish != c.finish {
			t.Errorf("stop %s: got %q %s", c.stop, got, r.Choices[0].Finish)
		}
		var text string
		for _, e := range events[chunk[chatDelta]](t, s, chatPath, body[:len(body)-1]+`,"stream":true}`) {
			if p := e.Choices[0].Delta.Content; p != nil {
				text += *p
			}
		}
		if text != c.want {
			t.Errorf("stop %s streamed: got %q, want %q", c.stop, text, c.want)
		}
	}
}

func TestStreamEqualsReply(t *testing.T) {
	for _, text := range []string{"Grüße, 世界! <b> a < b", "", "\xff\xe4\xb8 broken \xe4", "  \n<think", "ééé"} {
		s := newServer(t, says(text), nil)
		body := `{"messages":[{"role":"user","content":"hi"}],"seed":1,"n":3,"return_token_ids":true`
		want := ask[chatReply](t, s, chatPath, body+`}`)
		got, ids, finish := map[int]string{}, map[int][]int32{}, map[int]string{}
		list := events[chunk[chatDelta]](t, s, chatPath, body+`,"stream":true,"stream_options":{"include_usage":true}}`)
		for _, e := range list[:len(list)-1] {
			c := e.Choices[0]
			if c.Delta.Content != nil {
				got[c.Index] += *c.Delta.Content
			}
			ids[c.Index] = append(ids[c.Index], c.TokenIDs...)
			if c.Finish != nil {
				finish[c.Index] = *c.Finish
			}
			if e.Usage != nil || e.ID != list[0].ID {
				t.Errorf("chunk: got %+v", e)
			}
		}
		if last := list[len(list)-1]; last.Usage == nil || *last.Usage != want.Usage || len(last.Choices) != 0 {
			t.Errorf("usage: got %+v, want %+v", last.Usage, want.Usage)
		}
		for _, c := range want.Choices {
			if got[c.Index] != *c.Message.Content || fmt.Sprint(ids[c.Index]) != fmt.Sprint(c.TokenIDs) || finish[c.Index] != c.Finish {
				t.Errorf("%q: choice %d streamed as %q %v %s, want %q %v %s", text, c.Index, got[c.Index], ids[c.Index], finish[c.Index], *c.Message.Content, c.TokenIDs, c.Finish)
			}
		}
	}
}

const oneTool = `"tools":[{"type":"function","function":{"name":"add","description":"adds","parameters":{"type":"object","properties":{"x":{"type":"integer","description":"n"},"a":{"type":"string","title":"A"}},"required":["x"]}}}]`

func TestTools(t *testing.T) {
	var prompt string
	p := fake{say: func(r whale.SampleRequest) string { prompt = fake{}.Decode(r.Prompt); return "[add]" }}
	s := newServer(t, p, nil)
	body := `{"messages":[{"role":"user","content":"hi"}],` + oneTool
	r := ask[chatReply](t, s, chatPath, body+`}`)
	calls := r.Choices[0].Message.Calls
	if len(calls) != 1 || calls[0].Function.Name != "add" || calls[0].Function.Arguments != `{"x":1}` || r.Choices[0].Finish != "tool_calls" || calls[0].ID == "" {
		t.Errorf("got %+v", r.Choices[0])
	}
	if want := "{Name:add Description:adds Parameters:[{Name:x Type:integer Description:n Required:true Authored:false} {Name:a Type:string Description: Required:false Authored:false}]}"; !strings.HasPrefix(prompt, want) {
		t.Errorf("prompt: got %q", prompt)
	}
	list := events[chunk[chatDelta]](t, s, chatPath, body+`,"stream":true}`)
	last := list[len(list)-1].Choices[0]
	if c := last.Delta.Calls; len(c) != 1 || *c[0].Index != 0 || c[0].Function.Name != "add" || *last.Finish != "tool_calls" {
		t.Errorf("streamed: got %+v", last)
	}
	r = ask[chatReply](t, s, chatPath, body+`,"tool_choice":"none"}`)
	if len(r.Choices[0].Message.Calls) != 0 || *r.Choices[0].Message.Content != "[add]" || strings.HasPrefix(prompt, "{") {
		t.Errorf("tool_choice none: got %+v after prompt %q", r.Choices[0], prompt)
	}
}
