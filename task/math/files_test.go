package math

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	whale "github.com/seed-095d5d2b/whale"
)

// dapoRow is a row in the layout of DAPO-Math-17K.
type dapoRow struct {
	DataSource string `parquet:"data_source"`
	Prompt     []struct {
		Content string `parquet:"content"`
		Role    string `parquet:"role"`
	} `parquet:"prompt,list"`
	Ability     string `parquet:"ability"`
	RewardModel struct {
		GroundTruth string `parquet:"ground_truth"`
		Style       string `parquet:"style"`
	} `parquet:"reward_model"`
	ExtraInfo struct {
		Index string `parquet:"index"`
	} `parquet:"extra_info"`
}

const (
	dapoBefore = "Solve the following math problem step by step. The last line of your response should be of the form Answer: $Answer (without quotes) where $Answer is the answer to the problem.\n\n"
	dapoAfter  = "\n\nRemember to put your answer on its own line after \"Answer:\"."
)

func dapo(index int, problem, answer string) (r dapoRow) {
	r.DataSource, r.Ability = "math_dapo", "MATH"
	r.Prompt = append(r.Prompt, struct {
		Content string `parquet:"content"`
		Role    string `parquet:"role"`
	}{dapoBefore + problem + dapoAfter, "user"})
	r.RewardModel.GroundTruth, r.RewardModel.Style = answer, "rule-lighteval/MATH_v2"
	r.ExtraInfo.Index = fmt.Sprintf("index-%d", index)
	return r
}

