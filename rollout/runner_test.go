package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var answersYes = goHarness{"yes", func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
	r, err := chat(ctx, h, user("?"))
	if err != nil {
		return 0, err
	}
	return r.Ref, nil
}}

func do(op whale.Request, times int) func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
	return func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
		for range times {
			if _, err := h.Do(ctx, op); err != nil {
				return 0, err
			}
		}
		return 0, nil
	}
}

func TestFailuresHaveTheirReason(t *testing.T) {
	ask := whale.Request{Op: whale.OpChat, Messages: []whale.Message{user("?")}}
	long := whale.Request{Op: whale.OpChat, Messages: []whale.Message{user(strings.Repeat("x", 2000))}}
	for _, tc := range []struct {
		name   string
		run    func(ctx context.Context, h whale.Host) (whale.ReplyRef, error)
		change func(l *whale.Limits)
		want   whale.FailReason
		detail string
	}{
		{"model calls", do(ask, 5), nil, whale.FailModelCalls, "the limit is 4"},
		{"tool calls", do(whale.Request{Op: whale.OpTool, Name: "echo"}, 3), nil, whale.FailToolCalls, "the limit is 2"},
		{"tokens", do(ask, 3), func(l *whale.Limits) { l.Tokens = 7 }, whale.FailTokens, "all 7 tokens"},
		{"message bytes", do(long, 1), nil, whale.FailMessageBytes, "the limit is 1000"},
		{"argument bytes", do(whale.Request{Op: whale.OpTool, Name: "echo", Args: map[string]json.RawMessage{"text": json.RawMessage(strings.Repeat("1", 2000))}}, 1), nil, whale.FailMessageBytes, "arguments have 2004 bytes"},
		{"no messages", do(whale.Request{Op: whale.OpChat}, 1), nil, whale.FailContract, "got none"},
		{"negative max_tokens", do(whale.Request{Op: whale.OpChat, Messages: ask.Messages, MaxTokens: -1}, 1), nil, whale.FailContract, "max_tokens"},
		{"foreign reply in messages", do(whale.Request{Op: whale.OpChat, Messages: []whale.Message{{Reply: 9}}}, 1), nil, whale.FailContract, "no such reply"},
		{"unknown block", do(whale.Request{Op: whale.OpRender, Name: "board"}, 1), nil, whale.FailContract, "no block board"},
		{"unknown op", do(whale.Request{Op: "exec"}, 1), nil, whale.FailContract, `unknown request "exec"`},
		{"foreign answer", func(context.Context, whale.Host) (whale.ReplyRef, error) { return 3, nil }, nil, whale.FailAnswer, "run returned reply 3"},
		{"negative answer", func(context.Context, whale.Host) (whale.ReplyRef, error) { return -1, nil }, nil, whale.FailAnswer, "run returned reply -1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := runner(&bytePolicy{script: says("abc")})
			if tc.change != nil {
				tc.change(&r.Limits)
			}
			out, err := r.Run(t.Context(), []Job{job(goHarness{tc.name, tc.run}, "x")})
			if err != nil {
				t.Fatal(err)
			}
			f := out[0].Episode.Failure
			if out[0].State != whale.StateFailed || f == nil || f.Reason != tc.want || !strings.Contains(f.Detail, tc.detail) {
				t.Fatalf("got %s %+v, want failed by %s with %q", out[0].State, f, tc.want, tc.detail)
			}
			if out[0].Reward() != 0 || strings.Contains(f.Detail, "\n") {
				t.Errorf("a failure has reward 0 and one line, got %g and %q", out[0].Reward(), f.Detail)
			}
		})
	}
}

func TestPromptBeyondContextIsTheHarnessFailure(t *testing.T) {
	r := runner(&bytePolicy{script: says("abc")})
	r.Limits.MessageBytes = 1 << 20
	big := whale.Request{Op: whale.OpChat, Messages: []whale.Message{user(strings.Repeat("x", 5000))}}
	out, err := r.Run(t.Context(), []Job{job(goHarness{"big", do(big, 1)}, "x")})
	if err != nil {
		t.Fatal(err)
	}
	if f := out[0].Episode.Failure; f == nil || f.Reason != whale.FailContext {
		t.Fatalf("got %+v, want %s", f, whale.FailContext)
	}
}

