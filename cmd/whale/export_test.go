package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// evaluated is what whale eval --json says.
type evaluated struct {
	Task, Weights, Harness string
	Mean                   float64
	Examples, Draws        int
}

func evaluate(t *testing.T, args ...string) (e evaluated) {
	t.Helper()
	out := must(t, append([]string{"eval", "--split", "test", "--draws", "2", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &e); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return e
}

// TestExportAndEval: a run's pairs can be exported and evaluated by every name that they have, and score what the run's own table says.
func TestExportAndEval(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := writeTest(t, dir)
	run := filepath.Join(dir, "run")
	must(t, "run", config, "--dir", run)
	var summary struct {
		Pairs []struct {
			Name, Weights, Harness string
			Mean                   float64
		}
	}
	data, err := os.ReadFile(filepath.Join(run, "report", "summary.json"))
	if err == nil {
		err = json.Unmarshal(data, &summary)
	}
	if err != nil {
		t.Fatal(err)
	}
	pairs := map[string]evaluated{}
	for _, p := range summary.Pairs {
		pairs[p.Name] = evaluated{Weights: p.Weights, Harness: p.Harness, Mean: p.Mean}
	}
	hf, gguf := filepath.Join(dir, "hf"), filepath.Join(dir, "gguf")
	out := must(t, "export", run, "--out", hf)
	for _, want := range []string{hf + "\n", "  README.md\n", "  model.safetensors\n", "weights  " + pairs["(θK,hK)"].Weights + ", after 4 rollout steps (final)", "harness  " + pairs["(θK,hK)"].Harness} {
		if !strings.Contains(out, want) {
			t.Errorf("export: got\n%swant %q in it", out, want)
		}
	}
	if r := jsonLines(t, must(t, "export", run, "--format", "gguf", "--out", gguf, "--json"))[0]; r["dir"] != gguf || r["stored"] != pairs["(θK,hK)"].Weights || r["finished"] != true {
		t.Errorf("export --json: got %v", r)
	}
	id := pairs["(θK,hK)"].Harness
	for _, tc := range []struct {
		pair string
		args []string
	}{
		{"(θ0,h0)", []string{run}},
		{"(θ0,h0)", []string{run + "@start"}},
		{"(θ0,h0)", []string{config}},
		{"(θK,hK)", []string{run + "@final"}},
		{"(θK,hK)", []string{run + "@latest"}},
		{"(θK,hK)", []string{run + "@cycle1"}},
		{"(θK,hK)", []string{run + "@3-harness"}},
		{"(θK,hK)", []string{hf}},
		{"(θK,hK)", []string{gguf}},
		{"(θK,hK)", []string{config, "--model", run, "--harness", run}},
		{"(θK,hK)", []string{config, "--model", hf, "--harness", hf}},
		{"(θK,hK)", []string{config, "--model", gguf, "--harness", run + "@cycle1"}},
		{"(θK,hK)", []string{config, "--model", filepath.Join(gguf, "model.gguf"), "--harness", filepath.Join(run, "harness", id)}},
		{"(θK,hK)", []string{config, "--model", filepath.Join(run, "weights", "step-000003"), "--harness", filepath.Join(run, "harness", id+".star")}},
		{"(θ0,hK)", []string{config, "--harness", run + "@" + id[:8]}},
		{"(θ0,hK)", []string{run, "--harness", id}},
		{"(θ0,hK)", []string{run + "@final", "--model", "whale-tiny"}},
		{"(θK,h0)", []string{run, "--model", run + "@step-000003"}},
		{"(θK,h0)", []string{run + "@final", "--harness", filepath.Join(dir, "h.star")}},
	} {
		got, want := evaluate(t, tc.args...), pairs[tc.pair]
		if got.Weights != want.Weights || got.Harness != want.Harness || got.Mean != want.Mean || got.Examples != 4 {
			t.Errorf("eval %v: got %+v, want %s of the run's table, %+v", tc.args, got, tc.pair, want)
		}
	}

	other := filepath.Join(dir, "other.yaml")
	write(t, other, strings.Replace(testConfig, "seed: 11", "seed: 12", 1))
	mine, theirs := evaluate(t, run+"@final"), evaluate(t, run+"@final", "--task", other)
	if mine.Task == theirs.Task || theirs.Task != evaluate(t, other).Task || theirs.Weights != mine.Weights || theirs.Harness != mine.Harness {
		t.Errorf("--task: got %+v, want the task of %s and the pair of %+v", theirs, other, mine)
	}

	for _, tc := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"eval", run + "@cycle7"}, exitInput, []string{`got no moment "cycle7"`, "there are start, 0-weight, 1-harness, cycle0, 2-weight, 3-harness, cycle1, final, step-000000 to step-000003"}},
		{[]string{"eval", config, "--model", run + "@nothing"}, exitInput, []string{"--model: ", `got no moment "nothing"`, "cycle1"}},
		{[]string{"eval", config, "--harness", run + "@feed"}, exitInput, []string{"--harness: ", `got no moment "feed"`, `got 0 harnesses whose id begins with "feed"`, id}},
		{[]string{"eval", run, "--harness", "nothing.star"}, exitInput, []string{`"nothing.star"`, id}},
		{[]string{"eval", config, "--harness", "nothing.star"}, exitInput, []string{"harness nothing.star: no such file, want the path of a program, a run, RUN@MOMENT"}},
		{[]string{"eval", config, "--harness", dir}, exitInput, []string{"got a folder, want a program, a run, or a folder of whale export"}},
		{[]string{"eval", config, "--model", filepath.Join(dir, "nothing@final")}, exitInput, []string{"no such embedded model or folder", "whale-tiny"}},
		{[]string{"eval", config, "--task", filepath.Join(dir, "nothing.yaml")}, exitUsage, []string{"--task: ", "nothing.yaml"}},
		{[]string{"export", run, "--out", hf}, exitUsage, []string{hf + " is there already"}},
		{[]string{"export", run, "--out", filepath.Join(dir, "x"), "--format", "peft"}, exitUsage, []string{"the run trains all weights"}},
		{[]string{"export", run, "--out", filepath.Join(dir, "x"), "--type", "q4"}, exitUsage, []string{`type: got "q4", want one of f32, bf16`}},
		{[]string{"export", run, "--out", filepath.Join(dir, "x"), "--at", "later"}, exitInput, []string{`got no moment "later"`}},
		{[]string{"export", dir, "--out", filepath.Join(dir, "x")}, exitRunDir, []string{"config.yaml"}},
		{[]string{"export", run, "--out", filepath.Join(dir, "no", "x")}, exitError, []string{filepath.Join(dir, "no", "x"), "no such file or directory"}},
	} {
		code, _, errs := command(t, tc.args...)
		for _, want := range tc.want {
			if code != tc.code || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
				t.Errorf("%v: got exit code %d and %q, want %d and one line with %q", tc.args, code, errs, tc.code, want)
			}
		}
	}
}

