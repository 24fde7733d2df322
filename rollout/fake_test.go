package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/seed-095d5d2b/whale"
)

// bytePolicy renders every byte as a token: a role's first letter, the text, 0 as the end of a message. It samples scripted texts.
type bytePolicy struct {
	mu     sync.Mutex
	script func(r whale.SampleRequest) (string, error)
	asked  []whale.SampleRequest
}

func (p *bytePolicy) ID() whale.ID { return "bytes" }

func toIDs(s string) []int32 {
	ids := make([]int32, len(s))
	for i := range len(s) {
		ids[i] = int32(s[i])
	}
	return ids
}

func (p *bytePolicy) Render(messages []whale.Message, _ []whale.ToolSpec, replies func(whale.ReplyRef) []int32) ([]int32, error) {
	var ids []int32
	for _, m := range messages {
		if m.Reply != 0 {
			sampled := replies(m.Reply)
			if sampled == nil {
				return nil, errors.New("no such reply")
			}
			ids = append(ids, 'A')
			ids = append(ids, sampled...)
			continue
		}
		ids = append(append(append(ids, int32(m.Role[0]-32)), toIDs(m.Content)...), 0)
	}
	return append(ids, 'A'), nil
}

func (p *bytePolicy) Parse(ids []int32) (string, []whale.ToolCall) {
	var b strings.Builder
	for _, id := range ids {
		if id != 0 {
			b.WriteByte(byte(id % 256)) // 256+x is a second token for the byte x
		}
	}
	return b.String(), nil
}

func (p *bytePolicy) StopIDs() []int32               { return []int32{0} }
func (p *bytePolicy) Count(text string) int          { return len(text) }
func (p *bytePolicy) Clip(text string, n int) string { return text[:min(n, len(text))] }
func (p *bytePolicy) Weights() whale.WeightsRef      { return whale.WeightsRef{ID: "w0"} }
func (p *bytePolicy) Close() error                   { return nil }
func (p *bytePolicy) Capabilities() whale.Capabilities {
	return whale.Capabilities{Access: whale.TokenExact, Seeds: true, LogProbs: true, MaxContext: 4096}
}

func (p *bytePolicy) Sample(ctx context.Context, r whale.SampleRequest) (whale.Completion, error) {
	p.mu.Lock()
	p.asked = append(p.asked, r)
	p.mu.Unlock()
	text, err := p.script(r)
	if err != nil {
		return whale.Completion{}, err
	}
	ids := append(toIDs(text), 0)
	// The policy's own tokens of its first letter are not the ones that re-tokenising its text would give.
	ids[0] += 256
	finish := whale.FinishStop
	if len(ids) > r.MaxTokens {
		ids, finish = ids[:r.MaxTokens], whale.FinishLength
	}
	lp := make([]float32, len(ids))
	return whale.Completion{Prompt: r.Prompt, Tokens: ids, LogProbs: lp, SampleLogProbs: lp, Finish: finish, Weights: p.Weights()}, ctx.Err()
}

// goHarness is a harness written in Go.
type goHarness struct {
	name string
	run  func(ctx context.Context, h whale.Host) (whale.ReplyRef, error)
}

func (g goHarness) ID() whale.ID   { return whale.ID(g.name) }
func (g goHarness) Source() []byte { return []byte(g.name) }

func (g goHarness) Language() string { return whale.LanguageStar }
func (g goHarness) Run(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
	h.Start()
	return g.run(ctx, h)
}

// chat asks for one reply.
func chat(ctx context.Context, h whale.Host, messages ...whale.Message) (*whale.Reply, error) {
	r, err := h.Do(ctx, whale.Request{Op: whale.OpChat, Messages: messages})
	return r.Reply, err
}

func user(s string) whale.Message      { return whale.Message{Role: whale.RoleUser, Content: s} }
func assistant(s string) whale.Message { return whale.Message{Role: whale.RoleAssistant, Content: s} }
func reply(r *whale.Reply) whale.Message {
	return whale.Message{Role: whale.RoleAssistant, Reply: r.Ref}
}

// fakeTask pays for the answer "yes".
type fakeTask struct {
	env    func(x whale.Example) (whale.Env, error)
	verify func(x whale.Example, e *whale.Episode) (whale.Verdict, error)
}

func (t *fakeTask) ID() whale.ID                                  { return "task" }
func (t *fakeTask) Name() string                                  { return "fake" }
func (t *fakeTask) About() string                                 { return "" }
func (t *fakeTask) Examples(whale.Split) ([]whale.Example, error) { return nil, nil }
func (t *fakeTask) Verifier() whale.Verifier                      { return fakeVerifier{t} }
func (t *fakeTask) NewEnv(_ context.Context, x whale.Example, _ uint32) (whale.Env, error) {
	if t.env != nil {
		return t.env(x)
	}
	return &fakeEnv{}, nil
}

type fakeVerifier struct{ t *fakeTask }

func (v fakeVerifier) ID() whale.ID { return "verifier" }
func (v fakeVerifier) Verify(_ context.Context, x whale.Example, e *whale.Episode) (whale.Verdict, error) {
	if v.t.verify != nil {
		return v.t.verify(x, e)
	}
	if s, ok := e.AnswerText(); ok && s == "yes" {
		return whale.Verdict{Reward: 1}, nil
	}
	return whale.Verdict{Reason: "wrong answer"}, nil
}

type fakeEnv struct{ closed bool }

func (e *fakeEnv) Tools() []whale.ToolSpec {
	return []whale.ToolSpec{{Name: "echo"}, {Name: "move", Parameters: []whale.ToolParameter{{Name: "uci", Authored: true}, {Name: "note"}}}}
}
func (e *fakeEnv) Call(_ context.Context, name string, args map[string]json.RawMessage) (whale.ToolResult, error) {
	if name == "broken" {
		return whale.ToolResult{}, errors.New("the tool's server is away")
	}
	return whale.ToolResult{Text: string(args["text"])}, nil
}
func (e *fakeEnv) Rules() whale.Rules { return whale.Rules{} }

func (e *fakeEnv) Render(block string, _ map[string]json.RawMessage) (string, error) {
	return "", errors.New("no block " + block)
}
func (e *fakeEnv) Close() error { e.closed = true; return nil }

func limits() whale.Limits {
	return whale.Limits{Steps: 1000, ModelCalls: 4, ToolCalls: 2, Tokens: 100, MessageBytes: 1000, LogBytes: 50, WallSeconds: 60}
}

func says(texts ...string) func(whale.SampleRequest) (string, error) {
	var mu sync.Mutex
	n := 0
	return func(whale.SampleRequest) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		n++
		return texts[(n-1)%len(texts)], nil
	}
}

func runner(p *bytePolicy) *Runner {
	return &Runner{Task: &fakeTask{}, Policy: p, Limits: limits(), Concurrency: 8, Retries: 2, RunSeed: 7}
}

func job(h whale.Harness, example string) Job {
	return Job{Harness: h, Example: whale.Example{ID: example, View: map[string]string{"question": "q"}}, Split: whale.SplitTrain, Purpose: whale.PurposeWeight}
}
