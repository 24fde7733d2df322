package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-095d5d2b/whale"
)

// host is one episode's side of the harness contract. Requests come one at a time.
type host struct {
	policy   whale.Policy
	env      whale.Env
	rules    *rules
	limits   whale.Limits
	clock    *clock
	sampling whale.Sampling
	seed     uint32
	episode  *whale.Episode
	requests int
	log      strings.Builder
	logCut   bool
	printed  int             // bytes, those that the log does not keep included
	busy     <-chan struct{} // a call of the environment that was left behind closes it when it returns
}

func fail(reason whale.FailReason, format string, args ...any) error {
	return &whale.HarnessError{Failure: whale.Failure{Reason: reason, Detail: fmt.Sprintf(format, args...)}}
}

// Start gives what the harness may know and use.
func (h *host) Start() whale.Start {
	h.clock.run()
	return whale.Start{Contract: whale.ContractVersion, Task: h.episode.View, Tools: h.rules.tools, Limits: h.limits}
}

// AddSteps records the interpreter steps used so far.
func (h *host) AddSteps(total uint64) { h.episode.Usage.Steps = total }

// Do answers one request of the harness. The harness's clock stands still while it waits for the model or a tool, which have limits of their own;
// all else is work that the harness makes for its host, and counts as its own.
func (h *host) Do(ctx context.Context, r whale.Request) (whale.Response, error) {
	if err := ctx.Err(); err != nil {
		return whale.Response{}, err
	}
	if r.Op == whale.OpChat || r.Op == whale.OpTool {
		h.clock.pause()
		defer h.clock.run()
	}
	if h.requests++; h.limits.Requests > 0 && h.requests > h.limits.Requests {
		return whale.Response{}, fail(whale.FailRequests, "request %d, the limit is %d an episode", h.requests, h.limits.Requests)
	}
	switch r.Op {
	case whale.OpChat:
		return h.chat(ctx, r)
	case whale.OpTool:
		return h.callTool(ctx, r)
	case whale.OpRender:
		return h.render(r)
	case whale.OpCount, whale.OpClip:
		return h.measure(r)
	case whale.OpLeft:
		left := h.left()
		return whale.Response{Left: &left}, nil
	case whale.OpPrint:
		return whale.Response{}, h.print(r.Text)
	}
	return whale.Response{}, fail(whale.FailContract, "unknown request %q", r.Op)
}

// measure counts or clips a text.
func (h *host) measure(r whale.Request) (whale.Response, error) {
	switch {
	case len(r.Text) > h.limits.MessageBytes:
		return whale.Response{}, fail(whale.FailMessageBytes, "model.%s: the text has %d bytes, the limit is %d", r.Op, len(r.Text), h.limits.MessageBytes)
	case r.MaxTokens < 0:
		return whale.Response{}, fail(whale.FailContract, "model.%s: max_tokens: got %d, want 0 or more", r.Op, r.MaxTokens)
	case r.Op == whale.OpClip:
		return whale.Response{Text: h.policy.Clip(r.Text, r.MaxTokens)}, nil
	}
	return whale.Response{Number: h.policy.Count(r.Text)}, nil
}

func (h *host) left() whale.Left {
	u := h.episode.Usage
	return whale.Left{
		Tokens:     h.limits.Tokens - u.SampledTokens,
		ModelCalls: h.limits.ModelCalls - u.ModelCalls,
		ToolCalls:  h.limits.ToolCalls - u.ToolCalls,
	}
}

// print keeps what the log has room for. A program that goes on long after that is stopped.
func (h *host) print(text string) error {
	if h.printed += len(text) + 1; h.printed > whale.LogFlood*max(h.limits.LogBytes, minLog) {
		return fail(whale.FailLog, "print wrote %d bytes, the limit is %d", h.printed, whale.LogFlood*max(h.limits.LogBytes, minLog))
	}
	if h.logCut {
		return nil
	}
	if room := h.limits.LogBytes - h.log.Len(); len(text)+1 > room {
		h.logCut = true
		h.log.WriteString(strings.ToValidUTF8(text[:max(0, min(len(text), room))], ""))
		h.log.WriteString("\n[log cut]")
		return nil
	}
	h.log.WriteString(text)
	h.log.WriteByte('\n')
	return nil
}

