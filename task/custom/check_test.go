package custom

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/answer"
	"github.com/seed-095d5d2b/whale/task/judge"
)

// A check tells all that is wrong with the data, each with its file and row.
func TestCheckProblems(t *testing.T) {
	data := "{splits: {train: [train.jsonl], test: [test.jsonl, gone.jsonl]}}"
	dir := folder(t, "", "task.yaml", strings.Replace(manifestOf(data), "kind: exact", "kind: numeric", 1),
		"train.jsonl", rowsText+`{"question": "no answer"}`+"\n{\n"+`{"question": "Is it a cat?", "answer": "1"}`+"\n",
		"test.jsonl", `{"question": "what is 2 + 3?", "answer": "5"}`+"\n"+`{"question": "Is it cat", "answer": "1"}`+"\n"+`{"question": "7", "answer": "7"}`+"\n")
	r, err := Check(t.Context(), Config{Folder: dir}, Deps{}, CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := r.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`/train.jsonl:row 3: answer: field "answer": not there (fields: question)`,
		`/train.jsonl: skipped 1 bad rows of 5: row 4`,
		`problem: ` + dir + `/test.jsonl:row 1: the same but for case and white space as ` + dir + `/train.jsonl:row 1, which is of split train; this is of split test`,
		`/gone.jsonl: data: not there`,
		`warning: ` + dir + `/test.jsonl:row 2: of split test, differs from ` + dir + `/train.jsonl:row 5, of split train, in punctuation or articles alone`,
		`/train.jsonl:row 2: the verifier does not take the reference answer "Jane Austen" for right: no number`,
		`/test.jsonl:row 3: view.question, field "question", is the reference answer`,
		"warning: split search has no examples",
		"split train: 3 examples",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got\n%s\nwant %s", out.String(), want)
		}
	}
	if r.OK() || strings.Contains(out.String(), "\nok\n") {
		t.Error("got ok")
	}
}

func TestCheckVerifier(t *testing.T) {
	for _, tc := range []struct{ yaml, want string }{
		{"verifier: {kind: regex, pattern: '', compare: none}\n", ""},
		{"verifier: {kind: regex, pattern: '.*', compare: none}\n", "the verifier takes an empty reply for right"},
		{"verifier: {kind: tag, reply: '{answer}'}\n", "does not take the reference answer \"5\" for right: no <answer>"},
		{"verifier: {kind: json_schema, schema: s.json, equal: true}\n", "for right: breaks the schema"},
		{"verifier: {kind: command, command: " + self() + "}}\n", "the verifier failed on the reference answer: custom: verifier: command: exit status 1"},
	} {
		if strings.Contains(tc.yaml, "''") {
			continue // refused before
		}
		dir := folder(t, tc.yaml, "s.json", rangeSchema)
		r, err := Check(t.Context(), Config{Folder: dir}, deps("fail"), CheckOptions{})
		if err != nil {
			t.Errorf("%s: %v", tc.yaml, err)
			continue
		}
		found := false
		for _, p := range r.Problems {
			found = found || strings.Contains(p.String(), tc.want)
		}
		if !found {
			t.Errorf("%s: got %v, want %s", tc.yaml, r.Problems, tc.want)
		}
	}
	// What cannot be tried is said.
	r, err := Check(t.Context(), Config{Folder: folder(t, "verifier: {kind: regex, pattern: 'x(.*)'}\n")}, Deps{}, CheckOptions{})
	if err != nil || !r.OK() || r.Verified != 0 || r.Skipped == "" {
		t.Errorf("a regular expression without a right reply: got %+v (%v)", r, err)
	}
	// A judge that is not there is told of, since exact match stands in for it.
	r, err = Check(t.Context(), Config{Folder: folder(t, "verifier: {kind: judge, judge: {base_url: 'http://127.0.0.1:1/v1', model: m}}\n")}, Deps{Judge: absent}, CheckOptions{})
	if err != nil || !r.OK() || !slices.ContainsFunc(r.Warnings, func(p Problem) bool { return strings.Contains(p.Text, "gave no judgement") }) {
		t.Errorf("no judge: got %+v (%v), want a warning", r, err)
	}
	// What costs is tried on some.
	dir := folder(t, "verifier: {kind: command, command: "+self()+"}}\n")
	r, err = Check(t.Context(), Config{Folder: dir}, deps("right"), CheckOptions{Costly: 1})
	if err != nil || !r.OK() || r.Verified != 1 || !strings.Contains(r.Skipped, "1 of 2 were tried") {
		t.Errorf("a command: got %+v (%v)", r, err)
	}
}

// absent is a judge that gives no judgement.
func absent(context.Context, judge.Config) (Judge, error) { return absentJudge{}, nil }

