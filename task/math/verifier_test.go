package math

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
)

// replies makes an episode that ends with the last of the texts.
func replies(texts ...string) *whale.Episode {
	e := &whale.Episode{Answer: whale.ReplyRef(len(texts))}
	for _, text := range texts {
		e.Calls = append(e.Calls, whale.ModelCall{Text: text, Completion: whale.Completion{Finish: whale.FinishStop}})
	}
	return e
}

func newVerifier(t *testing.T, tail int) whale.Verifier {
	t.Helper()
	v, err := NewVerifier(VerifierOptions{TailChars: tail})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVerify(t *testing.T) {
	noAnswer, foreign := replies(`\boxed{25}`), replies(`\boxed{25}`)
	noAnswer.Answer, foreign.Answer = 0, 2
	failed := replies(`\boxed{25}`)
	failed.Failure = &whale.Failure{Reason: whale.FailSteps}
	for _, c := range []struct {
		name      string
		reference string
		episode   *whale.Episode
		tail      int
		reason    string // "" = reward 1
	}{
		{"equal", "25", replies(`It is \boxed{25}`), 0, ""},
		{"zeros in the reference", "025", replies(`\boxed{25}`), 0, ""},
		{"zeros in the box", "25", replies(`\boxed{0025}`), 0, ""},
		{"minus zero", "0", replies(`\boxed{-0}`), 0, ""},
		{"negative", "-10", replies(`$\boxed{ -10 }$`), 0, ""},
		{"dollars", "25", replies(`\boxed{$25$}`), 0, ""},
		{"text", `\frac{1}{2}`, replies(`\boxed{\frac{1}{2}}`), 0, ""},
		{"last box of the last reply", "25", replies(`\boxed{1}`, `\boxed{2}, no: \boxed{25}`), 0, ""},
		{"failure is not its business", "25", failed, 0, ""},
		{"box in the tail", "25", replies(`long long text \boxed{25}`), 10, ""},

		{"other number", "25", replies(`\boxed{26}`), 0, ReasonWrong},
		{"sign", "10", replies(`\boxed{-10}`), 0, ReasonWrong},
		{"separator", "1000", replies(`\boxed{1,000}`), 0, ReasonWrong},
		{"decimals", "25", replies(`\boxed{25.0}`), 0, ReasonWrong},
		{"unit", "25", replies(`\boxed{25 \text{ km}}`), 0, ReasonWrong},
		{"expression", "25", replies(`\boxed{5*5}`), 0, ReasonWrong},
		{"both", "25", replies(`\boxed{25 26}`), 0, ReasonWrong},
		{"empty box", "25", replies(`\boxed{}`), 0, ReasonWrong},
		{"earlier box was right", "25", replies(`\boxed{25} or \boxed{26}`), 0, ReasonWrong},
		{"other text", `\frac{1}{2}`, replies(`\boxed{\frac12}`), 0, ReasonWrong},
		{"no box", "25", replies("The answer is 25."), 0, ReasonNoBox},
		{"box in an earlier reply", "25", replies(`\boxed{25}`, "Done."), 0, ReasonNoBox},
		{"unterminated", "25", replies(`\boxed{25`), 0, ReasonNoBox},
		{"box before the tail", "25", replies(`\boxed{25} and so on`), 12, ReasonNoBox},
		{"box cut by the tail", "25", replies(`\boxed{25}`), 9, ReasonNoBox},
		{"None", "25", noAnswer, 0, ReasonNoReply},
		{"foreign reply", "25", foreign, 0, ReasonNoReply},
		{"empty episode", "25", &whale.Episode{}, 0, ReasonNoReply},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := newVerifier(t, c.tail).Verify(context.Background(), example("q", c.reference, nil), c.episode)
			if err != nil {
				t.Fatal(err)
			}
			want := 0.0
			if c.reason == "" {
				want = 1
			}
			if got.Reward != want || got.Reason != c.reason {
				t.Errorf("got %v %q, want %v %q", got.Reward, got.Reason, want, c.reason)
			}
			if strings.Contains(got.Reason, c.reference) {
				t.Errorf("reason %q tells the reference", got.Reason)
			}
			box := 1.0
			if c.reason == ReasonNoBox || c.reason == ReasonNoReply {
				box = 0
			}
			if got.Metrics[MetricBox] != box {
				t.Errorf("metric box: got %v, want %v", got.Metrics[MetricBox], box)
			}
		})
	}
}

func TestVerifyMetrics(t *testing.T) {
	e := replies("a", "b", `\boxed{1}`)
	e.Calls[1].Completion.Finish = whale.FinishLength
	e.Tools = []whale.ToolEvent{{Result: whale.ToolResult{Text: "1"}}, {Result: whale.ToolResult{Error: "no"}}, {Result: whale.ToolResult{Error: "no"}}}
	for _, c := range []struct {
		episode *whale.Episode
		want    map[string]float64
	}{
		{e, map[string]float64{MetricBox: 1, MetricCutOff: 1, MetricToolUsed: 1, MetricToolErrors: 2, MetricTurns: 3}},
		{replies("x"), map[string]float64{MetricBox: 0, MetricCutOff: 0, MetricToolUsed: 0, MetricToolErrors: 0, MetricTurns: 1}},
	} {
		got, err := newVerifier(t, 0).Verify(context.Background(), example("q", "1", nil), c.episode)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Metrics) != len(c.want) {
			t.Errorf("got metrics %v, want %v", got.Metrics, c.want)
		}
		for name, want := range c.want {
			if got.Metrics[name] != want {
				t.Errorf("metric %s: got %v, want %v", name, got.Metrics[name], want)
			}
		}
	}
}

// A reference that cannot be read is the data's fault, never the agent's.
func TestVerifyBadReference(t *testing.T) {
	for _, answer := range []string{``, `25`, `null`, `[]`, `""`, `" "`, `"x`} {
		x := whale.Example{ID: "x", Answer: json.RawMessage(answer)}
		if _, err := newVerifier(t, 0).Verify(context.Background(), x, replies(`\boxed{25}`)); err == nil {
			t.Errorf("answer %s: got no error", answer)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := newVerifier(t, 0).Verify(ctx, example("q", "1", nil), replies(`\boxed{1}`)); err == nil {
		t.Error("cancelled context: got no error")
	}
}

func TestVerifierID(t *testing.T) {
	if newVerifier(t, 0).ID() == newVerifier(t, 100).ID() {
		t.Error("other settings: got the same ID")
	}
	if first, second := newVerifier(t, 100), newVerifier(t, 100); first.ID() != second.ID() {
		t.Error("same settings: got another ID")
	}
	if _, err := NewVerifier(VerifierOptions{TailChars: -1}); err == nil {
		t.Error("tail_chars -1: got no error")
	}
}
