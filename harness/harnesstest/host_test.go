package harnesstest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

func chat(m ...whale.Message) whale.Request { return whale.Request{Op: whale.OpChat, Messages: m} }

func TestHostKeepsItsLimits(t *testing.T) {
	user := whale.Message{Role: whale.RoleUser, Content: "hi"}
	for _, tt := range []struct {
		limit func(l *whale.Limits)
		req   whale.Request
		want  whale.FailReason
	}{
		{func(l *whale.Limits) { l.ModelCalls = 0 }, chat(user), whale.FailModelCalls},
		{func(l *whale.Limits) { l.Tokens = 0 }, chat(user), whale.FailTokens},
		{func(l *whale.Limits) { l.MessageBytes = 1 }, chat(user), whale.FailMessageBytes},
		{func(l *whale.Limits) { l.ToolCalls = 0 }, whale.Request{Op: whale.OpTool, Name: "a"}, whale.FailToolCalls},
		{func(*whale.Limits) {}, whale.Request{Op: whale.OpRender, Name: "a"}, whale.FailContract},
	} {
		h := &harnesstest.Host{Limits: harnesstest.Limits(), Replies: []harnesstest.Reply{{Text: "a"}}}
		tt.limit(&h.Limits)
		h.Start()
		_, err := h.Do(context.Background(), tt.req)
		var he *whale.HarnessError
		if !errors.As(err, &he) || he.Failure.Reason != tt.want {
			t.Errorf("%s: got %v, want %s", tt.req.Op, err, tt.want)
		}
	}
}

// The host refuses what a pipe would change, and references that do not exist.
func TestHostRefuses(t *testing.T) {
	for _, tt := range []struct {
		req  whale.Request
		want string
	}{
		{chat(whale.Message{Role: whale.RoleAssistant, Reply: 1}), "stands for reply 1 of 0"},
		{chat(whale.Message{Role: whale.RoleUser, Content: "\xff"}), "no UTF-8"},
		{whale.Request{Op: "dance"}, `got the operation "dance"`},
	} {
		h := &harnesstest.Host{Replies: []harnesstest.Reply{{Text: "a"}}}
		h.Start()
		_, err := h.Do(context.Background(), tt.req)
		var he *whale.HarnessError
		if err == nil || errors.As(err, &he) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestHostClipsReplies(t *testing.T) {
	h := &harnesstest.Host{Replies: []harnesstest.Reply{{Text: "one two  three"}}}
	h.Start()
	r := chat(whale.Message{Role: whale.RoleUser, Content: "hi"})
	r.MaxTokens = 2
	resp, err := h.Do(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.Reply; got.Text != "one two  " || got.Tokens != 2 || got.Finish != whale.FinishLength || got.Ref != 1 {
		t.Errorf("got %+v", got)
	}
	if h.Usage.SampledTokens != 2 || h.Usage.ModelCalls != 1 {
		t.Errorf("got %+v", h.Usage)
	}
}
