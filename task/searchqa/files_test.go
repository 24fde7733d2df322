package searchqa

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/searchqa/bm25"
	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
	"github.com/seed-095d5d2b/whale/task/searchqa/retriever"
)

// lines writes n questions of a name as JSONL.
func lines(t *testing.T, dir, name string, from, to int) string {
	t.Helper()
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, `{"question":"Question %d?","golden_answers":["answer %d","A%d"]}`+"\n", i, i, i)
	}
	return write(t, dir, name, b.String())
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// fromFiles is a configuration of files whose search is never asked.
func fromFiles(files map[whale.Split][]FileOptions) Config {
	c := DefaultConfig()
	c.Source, c.Files = SourceFiles, files
	c.Retrieval.Kind = RetrievalHTTP
	c.Retrieval.HTTP.Endpoints, c.Retrieval.HTTP.Corpus = []string{"http://127.0.0.1:1/retrieve"}, "none"
	return c
}

func ids(t *testing.T, task *Task, s whale.Split) []string {
	t.Helper()
	list, err := task.Examples(s)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, x := range list {
		out = append(out, x.ID)
	}
	return out
}

// Counts of several files are mixed, and no question is in two splits, though the splits draw on the same files and the files overlap.
func TestDraw(t *testing.T) {
	dir := t.TempDir()
	a, b := lines(t, dir, "a.jsonl", 0, 300), lines(t, dir, "b.jsonl", 250, 400)
	c := fromFiles(map[whale.Split][]FileOptions{
		whale.SplitTrain:      {{Path: a, Count: 100}, {Path: b, Count: 50}},
		whale.SplitSearch:     {{Path: a, Count: 20}, {Path: b, Count: 6}},
		whale.SplitValidation: {{Path: a}},
		whale.SplitTest:       {{Path: b, Count: 30}},
	})
	task := newTask(t, c, nil)
	owner := make(map[string]whale.Split)
	for s, want := range map[whale.Split]int{whale.SplitTrain: 150, whale.SplitSearch: 26, whale.SplitTest: 30, whale.SplitValidation: -1} {
		got := ids(t, task, s)
		if want >= 0 && len(got) != want {
			t.Errorf("%s: got %d, want %d", s, len(got), want)
		}
		for _, id := range got {
			if before, ok := owner[id]; ok {
				t.Errorf("%s: got a question of %s", s, before)
			}
			owner[id] = s
		}
	}
	rest := len(ids(t, task, whale.SplitValidation))
	if rest < 100 || rest > 180 {
		t.Errorf("validation: got %d, want what is left of 300", rest)
	}
	if n := task.Notes(); len(n) != 1 || !strings.Contains(n[0], fmt.Sprintf("left %d questions", 300-rest)) {
		t.Errorf("got notes %q, want how many were left out", n)
	}
	// The same seed draws the same, another one something else; more to train on does not change the test.
	if again := newTask(t, c, nil); again.ID() != task.ID() || !slices.Equal(ids(t, again, whale.SplitTrain), ids(t, task, whale.SplitTrain)) {
		t.Error("drawn anew, the task is another one")
	}
	more := c
	more.Files = map[whale.Split][]FileOptions{whale.SplitTrain: {{Path: a, Count: 10}}, whale.SplitTest: c.Files[whale.SplitTest]}
	if !slices.Equal(ids(t, newTask(t, more, nil), whale.SplitTest), ids(t, task, whale.SplitTest)) {
		t.Error("another training split changed the test split")
	}
	c.DrawSeed++
	if slices.Equal(ids(t, newTask(t, c, nil), whale.SplitTest), ids(t, task, whale.SplitTest)) {
		t.Error("another seed drew the same")
	}
}

func TestRows(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "mixed.jsonl", `
{"data_source":"nq","prompt":[{"content":"Answer this: who?","role":"user"}],"reward_model":{"ground_truth":{"target":["Ann","Bob"]}},"extra_info":{"question":"Who?"}}
{"question":"What year?","answer":1999}
{"question":"Where?","answers":["The Velmo","the velmo."]}
{"question":" where? ","answers":["Rost"]}
{"question":"WHERE?","answers":["rost"]}
`)
	task := newTask(t, fromFiles(map[whale.Split][]FileOptions{whale.SplitTest: {{Path: path}}}), nil)
	list, err := task.Examples(whale.SplitTest)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, x := range list {
		got[x.View["question"]] = strings.Join(references(x), "|") + "@" + filepath.Base(x.Meta[MetaSource])
	}
	want := map[string]string{"Who?": "Ann|Bob@nq", "What year?": "1999@mixed.jsonl", "Where?": "The Velmo|the velmo.|Rost@mixed.jsonl"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := task.Notes(); len(n) != 1 || !strings.Contains(n[0], "2 rows repeat a question; 1 of them added answers") {
		t.Errorf("got notes %q", n)
	}
	csv := write(t, dir, "q.csv", "q,a\nWho?,Ann\nWhere?,Velmo\n")
	c := fromFiles(map[whale.Split][]FileOptions{whale.SplitTest: {{Path: csv}}})
	c.Fields = FieldOptions{Question: []string{"q"}, Answers: []string{"a"}}
	if got := ids(t, newTask(t, c, nil), whale.SplitTest); len(got) != 2 {
		t.Errorf("CSV: got %d", len(got))
	}
}

