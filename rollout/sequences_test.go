package rollout

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale"
)

// episodeOf runs a harness and gives its episode.
func episodeOf(t *testing.T, p *bytePolicy, h whale.Harness) *whale.Episode {
	t.Helper()
	out, err := runner(p).Run(t.Context(), []Job{job(h, "x")})
	if err != nil {
		t.Fatal(err)
	}
	if out[0].State != whale.StateScored {
		t.Fatalf("got state %s (%+v), want scored", out[0].State, out[0].Episode.Failure)
	}
	return &out[0].Episode
}

// targets lists the ids that a sequence trains on, in order.
func targets(s whale.Sequence) []int32 {
	var out []int32
	for i, w := range s.Weights {
		if w == 1 {
			out = append(out, s.Tokens[i])
		}
	}
	return out
}

func sampledOf(e *whale.Episode) []int32 {
	var all []int32
	for _, c := range e.Calls {
		all = append(all, c.Completion.Tokens...)
	}
	return all
}

func TestReplyPutBackUntouchedMerges(t *testing.T) {
	h := goHarness{"untouched", func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
		a, err := chat(ctx, h, user("one"))
		if err != nil {
			return 0, err
		}
		b, err := chat(ctx, h, user("one"), reply(a), user("two"))
		if err != nil {
			return 0, err
		}
		return b.Ref, nil
	}}
	e := episodeOf(t, &bytePolicy{script: says("alpha", "beta")}, h)
	seqs := Sequences(e)
	if len(seqs) != 1 {
		t.Fatalf("got %d sequences, want the calls merged into 1", len(seqs))
	}
	last := e.Calls[1].Completion
	if want := append(slices.Clone(last.Prompt), last.Tokens...); !reflect.DeepEqual(seqs[0].Tokens, want) {
		t.Errorf("tokens: got %v, want the last prompt and completion %v", seqs[0].Tokens, want)
	}
	if got, want := targets(seqs[0]), sampledOf(e); !reflect.DeepEqual(got, want) {
		t.Errorf("targets: got %v, want the sampled ids %v", got, want)
	}
}

func TestRetypedReplyIsContextAndForks(t *testing.T) {
	h := goHarness{"retypes", func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
		a, err := chat(ctx, h, user("one"))
		if err != nil {
			return 0, err
		}
		b, err := chat(ctx, h, user("one"), assistant(a.Text), user("two"))
		if err != nil {
			return 0, err
		}
		return b.Ref, nil
	}}
	e := episodeOf(t, &bytePolicy{script: says("alpha", "beta")}, h)
	seqs := Sequences(e)
	if len(seqs) != 2 {
		t.Fatalf("got %d sequences, want a fork into 2: retyped words are not the sampled ids", len(seqs))
	}
	for i, s := range seqs {
		if got, want := targets(s), e.Calls[i].Completion.Tokens; !reflect.DeepEqual(got, want) {
			t.Errorf("sequence %d: targets: got %v, want %v", i, got, want)
		}
	}
}

func TestRewrittenHistoryForks(t *testing.T) {
	h := goHarness{"rewrites", func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
		a, err := chat(ctx, h, user("one"))
		if err != nil {
			return 0, err
		}
		b, err := chat(ctx, h, user("one"), reply(a), user("two"))
		if err != nil {
			return 0, err
		}
		c, err := chat(ctx, h, user("summary of one"), reply(b), user("three"))
		if err != nil {
			return 0, err
		}
		return c.Ref, nil
	}}
	e := episodeOf(t, &bytePolicy{script: says("alpha", "beta", "gamma")}, h)
	seqs := Sequences(e)
	if len(seqs) != 2 {
		t.Fatalf("got %d sequences, want 2: the first two calls merge, the rewritten history forks", len(seqs))
	}
	// The second sequence holds beta's ids again, as context: only gamma is a target there.
	if got, want := targets(seqs[1]), e.Calls[2].Completion.Tokens; !reflect.DeepEqual(got, want) {
		t.Errorf("targets of the fork: got %v, want %v", got, want)
	}
}

// TestEverySampledTokenOnce plays random histories of put-back, retyped, dropped and rewritten replies.
func TestEverySampledTokenOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e whale.Episode
		p := &bytePolicy{}
		replies := func(r whale.ReplyRef) []int32 { return e.Calls[r-1].Completion.Tokens }
		var history []whale.Message
		for call := range rapid.IntRange(1, 6).Draw(t, "calls") {
			switch rapid.IntRange(0, 3).Draw(t, "edit") {
			case 0:
				history = nil
			case 1:
				if len(history) > 1 {
					history = slices.Clone(history[1:])
				}
			}
			history = append(slices.Clone(history), user(rapid.StringMatching(`[a-c]{0,3}`).Draw(t, "text")))
			prompt, err := p.Render(history, nil, replies)
			if err != nil {
				t.Fatal(err)
			}
			sampled := append(toIDs(rapid.StringMatching(`[a-b]{0,3}`).Draw(t, "sampled")), 0)
			e.Calls = append(e.Calls, whale.ModelCall{Completion: whale.Completion{Prompt: prompt, Tokens: sampled}})
			if rapid.Bool().Draw(t, "by reference") {
				history = append(history, whale.Message{Reply: whale.ReplyRef(call + 1)})
			} else {
				history = append(history, assistant("ab"))
			}
		}
		trained := 0
		for _, s := range Sequences(&e) {
			if len(s.Tokens) != len(s.Weights) || s.Weights[0] != 0 {
				t.Fatalf("malformed sequence %v", s)
			}
			trained += len(targets(s))
		}
		if want := len(sampledOf(&e)); trained != want {
			t.Fatalf("got %d trained tokens, want every one of the %d sampled once", trained, want)
		}
	})
}
