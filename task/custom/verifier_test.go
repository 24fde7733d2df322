package custom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/judge"
)

const rangeSchema = `{"type": "object", "required": ["low", "high"], "additionalProperties": false,
 "properties": {"low": {"type": "integer"}, "high": {"type": "integer", "minimum": 0}}}`

// Every kind of verifier on replies that are right and wrong.
func TestVerifiers(t *testing.T) {
	for _, tc := range []struct {
		yaml       string
		references []string
		reply      string
		want       float64
		reason     string
	}{
		{"{kind: exact}", []string{"Jane Austen"}, " Jane Austen\n", 1, ""},
		{"{kind: exact}", []string{"Jane Austen"}, "jane austen", 0, ReasonWrong},
		{"{kind: exact}", []string{"x", "Jane Austen"}, "Jane Austen", 1, ""},
		{"{kind: exact}", []string{"x"}, "", 0, ReasonWrong},
		{"{kind: normalised}", []string{"The Jane Austen!"}, "jane  austen", 1, ""},
		{"{kind: normalised}", []string{"Jane Austen"}, "It was Jane Austen", 0, ReasonWrong},
		{"{kind: normalised}", []string{"A+"}, "A+ ", 1, ""},
		{"{kind: normalised}", []string{"A+"}, "a", 0, ReasonWrong},
		{"{kind: normalised}", []string{"---"}, "", 0, ReasonWrong},
		{"{kind: normalised}", []string{"---"}, "The.", 0, ReasonWrong},
		{"{kind: numeric}", []string{"18"}, "So she makes $18 a day.", 1, ""},
		{"{kind: numeric}", []string{"18"}, "18 then 19", 0, ReasonWrong},
		{"{kind: numeric}", []string{"1000"}, "It is 1,000.", 1, ""},
		{"{kind: numeric}", []string{"0.5"}, "1/2", 1, ""},
		{"{kind: numeric}", []string{"-3"}, "It is -3", 1, ""},
		{"{kind: numeric}", []string{"3"}, "pages 1-3", 1, ""},
		{"{kind: numeric}", []string{"3"}, "no idea", 0, "no number"},
		{"{kind: boxed}", []string{"18"}, `\boxed{17} no, \boxed{18.0}`, 1, ""},
		{"{kind: boxed}", []string{"18"}, `\boxed{18} no, \boxed{17}`, 0, ReasonWrong},
		{"{kind: boxed}", []string{"18"}, `\fbox{18}`, 1, ""},
		{"{kind: boxed}", []string{"18"}, "18", 0, `no \boxed{}`},
		{"{kind: boxed}", []string{"18"}, `\boxed{18`, 0, `no \boxed{}`},
		{"{kind: boxed, compare: exact}", []string{"18"}, `\boxed{18.0}`, 0, ReasonWrong},
		{"{kind: boxed, compare: normalised}", []string{"Emma"}, `\boxed{the emma.}`, 1, ""},
		{"{kind: boxed, tail_chars: 10}", []string{"18"}, `\boxed{18} and much more`, 0, `no \boxed{}`},
		{"{kind: tag}", []string{"Emma"}, "<answer>x</answer> <answer> Emma </answer>", 1, ""},
		{"{kind: tag}", []string{"Emma"}, "Emma", 0, "no <answer>"},
		{"{kind: tag}", []string{"Emma"}, "<answer>Emma</answer> <answer>", 0, "no <answer>"},
		{"{kind: tag, tag: final, compare: numeric}", []string{"5"}, "<final>5.0</final>", 1, ""},
		{"{kind: regex, pattern: '(?m)^Answer: (.*)$'}", []string{"B"}, "Answer: A\nAnswer: B\nyes", 1, ""},
		{"{kind: regex, pattern: '(?m)^Answer: (.*)$'}", []string{"B"}, "Answer: b", 0, ReasonWrong},
		{"{kind: regex, pattern: '(?m)^Answer: (.*)$', compare: normalised}", []string{"B"}, "Answer: b", 1, ""},
		{"{kind: regex, pattern: '(?m)^Answer: (.*)$'}", []string{"B"}, "B", 0, "no match of the pattern"},
		{"{kind: regex, pattern: '^[01]+$', compare: none}", []string{"-"}, "0110", 1, ""},
		{"{kind: json_schema, schema: s.json}", []string{"-"}, `{"low": 1, "high": 2}`, 1, ""},
		{"{kind: json_schema, schema: s.json}", []string{"-"}, "Here:\n```json\n{\"low\": 1, \"high\": 2}\n```\nDone.", 1, ""},
		{"{kind: json_schema, schema: s.json}", []string{"-"}, `{"low": 1, "high": -2}`, 0, "breaks the schema at /high"},
		{"{kind: json_schema, schema: s.json}", []string{"-"}, `{"low": 1, "high": 2} {}`, 0, "no valid JSON"},
		{"{kind: json_schema, schema: s.json}", []string{"-"}, `low: 1`, 0, "no valid JSON"},
		{"{kind: json_schema, schema: s.json, equal: true}", []string{`{"high": 2.0, "low": 1}`}, `{"low": 1, "high": 2}`, 1, ""},
		{"{kind: json_schema, schema: s.json, equal: true}", []string{`{"high": 3, "low": 1}`}, `{"low": 1, "high": 2}`, 0, ReasonWrong},
		{"{kind: judge, judge: {base_url: 'http://127.0.0.1:1/v1', model: m}}", []string{"Emma"}, "it is emma, I think", 1, ""},
		{"{kind: judge, judge: {base_url: 'http://127.0.0.1:1/v1', model: m}}", []string{"Emma"}, "Persuasion", 0, ReasonWrong},
		{"{kind: judge, judge: {base_url: 'http://127.0.0.1:1/v1', model: m}}", []string{"---"}, "...", 0, ReasonWrong},
		{"{kind: tag, compare: judge, judge: {base_url: 'http://127.0.0.1:1/v1', model: m}}", []string{"Emma"}, "emma", 0, "no <answer>"},
	} {
		data, err := json.Marshal(map[string]any{"question": "Which?", "answer": tc.references})
		if err != nil {
			t.Fatal(err)
		}
		if len(tc.references) == 1 {
			data, _ = json.Marshal(map[string]any{"question": "Which?", "answer": tc.references[0]})
		}
		dir := folder(t, "verifier: "+tc.yaml+"\n", "s.json", rangeSchema, "train.jsonl", string(data)+"\n")
		task := newTask(t, dir, Deps{Judge: lenient})
		x, err := task.Examples(whale.SplitTrain)
		if err != nil || len(x) != 1 {
			t.Fatalf("%s: got %d examples (%v), want 1", tc.yaml, len(x), err)
		}
		got, err := task.Verifier().Verify(t.Context(), x[0], replied(tc.reply))
		if err != nil {
			t.Errorf("%s: %q: %v", tc.yaml, tc.reply, err)
			continue
		}
		if got.Reward != tc.want || got.Reason != tc.reason {
			t.Errorf("%s: %q: got reward %v (%q), want %v (%q)", tc.yaml, tc.reply, got.Reward, got.Reason, tc.want, tc.reason)
		}
	}
}

