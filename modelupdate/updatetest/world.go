package updatetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/rollout"
)

// RunSeed is the seed of the world's run.
const RunSeed = 5

// Examples gives n examples whose right answer is the given one: "0" or "1" is right by chance, "9" never. They differ in the length of
// their question.
func Examples(n int, answer string) []whale.Example {
	var out []whale.Example
	for i := range n {
		out = append(out, whale.Example{ID: fmt.Sprint(i), View: map[string]string{"question": strings.Repeat("q", i+1)}, Answer: json.RawMessage(answer)})
	}
	return out
}

// Runner runs the world's episodes.
func Runner() *rollout.Runner {
	return &rollout.Runner{Task: Task{}, Policy: &Policy{}, Limits: whale.Limits{ModelCalls: 1, Tokens: 10, MessageBytes: 100}, Concurrency: 4, RunSeed: RunSeed}
}

// Harness forwards the question. Where Fail is set it gives up on it in its way.
type Harness struct {
	whale.Harness
	Fail func(question string) bool
}

// ID is the same for all.
func (Harness) ID() whale.ID { return "h" }

// Run asks once.
func (p Harness) Run(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
	question := h.Start().Task["question"]
	r, err := h.Do(ctx, whale.Request{Op: whale.OpChat, Messages: []whale.Message{{Role: whale.RoleUser, Content: question}}})
	if err != nil {
		return 0, err
	}
	if p.Fail != nil && p.Fail(question) {
		return 0, &whale.HarnessError{Failure: whale.Failure{Reason: whale.FailProgram, Detail: "gave up"}}
	}
	return r.Reply.Ref, nil
}

// Policy answers with its seed's parity, then stops. Its prompt is two ids, the second being the question's length.
type Policy struct {
	whale.Policy
	Away bool // the server does not answer
}

// ID is the renderer's.
func (*Policy) ID() whale.ID { return "r" }

// Weights are the same for all.
func (*Policy) Weights() whale.WeightsRef { return whale.WeightsRef{ID: "w"} }

// Capabilities are none that matter here.
func (*Policy) Capabilities() whale.Capabilities { return whale.Capabilities{} }

// StopIDs is 0 alone.
func (*Policy) StopIDs() []int32 { return []int32{0} }

// Parse gives the first id as text.
func (*Policy) Parse(ids []int32) (string, []whale.ToolCall) { return fmt.Sprint(ids[0]), nil }

// Render gives two ids.
func (*Policy) Render(m []whale.Message, _ []whale.ToolSpec, _ func(whale.ReplyRef) []int32) ([]int32, error) {
	return []int32{7, int32(len(m[0].Content))}, nil
}

// LogProb is the log-probability of each token that the policy samples.
var LogProb = float32(math.Log(0.5))

// Sample gives two ids.
func (p *Policy) Sample(_ context.Context, r whale.SampleRequest) (whale.Completion, error) {
	if p.Away {
		return whale.Completion{}, errors.New("server away")
	}
	lp := []float32{LogProb, LogProb}
	return whale.Completion{Prompt: r.Prompt, Tokens: []int32{int32(r.Seed % 2), 0}, LogProbs: lp, SampleLogProbs: lp, Finish: whale.FinishStop}, nil
}

// Task rewards the example's answer, or, where Reward is set, what that says.
type Task struct {
	whale.Task
	Reward func(e *whale.Episode) float64
}

// ID is the same for all.
func (Task) ID() whale.ID { return "t" }

// Name is the task's.
func (Task) Name() string { return "parity" }

// Verifier compares texts.
func (t Task) Verifier() whale.Verifier { return verifier{task: t} }

// NewEnv gives an environment without tools.
func (Task) NewEnv(context.Context, whale.Example, uint32) (whale.Env, error) { return env{}, nil }

type verifier struct {
	whale.Verifier
	task Task
}

func (v verifier) Verify(_ context.Context, x whale.Example, e *whale.Episode) (whale.Verdict, error) {
	if v.task.Reward != nil {
		return whale.Verdict{Reward: v.task.Reward(e)}, nil
	}
	text, _ := e.AnswerText()
	if string(x.Answer) == text {
		return whale.Verdict{Reward: 1}, nil
	}
	return whale.Verdict{Reason: "wrong answer"}, nil
}

type env struct{ whale.Env }

func (env) Tools() []whale.ToolSpec { return nil }
func (env) Rules() whale.Rules      { return whale.Rules{} }
func (env) Close() error            { return nil }
