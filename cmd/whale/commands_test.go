package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/store"
)

// TestRunTellsAndResumeRepeats looks at what a run prints, plain and as JSON, and at a finished run that is resumed: it prints the same
// table and does nothing.
func TestRunTellsAndResumeRepeats(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := writeTest(t, dir)
	write(t, filepath.Join(dir, "h.star"), strings.TrimSuffix(testHarness, "\n")) // a diff must bear a last line without an end
	run := filepath.Join(dir, "run")
	code, table, log := command(t, "run", config, "--dir", run)
	if code != exitOK {
		t.Fatalf("got exit code %d: %s", code, log)
	}
	for _, text := range []string{table, log} {
		if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }); i >= 0 {
			t.Errorf("got a control character in %q", text[max(0, i-20):])
		}
		if !strings.HasSuffix(text, "\n") {
			t.Errorf("got output that ends in %q, want a whole line", text[max(0, len(text)-20):])
		}
	}
	for line := range strings.Lines(log) {
		if !regexp.MustCompile(`^\d+:\d\d  \S| {4}`).MatchString(line) {
			t.Errorf("got the line %q, want a time and an event", line)
		}
	}
	for _, want := range []string{"(θ0,h0)", "(θK,h0)", "(θ0,hK)", "(θK,hK)", "mean@2 over 4 examples", "total", "harness  " + run + "/harness/", "weights  " + run + "/weights/step-000003"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
	for _, want := range []string{"2 cycles, 4 steps, 2 sessions", "test after start", "step 4 ", "session 2: 2 candidates", "accepted", "test after 3-harness", "final evaluation of (θK,hK)"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}

	before := fingerprint(t, run)
	code, again, log := command(t, "resume", run, config)
	if code != exitOK || again != table {
		t.Errorf("resumed when finished: got exit code %d and\n%swant the same table\n%s", code, again, table)
	}
	if n := strings.Count(log, "(from the journal)"); n != 5+4+2+2 {
		t.Errorf("resumed when finished, %d lines come from the journal, want those of 5 curve points, 4 steps, 2 phases and the halves of 2 cycles:\n%s", n, log)
	}
	if d := differ(fingerprint(t, run), before); len(d) > 0 {
		t.Errorf("resumed when finished, the run changed: %s", d)
	}

	events := jsonLines(t, must(t, "resume", run, "--json"))
	kinds := map[string]int{}
	for _, e := range events {
		kinds[e["kind"].(string)]++
	}
	if kinds["begin"] != 1 || kinds["step"] != 4 || kinds["curve"] != 5 || kinds["accepted"] != 2 || kinds["summary"] != 1 || events[len(events)-1]["kind"] != "summary" {
		t.Errorf("got events %v, want each phase's, and the summary last", kinds)
	}
}

// jsonLines reads one JSON object a line.
func jsonLines(t *testing.T, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(text) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("got the line %q: %v", line, err)
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		t.Fatal("got no line of JSON")
	}
	return out
}

func TestHarnessCheck(t *testing.T) {
	dir := t.TempDir()
	at := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, text)
		return path
	}
	good := at("good.star", testHarness)
	syntax := at("syntax.star", "def run(task, model, env):\n    return )\n")
	name := at("name.star", "def run(task, model, env):\n    return modle.chat([])\n")
	signature := at("signature.star", "def run(task):\n    return None\n")
	binary := at("binary.star", "\x00\x01")
	large := at("large.star", strings.Repeat("# long\n", 10_000))
	other := at("other.txt", testHarness)

	if out := must(t, "harness", "check", good); !strings.HasPrefix(out, good+": fine (harness ") {
		t.Errorf("got %q", out)
	}
	for _, tc := range []struct{ file, want string }{
		{syntax, syntax + ":2:12: parse: "},
		{name, name + ":2:12: resolve: "},
		{signature, "contract: "},
		{binary, binary},
		{large, "contract: "},
		{other, other + `: file: got the extension ".txt", want .star`},
	} {
		code, out, errs := command(t, "harness", "check", good, tc.file)
		if code != exitFindings || !strings.Contains(out, tc.want) || errs != "" {
			t.Errorf("%s: got exit code %d, %q and %q, want %d and %q", tc.file, code, out, errs, exitFindings, tc.want)
		}
	}
	code, out, _ := command(t, "harness", "check", "--json", good, name)
	lines := jsonLines(t, out)
	if code != exitFindings || len(lines) != 2 || len(lines[0]["findings"].([]any)) != 0 || len(lines[1]["findings"].([]any)) != 1 {
		t.Errorf("got exit code %d and %v, want an object a file", code, lines)
	}
}

