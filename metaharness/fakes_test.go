package metaharness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/metaharness"
)

const startProgram = `# the start
SYSTEM_PROMPT = ""
USER_PROMPT = "{question}\nPut the final answer in \\boxed{}."
TURNS = 2

def act(reply, env):
    code = text.fence(reply.text, "python")
    return None if code == None else env.call("calculator", code = code)

def observe(result):
    return result.text + result.error

def run(task, model, env):
    return loop.run(task, model, env, system = SYSTEM_PROMPT, user = USER_PROMPT, turns = TURNS, act = act, observe = observe)
`

var weights = whale.WeightsRef{ID: whale.HashBytes("weights", []byte("w"))}

func load(name string, src []byte) (whale.Harness, error) {
	p, err := star.Load(name, src)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func mustLoad(t testing.TB, src string) whale.Harness {
	t.Helper()
	h, err := load("test.star", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// memLog is a journal in memory. Entries go through JSON, as in a real one.
type memLog struct {
	entries map[string]string
	fault   func() error // asked before and after each Record
}

func newLog() *memLog { return &memLog{entries: map[string]string{}} }

func (l *memLog) Lookup(_ context.Context, kind, op string, v any) (bool, error) {
	data, ok := l.entries[kind+" "+op]
	if !ok {
		return false, nil
	}
	return true, json.Unmarshal([]byte(data), v)
}

func (l *memLog) Record(_ context.Context, kind, op string, v any) error {
	if err := l.check(); err != nil {
		return err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, ok := l.entries[kind+" "+op]; ok {
		return fmt.Errorf("log: %s %s is recorded twice", kind, op)
	}
	l.entries[kind+" "+op] = string(data)
	return l.check()
}

func (l *memLog) check() error {
	if l.fault == nil {
		return nil
	}
	return l.fault()
}

// world is a synthetic agent behind an Evaluator. Example i asks for 1 + i%3 uses of the tool before it can be answered; then the
// scripted model answers, but with the box that is asked for only in every fifth example, unless the latest user message mentions it.
// So a program passes more examples with more turns, and all of them if it also asks again for the box.
type world struct {
	examples int
	mu       sync.Mutex // guards cache and runs
	cache    map[string]whale.Rollout
	runs     int
	spent    map[whale.Purpose]int
	watch    func(h whale.Harness, purpose whale.Purpose) (leave func()) // told of each Evaluate
	fault    func() error
	noise    uint64                                                            // not 0: the model uses the tool, and writes the box, by chance
	mark     func(purpose whale.Purpose) string                                // the verifier's words, with luck
	luck     func(h whale.Harness, purpose whale.Purpose, draw, i int) float64 // in place of an episode: its reward
	spoil    func(h whale.Harness, purpose whale.Purpose, i int) bool          // infrastructure errors
}

func newWorld(examples int) *world {
	return &world{examples: examples, cache: map[string]whale.Rollout{}, spent: map[whale.Purpose]int{}}
}

func (w *world) Evaluate(ctx context.Context, h whale.Harness, ask metaharness.Ask) ([]whale.Rollout, error) {
	if w.watch != nil {
		defer w.watch(h, ask.Purpose)()
	}
	if w.fault != nil {
		if err := w.fault(); err != nil {
			return nil, err
		}
	}
	wanted := ask.Examples
	if wanted == nil {
		n := w.examples
		if ask.Purpose == whale.PurposeCanary {
			n = 2
		}
		for i := range n {
			wanted = append(wanted, i)
		}
	}
	var out []whale.Rollout
	for _, i := range wanted {
		r, err := w.one(ctx, h, ask.Purpose, ask.Draw, i)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	if w.fault != nil {
		if err := w.fault(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// one gives a rollout, the same whenever it is asked for.
func (w *world) one(ctx context.Context, h whale.Harness, purpose whale.Purpose, draw, i int) (whale.Rollout, error) {
	key := rolloutName(h, purpose, draw, i)
	w.mu.Lock()
	r, ok := w.cache[key]
	w.mu.Unlock()
	if ok {
		return r, nil
	}
	r, err := w.episode(ctx, h, purpose, draw, i)
	if err != nil {
		return r, err
	}
	w.mu.Lock()
	w.cache[key] = r
	w.mu.Unlock()
	return r, nil
}

func rolloutName(h whale.Harness, purpose whale.Purpose, draw, i int) string {
	return fmt.Sprintf("%s %s %d %d", h.ID(), purpose, draw, i)
}

func (w *world) episode(ctx context.Context, h whale.Harness, purpose whale.Purpose, draw, i int) (whale.Rollout, error) {
	w.mu.Lock()
	w.runs++
	w.spent[purpose]++
	w.mu.Unlock()
	r := whale.Rollout{State: whale.StateScored, Key: whale.RolloutKey{
		Weights: weights.ID, Harness: h.ID(), Task: "task-hash", Renderer: "renderer-hash", Sampling: "sampling-hash",
		Example: fmt.Sprintf("secret-id-%d", i), Split: whale.SplitSearch, Contract: whale.ContractVersion, Purpose: purpose, Draw: draw,
	}}
	if w.spoil != nil && w.spoil(h, purpose, i) {
		r.State, r.Error = whale.StateError, "connection refused"
		return r, nil
	}
	if w.luck != nil {
		r.Episode.View = map[string]string{"question": "How many?"}
		r.Episode.Usage.SampledTokens = 10
		r.Verdict.Reward = w.luck(h, purpose, draw, i)
		if w.mark != nil {
			r.Verdict.Reason = w.mark(purpose)
		}
		return r, nil
	}
	host := &scriptedHost{i: i, noise: w.noise, episode: &r.Episode}
	r.Episode.View = host.Start().Task
	answer, err := h.Run(ctx, host)
	var broken *whale.HarnessError
	switch {
	case errors.As(err, &broken):
		r.State, r.Episode.Failure = whale.StateFailed, &broken.Failure
		return r, nil
	case err != nil:
		return r, err
	}
	r.Episode.Answer = answer
	text, _ := r.Episode.AnswerText()
	if strings.Contains(text, `\boxed{`) {
		r.Verdict = whale.Verdict{Reward: 1, Metrics: map[string]float64{"format": 1}}
	} else {
		r.Verdict = whale.Verdict{Reason: `no \boxed{} in the answer`, Metrics: map[string]float64{"format": 0}}
	}
	return r, nil
}

// scriptedHost plays model and tool.
type scriptedHost struct {
	i       int
	noise   uint64
	episode *whale.Episode
}

// chance is true with probability p, by the example, the kind of event and the turn, and not by the program.
func (h *scriptedHost) chance(p float64, kind string) bool {
	x := whale.DeriveSeed(h.noise, kind, fmt.Sprint(h.i), fmt.Sprint(len(h.episode.Calls)))
	return float64(x) < p*(1<<31)
}

func (h *scriptedHost) Start() whale.Start {
	return whale.Start{
		Contract: whale.ContractVersion,
		Task:     map[string]string{"question": "How many?"},
		Tools: []whale.ToolSpec{{Name: "calculator", Description: "runs code", Parameters: []whale.ToolParameter{
			{Name: "code", Type: "string", Description: "code", Required: true}}}},
		Limits: whale.Limits{
			Steps: 1e6, ModelCalls: 32, ToolCalls: 32, Tokens: 1e6, MessageBytes: 1e6, LogBytes: 1e4, WallSeconds: 10,
		},
	}
}

func (h *scriptedHost) AddSteps(total uint64) { h.episode.Usage.Steps = total }

func (h *scriptedHost) Do(_ context.Context, r whale.Request) (whale.Response, error) {
	switch r.Op {
	case whale.OpChat:
		return h.chat(r), nil
	case whale.OpTool:
		result := whale.ToolResult{Text: "seven"}
		h.episode.Tools = append(h.episode.Tools, whale.ToolEvent{
			After: whale.ReplyRef(len(h.episode.Calls)), Name: r.Name, Args: maps.Clone(r.Args), Result: result,
		})
		h.episode.Usage.ToolCalls++
		return whale.Response{Result: &result}, nil
	case whale.OpLeft:
		u := h.episode.Usage
		return whale.Response{Left: &whale.Left{Tokens: 1e6 - u.SampledTokens, ModelCalls: 32 - u.ModelCalls, ToolCalls: 32 - u.ToolCalls}}, nil
	case whale.OpCount:
		return whale.Response{Number: len(r.Text)}, nil
	case whale.OpClip, whale.OpRender:
		return whale.Response{Text: r.Text}, nil
	case whale.OpPrint:
		h.episode.Log += r.Text
	}
	return whale.Response{}, nil
}

func (h *scriptedHost) chat(r whale.Request) whale.Response {
	last := r.Messages[len(r.Messages)-1]
	text := "the answer is seven"
	asked := last.Role == whale.RoleUser && strings.Contains(last.Content, "boxed") && len(r.Messages) > 1
	switch {
	case h.noise != 0 && h.episode.Usage.ToolCalls <= h.i%3 && h.chance(0.3, "ramble"):
	case h.noise != 0 && h.episode.Usage.ToolCalls > h.i%3 && (h.chance(0.3, "box") || asked && h.chance(0.5, "asked")):
		text = `the answer is \boxed{seven}`
	case h.noise != 0 && h.episode.Usage.ToolCalls > h.i%3:
	case h.episode.Usage.ToolCalls <= h.i%3:
		text = "I compute:\n```python\nprint('seven')\n```\n"
	case h.i%5 == 0, asked:
		text = `the answer is \boxed{seven}`
	}
	n := len(text) / 4
	h.episode.Calls = append(h.episode.Calls, whale.ModelCall{
		Messages: slices.Clone(r.Messages), Text: text,
		Completion: whale.Completion{Prompt: []int32{70001, 70002}, Tokens: make([]int32, n), Finish: whale.FinishStop, Weights: weights},
	})
	h.episode.Usage.ModelCalls++
	h.episode.Usage.SampledTokens += n
	h.episode.Usage.PromptTokens += 2
	ref := whale.ReplyRef(len(h.episode.Calls))
	return whale.Response{Reply: &whale.Reply{Ref: ref, Text: text, Finish: whale.FinishStop, Tokens: n}}
}

// scripted is a proposer that runs a function on the workspace.
type scripted struct {
	propose func(s whale.Session) (whale.SessionCost, error)
}

func (scripted) Name() string { return "scripted" }
func (scripted) ID() whale.ID { return "scripted" }
func (p scripted) Propose(_ context.Context, s whale.Session) (whale.SessionCost, error) {
	return p.propose(s)
}

// put writes a candidate into a workspace.
func put(t testing.TB, s whale.Session, name, source string) {
	t.Helper()
	base := filepath.Join(s.Workspace, "candidates", name)
	meta := fmt.Sprintf(`{"hypothesis": "try %s", "axis": "any", "parent": "", "operators": ["by hand"]}`, name)
	for ext, text := range map[string]string{".star": source, ".json": meta} {
		if err := os.WriteFile(base+ext, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// phaseIn is a phase with folders below a directory.
func phaseIn(t testing.TB, dir string, seed uint64) metaharness.Phase {
	t.Helper()
	return metaharness.Phase{
		Op: "phase-0", Incoming: mustLoad(t, startProgram), Weights: weights, RunSeed: seed, ArchiveDir: filepath.Join(dir, "archive", "0"),
		SessionDir: func(n int) string { return filepath.Join(dir, "sessions", fmt.Sprint(n)) },
	}
}

func readFile(t testing.TB, elems ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elems...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
