package searchqa

import (
	"context"
	"encoding/json"
	"maps"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
)

// episode makes an episode whose last reply is the answer. Each search finds a text, and shows as much of it as is given.
type seen struct{ found, shown string }

func episode(question string, searches []seen, replies ...string) *whale.Episode {
	e := &whale.Episode{View: map[string]string{viewQuestion: question}, Answer: whale.ReplyRef(len(replies))}
	messages := []whale.Message{{Role: whale.RoleUser, Content: question + "\nAnswer in <answer>."}}
	for i, text := range replies {
		e.Calls = append(e.Calls, whale.ModelCall{Messages: messages, Text: text, Completion: whale.Completion{Finish: whale.FinishStop}})
		messages = append(messages[:len(messages):len(messages)], whale.Message{Role: whale.RoleAssistant, Reply: whale.ReplyRef(i + 1)})
		if i < len(searches) {
			e.Tools = append(e.Tools, whale.ToolEvent{After: whale.ReplyRef(i + 1), Name: toolSearch, Result: whale.ToolResult{Text: searches[i].found}})
			messages = append(messages, whale.Message{Role: whale.RoleTool, Content: searches[i].shown})
		}
	}
	return e
}

func TestVerifier(t *testing.T) {
	x := newExample("Where was Ada born?", []string{"Velmo City", "Velmo"}, nil)
	v := newVerifier(VerifierOptions{Kind: VerifierExact}, nil)
	both := seen{"Ada: Ada was born in Velmo.", "Ada was born in Velmo."}
	for _, tc := range []struct {
		name   string
		e      *whale.Episode
		reward float64
		reason string
		want   map[string]float64 // of the metrics
	}{
		{"right at once", episode("q", nil, "<answer>Velmo</answer>"), 1, "", map[string]float64{MetricFormat: 1, MetricSearches: 0, MetricHit: 0, MetricTurns: 1}},
		{"as SQuAD compares", episode("q", nil, "It is <answer> The velmo, CITY. </answer>."), 1, "", nil},
		{"the last tag counts", episode("q", nil, "<answer>Velmo</answer> no, <answer>Rost</answer>"), 0, ReasonWrong, map[string]float64{MetricFormat: 1}},
		{"a search, shown and used", episode("q", []seen{both}, "<search>Ada</search>", "<answer>Velmo</answer>"), 1, "",
			map[string]float64{MetricHit: 1, MetricShown: 1, MetricExtracted: 1, MetricSearches: 1, MetricTurns: 2}},
		{"found, shown, not used", episode("q", []seen{both}, "<search>Ada</search>", "<answer>Ada</answer>"), 0, ReasonWrong,
			map[string]float64{MetricHit: 1, MetricShown: 1, MetricExtracted: 0}},
		{"found, cut off", episode("q", []seen{{both.found, "Ada was"}}, "<search>Ada</search>", "<answer>x</answer>"), 0, ReasonWrong,
			map[string]float64{MetricHit: 1, MetricShown: 0, MetricExtracted: 0}},
		{"found at the last moment", episode("q", []seen{{}, both}, "<search>x</search>", "<search>Ada</search>"), 0, ReasonNoTag,
			map[string]float64{MetricFormat: 0, MetricHit: 1, MetricShown: 0, MetricSearches: 2}},
		{"a part of a word is no hit", episode("q", []seen{{"Velmoria is far.", ""}}, "<search>x</search>", "<answer>x</answer>"), 0, ReasonWrong, map[string]float64{MetricHit: 0}},
		{"no tag", episode("q", nil, "Velmo"), 0, ReasonNoTag, map[string]float64{MetricFormat: 0}},
		{"open tag", episode("q", nil, "<answer>Velmo"), 0, ReasonNoTag, nil},
		{"empty tag", episode("q", nil, "<answer> </answer>"), 0, ReasonEmpty, map[string]float64{MetricFormat: 0}},
		{"nothing", &whale.Episode{}, 0, ReasonNoReply, map[string]float64{MetricTurns: 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := v.Verify(t.Context(), x, tc.e)
			if err != nil || got.Reward != tc.reward || got.Reason != tc.reason {
				t.Fatalf("got %+v, %v; want %v %q", got, err, tc.reward, tc.reason)
			}
			for k, want := range tc.want {
				if m, ok := got.Metrics[k]; !ok || m != want {
					t.Errorf("%s: got %v (%v), want %v", k, m, ok, want)
				}
			}
			if _, ok := got.Metrics[MetricExtracted]; ok != (got.Metrics[MetricHit] == 1) {
				t.Errorf("%s is there: %v, with a hit: %v", MetricExtracted, ok, got.Metrics[MetricHit])
			}
		})
	}
}

