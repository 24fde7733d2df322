package serve

import (
	"context"

	"github.com/seed-095d5d2b/whale"
)

// Model is what a server offers.
type Model struct {
	Name   string // what requests call it
	Policy whale.Policy
	Text   Text
	Vocab  int // token ids are below it
}

// Text is raw text as token ids, without a template; a token.Tokenizer is one.
type Text interface {
	Encode(text string) []int32
	Decode(ids []int32) string    // without control tokens; may end inside of a character
	DecodeAll(ids []int32) string // control tokens by name
}

// Streamer is a sampler that shows a completion as it grows. grown gets all tokens so far after each new one; it is called by one goroutine at a
// time, must be quick, must not keep the slice, and is not called any more once SampleStream has returned.
type Streamer interface {
	SampleStream(ctx context.Context, r whale.SampleRequest, grown func(tokens []int32)) (whale.Completion, error)
}