func TestHarnessRunPrintsTurns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := writeTest(t, dir, "    generator:\n", "    calculator: {steps: 100000}\n    generator:\n")
	program := func(name, body string) string {
		path := filepath.Join(dir, name)
		write(t, path, "def run(task, model, env):\n"+body)
		return path
	}
	for _, tc := range []struct {
		name, file string
		want       []string
	}{
		{"a whole episode", filepath.Join(dir, "h.star"), []string{"[user]\n    Take 19 away from 59.\n", "[reply 1]\n", "prompt tokens, ", "sampled, finish ", "scored  reward "}},
		{"a tool call", program("tool.star", "    r = env.call(\"calculator\", code = \"6*7\")\n    return model.chat([chat.user(r.text)])\n"), []string{"[user]\n    42\n", "[reply 1]", "1 tool calls"}},
		{"a tool called wrongly", program("args.star", "    reply = model.chat([chat.user(\"hi\")])\n    env.call(\"calculator\", cdoe = \"1\")\n    return reply\n"), []string{"[tool calculator]\n    {\"cdoe\":\"1\"}\n", "[tool error]\n", "code"}},
		{"a tool that is none", program("none.star", "    reply = model.chat([chat.user(\"hi\")])\n    env.call(\"search\", q = \"1\")\n    return reply\n"), []string{"[tool search]", "[tool error]\n", "search"}},
		{"an endless loop", program("loop.star", "    while True:\n        pass\n"), []string{"failed  limit:steps", " steps\n"}},
		{"an endless tool", program("slow.star", "    reply = model.chat([chat.user(\"hi\")])\n    env.call(\"calculator\", code = \"while True:\\n  pass\")\n    return reply\n"), []string{"[tool error]\n"}},
		{"an error of the program", program("raise.star", "    return [][1]\n"), []string{"failed  program", "raise.star:2:14"}},
		{"a foreign answer", program("foreign.star", "    return \"42\"\n"), []string{"failed  "}},
		{"control characters", program("control.star", "    print(\"\\x1b[2Jgone\")\n    fail(\"\\x1b]0;title\\x07\")\n"), []string{"[2Jgone", "failed  program", "title"}},
		{"nothing", program("nothing.star", "    return None\n"), []string{"scored  reward 0  no final reply", "0 model calls"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := must(t, "harness", "run", tc.file, "--config", config)
			for _, want := range tc.want {
				if !strings.Contains(out, want) {
					t.Errorf("got\n%swant %q in it", out, want)
				}
			}
			if strings.ContainsAny(out, "\x1b\x07") {
				t.Errorf("got control characters in %q", out)
			}
		})
	}
	var r whale.Rollout
	out := must(t, "harness", "run", filepath.Join(dir, "h.star"), "--config", config, "--json", "--split", "search", "--example", "1", "--draw", "3")
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Key.Draw != 3 || r.Key.Purpose != whale.PurposeTrial || r.Key.Split != whale.SplitSearch {
		t.Errorf("got %+v, %v, want the rollout of draw 3", r.Key, err)
	}
}

// TestEndlessHarnessFails runs the whole recipe on a program that never ends: its episodes fail by a limit, and the run goes on.
func TestEndlessHarnessFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := writeTest(t, dir, "limits:\n", "limits:\n  steps: 20000\n")
	write(t, filepath.Join(dir, "h.star"), "def run(task, model, env):\n    while True:\n        pass\n")
	code, out, errs := command(t, "eval", config, "--draws", "2")
	if code != exitOK || !strings.Contains(out, "mean@2: 0.0%") || !strings.Contains(out, "4 of 4 rollouts") {
		t.Errorf("eval: got exit code %d, %q and %q, want a mean of 0 and 4 failed rollouts", code, out, errs)
	}
	code, out, errs = command(t, "run", config, "--dir", filepath.Join(dir, "run"))
	if code != exitOK || !regexp.MustCompile(`\(θK,h0\) +0\.0%`).MatchString(out) || !strings.Contains(errs, "nothing to learn from: no update") {
		t.Errorf("run: got exit code %d and\n%s\n%s", code, out, errs)
	}
}

func TestEvalOfConfigAndRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := writeTest(t, dir)
	run := filepath.Join(dir, "run")
	must(t, "run", config, "--dir", run)
	var s recipe.Summary
	data, err := os.ReadFile(filepath.Join(run, "report", "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	type result struct {
		Split   string
		Weights whale.ID
		Harness whale.ID
		recipe.Result
	}
	eval := func(args ...string) (r result) {
		t.Helper()
		out := must(t, append([]string{"eval", "--json"}, args...)...)
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	check := func(what string, got result, want recipe.Pair) {
		t.Helper()
		if got.Weights != want.Weights || got.Harness != want.Harness || got.Mean != want.Mean || got.Low != want.Low || got.High != want.High {
			t.Errorf("%s: got %+v, want the run's own %+v", what, got, want)
		}
	}
	check("config", eval(config, "--split", "test", "--draws", "2"), s.Pairs[0])
	if err := os.Remove(filepath.Join(dir, "h.star")); err != nil { // the run keeps its own
		t.Fatal(err)
	}
	check("run", eval(run, "--split", "test", "--draws", "2"), s.Pairs[0])
	check("run's weights", eval(run, "--split", "test", "--draws", "2", "--model", s.Weights), s.Pairs[1])
	check("run's pair", eval(run, "--split", "test", "--draws", "2", "--model", s.Weights, "--harness", s.HarnessFile), s.Pairs[3])
	if got := eval(run, "--split", "validation", "--draws", "3", "--seed", "9"); got.Examples != 2 || got.Draws != 3 || got.Split != "validation" {
		t.Errorf("got %+v, want 2 examples with 3 draws", got)
	}
	out := must(t, "eval", run, "--draws", "1")
	if !regexp.MustCompile(`^validation, 2 examples, mean@1: +\d+\.\d% \[\d+\.\d, \d+\.\d\]  weights [0-9a-f]{8}  harness [0-9a-f]{8}\n`).MatchString(out) {
		t.Errorf("got %q", out)
	}
	if out := must(t, "model", "info", s.Weights); !strings.Contains(out, string(s.Pairs[3].Weights)) {
		t.Errorf("model info of a snapshot: got %q, want weights %s", out, s.Pairs[3].Weights)
	}
}

// TestRunNamesItsDirectory: without --dir a run is runs/NAME, or the first that is free after it.
func TestRunNamesItsDirectory(t *testing.T) {
	dir := t.TempDir()
	writeTest(t, dir, "sessions: 1", "sessions: 0", "total_epochs: 2", "total_epochs: 1")
	t.Chdir(dir)
	for _, want := range []string{"runs/tiny", "runs/tiny-2"} {
		if out := must(t, "run", "c.yaml"); !strings.Contains(out, "harness  "+filepath.Join(dir, want, "harness")+"/") {
			t.Errorf("got\n%swant the run in %s", out, want)
		}
	}
	if entries, err := os.ReadDir("runs"); err != nil || len(entries) != 2 {
		t.Errorf("got %v, %v, want two runs", entries, err)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	going, ended := context.Background(), canceled()
	for _, tc := range []struct {
		ctx  context.Context
		err  error
		want int
	}{
		{going, errors.New("something"), exitError},
		{going, &usageError{"x"}, exitUsage},
		{going, fmt.Errorf("a: %w", &recipe.ConfigError{Err: errors.New("x")}), exitUsage},
		{going, fmt.Errorf("a: %w", &recipe.InputError{Err: errors.New("x")}), exitInput},
		{going, &store.LockedError{Dir: "x"}, exitLocked},
		{going, fmt.Errorf("a: %w", store.ErrExists), exitRunDir},
		{going, store.ErrNotRun, exitRunDir},
		{going, store.ErrCorrupt, exitRunDir},
		{going, &recipe.ChangedError{}, exitRunDir},
		{going, &recipe.ReplacedError{}, exitRunDir},
		{going, fmt.Errorf("a: %w", store.ErrFull), exitDisk},
		{going, store.ErrReadOnly, exitDisk},
		{going, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, exitDisk},
		{going, errFindings, exitFindings},
		{ended, context.Canceled, exitInterrupted},
		{ended, store.ErrFull, exitDisk},
	} {
		if got := exitCode(tc.ctx, tc.err); got != tc.want {
			t.Errorf("%v: got %d, want %d", tc.err, got, tc.want)
		}
	}
	var out, errs bytes.Buffer
	a := &app{stdout: &out, stderr: &errs, now: time.Now, workers: 1}
	dir := t.TempDir()
	code := a.main(ended, []string{"run", writeTest(t, dir), "--dir", filepath.Join(dir, "run")})
	if code != exitInterrupted || !strings.HasSuffix(errs.String(), ": interrupted\n") || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("interrupted before it began: got exit code %d and %q", code, errs.String())
	}
}

func canceled() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	return ctx
}

func TestPlanAndVersion(t *testing.T) {
	t.Parallel()
	config := writeTest(t, t.TempDir())
	out := must(t, "plan", config)
	for _, want := range []string{"an epoch is 2 steps of 8 examples × 2 rollouts", "weight rollouts     64 in 4 steps", "32 at most, in 2 sessions of 2 candidates", "30 rollouts for the curve, 32 for the 2x2 of the cycles, 32 for mean@2"} {
		if !strings.Contains(out, want) {
			t.Errorf("got\n%swant %q in it", out, want)
		}
	}
	var p recipe.Plan
	if err := json.Unmarshal([]byte(must(t, "plan", config, "--json")), &p); err != nil || p.WeightRollouts != 64 || len(p.Phases) != 4 {
		t.Errorf("got %+v, %v", p, err)
	}
	if out := must(t, "version"); !strings.HasPrefix(out, "whale ") || !strings.Contains(out, "harness contract 1, kernels ") || !strings.Contains(out, "whale-tiny") {
		t.Errorf("got %q", out)
	}
	if v := jsonLines(t, must(t, "version", "--json"))[0]; v["contract"] != float64(whale.ContractVersion) {
		t.Errorf("got %v", v)
	}
	if m := jsonLines(t, must(t, "model", "info", "whale-tiny", "--json"))[0]; m["source"] != "embedded:whale-tiny" || m["parameters"].(float64) < 1e6 {
		t.Errorf("got %v", m)
	}
	help := must(t, "--help")
	for _, c := range exitCodes {
		if !strings.Contains(help, c.text) {
			t.Errorf("the help does not explain exit code %d", c.code)
		}
	}
}
