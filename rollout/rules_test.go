package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale"
)

// chessEnv declares moves as a pattern, and folds the case of authored arguments.
type chessEnv struct{ *fakeEnv }

func (chessEnv) Rules() whale.Rules {
	return whale.Rules{Fold: strings.ToLower, Patterns: []whale.Pattern{{Name: "move", Expr: regexp.MustCompile(`\b[a-h][1-8][a-h][1-8]\b`)}}}
}

func (chessEnv) Render(string, map[string]json.RawMessage) (string, error) {
	return "legal: e2e4 d2d4 g1f3", nil
}

func (chessEnv) Call(context.Context, string, map[string]json.RawMessage) (whale.ToolResult, error) {
	return whale.ToolResult{Text: "they answered e7e5"}, nil
}

// TestPatternsComeFromTheEnvironmentAlone plants, filters, ranks and hides moves in every place that a harness writes.
func TestPatternsComeFromTheEnvironmentAlone(t *testing.T) {
	const block = "legal: e2e4 d2d4 g1f3"
	render := whale.Request{Op: whale.OpRender, Name: "legal"}
	say := func(texts ...string) whale.Request {
		r := whale.Request{Op: whale.OpChat}
		for _, s := range texts {
			r.Messages = append(r.Messages, user(s))
		}
		return r
	}
	tool := func(name string, args string) whale.Request {
		r := whale.Request{Op: whale.OpTool, Name: name}
		if err := json.Unmarshal([]byte(args), &r.Args); err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, tc := range []struct {
		name     string
		requests []whale.Request
		planted  bool
	}{
		{"no move at all", []whale.Request{say("your move?")}, false},
		{"a rendered block, whole", []whale.Request{render, say("Choose.\n" + block + "\nNow.")}, false},
		{"the block twice", []whale.Request{render, say(block + " / " + block)}, false},
		{"a field of the view", []whale.Request{say("hint: b1c3 is legal")}, false},
		{"a tool's result", []whale.Request{say("?"), tool("move", `{"uci":"e2e4"}`), say("they answered e7e5")}, false},
		{"an authored argument", []whale.Request{say("?"), tool("move", `{"uci":"E2E4"}`)}, false},
		{"planted", []whale.Request{say("play e2e4")}, true},
		{"planted in the second message", []whale.Request{say("play", "e2e4")}, true},
		{"a block before it was rendered", []whale.Request{say(block)}, true},
		{"filtered", []whale.Request{render, say("legal: e2e4")}, true},
		{"ranked", []whale.Request{render, say("legal: d2d4 e2e4 g1f3")}, true},
		{"added to the block", []whale.Request{render, say(block + " a2a4")}, true},
		{"part of a tool's result", []whale.Request{say("?"), tool("move", `{"uci":"e2e4"}`), say("e7e5")}, true},
		{"hidden by a character that shows nothing", []whale.Request{say("play e2\u200be4")}, true},
		{"hidden by wide forms", []whale.Request{say("play ｅ２ｅ４")}, true},
		{"in a message's name", []whale.Request{{Op: whale.OpChat, Messages: []whale.Message{{Role: whale.RoleTool, Name: "e2e4", Content: "x"}}}}, true},
		{"in a tool of its own", []whale.Request{{Op: whale.OpChat, Messages: []whale.Message{user("?")}, Tools: []whale.ToolSpec{{Name: "t", Description: "plays e2e4"}}}}, true},
		{"filtered by a stop text", []whale.Request{{Op: whale.OpChat, Messages: []whale.Message{user("?")}, Stop: []string{"d2d4"}}}, true},
		{"through a tool that echoes", []whale.Request{say("?"), tool("echo", `{"text":"d2d4"}`)}, true},
		{"through a tool's name", []whale.Request{say("?"), tool("d2d4", `{}`)}, true},
		{"through a nested argument", []whale.Request{say("?"), tool("echo", `{"text":[{"k":"d2d4"}]}`)}, true},
		{"through an argument of render", []whale.Request{{Op: whale.OpRender, Name: "legal", Args: map[string]json.RawMessage{"only": json.RawMessage(`"d2d4"`)}}}, true},
	} {
		r := runner(&bytePolicy{script: says("I play e2e4.")})
		r.Task = &fakeTask{env: func(whale.Example) (whale.Env, error) { return chessEnv{&fakeEnv{}}, nil }}
		j := job(goHarness{tc.name, func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
			for _, q := range tc.requests {
				if _, err := h.Do(ctx, q); err != nil {
					return 0, err
				}
			}
			return 0, nil
		}}, "x")
		j.Example.View = map[string]string{"observation": "hint: b1c3 is legal"}
		out, err := r.Run(t.Context(), []Job{j})
		if err != nil {
			t.Fatal(err)
		}
		f := out[0].Episode.Failure
		if tc.planted != (f != nil) || f != nil && f.Reason != whale.FailPlanted {
			t.Errorf("%s: got %+v, want planted %v", tc.name, f, tc.planted)
		}
	}
}