// TestAuthoredArgumentsAreTheModels lets a harness play moves of its own, and the model's.
func TestAuthoredArgumentsAreTheModels(t *testing.T) {
	play := func(uci string, ask bool) func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
		return func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
			if ask {
				if _, err := chat(ctx, h, user("move?")); err != nil {
					return 0, err
				}
			}
			_, err := h.Do(ctx, whale.Request{Op: whale.OpTool, Name: "move", Args: map[string]json.RawMessage{"uci": json.RawMessage(uci), "note": json.RawMessage(`"mine"`)}})
			return 0, err
		}
	}
	for _, tc := range []struct {
		name, uci string
		ask, ok   bool
	}{
		{"the model's", `"e2e4"`, true, true}, {"the harness's", `"d2d4"`, true, false}, {"before any reply", `"e2e4"`, false, false}, {"a number", `17`, true, false},
	} {
		out, err := runner(&bytePolicy{script: says("I play e2e4.")}).Run(t.Context(), []Job{job(goHarness{tc.name, play(tc.uci, tc.ask)}, "x")})
		if err != nil {
			t.Fatal(err)
		}
		f := out[0].Episode.Failure
		if tc.ok != (f == nil) || !tc.ok && f.Reason != whale.FailAuthored {
			t.Errorf("%s: got %+v, want allowed %v", tc.name, f, tc.ok)
		}
	}
}

func TestInfrastructureErrorIsRetriedAndNeverZero(t *testing.T) {
	var calls atomic.Int32
	p := &bytePolicy{script: func(whale.SampleRequest) (string, error) {
		if calls.Add(1) <= 2 {
			return "", errors.New("connection refused")
		}
		return "yes", nil
	}}
	r := runner(p)
	out, err := r.Run(t.Context(), []Job{job(answersYes, "x")})
	if err != nil {
		t.Fatal(err)
	}
	if out[0].State != whale.StateScored || out[0].Reward() != 1 || out[0].Retries != 2 {
		t.Fatalf("got %s, reward %g, %d retries; want scored 1 after 2 retries", out[0].State, out[0].Reward(), out[0].Retries)
	}
	calls.Store(-100)
	out, err = r.Run(t.Context(), []Job{job(answersYes, "x"), job(answersYes, "y")})
	if err != nil {
		t.Fatal(err)
	}
	if out[0].State != whale.StateError || Complete(out) == nil {
		t.Fatalf("got %s, want error that no ranking counts", out[0].State)
	}
}

func TestToolAndVerifierErrorsAreInfrastructure(t *testing.T) {
	broken := goHarness{"broken tool", do(whale.Request{Op: whale.OpTool, Name: "broken"}, 1)}
	r := runner(&bytePolicy{script: says("yes")})
	out, err := r.Run(t.Context(), []Job{job(broken, "x")})
	if err != nil || out[0].State != whale.StateError || !strings.Contains(out[0].Error, "server is away") {
		t.Fatalf("broken tool: got %v %+v", err, out[0])
	}
	r.Task = &fakeTask{verify: func(whale.Example, *whale.Episode) (whale.Verdict, error) {
		return whale.Verdict{}, errors.New("judge is away")
	}}
	out, err = r.Run(t.Context(), []Job{job(answersYes, "x")})
	if err != nil || out[0].State != whale.StateError || !strings.Contains(out[0].Error, "judge is away") {
		t.Fatalf("broken verifier: got %v %+v", err, out[0])
	}
}

