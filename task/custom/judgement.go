package custom

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"

	whale "github.com/seed-095d5d2b/whale"
)

// Judged is what a verifier command gets on its standard input, as JSON.
type Judged struct {
	Contract  int                        `json:"contract"`  // 1
	ID        string                     `json:"id"`        // of the example
	View      map[string]string          `json:"view"`      // what the agent saw
	Reference map[string]json.RawMessage `json:"reference"` // the answer fields, by path
	Answer    string                     `json:"answer"`    // the final reply
	Replies   []JudgedReply              `json:"replies"`   // all replies, in order
	Tools     []JudgedTool               `json:"tools"`     // all tool calls, in order
}

// JudgedReply is a reply of the model.
type JudgedReply struct {
	Text   string `json:"text"`
	Finish string `json:"finish_reason"`
	Tokens int    `json:"tokens"`
}

// JudgedTool is a tool call.
type JudgedTool struct {
	After  int                        `json:"after"` // how many replies there were before it
	Name   string                     `json:"name"`
	Args   map[string]json.RawMessage `json:"args"`
	Result whale.ToolResult           `json:"result"`
}

// Judgement is what it answers: a JSON object on its standard output, with exit status 0. Anything else is an error of the infrastructure, so that the episode is tried
// again and never counted as 0. Proposers read the reason, which must not tell the answer.
type Judgement struct {
	Reward  *float64           `json:"reward"`            // 0 or 1
	Reason  string             `json:"reason"`            // one line of at most 300 bytes
	Metrics map[string]float64 `json:"metrics,omitempty"` // at most 16, their names of lower-case letters, digits and underscores
}

const (
	reasonBytes = 300
	mostMetrics = 16
)

var metricName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// commandDecider lets a program of the owner's decide. Its errors wrap nothing: no end of the program may pass for the episode's own failure.
func commandDecider(c *command) func(context.Context, judged) (whale.Verdict, error) {
	return func(ctx context.Context, j judged) (whale.Verdict, error) {
		input, err := json.Marshal(j.input())
		if err != nil {
			return whale.Verdict{}, err
		}
		out, err := c.run(ctx, input)
		switch {
		case ctx.Err() != nil:
			return whale.Verdict{}, ctx.Err()
		case err != nil:
			return whale.Verdict{}, fmt.Errorf("command: %v", err)
		case out.Cut:
			return whale.Verdict{}, fmt.Errorf("command: it wrote more than %d bytes", c.spec.Output)
		case out.Code != 0:
			return whale.Verdict{}, fmt.Errorf("command: exit status %d: %s", out.Code, out.Detail)
		}
		v, err := readJudgement(out.Stdout)
		if err != nil {
			return whale.Verdict{}, fmt.Errorf("command: %w", err)
		}
		return v, nil
	}
}

func (j judged) input() Judged {
	in := Judged{Contract: 1, ID: j.example.ID, View: j.example.View, Reference: j.ref.Values, Answer: j.reply, Replies: []JudgedReply{}, Tools: []JudgedTool{}}
	for _, c := range j.episode.Calls {
		in.Replies = append(in.Replies, JudgedReply{Text: c.Text, Finish: c.Completion.Finish, Tokens: len(c.Completion.Tokens)})
	}
	for _, t := range j.episode.Tools {
		in.Tools = append(in.Tools, JudgedTool{After: int(t.After), Name: t.Name, Args: t.Args, Result: t.Result})
	}
	return in
}

// readJudgement reads what a verifier command answered.
func readJudgement(data []byte) (whale.Verdict, error) {
	var a Judgement
	if err := strict(data, &a); err != nil {
		return whale.Verdict{}, fmt.Errorf("got an answer that is no {\"reward\", \"reason\"}: %w", err)
	}
	if a.Reward == nil || *a.Reward != 0 && *a.Reward != 1 {
		return whale.Verdict{}, fmt.Errorf("got no reward of 0 or 1")
	}
	if len(a.Metrics) > mostMetrics {
		return whale.Verdict{}, fmt.Errorf("got %d metrics, want at most %d", len(a.Metrics), mostMetrics)
	}
	for name, v := range a.Metrics {
		if !metricName.MatchString(name) || math.IsInf(v, 0) || math.IsNaN(v) {
			return whale.Verdict{}, fmt.Errorf("got the metric %q, want a name of lower-case letters, digits and underscores", clip(name))
		}
	}
	v := whale.Verdict{Reward: *a.Reward, Reason: clipTo(a.Reason, reasonBytes), Metrics: a.Metrics}
	if v.Reward == 0 && v.Reason == "" {
		v.Reason = ReasonWrong
	}
	return v, nil
}

// strict reads one JSON object without unknown fields, and nothing after it.
func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%s", clipTo(err.Error(), 200))
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("got more than one value")
	}
	return nil
}