// TestStallsAreCutOff lets model and tool ignore everything, the end of their context too.
func TestStallsAreCutOff(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	h := goHarness{"h", func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
		r, err := chat(ctx, h, user("?"))
		if err != nil {
			return 0, err
		}
		_, err = h.Do(ctx, whale.Request{Op: whale.OpTool, Name: "echo"})
		return r.Ref, err
	}}
	for _, tc := range []struct {
		name string
		set  func(r *Runner)
		want string
	}{
		{"model", func(r *Runner) {
			r.Policy = &bytePolicy{script: func(whale.SampleRequest) (string, error) { <-release; return "late", nil }}
		}, "model call: no answer within 0.02 s"},
		{"tool", func(r *Runner) {
			r.Task = &fakeTask{env: func(whale.Example) (whale.Env, error) { return stalledEnv{&fakeEnv{}, release}, nil }}
		}, "tool echo: no answer within 0.02 s"},
	} {
		r := runner(&bytePolicy{script: says("yes")})
		r.Retries, r.Limits.ModelSeconds, r.Limits.ToolSeconds = 0, 0.02, 0.02
		tc.set(r)
		start := time.Now()
		out, err := r.Run(t.Context(), []Job{job(h, "x")})
		if err != nil || out[0].State != whale.StateError || !strings.Contains(out[0].Error, tc.want) {
			t.Errorf("%s: got %v, %+v, want an error with %q", tc.name, err, out[0], tc.want)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s: took %v", tc.name, d)
		}
	}
}

type stalledEnv struct {
	*fakeEnv
	release chan struct{}
}

func (e stalledEnv) Call(context.Context, string, map[string]json.RawMessage) (whale.ToolResult, error) {
	<-e.release
	return whale.ToolResult{}, nil
}
func (e stalledEnv) Close() error { return nil }

// TestOwnTimeAlone: what model and tools take is not charged to the harness; what it takes itself is.
func TestOwnTimeAlone(t *testing.T) {
	slowModel := &bytePolicy{script: func(whale.SampleRequest) (string, error) { time.Sleep(60 * time.Millisecond); return "yes", nil }}
	r := runner(slowModel)
	r.Limits.WallSeconds = 0.05
	patient := goHarness{"patient", func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
		var ref whale.ReplyRef
		for range 3 {
			reply, err := chat(ctx, h, user("?"))
			if err != nil {
				return 0, err
			}
			ref = reply.Ref
		}
		return ref, nil
	}}
	idler := goHarness{"idler", func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
		for range 4 { // 25 ms at a time, between calls
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-time.After(25 * time.Millisecond):
			}
			if _, err := h.Do(ctx, whale.Request{Op: whale.OpLeft}); err != nil {
				return 0, err
			}
		}
		return 0, errors.New("was never stopped")
	}}
	out, err := r.Run(t.Context(), []Job{job(patient, "x"), job(idler, "y")})
	if err != nil {
		t.Fatal(err)
	}
	if out[0].Reward() != 1 {
		t.Errorf("a harness that waits for a slow model: got %s %+v %s, want scored 1", out[0].State, out[0].Episode.Failure, out[0].Error)
	}
	if f := out[1].Episode.Failure; f == nil || f.Reason != whale.FailWall {
		t.Errorf("a harness that idles: got %s %+v, want failed by wall", out[1].State, f)
	}
}