// TestWallStopIsRepeatedAlone lets one episode be slow in company only, and one always.
func TestWallStopIsRepeatedAlone(t *testing.T) {
	var busy, tries atomic.Int32
	slow := func(always bool) func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
		return func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
			if always || busy.Add(1) <= 1 {
				tries.Add(1)
				<-ctx.Done()
				return 0, ctx.Err()
			}
			r, err := chat(ctx, h, user("?"))
			if err != nil {
				return 0, err
			}
			return r.Ref, nil
		}
	}
	r := runner(&bytePolicy{script: says("yes")})
	r.Limits.WallSeconds = 0.05
	out, err := r.Run(t.Context(), []Job{job(goHarness{"neighbour", slow(false)}, "x"), job(goHarness{"stalls", slow(true)}, "y"), job(answersYes, "z")})
	if err != nil {
		t.Fatal(err)
	}
	if out[0].State != whale.StateScored || out[0].Reward() != 1 {
		t.Errorf("an episode that is slow once: got %s, want scored", out[0].State)
	}
	if f := out[1].Episode.Failure; out[1].State != whale.StateFailed || f.Reason != whale.FailWall {
		t.Errorf("an episode that always stalls: got %s %+v, want failed by wall", out[1].State, f)
	}
	if out[2].Reward() != 1 {
		t.Errorf("a good neighbour: got %+v", out[2])
	}
	if tries.Load() != 3 {
		t.Errorf("got %d stalled tries, want 3: one of the first, two of the second", tries.Load())
	}
}

func TestCancelEndsTheRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stall := goHarness{"stall", func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
		cancel()
		<-ctx.Done()
		return 0, ctx.Err()
	}}
	start := time.Now()
	jobs := make([]Job, 100)
	for i := range jobs {
		jobs[i] = job(stall, "x")
	}
	if _, err := runner(&bytePolicy{script: says("yes")}).Run(ctx, jobs); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context canceled", err)
	}
	if time.Since(start) > 5*time.Second {
		t.Errorf("cancelling took %s", time.Since(start))
	}
}

type memoryCache struct {
	mu   sync.Mutex
	kept map[whale.ID]*whale.Rollout
	lost []*whale.Rollout
}

func (c *memoryCache) Get(_ context.Context, k whale.RolloutKey) (*whale.Rollout, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.kept[k.ID()]
	return r, ok, nil
}

func (c *memoryCache) Lost(_ context.Context, r *whale.Rollout) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = append(c.lost, r)
	return nil
}

func (c *memoryCache) Put(_ context.Context, r *whale.Rollout) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[r.Key.ID()] = r
	return nil
}

// TestKeyDecidesReuse changes one part of the key at a time: only the equal key is served from the cache.
func TestKeyDecidesReuse(t *testing.T) {
	p := &bytePolicy{script: says("yes")}
	base := runner(p)
	base.Cache = &memoryCache{kept: map[whale.ID]*whale.Rollout{}}
	first := job(answersYes, "x")
	if _, err := base.Run(t.Context(), []Job{first}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		change func(r *Runner, j *Job)
		reused bool
	}{
		{"nothing", func(*Runner, *Job) {}, true},
		{"harness", func(_ *Runner, j *Job) { j.Harness = goHarness{"other", answersYes.run} }, false},
		{"example", func(_ *Runner, j *Job) { j.Example.ID = "y" }, false},
		{"split", func(_ *Runner, j *Job) { j.Split = whale.SplitTest }, false},
		{"purpose", func(_ *Runner, j *Job) { j.Purpose = whale.PurposeSearch }, false},
		{"draw", func(_ *Runner, j *Job) { j.Draw = 1 }, false},
		{"run seed", func(r *Runner, _ *Job) { r.RunSeed = 8 }, false},
		{"sampling", func(r *Runner, _ *Job) { r.Sampling.TopK = 5 }, false},
		{"limits", func(r *Runner, _ *Job) { r.Limits.Tokens = 99 }, false},
		{"weights", func(r *Runner, _ *Job) { r.Policy = otherWeights{p} }, false},
	} {
		r, j := *base, first
		tc.change(&r, &j)
		before := len(p.asked)
		if _, err := r.Run(t.Context(), []Job{j}); err != nil {
			t.Fatal(err)
		}
		if reused := len(p.asked) == before; reused != tc.reused {
			t.Errorf("%s changed: reused %v, want %v", tc.name, reused, tc.reused)
		}
	}
}

