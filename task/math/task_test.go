package math

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	whale "github.com/seed-095d5d2b/whale"
)

func smallConfig() Config {
	c := DefaultConfig()
	c.Generator.Counts = Counts{Train: 20, Search: 10, Validation: 5, Test: 10}
	return c
}

func newTask(t *testing.T, c Config) *Task {
	t.Helper()
	m, err := New(context.Background(), c, fakeCalculator{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestGeneratedTask(t *testing.T) {
	c := smallConfig()
	m := newTask(t, c)
	seen := make(map[string]bool)
	for _, s := range splits() {
		examples, err := m.Examples(s)
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := c.Generator.Counts.Of(s); len(examples) != want {
			t.Errorf("split %s: got %d examples, want %d", s, len(examples), want)
		}
		for _, x := range examples {
			if seen[x.ID] || len(x.ID) != 32 || len(x.View) != 1 || x.View["question"] == "" || x.Meta[MetaKind] == "" || x.Meta[MetaTemplate] == "" {
				t.Errorf("got example %+v, want its own ID, a question, kind and template", x)
			}
			seen[x.ID] = true
		}
		if len(examples) > 0 {
			examples[0].ID = "changed"
			if again, _ := m.Examples(s); again[0].ID == "changed" {
				t.Error("a caller changed the task's examples")
			}
		}
	}
	for _, bad := range []whale.Split{"", "pretrain", "tests"} {
		if _, err := m.Examples(bad); err == nil {
			t.Errorf("split %q: got no error", bad)
		}
	}
	if m.Name() != "math" || !strings.Contains(m.About(), `\boxed`) || !strings.Contains(m.About(), "calculator") {
		t.Errorf("got name %q, about %q", m.Name(), m.About())
	}
}

// Everything that decides rewards changes the task's ID, and nothing else does.
func TestTaskID(t *testing.T) {
	base := newTask(t, smallConfig()).ID()
	if again := newTask(t, smallConfig()).ID(); again != base {
		t.Errorf("same configuration: got ID %s, want %s", again, base)
	}
	for name, change := range map[string]func(*Config){
		"seed":       func(c *Config) { c.Generator.Seed++ },
		"counts":     func(c *Config) { c.Generator.Counts.Test++ },
		"calculator": func(c *Config) { c.Calculator.Steps++ },
		"output":     func(c *Config) { c.Calculator.OutputBytes++ },
		"tail":       func(c *Config) { c.Verifier.TailChars = 100 },
	} {
		c := smallConfig()
		change(&c)
		if newTask(t, c).ID() == base {
			t.Errorf("%s changed: got the same ID", name)
		}
	}
	dir := t.TempDir()
	id := func(file, answer string) whale.ID {
		c := smallConfig()
		c.Source = SourceFiles
		c.Files = map[whale.Split][]string{whale.SplitTest: {write(t, dir, file, `{"problem": "p", "answer": "`+answer+`"}`)}}
		return newTask(t, c).ID()
	}
	if id("a.jsonl", "1") != id("b.jsonl", "1") {
		t.Error("a renamed file: got another ID")
	}
	if id("a.jsonl", "1") == id("a.jsonl", "2") {
		t.Error("another answer: got the same ID")
	}
}

func write(t *testing.T, dir, name, data string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFilesTask(t *testing.T) {
	dir := t.TempDir()
	c := smallConfig()
	c.Source = SourceFiles
	c.Files = map[whale.Split][]string{
		whale.SplitTrain: {write(t, dir, "a.jsonl", `{"problem": "p", "answer": "1"}`+"\n"+`{"problem": "P", "answer": "1"}`), write(t, dir, "b.jsonl", `{"problem": "p ", "answer": "01"}`+"\n"+`{"problem": "q", "answer": "2"}`)},
		whale.SplitTest:  {write(t, dir, "c.jsonl", `{"problem": "r", "answer": 3}`)},
	}
	m := newTask(t, c)
	for s, want := range map[whale.Split]int{whale.SplitTrain: 2, whale.SplitSearch: 0, whale.SplitValidation: 0, whale.SplitTest: 1} {
		if got, err := m.Examples(s); err != nil || len(got) != want {
			t.Errorf("split %s: got %d examples (%v), want %d", s, len(got), err, want)
		}
	}
	if dropped, notes := m.Duplicates(), m.Notes(); dropped != 2 || len(notes) != 1 || !strings.Contains(notes[0], "dropped 2 problems") {
		t.Errorf("got %d duplicates and notes %q, want 2 in one line", dropped, notes)
	}
	c.Files[whale.SplitSearch] = []string{write(t, dir, "d.jsonl", `{"id": 9, "problem": "Q", "answer": "2"}`)}
	_, err := New(context.Background(), c, fakeCalculator{})
	if want := `d.jsonl:1: got problem with id "9" in split search, but it is in split train already, at ` + filepath.Join(dir, "b.jsonl") + `:2`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a problem in two splits: got error %v, want one with %q", err, want)
	}
}

// A problem with two answers is refused, with both places and answers, be it in one file or in two, and also where only the letters' case
// makes it one problem.
func TestConflictingAnswers(t *testing.T) {
	dir := t.TempDir()
	first := write(t, dir, "a.jsonl", "\n"+`{"problem": "Let X be 3.", "answer": "3"}`)
	for text, kind := range map[string]string{"Let  X be 3.": "the same problem", "Let x be 3.": "letter case"} {
		line := fmt.Sprintf(`{"problem": %q, "answer": "4"}`, text)
		second := write(t, dir, "b.jsonl", line)
		both := write(t, dir, "c.jsonl", `{"problem": "Let X be 3.", "answer": 3}`+"\n\n"+line)
		for _, c := range []struct {
			paths []string
			want  []string
		}{
			{[]string{first, second}, []string{second + ":1: got answer \"4\"", first + ":2 has answer \"3\"", kind}},
			{[]string{both}, []string{both + ":3: got answer \"4\"", both + ":1 has answer \"3\"", kind}},
		} {
			config := smallConfig()
			config.Source, config.Files = SourceFiles, map[whale.Split][]string{whale.SplitTrain: c.paths}
			_, err := New(context.Background(), config, fakeCalculator{})
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%q: got error %v, want one with %q", text, err, want)
				}
			}
		}
	}
	if m := newTask(t, smallConfig()); m.Notes() != nil {
		t.Errorf("generated problems: got notes %q", m.Notes())
	}
}

func TestConfigValidate(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Source = "generate" }, `source: got "generate", want "generated" or "files"`},
		{func(c *Config) { c.Source = SourceFiles }, `files: got none`},
		{func(c *Config) { c.Files = map[whale.Split][]string{"test": {"x"}} }, `files: got 1 splits with source "generated"`},
		{func(c *Config) { c.Source, c.Files = SourceFiles, map[whale.Split][]string{"tests": {"x"}} }, `files: got split "tests"`},
		{func(c *Config) { c.Source, c.Files = SourceFiles, map[whale.Split][]string{"test": nil} }, `files.test: got no paths`},
		{func(c *Config) { c.Generator.MaxDigits = 9 }, "generator.max_digits: got 9"},
		{func(c *Config) { c.Calculator.Steps = 0 }, "calculator.steps: got 0"},
		{func(c *Config) { c.Calculator.MemoryBytes = -1 }, "calculator.memory_bytes: got -1"},
		{func(c *Config) { c.Calculator.WallSeconds = 0 }, "calculator.wall_seconds: got 0"},
		{func(c *Config) { c.Calculator.WallSeconds = math.Inf(1) }, "calculator.wall_seconds: got +Inf"},
		{func(c *Config) { c.Calculator.SourceBytes = 0 }, "calculator.source_bytes: got 0"},
		{func(c *Config) { c.Calculator.OutputBytes = 0 }, "calculator.output_bytes: got 0"},
		{func(c *Config) { c.Calculator.OutputBytes = 2e18 }, "calculator.output_bytes: got 2000000000000000000, want 1 to 1048576"},
		{func(c *Config) { c.Calculator.SourceBytes = 1 << 62 }, "calculator.source_bytes: got 4611686018427387904, want 1 to 16384"},
		{func(c *Config) { c.Calculator.Steps = 1 << 63 }, "calculator.steps: got 9223372036854775808, want 1 to 20000000"},
		{func(c *Config) { c.Calculator.MemoryBytes = math.MaxInt64 }, "calculator.memory_bytes: got 9223372036854775807, want 134217728 to 1099511627776"},
		{func(c *Config) { c.Calculator.MemoryBytes = 128<<20 - 1 }, "calculator.memory_bytes: got 134217727, want 134217728 to"},
		{func(c *Config) { c.Calculator.Steps = 10_000_000 }, "calculator.memory_bytes: got 134217728, want 403886080 to 1099511627776 with 10000000 steps"},
		{func(c *Config) { c.Calculator.WallSeconds = 0.1 }, "calculator.wall_seconds: got 0.1, want "},
		{func(c *Config) { c.Verifier.TailChars = -5 }, "verifier.tail_chars: got -5"},
	} {
		config := smallConfig()
		c.change(&config)
		if _, err := New(context.Background(), config, fakeCalculator{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want one with %q", err, c.want)
		}
	}
	if _, err := New(context.Background(), smallConfig(), nil); err == nil {
		t.Error("no calculator: got no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New(ctx, smallConfig(), fakeCalculator{}); err == nil {
		t.Error("cancelled context: got no error")
	}
}

// The configuration survives YAML under its documented keys.
func TestConfigYAML(t *testing.T) {
	const text = `
source: files
generator: {seed: 7, two_step: 0.25, bare: 0.1, max_digits: 2, counts: {train: 1, search: 2, validation: 3, test: 4}}
files: {train: [a.jsonl, b.jsonl], test: [c.jsonl]}
calculator: {steps: 10, memory_bytes: 20, wall_seconds: 0.5, source_bytes: 40, output_bytes: 30}
verifier: {tail_chars: 100}
`
	var got Config
	if err := yaml.UnmarshalWithOptions([]byte(text), &got, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	want := Config{
		Source:     SourceFiles,
		Generator:  GeneratorOptions{Seed: 7, TwoStep: 0.25, Bare: 0.1, MaxDigits: 2, Counts: Counts{Train: 1, Search: 2, Validation: 3, Test: 4}},
		Files:      map[whale.Split][]string{whale.SplitTrain: {"a.jsonl", "b.jsonl"}, whale.SplitTest: {"c.jsonl"}},
		Calculator: CalculatorLimits{Steps: 10, MemoryBytes: 20, WallSeconds: 0.5, SourceBytes: 40, OutputBytes: 30},
		Verifier:   VerifierOptions{TailChars: 100},
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
