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
	dropped    dropped
	verifier   whale.Verifier
	calculator Calculator
}

var _ whale.Task = (*Task)(nil)

// New makes the task: it generates or reads every example, and refuses one that is in two splits, or drops it ([RepeatsDrop]). The calculator is that of [Config].Tool.
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
		err = t.load(ctx, c)
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
	spec := []whale.ToolSpec{toolSpec(t.config.Tool)}
	if t.config.Tool != ToolCalculator {
		return whale.HashOf("task/math/"+t.config.Tool, struct {
			Examples map[whale.Split][]content
			Tools    []whale.ToolSpec
			Limits   any
			Verifier whale.ID
		}{examples, spec, t.config.pythonLimits(), t.verifier.ID()})
	}
	return whale.HashOf("task/math", struct {
		Examples   map[whale.Split][]content
		Tools      []whale.ToolSpec
		Calculator CalculatorLimits
		Version    int // of the calculator
		Verifier   whale.ID
	}{examples, spec, t.config.Calculator, calc.Version, t.verifier.ID()})
}

// pythonLimits are what decides the result of a call. Where a server is, and how long one waits for it, is not.
func (c Config) pythonLimits() any {
	if c.Tool == ToolPython {
		return c.Python
	}
	return struct {
		RunSeconds               float64
		MemoryBytes              int64
		SourceBytes, OutputBytes int
	}{c.Fusion.RunSeconds, c.Fusion.MemoryBytes, c.Fusion.SourceBytes, c.Fusion.OutputBytes}
}

// ID hashes every example with its answer, the tool with its limits, and the verifier.
func (t *Task) ID() whale.ID { return t.id }

// Name is "math".
func (t *Task) Name() string { return "math" }

// About tells an agent or a proposer what the task is.
func (t *Task) About() string {
	where := "the final reply"
	if n := t.config.Verifier.TailChars; n > 0 {
		where = fmt.Sprintf("the last %d characters of the final reply", n)
	}
	tool := `Tool: env.call("%s", %s = …) evaluates a Python expression or short program, and keeps nothing between calls.`
	if t.config.Tool != ToolCalculator {
		tool = `Tool: env.call("%s", %s = …) runs a Python 3 program, gives what it prints, standard error included, and keeps nothing between calls.`
	}
	return strings.Join([]string{
		"Each example is a math problem: task.question is its text.",
		fmt.Sprintf(tool, toolSpec(t.config.Tool).Name, argCode),
		fmt.Sprintf(verifierAbout(t.config.Verifier.Kind), where),
	}, "\n")
}

func verifierAbout(kind string) string {
	if kind == VerifierNumeric {
		return `The answer is the content of the last \boxed{…} or \fbox{…} in %s. It must be the same number as the reference, however it is written, but calculated: 1/2, \frac{1}{2} and 0.5 are the same, 5*5 is not 25; what is no number must be the same text. Without a box the answer is wrong.`
	}
	return `The answer is the content of the last \boxed{…} in %s. Integers count with or without leading zeros; anything else must equal the reference character by character; without a box the answer is wrong.`
}

// Examples gives the examples of a split, in a fixed order; none where the configuration gives the split none.
func (t *Task) Examples(s whale.Split) ([]whale.Example, error) {
	if !slices.Contains(splits(), s) {
		return nil, fmt.Errorf("math: got split %q, want one of %v", s, splits())
	}
	return slices.Clone(t.examples[s]), nil
}

// maxToolText bounds the output of a Python tool once more: twice its own largest limit.
const maxToolText = 2<<20 + 64<<10

// NewEnv gives an episode's world. Nothing in it is random.
func (t *Task) NewEnv(_ context.Context, _ whale.Example, _ uint32) (whale.Env, error) {
	most := t.config.Calculator.OutputBytes
	if t.config.Tool != ToolCalculator {
		most = maxToolText // the tool keeps to its own limits
	}
	return &env{spec: toolSpec(t.config.Tool), calculator: t.calculator, outputBytes: most}, nil
}

// Verifier gives the \boxed{} verifier.
func (t *Task) Verifier() whale.Verifier { return t.verifier }
