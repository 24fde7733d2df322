package math

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/sandbox/calc"
)

// Task is the math task: problems by split, the calculator, the verifier.
type Task struct {
	id         whale.ID
	config     Config
	examples   map[whale.Split][]whale.Example
	duplicates int
	verifier   whale.Verifier
	calculator Calculator
}

var _ whale.Task = (*Task)(nil)

// New makes the task: it generates or reads every example, and refuses one that is in two splits.
func New(ctx context.Context, c Config, calculator Calculator) (*Task, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("math: %w", err)
	}
	if calculator == nil {
		return nil, errors.New("math: got no calculator")
	}
	t := &Task{config: c, calculator: calculator, examples: make(map[whale.Split][]whale.Example)}
	var err error
	if t.verifier, err = NewVerifier(c.Verifier); err != nil {
		return nil, err
	}
	if c.Source == SourceFiles {
		err = t.load(ctx, c.Files)
	} else {
		err = t.generate(ctx, c.Generator)
	}
	if err != nil {
		return nil, err
	}
	t.id = t.hash()
	return t, nil
}

func (t *Task) generate(ctx context.Context, o GeneratorOptions) error {
	g, err := NewGenerator(o)
	if err != nil {
		return err
	}
	for _, s := range splits() {
		if err := ctx.Err(); err != nil {
			return err
		}
		problems, err := g.Split(s)
		if err != nil {
			return err
		}
		for _, p := range problems {
			t.examples[s] = append(t.examples[s], p.Example())
		}
	}
	return nil
}

// Example gives the problem as an example of a task.
func (p Problem) Example() whale.Example {
	return example(p.Text, strconv.FormatInt(p.Answer, 10), map[string]string{MetaKind: p.Kind, MetaTemplate: p.Template})
}

// load reads the files of every split. A problem that is twice in a split counts once, if its answers agree; one that is in two splits
// would let a split leak into another, and is refused.
func (t *Task) load(ctx context.Context, files map[whale.Split][]string) error {
	owner := make(map[string]place) // by example ID
	for _, s := range splits() {
		for _, path := range files[s] {
			if err := ctx.Err(); err != nil {
				return err
			}
			loaded, err := Load(path)
			if err != nil {
				return err
			}
			t.duplicates += loaded.Duplicates
			for i, x := range loaded.Examples {
				here := place{path, loaded.Lines[i], s, x}
				before, ok := owner[x.ID]
				if !ok {
					owner[x.ID] = here
					t.examples[s] = append(t.examples[s], x)
					continue
				}
				if before.split != s {
					return fmt.Errorf("math: %s:%d: got problem %s in split %s, but it is in split %s already, at %s:%d", path, here.line, name(x), s,
						before.split, before.path, before.line)
				}
				if err := here.repeats(before); err != nil {
					return err
				}
				t.duplicates++
			}
		}
	}
	return nil
}

// sameAnswer compares two answers of examples as the verifier would.
func sameAnswer(a, b json.RawMessage) bool {
	var x, y string
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && canonical(x) == canonical(y)
}

// name is how an error tells of an example: by the file's own id if there is one, else by the start of its text.
func name(x whale.Example) string {
	if id := x.Meta[MetaSourceID]; id != "" {
		return fmt.Sprintf("with id %q", clip(id))
	}
	return fmt.Sprintf("%q", clip(x.View[viewQuestion]))
}

// hash leaves out what the examples are called (Meta): a renamed file is the same task.
func (t *Task) hash() whale.ID {
	type content struct {
		ID     string
		View   map[string]string
		Answer json.RawMessage
	}
	examples := make(map[whale.Split][]content, len(t.examples))
	for s, list := range t.examples {
		for _, x := range list {
			examples[s] = append(examples[s], content{x.ID, x.View, x.Answer})
		}
	}
	return whale.HashOf("task/math", struct {
		Examples   map[whale.Split][]content
		Tools      []whale.ToolSpec
		Calculator CalculatorLimits
		Version    int // of the calculator
		Verifier   whale.ID
	}{examples, tools(), t.config.Calculator, calc.Version, t.verifier.ID()})
}

// ID hashes every example with its answer, the tool, the calculator's limits and the verifier.
func (t *Task) ID() whale.ID { return t.id }

// Name is "math".
func (t *Task) Name() string { return "math" }

// About tells an agent or a proposer what the task is.
func (t *Task) About() string {
	where := "the final reply"
	if n := t.config.Verifier.TailChars; n > 0 {
		where = fmt.Sprintf("the last %d characters of the final reply", n)
	}
	return strings.Join([]string{
		"Each example is a math problem: task.question is its text.",
		fmt.Sprintf(`Tool: env.call("%s", %s = …) evaluates a Python expression or short program, and keeps nothing between calls.`, toolCalculator, argCode),
		fmt.Sprintf(`The answer is the content of the last \boxed{…} in %s. Integers count with or without leading zeros; anything else must equal the reference character by character; without a box the answer is wrong.`, where),
	}, "\n")
}

// Examples gives the examples of a split, in a fixed order; none where the configuration gives the split none.
func (t *Task) Examples(s whale.Split) ([]whale.Example, error) {
	if !slices.Contains(splits(), s) {
		return nil, fmt.Errorf("math: got split %q, want one of %v", s, splits())
	}
	return slices.Clone(t.examples[s]), nil
}

// Duplicates tells how many problems of the files were dropped as repetitions within their split, with the same answer.
func (t *Task) Duplicates() int { return t.duplicates }

// Notes tells people, a line each, what they may not expect of the task's data; nothing where there is nothing to tell.
func (t *Task) Notes() []string {
	switch t.duplicates {
	case 0:
		return nil
	case 1:
		return []string{"math: dropped 1 problem that repeats another of its split, with the same answer"}
	}
	return []string{fmt.Sprintf("math: dropped %d problems that repeat others of their split, with the same answers", t.duplicates)}
}

// NewEnv gives an episode's world. Nothing in it is random.
func (t *Task) NewEnv(_ context.Context, _ whale.Example, _ uint32) (whale.Env, error) {
	return &env{calculator: t.calculator, outputBytes: t.config.Calculator.OutputBytes}, nil
}

// Verifier gives the strict \boxed{} verifier.
func (t *Task) Verifier() whale.Verifier { return t.verifier }