// TestEvalRefusesOtherWeights: weights that a run's journal does not know by that name are not evaluated as if it did.
func TestEvalRefusesOtherWeights(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := writeTest(t, dir)
	base := filepath.Join(dir, "base")
	must(t, "export", shortRun(t, dir, config), "--at", "start", "--out", base)
	write(t, config, strings.Replace(testConfig, "harness: h.star", "harness: h.star\npolicy: {model: base}", 1))
	run := filepath.Join(dir, "second")
	must(t, "run", config, "--dir", run, "--method", "harness-only")
	if got := evaluate(t, run+"@final"); got.Draws != 2 {
		t.Errorf("got %+v", got)
	}
	other := filepath.Join(dir, "other")
	must(t, "export", filepath.Join(dir, "first"), "--out", other)
	if err := os.RemoveAll(base); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, base); err != nil {
		t.Fatal(err)
	}
	code, _, errs := command(t, "eval", run+"@final")
	if code != exitInput || !strings.Contains(errs, "and the run's journal has") {
		t.Errorf("got exit code %d and %q", code, errs)
	}
	code, _, errs = command(t, "export", run, "--out", filepath.Join(dir, "x"))
	if code != exitInput || !strings.Contains(errs, "and the journal has") {
		t.Errorf("export: got exit code %d and %q", code, errs)
	}
}

func shortRun(t *testing.T, dir, config string) string {
	t.Helper()
	run := filepath.Join(dir, "first")
	must(t, "run", config, "--dir", run, "--method", "weight-only")
	return run
}