// maxName bounds the name of a tool or a block, in bytes.
const maxName = 1 << 10

// minLog is what a flood is measured by where the log keeps less.
const minLog = 4 << 10

// render gives a block that the environment vouches for.
func (h *host) render(r whale.Request) (whale.Response, error) {
	if err := h.checkSize("env.render", r); err != nil {
		return whale.Response{}, err
	}
	if err := h.rules.checkInputs("env.render", r.Name, r.Args); err != nil {
		return whale.Response{}, err
	}
	text, err := h.env.Render(r.Name, r.Args)
	if err != nil {
		return whale.Response{}, fail(whale.FailContract, "env.render: %v", err)
	}
	h.rules.vouch(text)
	return whale.Response{Text: text}, nil
}

// checkSize bounds the arguments of a request to the environment.
func (h *host) checkSize(what string, r whale.Request) error {
	if len(r.Name) > maxName {
		return fail(whale.FailContract, "%s: the name has %d bytes, want at most %d", what, len(r.Name), maxName)
	}
	size := 0
	for k, v := range r.Args {
		size += len(k) + len(v)
	}
	if size > h.limits.MessageBytes {
		return fail(whale.FailMessageBytes, "%s: arguments have %d bytes, the limit is %d", what, size, h.limits.MessageBytes)
	}
	return nil
}

// chat is one model call: limits, render, sample, record.
func (h *host) chat(ctx context.Context, r whale.Request) (whale.Response, error) {
	if err := h.checkChat(r); err != nil {
		return whale.Response{}, err
	}
	prompt, err := h.policy.Render(r.Messages, r.Tools, h.sampled)
	if err != nil {
		return whale.Response{}, fail(whale.FailContract, "model.chat: %v", err)
	}
	most := h.policy.Capabilities().MaxContext
	if most > 0 && len(prompt) >= most {
		return whale.Response{}, fail(whale.FailContext, "model.chat: the prompt has %d tokens, the policy's context is %d", len(prompt), most)
	}
	limit := h.left().Tokens
	if r.MaxTokens > 0 {
		limit = min(limit, r.MaxTokens)
	}
	if most > 0 {
		limit = min(limit, most-len(prompt))
	}
	n := len(h.episode.Calls) + 1
	c, _, err := within(ctx, h.limits.ModelSeconds, "model call", func(ctx context.Context) (whale.Completion, error) {
		return h.policy.Sample(ctx, whale.SampleRequest{
			Prompt: prompt, MaxTokens: limit, StopIDs: h.policy.StopIDs(), StopText: r.Stop,
			Seed: whale.DeriveSeed(uint64(h.seed), "call", strconv.Itoa(n)), Sampling: h.sampling,
		})
	})
	if err != nil {
		return whale.Response{}, err
	}
	text, calls := h.policy.Parse(c.Tokens)
	text = cutAtStop(validText(text), r.Stop)
	calls = usable(calls)
	h.episode.Calls = append(h.episode.Calls, whale.ModelCall{
		Messages: r.Messages, Tools: r.Tools, MaxTokens: limit, Stop: r.Stop, Completion: c, Text: text, ToolCalls: calls,
	})
	u := &h.episode.Usage
	u.ModelCalls++
	u.PromptTokens += len(prompt)
	u.SampledTokens += len(c.Tokens)
	return whale.Response{Reply: &whale.Reply{
		Ref: whale.ReplyRef(n), Text: text, ToolCalls: calls, Finish: c.Finish, Tokens: len(c.Tokens),
	}}, nil
}