// An error names the key, the file and the row.
func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	good := lines(t, dir, "good.jsonl", 0, 10)
	for _, tc := range []struct {
		name, text, err string
	}{
		{"absent.jsonl", "-", "no such file"},
		{"empty.jsonl", "", "got no questions"},
		{"q.txt", "x", "unknown kind"},
		{"bad.jsonl", `{"question":"x"`, "row 1"},
		{"noanswer.jsonl", `{"question":"x"}` + "\n", "row 1: answers: "},
		{"noquestion.jsonl", `{"answer":"x"}` + "\n", "row 1: question: "},
		{"long.jsonl", `{"question":"` + strings.Repeat("x", maxQuestion+1) + `","answer":"x"}` + "\n", "got 10001 bytes"},
		{"nothing.jsonl", `{"question":"x","answer":" "}` + "\n", "of which 0 are not empty"},
		{"many.jsonl", `{"question":"x","answers":[` + strings.Repeat(`"x",`, maxAnswers) + `"x"]}` + "\n", "want 1 to 1000"},
		{"object.jsonl", `{"question":"x","answer":{"a":1}}` + "\n", "row 1: answers"},
	} {
		path := filepath.Join(dir, tc.name)
		if tc.text != "-" {
			write(t, dir, tc.name, tc.text)
		}
		_, err := New(t.Context(), fromFiles(map[whale.Split][]FileOptions{whale.SplitTrain: {{Path: good, Count: 1}, {Path: path, Count: 1}}}), nil)
		if err == nil || !strings.Contains(err.Error(), "files.train[1]") || !strings.Contains(err.Error(), tc.err) || !strings.Contains(err.Error(), tc.name) {
			t.Errorf("%s: got %v, want an error about files.train[1] with %q", tc.name, err, tc.err)
		}
	}
	_, err := New(t.Context(), fromFiles(map[whale.Split][]FileOptions{whale.SplitTrain: {{Path: good, Count: 8}}, whale.SplitTest: {{Path: good, Count: 3}}}), nil)
	if err == nil || !strings.Contains(err.Error(), "files.train[0]") || !strings.Contains(err.Error(), "want 8 that are in none") {
		t.Errorf("too few: got %v", err)
	}
	_, err = New(t.Context(), fromFiles(map[whale.Split][]FileOptions{whale.SplitTrain: {{Path: good}}, whale.SplitTest: {{Path: good}}}), nil)
	if err == nil || !strings.Contains(err.Error(), "no question that no split has taken") {
		t.Errorf("all twice: got %v", err)
	}
}

// Corpus file → index on disk → server → client → tool: the whole of it on one machine.
func TestOneMachine(t *testing.T) {
	dir := t.TempDir()
	wiki := write(t, dir, "wiki.jsonl", `{"id":"1","contents":"\"Velmo\"\nVelmo is a town on the river Osk."}
{"id":"2","title":"Rost","text":"Rost is a town in the hills."}
`)
	folder := filepath.Join(dir, "index")
	in, err := corpus.Open(wiki)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := bm25.Build(t.Context(), folder, in.Next, bm25.BuildOptions{Analyzer: bm25.English}); err != nil {
		t.Fatal(err)
	}
	index, err := bm25.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	address, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		ended <- retriever.Serve(ctx, "127.0.0.1:0", index, retriever.ServerOptions{Listening: func(a net.Addr) { address <- a }})
	}()
	questions := write(t, dir, "q.jsonl", `{"question":"Which river flows through Velmo?","answer":"Osk"}`+"\n")
	c := fromFiles(map[whale.Split][]FileOptions{whale.SplitTest: {{Path: questions}}})
	c.Retrieval.HTTP.Endpoints = []string{"http://" + (<-address).String() + "/retrieve"}
	over := newTask(t, c, nil)
	c.Retrieval = RetrievalOptions{Kind: RetrievalIndex, Index: folder}
	direct := newTask(t, c, nil)
	for name, task := range map[string]*Task{"over HTTP": over, "from the folder": direct} {
		r, err := newEnv(t, task).Call(t.Context(), "search", args(t, `{"query":"Which rivers flow through Velmo?"}`))
		if err != nil || r.Text != "Velmo: Velmo is a town on the river Osk." {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// An episode of a file's question whose retriever is gone meets an error, not an empty result.
func TestNobodyAnswers(t *testing.T) {
	dir := t.TempDir()
	c := fromFiles(map[whale.Split][]FileOptions{whale.SplitTest: {{Path: lines(t, dir, "a.jsonl", 0, 3)}}})
	c.Retrieval.HTTP.Retries, c.Retrieval.HTTP.PauseSeconds = 1, 0.001
	if r, err := newEnv(t, newTask(t, c, nil)).Call(t.Context(), "search", args(t, `{"query":"x"}`)); err == nil {
		t.Errorf("got %+v and no error", r)
	}
}

var _ Retriever = (*bm25.Index)(nil)
var _ Retriever = (*retriever.Client)(nil)
var _ retriever.Searcher = (*bm25.Index)(nil)
