package recipe

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestConfigErrors(t *testing.T) {
	for _, tc := range []struct{ doc, want string }{
		{"wieght:\n  batch: 3\n", `c.yaml:1:1: unknown key "wieght": did you mean "weight"?`},
		{"schedule:\n  itterations: 3\n", `c.yaml:2:3: unknown key "itterations"`},
		{"weight:\n  batch: lots\n", `c.yaml:2:10: `},
		{"weight:\n  batch: 0\n", `c.yaml: weight.batch: got 0, want 1 or more`},
		{"weight:\n  learning_rate: -1\n", `weight.learning_rate: got -1`},
		{"weight:\n  optimizer:\n    beta1: 2\n", `weight.optimizer.beta1: got 2`},
		{"policy:\n  kind: locl\n", `policy.kind: got "locl", want local or openai or tinker: did you mean "local"?`},
		{"task:\n  counts: {train: -1}\n", `task.counts.train: got -1, want 0 to`},
		{"task:\n  counts: {tests: 1}\n", `unknown key "tests": did you mean "test"?`},
		{"task:\n  kind: ches\n", `task.kind: got "ches", want math`},
		{"task:\n  chess:\n    alternate_mates: true\n", `task.chess: got settings, and task.kind is math; leave them out, or set task.kind to chess`},
		{"task:\n  kind: chess\n  math:\n    tool: python\n", `task.math: got settings, and task.kind is chess`},
		{"task:\n  kind: custom\n", `task.custom.folder: got nothing`},
		{"task:\n  kind: chess\n  chess:\n    source: nowhere\n", `task.chess.source: got "nowhere"`},
		{"task:\n  math:\n    generator:\n      two_step: 3\n", `task.math.generator.two_step: got 3`},
		{"schedule:\n  method: adaptiv\n", `schedule.method: got "adaptiv", want whale`},
		{"search:\n  proposer: llm\n", `search.proposer: got "llm", want evolve`},
		{"name: a/b\n", `name: got "a/b"`},
		{"limits:\n  tokens: 0\n", `limits.tokens: got 0, want 1 to 1e+09`},
		{"evaluation:\n  draws: 0\n", `evaluation.draws: got 0`},
		{"sampling:\n  top_p: .nan\n", `sampling.top_p`},
	} {
		_, err := ParseConfig("c.yaml", []byte(tc.doc))
		var ce *ConfigError
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") || !errors.As(err, &ce) {
			t.Errorf("%q: got %v, want one line with %q", tc.doc, err, tc.want)
		}
	}
	if _, err := LoadConfig(filepath.Join(t.TempDir(), "none.yaml")); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("missing file: got %v", err)
	}
}

func TestResolvedConfigReadsBack(t *testing.T) {
	c := Default()
	c.Weight.Batch = 17
	c.Task.Math.Generator.Seed = 99
	text, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseConfig("config.yaml", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	again, err := back.YAML()
	if err != nil || string(again) != string(text) {
		t.Errorf("got\n%s\nwant\n%s", again, text)
	}
	if back.Weight.Batch != 17 || back.Task.Math.Generator.Seed != 99 || back.Policy != c.Policy || back.Limits != c.Limits || !reflect.DeepEqual(back.Schedule, c.Schedule) {
		t.Errorf("got %+v, want %+v", back, c)
	}
	for _, key := range []string{"learning_rate:", "wall_seconds:", "top_k:", "reset_each_phase:", "two_step:"} {
		if !strings.Contains(string(text), key) {
			t.Errorf("the resolved config does not write out %s", key)
		}
	}
}

func TestPathsAreRelativeToTheConfig(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "model"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(doc string) Config {
		path := filepath.Join(dir, "c.yaml")
		if err := os.WriteFile(path, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := LoadConfig(path)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := write("harness: mine.star\npolicy:\n  model: model\n")
	if c.Harness != filepath.Join(dir, "mine.star") || c.Policy.Model != filepath.Join(dir, "model") {
		t.Errorf("got %s and %s", c.Harness, c.Policy.Model)
	}
	if c := write("harness: /abs/h.star\n"); c.Harness != "/abs/h.star" || c.Policy.Model != "whale-tiny" {
		t.Errorf("got %s and %s", c.Harness, c.Policy.Model)
	}
}

func TestDiffNamesKeys(t *testing.T) {
	a, b := Default(), Default()
	b.Weight.Group = 3
	b.Seed = 9
	ay, _ := a.YAML()
	by, _ := b.YAML()
	got, err := DiffKeys(ay, by)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"seed: 1 → 9", "weight.group: 8 → 3"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
