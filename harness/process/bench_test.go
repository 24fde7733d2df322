package process

import (
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
)

// A model call crosses the pipe twice; these are the four halves.

func benchRequest() whale.Request {
	return whale.Request{Op: whale.OpChat, MaxTokens: 256, Messages: []whale.Message{
		{Role: whale.RoleSystem, Content: strings.Repeat("You solve word problems.\n", 16)}, {Role: whale.RoleUser, Content: strings.Repeat("How many apples? ", 20)},
		{Role: whale.RoleAssistant, Reply: 1}, {Role: whale.RoleUser, Content: "Go on."},
	}}
}

func benchResponse() whale.Response {
	return whale.Response{Reply: &whale.Reply{Ref: 2, Text: strings.Repeat("There are 3 apples.\n", 20), Finish: whale.FinishStop, Tokens: 100}}
}

func BenchmarkEncodeRequest(b *testing.B) {
	r := benchRequest()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = appendRequest(buf[:0], 1, 100, &r)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkDecodeRequest(b *testing.B) {
	r := benchRequest()
	line, err := appendRequest(nil, 1, 100, &r)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := decodeProgram(line, true); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeResponse(b *testing.B) {
	r := benchResponse()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = appendResponse(buf[:0], 1, whale.OpChat, &r)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkDecodeResponse(b *testing.B) {
	r := benchResponse()
	line, err := appendResponse(nil, 1, whale.OpChat, &r)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := decodeHost(line); err != nil {
			b.Fatal(err)
		}
	}
}
