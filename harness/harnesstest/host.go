// Package harnesstest has an in-memory host for tests of harnesses: its replies are scripted, its counts and limits are real.
package harnesstest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	whale "github.com/seed-095d5d2b/whale"
)

// Limits gives generous limits for tests.
func Limits() whale.Limits {
	return whale.Limits{Steps: 1_000_000, ModelCalls: 16, ToolCalls: 16, Tokens: 10_000, MessageBytes: 1 << 20, LogBytes: 1 << 16}
}

// Reply is a scripted reply of the model.
type Reply struct {
	Text      string
	ToolCalls []whale.ToolCall
	Finish    string // "" = stop
	Tokens    int    // 0 = the words of Text
}

// Host is a [whale.Host] in memory. Set its fields, run a harness, read what it recorded. Every request and response makes a round trip
// through JSON, so that what would not survive a pipe fails here. A token is a word.
type Host struct {
	View    map[string]string
	Tools   []whale.ToolSpec
	Limits  whale.Limits // the zero value = Limits()
	Replies []Reply      // one for each model call; the last one repeats
	// Tool answers a tool call. nil = every tool is unknown, which is an error of the caller's.
	Tool func(name string, args map[string]json.RawMessage) (whale.ToolResult, error)
	// Render answers env.render. nil = the task renders nothing.
	Render func(block string, args map[string]json.RawMessage) (string, error)
	// Before, where set, sees each request first; its error is Do's.
	Before func(r whale.Request) error

	Requests []whale.Request // as they came
	Log      string          // what was printed
	Usage    whale.Usage     // SampledTokens, ModelCalls, ToolCalls and Steps
}

var _ whale.Host = (*Host)(nil)

// Start implements [whale.Host].
func (h *Host) Start() whale.Start {
	if h.Limits == (whale.Limits{}) {
		h.Limits = Limits()
	}
	return roundTrip(whale.Start{Contract: whale.ContractVersion, Task: h.View, Tools: h.Tools, Limits: h.Limits})
}

// AddSteps implements [whale.Host].
func (h *Host) AddSteps(total uint64) { h.Usage.Steps = total }

// Do implements [whale.Host].
func (h *Host) Do(ctx context.Context, r whale.Request) (whale.Response, error) {
	if err := ctx.Err(); err != nil {
		return whale.Response{}, err
	}
	if err := survives(r); err != nil {
		return whale.Response{}, err
	}
	h.Requests = append(h.Requests, r)
	if h.Before != nil {
		if err := h.Before(r); err != nil {
			return whale.Response{}, err
		}
	}
	resp, err := h.answer(r)
	if err != nil {
		return whale.Response{}, err
	}
	return roundTrip(resp), nil
}

func (h *Host) answer(r whale.Request) (resp whale.Response, err error) {
	switch r.Op {
	case whale.OpChat:
		resp.Reply, err = h.chat(r)
	case whale.OpCount:
		resp.Number = len(strings.Fields(r.Text))
	case whale.OpClip:
		resp.Text = clip(r.Text, r.MaxTokens)
	case whale.OpTool:
		resp.Result, err = h.tool(r)
	case whale.OpRender:
		if h.Render == nil {
			return resp, fail(whale.FailContract, "env.render: the task renders nothing")
		}
		resp.Text, err = h.Render(r.Name, r.Args)
	case whale.OpLeft:
		resp.Left = &whale.Left{
			Tokens:     h.Limits.Tokens - h.Usage.SampledTokens,
			ModelCalls: h.Limits.ModelCalls - h.Usage.ModelCalls,
			ToolCalls:  h.Limits.ToolCalls - h.Usage.ToolCalls,
		}
	case whale.OpPrint:
		h.Log += r.Text + "\n"
		h.Log = h.Log[:min(len(h.Log), h.Limits.LogBytes)]
	default:
		err = fmt.Errorf("harnesstest: got the operation %q", r.Op)
	}
	return resp, err
}