// What the question says is not what the model was shown.
func TestShownIsNotTheQuestion(t *testing.T) {
	x := newExample("Is it Velmo or Rost?", []string{"Velmo"}, nil)
	e := episode("Is it Velmo or Rost?", []seen{{"It is Velmo.", ""}}, "<search>x</search>", "<answer>Velmo</answer>")
	got, err := newVerifier(VerifierOptions{Kind: VerifierExact}, nil).Verify(t.Context(), x, e)
	if err != nil || got.Metrics[MetricShown] != 0 || got.Reward != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestCutOffAndToolErrors(t *testing.T) {
	x := newExample("q", []string{"Velmo"}, nil)
	e := episode("q", []seen{{"Velmo", ""}}, "<search></search>", "<answer>Velmo</answer>")
	e.Tools[0].Result = whale.ToolResult{Error: "search: got 0 characters", Text: "Velmo"}
	e.Calls[0].Completion.Finish = whale.FinishLength
	got, err := newVerifier(VerifierOptions{Kind: VerifierExact}, nil).Verify(t.Context(), x, e)
	want := map[string]float64{MetricFormat: 1, MetricSearches: 0, MetricSearchErrors: 1, MetricHit: 0, MetricCutOff: 1, MetricTurns: 2}
	if err != nil || !maps.Equal(got.Metrics, want) {
		t.Errorf("got %v, %v; want %v", got.Metrics, err, want)
	}
}

func TestJudgedVerifier(t *testing.T) {
	x := newExample("Where?", []string{"Velmo"}, nil)
	for _, tc := range []struct {
		says, answer               string
		reward, disagree, fallback float64
	}{
		{"CORRECT", "the town of Velmo", 1, 1, 0},
		{"INCORRECT", "Rost", 0, 0, 0},
		{"INCORRECT", "Velmo", 0, 1, 0},
		{"", "Velmo", 1, 0, 1}, // the judge is down
		{"perhaps", "Rost", 0, 0, 1},
	} {
		c := small()
		c.Verifier.Kind, c.Verifier.Judge.BaseURL, c.Verifier.Judge.Model = VerifierJudge, "http://127.0.0.1:1", "m"
		task := newTask(t, c, fakeJudge(tc.says))
		got, err := task.Verifier().Verify(t.Context(), x, episode("Where?", nil, "<answer>"+tc.answer+"</answer>"))
		m := got.Metrics
		if err != nil || got.Reward != tc.reward || m[MetricJudgeDisagree] != tc.disagree || m[MetricJudgeFallback] != tc.fallback {
			t.Errorf("%q on %q: got %+v, %v; want %v", tc.says, tc.answer, got, err, tc)
		}
		if s, ok := task.Judged(); !ok || s.Asked != 1 || s.Fallbacks != int(tc.fallback) {
			t.Errorf("got %+v", s)
		}
		// Without a tag nobody is asked.
		if got, err := task.Verifier().Verify(t.Context(), x, episode("Where?", nil, "Velmo")); err != nil || got.Reward != 0 {
			t.Errorf("got %+v, %v", got, err)
		}
		if s, _ := task.Judged(); s.Asked != 1 {
			t.Errorf("no tag: got %+v", s)
		}
	}
}

func TestVerifierErrors(t *testing.T) {
	v := newVerifier(VerifierOptions{Kind: VerifierExact}, nil)
	for _, reference := range []string{``, `"Velmo"`, `[]`, `null`, `{`} {
		if _, err := v.Verify(t.Context(), whale.Example{ID: "x", Answer: json.RawMessage(reference)}, episode("q", nil, "<answer>x</answer>")); err == nil {
			t.Errorf("reference %q: got no error", reference)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Verify(ended, newExample("q", []string{"x"}, nil), episode("q", nil, "x")); err == nil {
		t.Error("a context that has ended: got no error")
	}
}
