package custom

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	whale "github.com/seed-095d5d2b/whale"
)

const exact = "verifier: {kind: exact}\n"

// manifestOf is a manifest with other data.
func manifestOf(data string) string {
	return strings.Replace(head, "{splits: {train: [train.jsonl]}}", data, 1) + exact
}

func texts(t *testing.T, task *Task, s whale.Split) []string {
	t.Helper()
	list, err := task.Examples(s)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, x := range list {
		out = append(out, x.View["question"])
	}
	return out
}

// Rows of all formats give the same examples, and nested fields are found.
func TestFormats(t *testing.T) {
	dir := write(t, map[string]string{
		"h0.star": "", "a.jsonl": `{"extra": {"q": "one?"}, "prompt": [{"content": "c1"}], "ans": 1, "choices": ["x", "y"]}` + "\n",
		"b.csv": "extra.q,\"prompt[0].content\",ans,choices\ntwo?,c2,2,z\n",
		"task.yaml": `
name: formats
about: Questions.
data: {splits: {train: [a.jsonl, b.csv]}}
view: {question: extra.q, context: "prompt[0].content", choices: choices}
answer: [ans]
verifier: {kind: numeric}
meta: {note: nothing.here}
`,
	})
	task := newTask(t, dir, Deps{})
	list, _ := task.Examples(whale.SplitTrain)
	if len(list) != 2 {
		t.Fatalf("got %d examples, want 2", len(list))
	}
	want := []map[string]string{{"question": "one?", "context": "c1", "choices": `["x","y"]`}, {"question": "two?", "context": "c2", "choices": "z"}}
	for i, x := range list {
		if !maps.Equal(x.View, want[i]) {
			t.Errorf("example %d: got %v, want %v", i, x.View, want[i])
		}
		if got, err := task.Verifier().Verify(t.Context(), x, replied(fmt.Sprint(i+1))); err != nil || got.Reward != 1 {
			t.Errorf("example %d: got %+v (%v), want reward 1", i, got, err)
		}
	}
	if list[0].ID == list[1].ID || len(list[0].ID) != 32 {
		t.Errorf("got ids %q and %q, want two hashes", list[0].ID, list[1].ID)
	}
}

// What rows may not be, with the row that is to blame.
func TestBadRows(t *testing.T) {
	for _, tc := range []struct{ rows, want string }{
		{`{"question": "a", "answer": "1"}` + "\n" + `{"question": "b"}`, `row 2: answer: field "answer": not there (fields: question)`},
		{`{"question": "a", "answer": []}`, "row 1: answer: field"},
		{`{"question": "a", "answer": {"x": 1}}`, "row 1: answer: field"},
		{`{"question": "a", "answer": " "}`, "row 1: answer: got an empty reference answer"},
		{`{"question": " ", "answer": "1"}`, "row 1: view.question: field \"question\": got an empty text"},
		{`{"question": null, "answer": "1"}`, "row 1: view.question"},
		{`{"Question": "a", "answer": "1"}`, "row 1: view.question: field \"question\": not there (fields: Question, answer)"},
		{`{"question": "a", "answer": "1"}` + "\n" + `{"question": "a", "answer": "2"}`, "row 2: repeats"},
		{"{\n", "row 1"},
	} {
		dir := folder(t, exact, "train.jsonl", tc.rows+"\n")
		if _, err := New(t.Context(), Config{Folder: dir}, Deps{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.rows, err, tc.want)
		}
	}
	// Within the share that may be bad, they are left out and told.
	dir := folder(t, exact, "task.yaml", manifestOf("{splits: {train: [train.jsonl]}, bad_share: 0.5}"), "train.jsonl", `{"question": "b"}`+"\n"+rowsText)
	task := newTask(t, dir, Deps{})
	if n := task.Notes(); len(n) != 1 || !strings.Contains(n[0], "skipped 1 bad rows of 3: row 1") {
		t.Errorf("notes: got %q, want the skipped row", n)
	}
	if got := texts(t, task, whale.SplitTrain); len(got) != 2 {
		t.Errorf("got %d examples, want 2", len(got))
	}
}

// A field that rows may leave out is then empty, and the others must be there.
func TestOptional(t *testing.T) {
	yaml := strings.Replace(head, "{question: question}", "{question: question, context: context}", 1) + exact
	rows := `{"question": "a", "answer": "1"}` + "\n" + `{"question": "b", "answer": "1", "context": ""}` + "\n" + `{"question": "c", "answer": "1", "context": "here"}` + "\n"
	task := newTask(t, folder(t, "", "task.yaml", yaml+"optional: [context]\n", "train.jsonl", rows), Deps{})
	var got []string
	list, _ := task.Examples(whale.SplitTrain)
	for _, x := range list {
		got = append(got, x.View["question"]+"/"+x.View["context"])
	}
	if s := strings.Join(got, " "); s != "a/ b/ c/here" {
		t.Errorf("got %s", s)
	}
	if _, err := New(t.Context(), Config{Folder: folder(t, "", "task.yaml", yaml, "train.jsonl", rows)}, Deps{}); err == nil || !strings.Contains(err.Error(), "row 1: view.context") {
		t.Errorf("not optional: got %v", err)
	}
}