func (h *Host) chat(r whale.Request) (*whale.Reply, error) {
	if h.Usage.ModelCalls >= h.Limits.ModelCalls {
		return nil, fail(whale.FailModelCalls, fmt.Sprintf("more than %d model calls", h.Limits.ModelCalls))
	}
	size := 0
	for _, m := range r.Messages {
		size += len(m.Content)
		if int(m.Reply) > h.Usage.ModelCalls || m.Reply < 0 {
			return nil, fmt.Errorf("harnesstest: a message stands for reply %d of %d", m.Reply, h.Usage.ModelCalls)
		}
	}
	if size > h.Limits.MessageBytes {
		return nil, fail(whale.FailMessageBytes, fmt.Sprintf("messages of %d bytes, want at most %d", size, h.Limits.MessageBytes))
	}
	left := h.Limits.Tokens - h.Usage.SampledTokens
	if left < 1 {
		return nil, fail(whale.FailTokens, fmt.Sprintf("the limit of %d tokens is used up", h.Limits.Tokens))
	}
	if len(h.Replies) == 0 {
		return nil, errors.New("harnesstest: no replies are scripted")
	}
	s := h.Replies[min(h.Usage.ModelCalls, len(h.Replies)-1)]
	h.Usage.ModelCalls++
	out := &whale.Reply{
		Ref: whale.ReplyRef(h.Usage.ModelCalls), Text: s.Text, ToolCalls: s.ToolCalls, Finish: s.Finish, Tokens: s.Tokens,
	}
	if out.Tokens == 0 {
		out.Tokens = len(strings.Fields(s.Text))
	}
	if out.Finish == "" {
		out.Finish = whale.FinishStop
	}
	if most := min(left, cmpOr(r.MaxTokens, left)); out.Tokens > most {
		out.Text, out.Tokens, out.Finish = clip(s.Text, most), most, whale.FinishLength
	}
	h.Usage.SampledTokens += out.Tokens
	return out, nil
}

func (h *Host) tool(r whale.Request) (*whale.ToolResult, error) {
	if h.Usage.ToolCalls >= h.Limits.ToolCalls {
		return nil, fail(whale.FailToolCalls, fmt.Sprintf("more than %d tool calls", h.Limits.ToolCalls))
	}
	h.Usage.ToolCalls++
	if h.Tool == nil {
		return &whale.ToolResult{Error: fmt.Sprintf("unknown tool %q", r.Name)}, nil
	}
	result, err := h.Tool(r.Name, r.Args)
	return &result, err
}

// Messages gives the messages of the n-th model call, from 1.
func (h *Host) Messages(n int) []whale.Message {
	for _, r := range h.Requests {
		if r.Op == whale.OpChat {
			if n--; n == 0 {
				return r.Messages
			}
		}
	}
	return nil
}

func fail(reason whale.FailReason, detail string) error {
	return &whale.HarnessError{Failure: whale.Failure{Reason: reason, Detail: detail}}
}

func cmpOr(n, other int) int {
	if n == 0 {
		return other
	}
	return n
}

// clip gives the beginning of a text that has at most n words.
func clip(s string, n int) string {
	inWord := false
	for i, r := range s {
		space := strings.ContainsRune(" \t\n\r", r)
		if !space && !inWord {
			if n--; n < 0 {
				return s[:i]
			}
		}
		inWord = !space
	}
	return s
}

// survives says whether a request reads the same behind a pipe.
func survives(r whale.Request) error {
	before, err := json.Marshal(r)
	if err != nil {
		return err
	}
	texts := []string{r.Text, r.Name}
	for _, m := range r.Messages {
		texts = append(texts, m.Role, m.Content, m.Name)
	}
	for name, arg := range r.Args {
		texts = append(texts, name, string(arg))
	}
	for _, s := range append(texts, r.Stop...) {
		if !utf8.ValidString(s) {
			return fmt.Errorf("harnesstest: a request holds a text that is no UTF-8: %q", s)
		}
	}
	after, err := json.Marshal(roundTrip(r))
	if err != nil {
		return err
	}
	if !bytes.Equal(before, after) {
		return fmt.Errorf("harnesstest: a request does not survive JSON: %s became %s", before, after)
	}
	return nil
}

// roundTrip sends a message through JSON. What JSON cannot carry is a defect of the code under test, and panics.
func roundTrip[T any](v T) T {
	data, err := json.Marshal(v)
	if err != nil {
		panic("harnesstest: " + err.Error())
	}
	var out T
	if err := json.Unmarshal(data, &out); err != nil {
		panic("harnesstest: " + err.Error())
	}
	return out
}