type otherWeights struct{ *bytePolicy }

func (otherWeights) Weights() whale.WeightsRef { return whale.WeightsRef{ID: "w1"} }

func TestSeedsAreCommonAcrossHarnessesAndWeights(t *testing.T) {
	p := &bytePolicy{script: says("yes")}
	r := runner(p)
	j := job(answersYes, "x")
	k := r.Key(j)
	other := *r
	other.Policy = otherWeights{p}
	j2 := j
	j2.Harness = goHarness{"other", answersYes.run}
	if k2 := other.Key(j2); k2.Seed() != k.Seed() {
		t.Errorf("seed depends on harness or weights: %d and %d", k.Seed(), k2.Seed())
	}
	j3 := j
	j3.Draw++
	if r.Key(j3).Seed() == k.Seed() {
		t.Error("another draw has the same seed")
	}
	if k.Seed() >= 1<<31 {
		t.Errorf("seed %d is not below 2^31", k.Seed())
	}
}

func TestOrderAndConcurrencyDoNotMatter(t *testing.T) {
	p := &bytePolicy{script: func(r whale.SampleRequest) (string, error) {
		return map[bool]string{true: "yes", false: "no"}[r.Seed%2 == 0], nil
	}}
	jobs := make([]Job, 50)
	for i := range jobs {
		jobs[i] = job(answersYes, strings.Repeat("x", i))
	}
	rewards := func(concurrency int) []float64 {
		r := runner(p)
		r.Concurrency = concurrency
		out, err := r.Run(t.Context(), jobs)
		if err != nil {
			t.Fatal(err)
		}
		var all []float64
		for i, ro := range out {
			if ro.Key.Example != jobs[i].Example.ID {
				t.Fatalf("rollout %d belongs to another job", i)
			}
			all = append(all, ro.Reward())
		}
		return all
	}
	if a, b := rewards(1), rewards(16); !reflect.DeepEqual(a, b) {
		t.Errorf("rewards differ with concurrency:\n%v\n%v", a, b)
	}
}

func TestLogIsCut(t *testing.T) {
	h := goHarness{"prints", do(whale.Request{Op: whale.OpPrint, Text: strings.Repeat("é", 20)}, 10)}
	out, err := runner(&bytePolicy{script: says("yes")}).Run(t.Context(), []Job{job(h, "x")})
	if err != nil {
		t.Fatal(err)
	}
	if log := out[0].Episode.Log; len(log) > 50+len("\n[log cut]") || !strings.HasSuffix(log, "[log cut]") || out[0].State != whale.StateScored {
		t.Errorf("got a log of %d bytes, state %s: %q", len(log), out[0].State, log)
	}
}

// TestEveryAttemptIsCharged: what failed attempts sampled is in the record of the rollout that came of them.
func TestEveryAttemptIsCharged(t *testing.T) {
	var tries atomic.Int32
	flaky := func(failures int32) goHarness {
		return goHarness{"flaky", func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
			r, err := chat(ctx, h, user("?"))
			if err != nil {
				return 0, err
			}
			if tries.Add(1) <= failures {
				_, err := h.Do(ctx, whale.Request{Op: whale.OpTool, Name: "broken"})
				return 0, err
			}
			return r.Ref, nil
		}}
	}
	cache := &memoryCache{kept: map[whale.ID]*whale.Rollout{}}
	r := runner(&bytePolicy{script: says("yes")})
	r.Cache = cache
	out, err := r.Run(t.Context(), []Job{job(flaky(2), "x")})
	if err != nil {
		t.Fatal(err)
	}
	if w := out[0].Wasted; w.SampledTokens != 8 || w.ModelCalls != 2 || w.ToolCalls != 2 || out[0].Episode.Usage.SampledTokens != 4 {
		t.Errorf("after two failed attempts: got wasted %+v, want their 8 sampled tokens, 2 model calls and 2 tool calls", w)
	}
	tries.Store(0)
	if _, err = r.Run(t.Context(), []Job{job(flaky(100), "y")}); err != nil {
		t.Fatal(err)
	}
	if len(cache.lost) != 1 || cache.lost[0].Wasted.SampledTokens != 12 {
		t.Errorf("three failed attempts: got %+v, want one lost rollout with their 12 sampled tokens", cache.lost)
	}
	stall := goHarness{"stall", func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
		if _, err := chat(ctx, h, user("?")); err != nil {
			return 0, err
		}
		<-ctx.Done()
		return 0, ctx.Err()
	}}
	r.Limits.WallSeconds = 0.02
	out, err = r.Run(t.Context(), []Job{job(stall, "z")})
	if err != nil {
		t.Fatal(err)
	}
	if out[0].Wasted.SampledTokens != 4 || out[0].Episode.Usage.SampledTokens != 4 {
		t.Errorf("a stalled episode: got usage %+v and wasted %+v, want 4 sampled tokens in each", out[0].Episode.Usage, out[0].Wasted)
	}
}

