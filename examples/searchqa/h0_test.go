// Package searchqa_test runs the starting harness on the search task with a scripted model.
package searchqa_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
	"github.com/seed-095d5d2b/whale/task/searchqa"
	"github.com/seed-095d5d2b/whale/task/searchqa/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func generator() world.Options {
	o := world.DefaultOptions()
	o.Articles, o.Counts = 500, world.Counts{Test: 60}
	return o
}

func TestStartingHarness(t *testing.T) {
	c := searchqa.DefaultConfig()
	c.Generator = generator()
	task, err := searchqa.New(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer task.Close()
	w, err := world.Generate(c.Generator)
	if err != nil {
		t.Fatal(err)
	}
	examples, err := task.Examples(whale.SplitTest)
	if err != nil {
		t.Fatal(err)
	}
	find := func(kind string) (whale.Example, world.Question) {
		for i, q := range w.Questions[whale.SplitTest] {
			if q.Kind == kind {
				return examples[i], q
			}
		}
		t.Fatalf("no %s question", kind)
		return whale.Example{}, world.Question{}
	}
	one, oneSolved := find(world.OneHop)
	two, twoSolved := find(world.TwoHop)
	tag := func(name, text string) string { return "<" + name + ">" + text + "</" + name + ">" }
	for _, tc := range []struct {
		name    string
		x       whale.Example
		replies []string
		answer  whale.ReplyRef
		reward  float64
		queries []string
	}{
		{"searches, then answers", one, []string{"I search. " + tag("search", oneSolved.Hops[0].Title), tag("answer", oneSolved.Answers[0])}, 2, 1, []string{oneSolved.Hops[0].Title}},
		{"answers at once", one, []string{"It is " + tag("answer", oneSolved.Answers[0])}, 1, 1, nil},
		{"forwards the query as it is", one, []string{tag("search", " "+oneSolved.Text+" "), tag("answer", "x")}, 2, 0, []string{oneSolved.Text}},
		{"the first of two queries", one, []string{tag("search", "a") + tag("search", "b"), tag("answer", "x")}, 2, 0, []string{"a"}},
		{"an empty query is an error to see", one, []string{tag("search", ""), tag("answer", "x")}, 2, 0, []string{""}},
		{"no tag", one, []string{"The answer is " + oneSolved.Answers[0]}, 1, 0, nil},
		{"two hops do not fit two turns", two, []string{tag("search", twoSolved.Hops[0].Title), tag("search", twoSolved.Hops[1].Title), tag("answer", twoSolved.Answers[0])}, 2, 0,
			[]string{twoSolved.Hops[0].Title, twoSolved.Hops[1].Title}},
	} {
		for _, name := range []string{"h0.star", "h0-paper.star"} {
			t.Run(name+" "+tc.name, func(t *testing.T) {
				program, err := harness.Load(name)
				if err != nil {
					t.Fatal(err)
				}
				e, verdict, err := harnesstest.Play(t.Context(), task, tc.x, program, tc.replies...)
				if err != nil {
					t.Fatal(err)
				}
				if e.Answer != tc.answer || verdict.Reward != tc.reward || len(e.Tools) != len(tc.queries) {
					t.Fatalf("got answer %d, reward %v (%s), %d searches; want %d, %v, %d", e.Answer, verdict.Reward, verdict.Reason, len(e.Tools), tc.answer, tc.reward, len(tc.queries))
				}
				for i, q := range tc.queries {
					var got string
					if err := json.Unmarshal(e.Tools[i].Args["query"], &got); err != nil || got != q {
						t.Errorf("search %d: got %q, want %q", i+1, got, q)
					}
					if string(e.Tools[i].Args["top_k"]) != "1" {
						t.Errorf("search %d: got top_k %s, want 1", i+1, e.Tools[i].Args["top_k"])
					}
				}
				opening := e.Calls[0].Messages
				if len(opening) != 1 || opening[0].Role != whale.RoleUser || !strings.HasPrefix(opening[0].Content, tc.x.View["question"]+"\n") {
					t.Errorf("got the opening %+v", opening)
				}
			})
		}
	}
}

// The passage is cut by tokens: a long one loses its end.
func TestPassageIsCut(t *testing.T) {
	for name, tokens := range map[string]int{"h0.star": 40, "h0-paper.star": 200} {
		program, err := harness.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		h := &harnesstest.Host{
			View:    map[string]string{"question": "Where?"},
			Tools:   []whale.ToolSpec{{Name: "search", Parameters: []whale.ToolParameter{{Name: "query", Type: "string", Required: true}, {Name: "top_k", Type: "integer"}}}},
			Replies: []harnesstest.Reply{{Text: "<search>x</search>"}, {Text: "<answer>y</answer>"}},
			Tool: func(string, map[string]json.RawMessage) (whale.ToolResult, error) {
				return whale.ToolResult{Text: strings.TrimSpace(strings.Repeat("word ", 500))}, nil
			},
		}
		if _, err := program.Run(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		shown := h.Messages(2)
		if got := len(strings.Fields(shown[len(shown)-1].Content)); got != tokens {
			t.Errorf("%s: the model was shown %d tokens, want %d", name, got, tokens)
		}
	}
}

// The two programs are one but for the length of a passage.
func TestOneHarness(t *testing.T) {
	quick, err := os.ReadFile("h0.star")
	if err != nil {
		t.Fatal(err)
	}
	paper, err := os.ReadFile("h0-paper.star")
	if err != nil {
		t.Fatal(err)
	}
	body := func(b []byte) string {
		_, rest, _ := strings.Cut(string(b), "\n")
		return rest
	}
	if got := strings.Replace(body(quick), "PASSAGE_TOKENS = 40", "PASSAGE_TOKENS = 200", 1); got != body(paper) {
		t.Error("h0-paper.star differs from h0.star in more than the length of a passage")
	}
}