// lenient is a judge that takes an answer for right which has a reference in it.
func lenient(context.Context, judge.Config) (Judge, error) { return lenientJudge{}, nil }

type lenientJudge struct{}

func (lenientJudge) Judge(_ context.Context, question string, references []string, got string) (judge.Outcome, error) {
	if question != "Which?" {
		return judge.Outcome{}, errors.New("the judge got another question")
	}
	for _, r := range references {
		if strings.Contains(strings.ToLower(got), strings.ToLower(r)) {
			return judge.Outcome{Correct: true}, nil
		}
	}
	return judge.Outcome{}, nil
}

func TestNoReply(t *testing.T) {
	task := newTask(t, folder(t, "verifier: {kind: exact}\n"), Deps{})
	x, _ := task.Examples(whale.SplitTrain)
	got, err := task.Verifier().Verify(t.Context(), x[0], &whale.Episode{})
	if err != nil || got.Reward != 0 || got.Reason != ReasonNoReply || got.Metrics[MetricFormat] != 0 {
		t.Errorf("got %+v (%v), want 0: %s", got, err, ReasonNoReply)
	}
}

// What a model may write as JSON costs the verifier neither much time nor memory.
func TestHostileJSON(t *testing.T) {
	schema := `{"type": ["integer", "array", "object"], "minimum": 1, "uniqueItems": true, "multipleOf": 2, "items": true}`
	task := newTask(t, folder(t, "verifier: {kind: json_schema, schema: s.json, equal: true}\n", "s.json", schema), Deps{})
	x, _ := task.Examples(whale.SplitTrain)
	var list strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&list, "%d,", i)
	}
	for name, reply := range map[string]string{
		"exponent":  "1e999999999",
		"exponents": "[1e-99999999999999999999]",
		"digits":    strings.Repeat("9", 100_000),
		"deep":      strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		"open":      strings.Repeat("[", 200_000),
		"long":      strings.Repeat(" ", 1<<20) + "[" + strings.Repeat("1,", 1<<18) + "1]",
		"many":      "[" + list.String() + "1]",
		"fences":    strings.Repeat("```\n", 100_000),
	} {
		began := time.Now()
		got, err := task.Verifier().Verify(t.Context(), x[0], replied(reply))
		if err != nil || got.Reward != 0 || got.Reason == "" {
			t.Errorf("%s: got %+v (%v), want reward 0 and a reason", name, got, err)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
}

// A schema is compiled without looking anywhere else.
func TestSchemaRefersToNothing(t *testing.T) {
	for _, schema := range []string{
		`{"$ref": "http://127.0.0.1:9/s.json"}`,
		`{"$ref": "file:///etc/passwd"}`,
		`{"$ref": "other.json"}`,
		`{"$schema": "http://127.0.0.1:9/meta.json"}`,
		`{"type": 3}`,
		`{"pattern": "("}`,
		`[`,
	} {
		dir := folder(t, "verifier: {kind: json_schema, schema: s.json}\n", "s.json", schema)
		if _, err := New(t.Context(), Config{Folder: dir}, Deps{}); err == nil || !strings.Contains(err.Error(), "schema") {
			t.Errorf("%s: got %v, want an error about the schema", schema, err)
		}
	}
	if _, err := openSchema("s.json", []byte(`{"$defs": {"n": {"type": "integer"}}, "$ref": "#/$defs/n"}`)); err != nil {
		t.Errorf("a reference inside: %v", err)
	}
}

// Whatever a verifier command does but answer properly is an error, and no failure of the episode.
func TestVerifierCommand(t *testing.T) {
	for _, tc := range []struct {
		role, reply string
		want        float64
		reason      string
		err         string
	}{
		{"right", "5", 1, "", ""},
		{"right", "6", 0, "another answer", ""},
		{"half", "5", 0, "", "no reward of 0 or 1"},
		{"unknown", "5", 0, "", `unknown field "score"`},
		{"metrics", "5", 0, "", `the metric "Bad Name"`},
		{"nothing", "5", 0, "", `no {"reward", "reason"}`},
		{"garbage", "5", 0, "", `no {"reward", "reason"}`},
		{"fail", "5", 0, "", "exit status 1"},
		{"hang", "5", 0, "", "no end within"},
		{"flood", "5", 0, "", "wrote more than"},
		{"die", "5", 0, "", "signal: killed"},
	} {
		dir := folder(t, "verifier: {kind: command, command: "+self()+"}, limits: {seconds: 2}}\n")
		if tc.role == "hang" {
			dir = folder(t, "verifier: {kind: command, command: "+self()+"}, limits: {seconds: 0.3}}\n")
		}
		task := newTask(t, dir, deps(tc.role))
		x, _ := task.Examples(whale.SplitTrain)
		got, err := task.Verifier().Verify(t.Context(), x[0], replied(tc.reply))
		if tc.err != "" {
			var incident *whale.Incident
			if err == nil || !strings.Contains(err.Error(), tc.err) || errors.As(err, &incident) {
				t.Errorf("%s: got %v, want an error with %q that is no incident", tc.role, err, tc.err)
			}
			continue
		}
		if err != nil || got.Reward != tc.want || got.Reason != tc.reason {
			t.Errorf("%s: got %+v (%v), want %v: %s", tc.role, got, err, tc.want, tc.reason)
		}
	}
	dir := folder(t, "verifier: {kind: command, command: {run: [./gone]}}\n")
	if _, err := New(t.Context(), Config{Folder: dir}, deps("")); err == nil || !strings.Contains(err.Error(), `run[0]: got "./gone", which is no file that can be executed`) {
		t.Errorf("a program that is not there: got %v", err)
	}
}

// The bytes of what a command runs are part of the task.
func TestCommandIdentity(t *testing.T) {
	id := func(script, helper string) whale.ID {
		dir := folder(t, "verifier: {kind: command, command: {run: [./v.sh], files: [h.txt]}}\n", "v.sh", script, "h.txt", helper)
		return newTask(t, dir, deps("")).ID()
	}
	first := id("#!/bin/sh\ntrue\n", "a")
	if id("#!/bin/sh\ntrue\n", "a") != first {
		t.Error("the same bytes in another folder are another task")
	}
	if id("#!/bin/sh\nfalse\n", "a") == first {
		t.Error("another script is the same task")
	}
	if id("#!/bin/sh\ntrue\n", "b") == first {
		t.Error("another helper file is the same task")
	}
}

func TestFind(t *testing.T) {
	for text, want := range map[string]string{
		"a 1, b 2.": "2", "$3.50!": "3.50", "−7": "-7", "x-7": "7", "(3)-7": "7", "1e3": "1e3", "50%": "50%", ".5": ".5", "10,000,000 people": "10,000,000", "1,23": "23",
	} {
		if got, ok := lastNumber(text); !ok || got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"x": "x", "```\na\n```\n```json\nb\n```": "b", "```\na\n```\n```\nopen": "a", "``` \n```": "", " y\n": "y",
	} {
		if got := lastBlock(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