// TestNoReplyLooksLikeInfrastructure feeds the host tool calls that no runtime could read, and broken text.
func TestNoReplyLooksLikeInfrastructure(t *testing.T) {
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	for _, raw := range []string{`1e999`, strings.Repeat("9", 2000), deep, `1 2`, ``, `{`, `"a`} {
		if got := usable([]whale.ToolCall{{Name: "t", Args: map[string]json.RawMessage{"x": json.RawMessage(raw)}}}); len(got) != 0 {
			t.Errorf("argument %.20q: got a call, want it left as text", raw)
		}
	}
	good := []whale.ToolCall{{Name: "t", Args: map[string]json.RawMessage{"x": json.RawMessage(`{"a": [1, 2.5e3, "s", null, true]}`)}}}
	if got := usable(good); !reflect.DeepEqual(got, good) {
		t.Errorf("got %v, want the call kept", got)
	}
	for _, text := range []string{"ok é", "cut \xc3", "\xff\xfe", "a\xe2\x82z"} {
		v := validText(text)
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal(data, &back); err != nil || back != v {
			t.Errorf("%q: got %q, a journal gives %q", text, v, back)
		}
	}
}

// TestToolGuardIsRepeatedAlone: a worker's guard that stops model-written code is an error first, and a failure only where it recurs.
func TestToolGuardIsRepeatedAlone(t *testing.T) {
	var stops atomic.Int32
	broken := func(recurs bool) *Runner {
		r := runner(&bytePolicy{script: says("yes")})
		stops.Store(0)
		r.Task = &fakeTask{env: func(whale.Example) (whale.Env, error) {
			return guardedEnv{fakeEnv: &fakeEnv{}, stop: func() bool { return recurs || stops.Add(1) == 1 }}, nil
		}}
		return r
	}
	h := goHarness{"guarded", func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
		r, err := chat(ctx, h, user("?"))
		if err != nil {
			return 0, err
		}
		_, err = h.Do(ctx, whale.Request{Op: whale.OpTool, Name: "echo"})
		return r.Ref, err
	}}
	out, err := broken(false).Run(t.Context(), []Job{job(h, "x")})
	if err != nil || out[0].State != whale.StateScored || out[0].Reward() != 1 {
		t.Errorf("stopped once: got %v %+v, want scored 1", err, out[0])
	}
	out, err = broken(true).Run(t.Context(), []Job{job(h, "x")})
	if err != nil || out[0].State != whale.StateFailed || out[0].Episode.Failure.Reason != whale.FailTool {
		t.Errorf("stopped always: got %v %+v, want failed", err, out[0])
	}
}

type guardedEnv struct {
	*fakeEnv
	stop func() bool
}

func (e guardedEnv) Tools() []whale.ToolSpec { return nil }
func (e guardedEnv) Close() error            { return nil }
func (e guardedEnv) Call(context.Context, string, map[string]json.RawMessage) (whale.ToolResult, error) {
	if e.stop() {
		return whale.ToolResult{}, fmt.Errorf("calculator: %w", &sandbox.Violation{Reason: sandbox.ReasonMemory})
	}
	return whale.ToolResult{Text: "1"}, nil
}