type absentJudge struct{}

func (absentJudge) Judge(_ context.Context, _ string, references []string, got string) (judge.Outcome, error) {
	right := answer.ExactMatch(got, references)
	return judge.Outcome{Correct: right, Exact: right, Fallback: true}, nil
}

// Episodes are run by the caller, and what their harness did wrong is a problem.
func TestCheckEpisodes(t *testing.T) {
	dir := folder(t, exact)
	var ran []string
	rollout := whale.Rollout{State: whale.StateScored, Verdict: whale.Verdict{Reason: ReasonWrong}}
	o := CheckOptions{Episodes: 3, Run: func(_ context.Context, task *Task, s whale.Split, x whale.Example) (*whale.Rollout, error) {
		ran = append(ran, string(s)+" "+x.View["question"])
		r := rollout
		return &r, nil
	}}
	r, err := Check(t.Context(), Config{Folder: dir}, Deps{}, o)
	if err != nil || !r.OK() || len(r.Episodes) != 2 || strings.Join(ran, "; ") != "train What is 2 + 3?; train Who wrote Emma?" {
		t.Errorf("got %+v (%v), ran %q", r, err, ran)
	}
	rollout = whale.Rollout{State: whale.StateFailed, Episode: whale.Episode{Failure: &whale.Failure{Reason: whale.FailProgram, Detail: "line 3: no such name"}}}
	if r, err := Check(t.Context(), Config{Folder: dir}, Deps{}, o); err != nil || r.OK() || !strings.Contains(r.Problems[0].Text, "line 3") {
		t.Errorf("a broken harness: got %+v (%v)", r, err)
	}
	rollout = whale.Rollout{State: whale.StateFailed, Episode: whale.Episode{Failure: &whale.Failure{Reason: whale.FailTokens}}}
	if r, err := Check(t.Context(), Config{Folder: dir}, Deps{}, o); err != nil || !r.OK() {
		t.Errorf("a model that rambles: got %+v (%v)", r, err)
	}
	o.Run = func(context.Context, *Task, whale.Split, whale.Example) (*whale.Rollout, error) {
		return nil, errors.New("no model")
	}
	if _, err := Check(t.Context(), Config{Folder: dir}, Deps{}, o); err == nil || !strings.Contains(err.Error(), "no model") {
		t.Errorf("got %v, want the caller's error", err)
	}
}

// A report does not grow with the number of rows that are wrong.
func TestReportBounded(t *testing.T) {
	dir := folder(t, exact, "train.jsonl", rowsText+strings.Repeat(`{"question": "x"}`+"\n", 1000))
	r, err := Check(t.Context(), Config{Folder: dir}, Deps{}, CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := r.WriteTo(&out); err != nil || len(r.Problems) != mostProblems || !strings.Contains(out.String(), "problem: and 800 more") {
		t.Errorf("got %d problems (%v), want %d and a count", len(r.Problems), err, mostProblems)
	}
}

// Show tells what an agent sees, and answers only where they are asked for.
func TestShow(t *testing.T) {
	task := newTask(t, folder(t, exact+"tools: [{name: t, description: Looks up., authored: [word], "+parameters+", command: {run: [sh]}}]\n",
		"train.jsonl", rowsText+`{"question": "bell `+`\u0007`+strings.Repeat("x", 1000)+`", "answer": "1"}`+"\n"), deps(""))
	show := func(o ShowOptions) string {
		var out bytes.Buffer
		if err := task.Show(&out, o); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	all := show(ShowOptions{})
	for _, want := range []string{"split train: 3 examples", "question: What is 2 + 3?", "tool t(word: string (authored), n: integer?)", "Tool: env.call(\"t\", word = …, n = …): Looks up.", "… (1006 bytes)"} {
		if !strings.Contains(all, want) {
			t.Errorf("got\n%s\nwant %s", all, want)
		}
	}
	if strings.Contains(all, "answer: ") || strings.Contains(all, "\a") {
		t.Errorf("got an answer or a bell in\n%s", all)
	}
	if got := show(ShowOptions{Example: 2, Answers: true}); !strings.Contains(got, "answer: Austen") || strings.Contains(got, "2 + 3") {
		t.Errorf("example 2: got\n%s", got)
	}
	var out bytes.Buffer
	for _, o := range []ShowOptions{{Example: 4}, {Example: -1}, {Split: "dev"}, {Split: "test", Example: 1}} {
		if err := task.Show(&out, o); err == nil {
			t.Errorf("%+v: got no error", o)
		}
	}
	if s := task.Summary(); s.Splits[whale.SplitTrain] != 3 || s.Tools[0].Name != "t" || s.Verifier != "exact" {
		t.Errorf("summary: got %+v", s)
	}
}
