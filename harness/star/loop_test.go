package star_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

// conversation writes the messages of a model call in short: s:, u:, t: and the number of a reply.
func conversation(messages []whale.Message) string {
	var out []string
	for _, m := range messages {
		if m.Reply > 0 {
			out = append(out, fmt.Sprint(m.Reply))
			continue
		}
		out = append(out, m.Role[:1]+":"+m.Content)
	}
	return strings.Join(out, " | ")
}

func TestLoopRun(t *testing.T) {
	tool := func(code string) whale.ToolCall {
		return whale.ToolCall{Name: "calculator", Args: map[string]json.RawMessage{"code": json.RawMessage(`"` + code + `"`)}}
	}
	say := func(texts ...string) (out []harnesstest.Reply) {
		for _, s := range texts {
			out = append(out, harnesstest.Reply{Text: s})
		}
		return out
	}
	const block = "```python\n1+1\n```"
	for _, tt := range []struct {
		name    string
		args    string
		replies []harnesstest.Reply
		set     func(h *harnesstest.Host)
		want    []string // the conversation of each model call
		answer  whale.ReplyRef
		tools   int // tool calls
	}{
		{name: "defaults", replies: say("2"), want: []string{"u:1+1?"}, answer: 1},
		{
			name: "system and user are messages of their own", args: `system = "S {question}", user = "{question} {hint} {x} \\boxed{}"`, replies: say("2"),
			want: []string{`s:S {question} | u:1+1? two {x} \boxed{}`}, answer: 1,
		},
		{
			name: "native tools", args: `turns = 3, tools = env.tools`,
			replies: []harnesstest.Reply{{Text: "a", ToolCalls: []whale.ToolCall{tool("1+1"), tool("2+2")}}, {Text: "2"}},
			want:    []string{"u:1+1?", "u:1+1? | 1 | t:2 | t:2"}, answer: 2, tools: 2,
		},
		{
			name: "code blocks", args: `act = loop.code()`, replies: say(block, "2"),
			want: []string{"u:1+1?", "u:1+1? | 1 | t:2"}, answer: 2, tools: 1,
		},
		{
			name: "the tool's complaint is observed", args: `act = loop.code(tool = "compass")`, replies: say(block, "2"),
			want: []string{"u:1+1?", `u:1+1? | 1 | t:unknown tool "compass"`}, answer: 2, tools: 1,
		},
		{
			name: "a clipped observation", args: `act = loop.code(tool = "compass"), observe = loop.clip_observe(7)`, replies: say(block, "2"),
			want: []string{"u:1+1?", `u:1+1? | 1 | t:unknown`}, answer: 2, tools: 1,
		},
		{name: "turns bound the calls", args: `act = loop.code(), turns = 2`, replies: say(block), want: []string{"u:1+1?", "u:1+1? | 1 | t:2"}, answer: 2, tools: 2},
		{
			name: "a nudge", args: `done = loop.has_box, nudge = "box it", turns = 4`, replies: say("2", `\boxed{2}`),
			want: []string{"u:1+1?", "u:1+1? | 1 | u:box it"}, answer: 2,
		},
		{
			name: "nudges are counted", args: `done = loop.has_tag("answer"), nudge = "tag it", nudges = 2, turns = 9`, replies: say("2"),
			want: []string{"u:1+1?", "u:1+1? | 1 | u:tag it", "u:1+1? | 1 | u:tag it | 2 | u:tag it"}, answer: 3,
		},
		{name: "no nudge without words", args: `done = loop.has_box, turns = 4`, replies: say("2"), want: []string{"u:1+1?"}, answer: 1},
		{
			name: "final comes before the last turn and is not kept", args: `act = loop.code(), turns = 3, final = "now answer"`, replies: say(block, block, "2"),
			want:   []string{"u:1+1?", "u:1+1? | 1 | t:2", "u:1+1? | 1 | t:2 | 2 | t:2 | u:now answer"},
			answer: 3, tools: 2,
		},
		{
			name: "final comes before the last call that is left", args: `act = loop.code(), turns = 9, final = "now"`, replies: say(block),
			set:  func(h *harnesstest.Host) { h.Limits.ModelCalls = 2 },
			want: []string{"u:1+1?", "u:1+1? | 1 | t:2 | u:now"}, answer: 2, tools: 2,
		},
		{
			name: "no limit on tool calls is broken", args: `act = loop.code(), turns = 3`, replies: say(block),
			set:    func(h *harnesstest.Host) { h.Limits.ToolCalls = 1 },
			want:   []string{"u:1+1?", "u:1+1? | 1 | t:2", "u:1+1? | 1 | t:2 | 2 | t:no tool calls are left: give the final answer"},
			answer: 3, tools: 1,
		},
		{
			name: "nor by native calls", args: `turns = 2`, replies: []harnesstest.Reply{{ToolCalls: []whale.ToolCall{tool("1"), tool("2"), tool("3")}}},
			set:    func(h *harnesstest.Host) { h.Limits.ToolCalls = 2 },
			want:   []string{"u:1+1?", "u:1+1? | 1 | t:2 | t:2 | t:no tool calls are left: give the final answer"},
			answer: 2, tools: 2,
		},
		{
			name: "no limit on tokens is broken", args: `act = loop.code(), turns = 9`, replies: say(block),
			set:  func(h *harnesstest.Host) { h.Limits.Tokens = 5 },
			want: []string{"u:1+1?", "u:1+1? | 1 | t:2"}, answer: 2, tools: 2,
		},
		{name: "nothing left at all", args: `turns = 9`, replies: say("2"), set: func(h *harnesstest.Host) { h.Limits.ModelCalls = 0 }},
		{
			name: "the environment has ended", args: `act = loop.code(), turns = 9`, replies: say(block),
			set: func(h *harnesstest.Host) {
				h.Tool = func(string, map[string]json.RawMessage) (whale.ToolResult, error) {
					return whale.ToolResult{Text: "mate", Done: true}, nil
				}
			},
			want: []string{"u:1+1?"}, answer: 1, tools: 1,
		},
		{
			name: "keep shows the latest turns", args: `act = loop.code(), turns = 4, system = "S", keep = 1`, replies: say(block),
			want: []string{"s:S | u:1+1?", "s:S | u:1+1? | 1 | t:2", "s:S | u:1+1? | 2 | t:2", "s:S | u:1+1? | 3 | t:2"}, answer: 4, tools: 4,
		},
		{
			name: "an act function of one's own", args: `act = lambda reply, env: ["look", env.call("calculator", code = "1")] if reply.text == "go" else None`,
			replies: say("go", "2"), want: []string{"u:1+1?", "u:1+1? | 1 | t:look | t:2"}, answer: 2, tools: 1,
		},
		{
			name: "an act that finds nothing", args: `act = loop.code(), done = lambda reply: reply.text == "3", nudge = "no"`, replies: say("2", "3"),
			want: []string{"u:1+1?", "u:1+1? | 1 | u:no"}, answer: 2,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := harnesstest.Sums()
			h.Replies = tt.replies
			if tt.set != nil {
				tt.set(h)
			}
			answer := run(t, h, "def run(task, model, env):\n    return loop.run(task, model, env, "+tt.args+")\n")
			if answer != tt.answer {
				t.Errorf("got the answer %d, want %d", answer, tt.answer)
			}
			for i, want := range tt.want {
				if got := conversation(h.Messages(i + 1)); got != want {
					t.Errorf("call %d: got %s, want %s", i+1, got, want)
				}
			}
			if h.Usage.ModelCalls != len(tt.want) || h.Usage.ToolCalls != tt.tools {
				t.Errorf("got %d model calls and %d tool calls, want %d and %d", h.Usage.ModelCalls, h.Usage.ToolCalls, len(tt.want), tt.tools)
			}
		})
	}
}

// The loop hands its settings to the model.
func TestLoopSettings(t *testing.T) {
	h := harnesstest.Sums()
	run(t, h, `
def run(task, model, env):
    return loop.run(task, model, env, max_tokens = 5, stop = ["</s>"], tools = env.tools, turns = 1)
`)
	for _, r := range h.Requests {
		if r.Op == whale.OpChat && (r.MaxTokens != 5 || fmt.Sprint(r.Stop) != "[</s>]" || len(r.Tools) != 1) {
			t.Errorf("got %+v", r)
		}
	}
}
