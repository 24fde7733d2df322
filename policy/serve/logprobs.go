package serve

import (
	"unicode/utf8"

	"github.com/seed-095d5d2b/whale"
)

// leastLogProb stands for the logarithm of 0, which JSON cannot write; it is vLLM's.
const leastLogProb = -9999

// chatLogProbs has one element for each sampled token, the one that ends the completion included.
type chatLogProbs struct {
	Content []tokenLogProb `json:"content"`
}

type tokenLogProb struct {
	Token       string         `json:"token"`
	LogProb     float32        `json:"logprob"` // of the full distribution at temperature 1
	Bytes       []int          `json:"bytes"`   // what Token cannot show where it is a part of a character
	TopLogProbs []tokenLogProb `json:"top_logprobs"`
}

func (s *Server) chatLogProbs(c whale.Completion) *chatLogProbs {
	l := &chatLogProbs{Content: []tokenLogProb{}}
	for i, id := range c.Tokens {
		ids := c.Tokens[i : i+1]
		t := tokenLogProb{Token: s.model.Text.DecodeAll(ids), LogProb: max(c.LogProbs[i], leastLogProb), Bytes: []int{}, TopLogProbs: []tokenLogProb{}}
		for _, b := range []byte(s.model.Text.Decode([]int32{id})) {
			t.Bytes = append(t.Bytes, int(b))
		}
		l.Content = append(l.Content, t)
	}
	return l
}

// textLogProbs is the older form, of /v1/completions.
type textLogProbs struct {
	Tokens        []string  `json:"tokens"`
	TokenLogProbs []float32 `json:"token_logprobs"`
	TopLogProbs   []string  `json:"top_logprobs"` // always null
	TextOffset    []int     `json:"text_offset"`  // where the token begins in the text, in characters
}

func (s *Server) textLogProbs(c whale.Completion) *textLogProbs {
	l := &textLogProbs{Tokens: []string{}, TokenLogProbs: []float32{}, TextOffset: []int{}}
	offset := 0
	for i := range c.Tokens {
		ids := c.Tokens[i : i+1]
		l.Tokens = append(l.Tokens, s.model.Text.DecodeAll(ids))
		l.TokenLogProbs = append(l.TokenLogProbs, max(c.LogProbs[i], leastLogProb))
		l.TextOffset = append(l.TextOffset, offset)
		offset += countStarts(s.model.Text.Decode(ids))
	}
	return l
}

// countStarts counts the characters that begin in a piece of text, so that the pieces of one character count once.
func countStarts(text string) int {
	n := 0
	for i := range len(text) {
		if utf8.RuneStart(text[i]) {
			n++
		}
	}
	return n
}