// TestIncidentsAreRepeatedAlone: the second try is marked, and only a second incident fails the episode, with its own reason.
func TestIncidentsAreRepeatedAlone(t *testing.T) {
	for _, reason := range []whale.FailReason{whale.FailMemory, whale.FailWorker, whale.FailWall} {
		run := func(recurs bool) *whale.Rollout {
			h := goHarness{"h", func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
				r, err := chat(ctx, h, user("?"))
				if err != nil {
					return 0, err
				}
				if recurs || !whale.IsAlone(ctx) {
					return 0, &whale.Incident{Reason: reason, Detail: "gone"}
				}
				return r.Ref, nil
			}}
			out, err := runner(&bytePolicy{script: says("yes")}).Run(t.Context(), []Job{job(h, "x"), job(answersYes, "y")})
			if err != nil || out[1].Reward() != 1 {
				t.Fatalf("%s: neighbour: got %v %+v", reason, err, out)
			}
			return out[0]
		}
		if ro := run(false); ro.State != whale.StateScored || ro.Reward() != 1 || ro.Wasted.ModelCalls != 1 {
			t.Errorf("%s once: got %s, wasted %+v, want scored 1 and one call wasted", reason, ro.State, ro.Wasted)
		}
		ro := run(true)
		if f := ro.Episode.Failure; ro.State != whale.StateFailed || f.Reason != reason || f.Detail != "gone, also when run alone" || ro.Episode.Usage.ModelCalls != 1 {
			t.Errorf("%s twice: got %s %+v", reason, ro.State, f)
		}
	}
}

// TestRequestsAndFloodsAreBounded: limits on what costs the host something, however little each.
func TestRequestsAndFloodsAreBounded(t *testing.T) {
	forever := func(q whale.Request) goHarness {
		return goHarness{q.Op, func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
			for range 1_000_000 {
				if _, err := h.Do(ctx, q); err != nil {
					return 0, err
				}
			}
			return 0, errors.New("was never stopped")
		}}
	}
	r := runner(&bytePolicy{script: says("yes")})
	r.Limits.Requests, r.Limits.LogBytes = 100, 1<<13
	for _, tc := range []struct {
		q    whale.Request
		want whale.FailReason
	}{
		{whale.Request{Op: whale.OpLeft}, whale.FailRequests},
		{whale.Request{Op: whale.OpCount, Text: "x"}, whale.FailRequests},
		{whale.Request{Op: whale.OpPrint, Text: "x"}, whale.FailRequests},
		{whale.Request{Op: whale.OpPrint, Text: strings.Repeat("x", 1<<12)}, whale.FailLog},
		{whale.Request{Op: whale.OpCount, Text: strings.Repeat("x", 1001)}, whale.FailMessageBytes},
		{whale.Request{Op: whale.OpClip, Text: strings.Repeat("x", 1001)}, whale.FailMessageBytes},
		{whale.Request{Op: whale.OpTool, Name: strings.Repeat("x", 2000)}, whale.FailContract},
	} {
		out, err := r.Run(t.Context(), []Job{job(forever(tc.q), "x")})
		if err != nil {
			t.Fatal(err)
		}
		if f := out[0].Episode.Failure; f == nil || f.Reason != tc.want {
			t.Errorf("%s of %d bytes: got %s %+v, want failed by %s", tc.q.Op, len(tc.q.Text), out[0].State, f, tc.want)
		}
		if n := len(out[0].Episode.Log); n > r.Limits.LogBytes+20 {
			t.Errorf("%s: the log has %d bytes", tc.q.Op, n)
		}
	}
}

// TestManyIncidentsEnd: a harness that stalls in every episode costs a bounded number of repeats, and what is not repeated has no verdict. Another
// harness of the same run is not concerned.
func TestManyIncidentsEnd(t *testing.T) {
	var alone atomic.Int32
	stalls := goHarness{"stalls", func(ctx context.Context, _ whale.Host) (whale.ReplyRef, error) {
		if whale.IsAlone(ctx) {
			alone.Add(1)
		}
		return 0, &whale.Incident{Reason: whale.FailWall, Detail: "late"}
	}}
	once := goHarness{"once", func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
		if !whale.IsAlone(ctx) {
			return 0, &whale.Incident{Reason: whale.FailWorker, Detail: "gone"}
		}
		r, err := chat(ctx, h, user("?"))
		if err != nil {
			return 0, err
		}
		return r.Ref, nil
	}}
	var jobs []Job
	for i := range 30 {
		jobs = append(jobs, job(stalls, strconv.Itoa(i)), job(once, strconv.Itoa(i)))
	}
	out, err := runner(&bytePolicy{script: says("yes")}).Run(t.Context(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	states := map[whale.State]int{}
	for i, ro := range out {
		if i%2 == 1 && ro.Reward() != 1 {
			t.Errorf("a good harness: got %s %s, want scored 1", ro.State, ro.Error)
		}
		if i%2 == 0 {
			states[ro.State]++
		}
	}
	if alone.Load() != maxRecurred || states[whale.StateFailed] != maxRecurred || states[whale.StateError] != 30-maxRecurred {
		t.Errorf("a harness that always stalls: got %d repeats, states %v, want %d repeats and failures, and no verdict on the rest", alone.Load(), states, maxRecurred)
	}
}
