package metaharness

import (
	"encoding/json"
	"math"

	"github.com/seed-095d5d2b/whale"
)

// Bounds of trajectories.jsonl: one harness's file has at most about maxTrajectories bytes, and one line has at most maxTrajectory.
const (
	maxTrajectories = 4 << 20
	maxTrajectory   = 24 << 10
	minTrajectory   = 2 << 10
)

// trajectoryOf shows an episode without its example id, split, draw or token ids. Rewards and reasons are the verifier's words.
func trajectoryOf(n int, r *whale.Rollout, textCap, turnCap int) Trajectory {
	e := &r.Episode
	t := Trajectory{
		Example: n, Reward: r.Reward(), Reason: cut(r.Verdict.Reason, textCap), View: map[string]string{},
		Answer: int(e.Answer), Log: cut(e.Log, textCap), Usage: e.Usage, Turns: []Turn{},
	}
	if e.Failure != nil {
		t.Failure, t.Detail = string(e.Failure.Reason), cut(e.Failure.Detail, textCap)
	}
	for k, v := range e.View {
		t.View[k] = cut(v, textCap)
	}
	uses := make(map[int][]ToolUse)
	for _, event := range e.Tools {
		uses[int(event.After)] = append(uses[int(event.After)], useOf(event, textCap))
	}
	t.Tools = uses[0]
	var before []whale.Message
	for i := range e.Calls {
		turn := turnOf(i+1, &e.Calls[i], before, textCap)
		turn.Tools = uses[i+1]
		before = e.Calls[i].Messages
		t.Turns = append(t.Turns, turn)
	}
	if over := len(t.Turns) - turnCap; over > 0 {
		half := turnCap / 2
		t.Turns = append(t.Turns[:half:half], t.Turns[half+over:]...)
		t.Omitted = over
	}
	return t
}

func turnOf(n int, c *whale.ModelCall, before []whale.Message, textCap int) Turn {
	turn := Turn{
		N: n, Reply: cut(c.Text, textCap), Finish: c.Completion.Finish, Tokens: len(c.Completion.Tokens), Messages: []TurnMessage{},
	}
	for turn.Kept < min(len(before), len(c.Messages)) && before[turn.Kept] == c.Messages[turn.Kept] {
		turn.Kept++
	}
	for _, m := range c.Messages[turn.Kept:] {
		shown := TurnMessage{Role: m.Role, Name: m.Name, ReplyOf: int(m.Reply)}
		if m.Reply == 0 {
			shown.Content = cut(m.Content, textCap)
		}
		turn.Messages = append(turn.Messages, shown)
	}
	for _, call := range c.ToolCalls {
		args := make(map[string]json.RawMessage, len(call.Args))
		for k, v := range call.Args {
			args[cut(k, maxLabel)] = cutJSON(v, textCap)
		}
		turn.ToolCalls = append(turn.ToolCalls, whale.ToolCall{Name: cut(call.Name, maxLabel), Args: args})
	}
	return turn
}

// cutJSON keeps a short JSON value, and turns a long one into the cut text of it.
func cutJSON(v json.RawMessage, textCap int) json.RawMessage {
	if len(v) <= textCap && json.Valid(v) {
		return v
	}
	text, err := json.Marshal(cut(string(v), textCap))
	if err != nil {
		return json.RawMessage(`""`)
	}
	return text
}

func useOf(e whale.ToolEvent, textCap int) ToolUse {
	use := ToolUse{
		Name: cut(e.Name, maxLabel), Args: map[string]string{}, Text: cut(e.Result.Text, textCap),
		Error: cut(e.Result.Error, textCap), Done: e.Result.Done,
	}
	for k, v := range e.Args {
		text := string(v)
		var s string
		if json.Unmarshal(v, &s) == nil {
			text = s // a string as it is, anything else as JSON
		}
		use.Args[cut(k, maxLabel)] = cut(text, textCap)
	}
	return use
}

// trajectoryLine is the longest form of a trajectory, as a line, that keeps to the size: texts are cut shorter, then turns are left out.
func trajectoryLine(n int, r *whale.Rollout, size int) ([]byte, error) {
	turns := max(len(r.Episode.Calls), 1)
	for textCap := 4096; ; textCap = max(textCap/2, 32) {
		line, err := encode(trajectoryOf(n, r, textCap, turns), "")
		if err != nil || len(line) <= size || textCap == 32 && turns <= 2 {
			return line, err
		}
		if textCap <= 256 {
			turns = min(turns, max(2, turns/2))
		}
	}
}

func outcomeOf(n int, r *whale.Rollout) Outcome {
	o := Outcome{
		Example: n, Reward: r.Reward(), Reason: oneLine(r.Verdict.Reason, maxReason),
		ModelCalls: r.Episode.Usage.ModelCalls, ToolCalls: r.Episode.Usage.ToolCalls,
		PromptTokens: r.Episode.Usage.PromptTokens, SampledTokens: r.Episode.Usage.SampledTokens,
	}
	for k, v := range r.Verdict.Metrics {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue // JSON has no word for it
		}
		if o.Metrics == nil {
			o.Metrics = map[string]float64{}
		}
		o.Metrics[cut(k, maxLabel)] = v
	}
	if f := r.Episode.Failure; f != nil {
		o.Failure = string(f.Reason)
	}
	if n := len(r.Episode.Calls); n > 0 {
		o.Finish = r.Episode.Calls[n-1].Completion.Finish
	}
	return o
}
