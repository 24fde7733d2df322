package serve

import (
	"testing"

	"github.com/seed-095d5d2b/whale"
)

func TestCompletions(t *testing.T) {
	p := fake{say: func(r whale.SampleRequest) string { return "<" + fake{}.Decode(r.Prompt) + "é>" }}
	s := newServer(t, p, nil)
	for _, c := range []struct {
		prompt string
		want   []string
	}{
		{`"ab"`, []string{"<abé>"}},
		{`["a","b"]`, []string{"<aé>", "<bé>"}},
		{`[97,98]`, []string{"<abé>"}},
		{`[[97],[98,99]]`, []string{"<aé>", "<bcé>"}},
	} {
		r := ask[textReply](t, s, textPath, `{"prompt":`+c.prompt+`,"logprobs":0,"return_token_ids":true}`)
		if len(r.Choices) != len(c.want) || r.Object != "text_completion" {
			t.Fatalf("prompt %s: got %+v", c.prompt, r)
		}
		for i, want := range c.want {
			got := r.Choices[i]
			if got.Text != want || *got.Finish != "stop" || got.Index != i || len(got.TokenIDs) != len(want)+1 || len(got.Prompt) != len(want)-4 {
				t.Errorf("prompt %s: choice %d: got %+v, want %q", c.prompt, i, got, want)
			}
			// The two bytes of é begin at one place; what follows is one character further.
			n := len(got.LogProbs.TextOffset)
			if o := got.LogProbs.TextOffset; o[n-3] != o[n-4]+1 || o[n-2] != o[n-4]+1 {
				t.Errorf("offsets: got %v", o)
			}
		}
	}
}

func TestCompletionsLength(t *testing.T) {
	s := newServer(t, says("0123456789abcdefghij"), nil)
	r := ask[textReply](t, s, textPath, `{"prompt":"x"}`)
	if c := r.Choices[0]; c.Text != "0123456789abcdef" || *c.Finish != "length" || r.Usage.CompletionTokens != 16 {
		t.Errorf("got %+v", r)
	}
	list := events[chunk[textChoice]](t, s, textPath, `{"prompt":"x","stream":true,"logprobs":0,"max_tokens":3,"stream_options":{"include_usage":true}}`)
	if c := list[0].Choices[0]; len(list) != 2 || c.Text != "012" || len(c.LogProbs.Tokens) != 3 || list[1].Usage.TotalTokens != 4 {
		t.Errorf("got %+v", list)
	}
	var text string
	for _, e := range events[chunk[textChoice]](t, s, textPath, `{"prompt":"x","stream":true,"max_tokens":12}`) {
		text += e.Choices[0].Text
	}
	if text != "0123456789ab" {
		t.Errorf("streamed: got %q", text)
	}
}