func TestIDs(t *testing.T) {
	rows := `{"id": 7, "question": "a", "answer": "1"}` + "\n" + `{"id": 8, "question": "b", "answer": "1"}` + "\n"
	yaml := head + exact + "id: id\n"
	task := newTask(t, folder(t, "", "task.yaml", yaml, "train.jsonl", rows), Deps{})
	if list, _ := task.Examples(whale.SplitTrain); list[0].ID != "7" || list[1].ID != "8" {
		t.Errorf("got ids %q, %q, want 7 and 8", list[0].ID, list[1].ID)
	}
	twice := folder(t, "", "task.yaml", yaml, "train.jsonl", strings.Replace(rows, "8", "7", 1))
	if _, err := New(t.Context(), Config{Folder: twice}, Deps{}); err == nil || !strings.Contains(err.Error(), `row 2: has the id "7"`) {
		t.Errorf("an id twice: got %v", err)
	}
	without := folder(t, "", "task.yaml", yaml)
	if _, err := New(t.Context(), Config{Folder: without}, Deps{}); err == nil || !strings.Contains(err.Error(), "row 1: id: field") {
		t.Errorf("no id: got %v", err)
	}
}

// No example is in two splits, however it is written.
func TestOverlap(t *testing.T) {
	data := "{splits: {train: [train.jsonl], test: [test.jsonl]}}"
	for same, refused := range map[string]bool{
		`{"question": "What is 2 + 3?", "answer": "5"}`:   true,
		`{"question": "what is  2 + 3?", "answer": "5"}`:  true,
		`{"question": "What is 2 + 3", "answer": "five"}`: false,
	} {
		dir := folder(t, "", "task.yaml", manifestOf(data), "test.jsonl", same+"\n")
		_, err := New(t.Context(), Config{Folder: dir}, Deps{})
		if refused != (err != nil) || err != nil && !strings.Contains(err.Error(), "test.jsonl:row 1: the same") {
			t.Errorf("%s: got %v, want refused: %v", same, err, refused)
		}
	}
	// Where case means something it can be told so.
	dir := folder(t, "", "task.yaml", manifestOf("{splits: {train: [train.jsonl], test: [test.jsonl]}, same: exact}"),
		"test.jsonl", `{"question": "WHAT is 2 + 3?", "answer": "5"}`+"\n")
	newTask(t, dir, Deps{})
}

// Divided files: every example in one split, the same one whatever the order of the rows.
func TestDivide(t *testing.T) {
	draws := 0
	rapid.Check(t, func(r *rapid.T) {
		if draws++; draws > 40 {
			return // each writes and reads two folders
		}
		n := rapid.IntRange(4, 40).Draw(r, "rows")
		order := rapid.Permutation(seq(n)).Draw(r, "order")
		seed := rapid.Uint64Range(0, 1<<60).Draw(r, "seed")
		byCount := rapid.Bool().Draw(r, "counts")
		how := "percent: {train: 50, search: 20, test: 30}"
		if byCount {
			how = fmt.Sprintf("counts: {train: %d, test: 1}", n/2)
		}
		place := func(order []int) map[string]whale.Split {
			var b strings.Builder
			for _, i := range order {
				fmt.Fprintf(&b, "{\"question\": \"number %d?\", \"answer\": \"%d\"}\n", i, i)
			}
			data := fmt.Sprintf("{divide: {files: [train.jsonl], seed: %d, %s}}", seed, how)
			task := newTask(t, folder(t, "", "task.yaml", manifestOf(data), "train.jsonl", b.String()), Deps{})
			out := map[string]whale.Split{}
			for _, s := range splits() {
				for _, text := range texts(t, task, s) {
					if _, ok := out[text]; ok {
						r.Fatalf("%s is in two splits", text)
					}
					out[text] = s
				}
			}
			if byCount && (len(texts(t, task, whale.SplitTrain)) != n/2 || len(texts(t, task, whale.SplitTest)) != 1) {
				r.Fatalf("got %d and %d examples, want %d and 1", len(texts(t, task, whale.SplitTrain)), len(texts(t, task, whale.SplitTest)), n/2)
			}
			if !byCount && len(out) != n {
				r.Fatalf("got %d examples, want %d", len(out), n)
			}
			return out
		}
		if a, b := place(seq(n)), place(order); !maps.Equal(a, b) {
			r.Fatalf("another order of rows gives other splits: %v, %v", a, b)
		}
	})
}