func writeParquet[T any](t *testing.T, name string, rows []T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewGenericWriter[T](f)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// filesConfig drops repeats, and takes its problems from files.
func filesConfig(files map[whale.Split][]string) Config {
	c := smallConfig()
	c.Source, c.Files, c.Repeats = SourceFiles, files, RepeatsDrop
	return c
}

// The training file has every problem a hundred times, as DAPO's has.
func TestDAPO(t *testing.T) {
	var rows []dapoRow
	for copies := range 100 {
		for i := range 40 {
			rows = append(rows, dapo(i, fmt.Sprintf("What is %d + %d?\n\nGive an integer.", i, i), fmt.Sprint(2*i)))
		}
		_ = copies
	}
	rows = append(rows, dapo(40, "What is  7 + 7?\n\ngive an integer.", "14"), dapo(41, "Contested?", "1"), dapo(42, "contested?", "2"), dapo(43, "An AIME problem.", "25"))
	c := filesConfig(map[whale.Split][]string{
		whale.SplitTrain: {writeParquet(t, "dapo.parquet", rows)},
		whale.SplitTest:  {write(t, t.TempDir(), "aime.jsonl", `{"id": 60, "problem": "an  AIME problem.", "answer": "025"}`+"\n"+`{"id": 61, "problem": "Another one.", "answer": 7}`)},
	})
	m := newTask(t, c)
	train, err := m.Examples(whale.SplitTrain)
	if err != nil || len(train) != 40 {
		t.Fatalf("got %d train examples, %v, want 40", len(train), err)
	}
	if x := train[3]; x.View["question"] != "What is 3 + 3?\n\nGive an integer." || string(x.Answer) != `"6"` || x.Meta[MetaSourceID] != "index-3" {
		t.Errorf("got example %+v", x)
	}
	test, err := m.Examples(whale.SplitTest)
	if err != nil || len(test) != 2 || string(test[0].Answer) != `"25"` {
		t.Errorf("got test examples %+v, %v", test, err)
	}
	want := []string{
		"math: dropped 3961 problems that repeat others of their split, with the same answers",
		"math: dropped 1 problems of split train that have several answers",
		"math: dropped 1 problems of split train that are in split test too",
	}
	if !slices.Equal(m.Notes(), want) {
		t.Errorf("got notes %q, want %q", m.Notes(), want)
	}
	c.Repeats = RepeatsRefuse
	if _, err := New(context.Background(), c, fakeCalculator{}); err == nil || !strings.Contains(err.Error(), `got answer "2" for problem "contested?"`) {
		t.Errorf("refuse: got error %v", err)
	}
}

// A row in any of the layouts is the same example.
func TestLayouts(t *testing.T) {
	type aime struct {
		ID      int64  `parquet:"ID"`
		Problem string `parquet:"Problem"`
		Answer  string `parquet:"Answer"`
	}
	type numbers struct {
		ID      int32  `parquet:"id"`
		Problem string `parquet:"problem"`
		Answer  int64  `parquet:"answer"`
		URL     string `parquet:"url"`
	}
	dir := t.TempDir()
	want := example("Find x.", "33", nil)
	for name, path := range map[string]string{
		"plain":              write(t, dir, "plain.jsonl", `{"id": 1, "problem": "Find x.", "answer": "033"}`),
		"question":           write(t, dir, "question.jsonl", `{"question": "Find x.", "answer": 33, "solution": "no"}`),
		"dapo jsonl":         write(t, dir, "dapo.jsonl", fmt.Sprintf(`{"prompt": [{"role": "system", "content": "s"}, {"role": "user", "content": %q}], "reward_model": {"ground_truth": "33", "style": "rule"}, "extra_info": {"index": "a"}}`, dapoBefore+"Find x."+dapoAfter)),
		"dapo without":       write(t, dir, "without.jsonl", `{"prompt": [{"role": "user", "content": "Find x."}], "reward_model": {"ground_truth": 33}}`),
		"dapo text":          write(t, dir, "text.jsonl", `{"prompt": "Find x.", "reward_model": {"ground_truth": "33"}, "solution": "33"}`),
		"aime parquet":       writeParquet(t, "aime.parquet", []aime{{60, "Find x.", "033"}}),
		"aime parquet numer": writeParquet(t, "numbers.parquet", []numbers{{60, "Find x.", 33, "https://x"}}),
		"csv":                write(t, dir, "a.csv", "id,problem,answer\n,Find x.,033\n"),
		"dapo parquet":       writeParquet(t, "dapo.parquet", []dapoRow{dapo(1, "Find x.", "33")}),
	} {
		got, err := Load(path)
		if err != nil || len(got.Examples) != 1 || got.Examples[0].ID != want.ID || string(got.Examples[0].Answer) != string(want.Answer) || got.Examples[0].View["question"] != "Find x." {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
	for name, c := range map[string]struct{ data, want string }{
		"no message": {`{"prompt": [], "reward_model": {"ground_truth": "1"}}`, `"prompt": got 0 messages, none of a user`},
		"no user":    {`{"prompt": [{"role": "system", "content": "x"}], "reward_model": {"ground_truth": "1"}}`, "got 1 messages, none of a user"},
		"a number":   {`{"prompt": 5, "reward_model": {"ground_truth": "1"}}`, "got neither a text nor a list of messages"},
		"no answer":  {`{"prompt": "p", "reward_model": {}}`, `"answer": got nothing`},
		"empty":      {fmt.Sprintf(`{"prompt": %q, "reward_model": {"ground_truth": "1"}}`, dapoBefore+dapoAfter), "empty problem text"},
		"no reward":  {`{"prompt": "p"}`, `got neither "problem" nor "question"`},
	} {
		if _, err := Load(write(t, dir, "bad.jsonl", c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one with %q", name, err, c.want)
		}
	}
}

// One bad row of many is noted, in plain JSONL as in the other formats.
func TestBadRowsTolerated(t *testing.T) {
	dir := t.TempDir()
	var lines, table strings.Builder
	table.WriteString("problem,answer\n")
	for i := range 2000 {
		fmt.Fprintf(&lines, `{"problem": "p%d", "answer": %d}`+"\n", i, i)
		fmt.Fprintf(&table, "p%d,%d\n", i, i)
	}
	for name, data := range map[string]string{"a.jsonl": lines.String() + `{"problem": "p"}`, "a.csv": table.String() + "p,\n"} {
		got, err := Load(write(t, dir, name, data))
		if err != nil || len(got.Examples) != 2000 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "2001") || !strings.Contains(got.Notes[0], `"answer": got`) {
			t.Errorf("%s: got %d examples, notes %q, %v", name, len(got.Examples), got.Notes, err)
		}
	}
}

func TestDraw(t *testing.T) {
	dir := t.TempDir()
	lines := make([]string, 100)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"problem": "p%d", "answer": %d}`, i, i)
	}
	train := write(t, dir, "train.jsonl", strings.Join(lines, "\n"))
	draw := func(o DrawOptions, path string) map[whale.Split][]string {
		c := filesConfig(map[whale.Split][]string{whale.SplitTrain: {path}})
		c.Draw = o
		m := newTask(t, c)
		out := make(map[whale.Split][]string)
		for _, s := range splits() {
			examples, err := m.Examples(s)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range examples {
				out[s] = append(out[s], x.View["question"])
			}
		}
		if len(m.Notes()) != 1 || strings.Contains(m.Notes()[0], "stay in train") != o.Shared {
			t.Errorf("got notes %q", m.Notes())
		}
		return out
	}
	first := draw(DrawOptions{Search: 10, Validation: 5, Seed: 1}, train)
	if len(first[whale.SplitSearch]) != 10 || len(first[whale.SplitValidation]) != 5 || len(first[whale.SplitTrain]) != 85 {
		t.Fatalf("got %v", first)
	}
	all := slices.Concat(first[whale.SplitTrain], first[whale.SplitSearch], first[whale.SplitValidation])
	slices.Sort(all)
	if all = slices.Compact(all); len(all) != 100 {
		t.Errorf("got %d different problems, want all 100, each in one split", len(all))
	}
	slices.Reverse(lines)
	again := draw(DrawOptions{Search: 10, Validation: 5, Seed: 1}, write(t, dir, "reversed.jsonl", strings.Join(lines, "\n")))
	for _, s := range []whale.Split{whale.SplitSearch, whale.SplitValidation} {
		slices.Reverse(again[s])
		if !slices.Equal(again[s], first[s]) {
			t.Errorf("split %s of the reversed file: got %q, want %q", s, again[s], first[s])
		}
	}
	if other := draw(DrawOptions{Search: 10, Validation: 5, Seed: 2}, train); slices.Equal(other[whale.SplitSearch], first[whale.SplitSearch]) {
		t.Error("another seed: got the same search examples")
	}
	shared := draw(DrawOptions{Search: 10, Seed: 1, Shared: true}, train)
	if len(shared[whale.SplitTrain]) != 100 || !slices.Equal(shared[whale.SplitSearch], first[whale.SplitSearch]) {
		t.Errorf("shared: got %d train examples and search examples %q", len(shared[whale.SplitTrain]), shared[whale.SplitSearch])
	}
}

func TestPaperConfigValidate(t *testing.T) {
	train := map[whale.Split][]string{whale.SplitTrain: {"a.jsonl"}, whale.SplitSearch: {"b.jsonl"}}
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Repeats = "" }, `repeats: got "", want "refuse" or "drop"`},
		{func(c *Config) { c.Tool = "bash" }, `tool: got "bash", want "calculator", "python" or "sandbox_fusion"`},
		{func(c *Config) { c.Tool, c.Python.CPUSeconds = ToolPython, 0 }, "python.cpu_seconds: got 0"},
		{func(c *Config) { c.Tool = ToolFusion }, `sandbox_fusion.url: got ""`},
		{func(c *Config) { c.Verifier.Kind = "loose" }, `verifier.kind: got "loose", want "strict" or "numeric"`},
		{func(c *Config) { c.Draw.Search = 5 }, "draw.search: got 5, and draw.validation: got 0, but there are no train files"},
		{func(c *Config) { c.Draw.Search = -1 }, "draw.search: got -1, want 0 or more"},
		{func(c *Config) { *c = filesConfig(train); c.Draw.Search = 5 }, "draw.search: got 5, but files.search names files already"},
		{func(c *Config) { *c = filesConfig(train); c.Draw.Shared = true }, "draw.shared: got true without draw.search"},
	} {
		config := smallConfig()
		c.change(&config)
		if err := config.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want one with %q", err, c.want)
		}
	}
	c := filesConfig(map[whale.Split][]string{whale.SplitTrain: {write(t, t.TempDir(), "a.jsonl", `{"problem": "p", "answer": 1}`)}})
	c.Draw.Search = 1
	if _, err := New(context.Background(), c, fakeCalculator{}); err == nil || !strings.Contains(err.Error(), "to draw from 1 train examples, want fewer") {
		t.Errorf("more drawn than there is: got error %v", err)
	}
}
