package searchqa

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/judge"
	"github.com/seed-095d5d2b/whale/task/searchqa/bm25"
	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
	"github.com/seed-095d5d2b/whale/task/searchqa/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func small() Config {
	c := DefaultConfig()
	c.Generator.Articles = 500
	c.Generator.Counts = world.Counts{Train: 60, Search: 20, Validation: 10, Test: 30}
	return c
}

func newTask(t *testing.T, c Config, a judge.Asker) *Task {
	t.Helper()
	out, err := New(t.Context(), c, a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	return out
}

func newEnv(t *testing.T, task *Task) whale.Env {
	t.Helper()
	e, err := task.NewEnv(t.Context(), whale.Example{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func args(t *testing.T, text string) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSplits(t *testing.T) {
	task := newTask(t, small(), nil)
	seen := make(map[string]bool)
	for s, want := range map[whale.Split]int{whale.SplitTrain: 60, whale.SplitSearch: 20, whale.SplitValidation: 10, whale.SplitTest: 30} {
		list, err := task.Examples(s)
		if err != nil || len(list) != want {
			t.Errorf("%s: got %d examples (%v), want %d", s, len(list), err, want)
		}
		for _, x := range list {
			if seen[x.ID] || len(x.View) != 1 || x.View["question"] == "" || len(references(x)) == 0 {
				t.Errorf("%s: got %+v", s, x)
			}
			seen[x.ID] = true
		}
	}
	if _, err := task.Examples("dev"); err == nil {
		t.Error("an unknown split: got no error")
	}
}

// The same configuration is the same task; whatever changes what an episode can meet makes another one.
func TestID(t *testing.T) {
	base := newTask(t, small(), nil).ID()
	if again := newTask(t, small(), nil).ID(); again != base {
		t.Errorf("got %s and %s", base, again)
	}
	for name, change := range map[string]func(*Config){
		"seed":     func(c *Config) { c.Generator.Seed++ },
		"letters":  func(c *Config) { c.Generator.Letters = 0 },
		"counts":   func(c *Config) { c.Generator.Counts.Test++ },
		"analyzer": func(c *Config) { c.Retrieval.Analyzer = bm25.English },
		"top_k":    func(c *Config) { c.Search.TopK++ },
		"chars":    func(c *Config) { c.Search.PassageChars-- },
		"verifier": func(c *Config) {
			c.Verifier.Kind = VerifierJudge
			c.Verifier.Judge.BaseURL, c.Verifier.Judge.Model = "http://127.0.0.1:1", "m"
		},
	} {
		c := small()
		change(&c)
		if newTask(t, c, fakeJudge("CORRECT")).ID() == base {
			t.Errorf("%s: the task is the same", name)
		}
	}
}

func TestSearchTool(t *testing.T) {
	task := newTask(t, small(), nil)
	e := newEnv(t, task)
	list, err := task.Examples(whale.SplitTest)
	if err != nil {
		t.Fatal(err)
	}
	question, err := json.Marshal(list[0].View["question"])
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Call(t.Context(), "search", args(t, `{"query":`+string(question)+`,"top_k":3}`))
	if err != nil || r.Error != "" {
		t.Fatalf("got %+v, %v", r, err)
	}
	var hits []corpus.Hit
	if err := json.Unmarshal(r.Data, &hits); err != nil || len(hits) != 3 {
		t.Fatalf("got data %s, want three hits", r.Data)
	}
	paragraphs := strings.Split(r.Text, "\n")
	for i, h := range hits {
		if i > 0 && h.Score > hits[i-1].Score {
			t.Errorf("hit %d is better than the one before", i)
		}
		if want := h.Title + ": " + h.Text; paragraphs[i] != want {
			t.Errorf("got the text %q, want %q", paragraphs[i], want)
		}
	}
	one, err := e.Call(t.Context(), "search", args(t, `{"query":`+string(question)+`,"max_chars":10}`))
	if err != nil || one.Error != "" {
		t.Fatalf("got %+v, %v", one, err)
	}
	if err := json.Unmarshal(one.Data, &hits); err != nil || len(hits) != 1 || len([]rune(hits[0].Text)) != 10 || !strings.HasSuffix(one.Text, ": "+hits[0].Text) {
		t.Errorf("got %+v, want one passage of ten characters", one)
	}
	none, err := e.Call(t.Context(), "search", args(t, `{"query":"qqqq"}`))
	if err != nil || none.Text != noPassage || string(none.Data) != "[]" || none.Error != "" {
		t.Errorf("got %+v, %v; want that nothing was found", none, err)
	}
}

// What a caller gets wrong is told in one line, and is no error of the infrastructure.
func TestCallersMistakes(t *testing.T) {
	e := newEnv(t, newTask(t, small(), nil))
	for _, tc := range []struct{ tool, args, err string }{
		{"serch", `{}`, `did you mean "search"?`},
		{"search", `{}`, `missing argument "query"`},
		{"search", `{"query":""}`, "got 0 characters, want 1 to 500"},
		{"search", `{"query":" \n "}`, "got 0 characters"},
		{"search", `{"query":"` + strings.Repeat("é", 501) + `"}`, "got 501 characters"},
		{"search", `{"query":5}`, "want string"},
		{"search", `{"query":"x","top_k":0}`, `"top_k": got 0, want 1 to 10`},
		{"search", `{"query":"x","top_k":11}`, "want 1 to 10"},
		{"search", `{"query":"x","top_k":99999999999999999999}`, "want 1 to 10"},
		{"search", `{"query":"x","top_k":1.5}`, "want integer"},
		{"search", `{"query":"x","max_chars":0}`, `"max_chars": got 0, want 1 to 4000`},
		{"search", `{"query":"x","k":3}`, `unknown argument "k"`},
	} {
		r, err := e.Call(t.Context(), tc.tool, args(t, tc.args))
		if err != nil || !strings.Contains(r.Error, tc.err) || strings.Contains(r.Error, "\n") || r.Text != "" {
			t.Errorf("%s %.40s: got %+v, %v; want the error %q", tc.tool, tc.args, r, err, tc.err)
		}
	}
	if _, err := e.Render("passages", nil); err == nil {
		t.Error("render: got no error")
	}
}

// stub is a retriever for tests.
type stub func(ctx context.Context, query string, k int) ([]corpus.Hit, error)

func (stub) ID() whale.ID { return "stub" }
func (stub) Close() error { return nil }
func (s stub) Search(ctx context.Context, query string, k int) ([]corpus.Hit, error) {
	return s(ctx, query, k)
}

// A retriever that breaks its word harms nobody: more passages than asked for, broken texts, errors.
func TestHostileRetriever(t *testing.T) {
	o := DefaultConfig().Search
	o.PassageChars = 5
	e := &env{options: o, retriever: stub(func(context.Context, string, int) ([]corpus.Hit, error) {
		h := corpus.Hit{Passage: corpus.Passage{ID: "\xff", Title: "t\xfe", Text: "é\xff漢字more"}}
		return []corpus.Hit{h, h, h}, nil
	})}
	r, err := e.Call(t.Context(), "search", args(t, `{"query":"x"}`))
	if err != nil || r.Text != "t\uFFFD: é\uFFFD漢字m" || !json.Valid(r.Data) || strings.Count(string(r.Data), "score") != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
	down := errors.New("down")
	e.retriever = stub(func(context.Context, string, int) ([]corpus.Hit, error) { return nil, down })
	if _, err := e.Call(t.Context(), "search", args(t, `{"query":"x"}`)); !errors.Is(err, down) {
		t.Errorf("got %v, want the retriever's error", err)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, tc := range []struct {
		change func(*Config)
		err    string
	}{
		{func(c *Config) { c.Source = "web" }, `source: got "web"`},
		{func(c *Config) { c.Generator.Articles = 1 }, "generator.articles"},
		{func(c *Config) { c.Files = map[whale.Split][]FileOptions{"test": {{Path: "x"}}} }, "files: got 1 splits"},
		{func(c *Config) { c.Source = SourceFiles }, "files: got none"},
		{func(c *Config) {
			c.Source, c.Files = SourceFiles, map[whale.Split][]FileOptions{"dev": {{Path: "x"}}}
		}, `files: got split "dev"`},
		{func(c *Config) { c.Source, c.Files = SourceFiles, map[whale.Split][]FileOptions{"test": {}} }, "files.test"},
		{func(c *Config) { c.Source, c.Files = SourceFiles, map[whale.Split][]FileOptions{"test": {{}}} }, "files.test[0].path"},
		{func(c *Config) {
			c.Source, c.Files = SourceFiles, map[whale.Split][]FileOptions{"test": {{Path: "x", Count: -1}}}
		}, "files.test[0].count"},
		{func(c *Config) {
			c.Source, c.Files, c.Fields.Question = SourceFiles, map[whale.Split][]FileOptions{"test": {{Path: "x"}}}, nil
		}, "fields.question"},
		{func(c *Config) {
			c.Source, c.Files, c.Fields.Answers = SourceFiles, map[whale.Split][]FileOptions{"test": {{Path: "x"}}}, []string{"a["}
		}, "fields.answers[0]"},
		{func(c *Config) { c.Source, c.Files = SourceFiles, map[whale.Split][]FileOptions{"test": {{Path: "x"}}} }, "retrieval.kind"},
		{func(c *Config) { c.Retrieval.Kind = RetrievalHTTP }, "retrieval.kind"},
		{func(c *Config) { c.Retrieval.Analyzer = "x" }, "retrieval.analyzer"},
		{func(c *Config) { c.Search.TopK = 11 }, "search.top_k"},
		{func(c *Config) { c.Search.MaxTopK = 0 }, "search.max_top_k"},
		{func(c *Config) { c.Search.QueryChars = 0 }, "search.query_chars"},
		{func(c *Config) { c.Search.PassageChars = 0 }, "search.passage_chars"},
		{func(c *Config) { c.Verifier.Kind = "boxed" }, "verifier.kind"},
		{func(c *Config) { c.Verifier.Kind = VerifierJudge }, "verifier.judge.base_url"},
	} {
		c := small()
		tc.change(&c)
		task, err := New(t.Context(), c, nil)
		if err == nil || !strings.Contains(err.Error(), tc.err) || task != nil {
			t.Errorf("got %v, want an error about %q", err, tc.err)
		}
	}
	c := small()
	c.Verifier.Kind, c.Verifier.Judge.BaseURL, c.Verifier.Judge.Model = VerifierJudge, "http://127.0.0.1:1", "m"
	if _, err := New(t.Context(), c, nil); err == nil {
		t.Error("a judge without anybody to ask: got no error")
	}
}

func TestAbout(t *testing.T) {
	about := newTask(t, small(), nil).About()
	for _, want := range []string{"task.question", `env.call("search"`, "top_k", "max_chars", "<answer>", "at most 10"} {
		if !strings.Contains(about, want) {
			t.Errorf("got %q, want %q in it", about, want)
		}
	}
}

// fakeJudge always says the same.
type fakeJudge string

func (f fakeJudge) Ask(context.Context, string) (string, error) {
	if f == "" {
		return "", fmt.Errorf("down")
	}
	return string(f), nil
}