func seq(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestDivideTooFew(t *testing.T) {
	dir := folder(t, "", "task.yaml", manifestOf("{divide: {files: [train.jsonl], counts: {train: 2, test: 1}}}"))
	if _, err := New(t.Context(), Config{Folder: dir}, Deps{}); err == nil || !strings.Contains(err.Error(), "counts.test: got 1, but only 0") {
		t.Errorf("got %v, want an error about counts.test", err)
	}
}

// The data's folder may be named by a variable.
func TestRootEnv(t *testing.T) {
	data := write(t, map[string]string{"sub/train.jsonl": rowsText})
	dir := write(t, map[string]string{"h0.star": "", "task.yaml": manifestOf("{root_env: MY_DATA, root: sub, splits: {train: [train.jsonl]}}")})
	if _, err := New(t.Context(), Config{Folder: dir}, Deps{}); err == nil || !strings.Contains(err.Error(), "MY_DATA is not set") {
		t.Errorf("unset: got %v", err)
	}
	task := newTask(t, dir, Deps{Getenv: func(name string) string { return map[string]string{"MY_DATA": data}[name] }})
	if got := texts(t, task, whale.SplitTrain); len(got) != 2 {
		t.Errorf("got %d examples, want 2", len(got))
	}
	// Where the data lies is no part of the task.
	here := newTask(t, folder(t, exact), Deps{})
	if here.ID() != task.ID() {
		t.Error("the same data elsewhere is another task")
	}
}

// What an agent, or a verdict, depends on changes the identity; what it does not, does not.
func TestIdentity(t *testing.T) {
	id := func(yaml, rows string) whale.ID {
		return newTask(t, folder(t, yaml, "train.jsonl", rows), Deps{Getenv: deps("").Getenv}).ID()
	}
	first := id(exact, rowsText)
	for name, same := range map[string]whale.ID{
		"again":       id(exact, rowsText),
		"blank lines": id(exact, "\n"+rowsText),
		"bounds":      id(exact+"harness: ./h0.star\n", rowsText),
	} {
		if same != first {
			t.Errorf("%s: got another id", name)
		}
	}
	tool := "tools: [{name: x, description: d, command: {run: [sh, -c, cat]}}]\n"
	seen := map[whale.ID]string{first: "the first"}
	for name, other := range map[string]whale.ID{
		"answer":     id(exact, strings.Replace(rowsText, `"5"`, `"6"`, 1)),
		"question":   id(exact, strings.Replace(rowsText, "2 + 3", "2 + 4", 1)),
		"verifier":   id("verifier: {kind: normalised}\n", rowsText),
		"tool":       id(exact+tool, rowsText),
		"tool limit": id(exact+strings.Replace(tool, "description", "limits: {seconds: 3}, description", 1), rowsText),
		"authored":   id(exact+strings.Replace(tool, "description", "parameters: [{name: a, type: string}], authored: [a], description", 1), rowsText),
		"rules":      id(exact+"rules: {fold: [lower]}\n", rowsText),
	} {
		if before, ok := seen[other]; ok {
			t.Errorf("%s: got the id of %s", name, before)
		}
		seen[other] = name
	}
}

// A repetition within a split is dropped and counted; a bound on memory is kept.
func TestRepetitionAndBound(t *testing.T) {
	task := newTask(t, folder(t, exact, "train.jsonl", rowsText+rowsText), Deps{})
	if got := texts(t, task, whale.SplitTrain); len(got) != 2 || !slices.ContainsFunc(task.Notes(), func(s string) bool { return strings.Contains(s, "dropped 2 rows") }) {
		t.Errorf("got %d examples and notes %q, want 2 and a note", len(got), task.Notes())
	}
	var b strings.Builder
	for i := range 40 {
		text, _ := json.Marshal(strings.Repeat("x", 50_000) + fmt.Sprint(i))
		fmt.Fprintf(&b, "{\"question\": %s, \"answer\": \"1\"}\n", text)
	}
	dir := folder(t, "", "task.yaml", manifestOf("{splits: {train: [train.jsonl]}, mib: 1}"), "train.jsonl", b.String())
	if _, err := New(t.Context(), Config{Folder: dir}, Deps{}); err == nil || !strings.Contains(err.Error(), "data.mib") {
		t.Errorf("2 MB of examples in 1 MiB: got %v", err)
	}
}

func TestHarnessFile(t *testing.T) {
	dir := folder(t, exact)
	if got := newTask(t, dir, Deps{}).HarnessFile(); got != filepath.Join(dir, "h0.star") {
		t.Errorf("got %q", got)
	}
}