// checkChat refuses a call that breaks a limit or the contract, before anything is spent.
func (h *host) checkChat(r whale.Request) error {
	left := h.left()
	size := 0
	for _, m := range r.Messages {
		size += len(m.Content) + len(m.Name) + len(m.Role)
		if m.Reply > 0 && int(m.Reply) <= len(h.episode.Calls) {
			size += len(h.episode.Calls[m.Reply-1].Text)
		}
	}
	for _, s := range r.Stop {
		size += len(s)
	}
	for _, t := range r.Tools {
		data, err := json.Marshal(t)
		if err != nil {
			return fail(whale.FailContract, "model.chat: tools: %v", err)
		}
		size += len(data)
	}
	switch {
	case left.ModelCalls <= 0:
		return fail(whale.FailModelCalls, "model.chat: call %d, the limit is %d an episode", h.episode.Usage.ModelCalls+1, h.limits.ModelCalls)
	case left.Tokens <= 0:
		return fail(whale.FailTokens, "model.chat: all %d tokens of the episode are spent", h.limits.Tokens)
	case size > h.limits.MessageBytes:
		return fail(whale.FailMessageBytes, "model.chat: messages have %d bytes, the limit is %d", size, h.limits.MessageBytes)
	case len(r.Messages) == 0:
		return fail(whale.FailContract, "model.chat: messages: got none, want at least one")
	case r.MaxTokens < 0:
		return fail(whale.FailContract, "model.chat: max_tokens: got %d, want 1 or more", r.MaxTokens)
	}
	return h.rules.checkChat(r)
}

// sampled gives the ids behind a reply of this episode, or nil.
func (h *host) sampled(ref whale.ReplyRef) []int32 {
	if ref < 1 || int(ref) > len(h.episode.Calls) {
		return nil
	}
	return h.episode.Calls[ref-1].Completion.Tokens
}

func (h *host) callTool(ctx context.Context, r whale.Request) (whale.Response, error) {
	if h.left().ToolCalls <= 0 {
		return whale.Response{}, fail(whale.FailToolCalls, "env.call: call %d, the limit is %d an episode", h.episode.Usage.ToolCalls+1, h.limits.ToolCalls)
	}
	if err := h.checkSize("env.call", r); err != nil {
		return whale.Response{}, err
	}
	if err := h.rules.checkAuthored(r.Name, r.Args, h.episode.Calls); err != nil {
		return whale.Response{}, err
	}
	if err := h.rules.checkInputs("env.call", r.Name, r.Args); err != nil {
		return whale.Response{}, err
	}
	h.episode.Usage.ToolCalls++
	res, gone, err := within(ctx, h.limits.ToolSeconds, "tool "+r.Name, func(ctx context.Context) (whale.ToolResult, error) {
		return h.env.Call(ctx, r.Name, r.Args)
	})
	h.busy = gone
	if err != nil {
		return whale.Response{}, fmt.Errorf("tool %s: %w", r.Name, err)
	}
	h.rules.vouch(res.Text)
	h.rules.vouch(res.Error)
	h.episode.Tools = append(h.episode.Tools, whale.ToolEvent{
		After: whale.ReplyRef(len(h.episode.Calls)), Name: r.Name, Args: r.Args, Result: res,
	})
	return whale.Response{Result: &res}, nil
}

// validText makes a reply's text valid UTF-8, byte by byte as JSON does, so that a replayed rollout is the one that was seen.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r) // an invalid byte ranges as U+FFFD
	}
	return b.String()
}

// cutAtStop cuts a text before the first stop text in it.
func cutAtStop(text string, stops []string) string {
	cut := len(text)
	for _, s := range stops {
		if i := strings.Index(text, s); s != "" && i >= 0 {
			cut = min(cut, i)
		}
	}
	return text[:cut]
}

// asFailure gives the harness's own failure in an error, if it is one.
func asFailure(err error) (*whale.Failure, bool) {
	var he *whale.HarnessError
	if errors.As(err, &he) {
		f := he.Failure
		return &f, true
	}
	return nil, false
}
