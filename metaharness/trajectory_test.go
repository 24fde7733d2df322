package metaharness

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale"
)

// However long an episode is, its line stays small, is JSON, and keeps the first and the last turn.
func TestTrajectoryIsBounded(t *testing.T) {
	long := strings.Repeat("wörter \xff", 20000)
	var r whale.Rollout
	r.State = whale.StateFailed
	r.Episode.View = map[string]string{"question": long}
	r.Episode.Failure = &whale.Failure{Reason: whale.FailTokens, Detail: long}
	for i := range 60 {
		r.Episode.Calls = append(r.Episode.Calls, whale.ModelCall{
			Messages: []whale.Message{{Role: "user", Content: fmt.Sprint(i) + long}}, Text: long,
			ToolCalls:  []whale.ToolCall{{Name: long, Args: map[string]json.RawMessage{"a": json.RawMessage(`"` + long), "b": json.RawMessage("1")}}},
			Completion: whale.Completion{Tokens: make([]int32, 100), Finish: whale.FinishLength},
		})
		r.Episode.Tools = append(r.Episode.Tools, whale.ToolEvent{After: whale.ReplyRef(i + 1), Name: "t", Result: whale.ToolResult{Text: long}})
	}
	for _, size := range []int{minTrajectory, maxTrajectory} {
		line, err := trajectoryLine(7, &r, size)
		if err != nil {
			t.Fatal(err)
		}
		var got Trajectory
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		if len(line) > size+2048 || got.Omitted+len(got.Turns) != 60 || got.Turns[0].N != 1 || got.Turns[len(got.Turns)-1].N != 60 {
			t.Errorf("size %d: got %d bytes, %d turns and %d left out", size, len(line), len(got.Turns), got.Omitted)
		}
	}
}

func TestTrajectoryShowsDifferences(t *testing.T) {
	var r whale.Rollout
	r.State, r.Verdict.Reward = whale.StateScored, 1
	ask := whale.Message{Role: "user", Content: "ask"}
	r.Episode.Tools = []whale.ToolEvent{{After: 0, Name: "early"}, {After: 1, Name: "after one"}}
	r.Episode.Calls = []whale.ModelCall{
		{Messages: []whale.Message{ask}, Text: "one"},
		{Messages: []whale.Message{ask, {Role: "assistant", Content: "ignored", Reply: 1}, {Role: "tool", Content: "r"}}, Text: "two"},
		{Messages: []whale.Message{{Role: "user", Content: "anew"}}, Text: "three"},
	}
	got := trajectoryOf(1, &r, 100, 9)
	if len(got.Tools) != 1 || got.Tools[0].Name != "early" || len(got.Turns[0].Tools) != 1 {
		t.Errorf("tools: got %+v and %+v", got.Tools, got.Turns[0].Tools)
	}
	second, third := got.Turns[1], got.Turns[2]
	if second.Kept != 1 || len(second.Messages) != 2 || second.Messages[0] != (TurnMessage{Role: "assistant", ReplyOf: 1}) {
		t.Errorf("second turn: got %+v", second)
	}
	if third.Kept != 0 || len(third.Messages) != 1 || third.Messages[0].Content != "anew" {
		t.Errorf("third turn: got %+v", third)
	}
}

func TestOutcomeMetrics(t *testing.T) {
	r := whale.Rollout{State: whale.StateScored, Verdict: whale.Verdict{Metrics: map[string]float64{"ok": 1, "bad": math.NaN(), "worse": math.Inf(1)}}}
	if got := outcomeOf(1, &r); len(got.Metrics) != 1 || got.Metrics["ok"] != 1 {
		t.Errorf("got %v, want what JSON can express", got.Metrics)
	}
}

func TestFailuresAreGrouped(t *testing.T) {
	var rollouts []whale.Rollout
	for i := range 30 {
		r := whale.Rollout{State: whale.StateScored, Verdict: whale.Verdict{Reason: fmt.Sprintf("got %d, want %d", i, i+1)}}
		if i%3 == 0 {
			r.State = whale.StateFailed
			r.Episode.Failure = &whale.Failure{Reason: whale.FailTokens, Detail: "the limit\nis 9"}
		}
		if i == 29 {
			r.Verdict = whale.Verdict{Reward: 1}
		}
		r.Episode.Calls = []whale.ModelCall{{Text: fmt.Sprintf("reply %d", i)}}
		rollouts = append(rollouts, r)
	}
	text := failuresMarkdown(&Score{Examples: 30, Passed: 1, Failed: 10}, rollouts)
	first, second := strings.Index(text, "## 19 × got #, want #"), strings.Index(text, "## 10 × limit:tokens: the limit is #")
	if first < 0 || second < first || !strings.Contains(text, "For example number 2:") || !strings.Contains(text, "last of 1 replies") {
		t.Errorf("got\n%s", text)
	}
}

func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		n := rapid.IntRange(1, 200).Draw(t, "n")
		got := cut(s, n)
		if !utf8.ValidString(got) || len(got) > 3*n+60 {
			t.Fatalf("cut(%q, %d): got %q", s, n, got)
		}
		if utf8.ValidString(s) && len(s) <= n && got != s {
			t.Fatalf("cut(%q, %d): got %q", s, n, got)
		}
	})
}
