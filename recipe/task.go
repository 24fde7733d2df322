package recipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"

	"github.com/goccy/go-yaml"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/policy/openai"
	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/task/chess"
	"github.com/seed-095d5d2b/whale/task/custom"
	"github.com/seed-095d5d2b/whale/task/judge"
	"github.com/seed-095d5d2b/whale/task/math"
	"github.com/seed-095d5d2b/whale/task/searchqa"
)

// The kinds of tasks.
const (
	TaskMath     = "math"
	TaskSearchQA = "searchqa"
	TaskChess    = "chess"
	TaskCustom   = "custom"
)

// TaskConfig says what the agent works on. The sections of other kinds than the one that is named must stay as they are.
type TaskConfig struct {
	Kind     string          `yaml:"kind"` // math, searchqa, chess or custom
	Counts   DeclaredCounts  `yaml:"counts"`
	Math     math.Config     `yaml:"math"`
	SearchQA searchqa.Config `yaml:"searchqa"`
	Chess    chess.Config    `yaml:"chess"`
	Custom   custom.Config   `yaml:"custom"`
}

func defaultTask() TaskConfig {
	return TaskConfig{Kind: TaskMath, Math: math.DefaultConfig(), SearchQA: searchqa.DefaultConfig(), Chess: chess.DefaultConfig()}
}

// section is the settings of one kind of task.
type section struct {
	kind     string
	value    any
	validate func() error
}

func (c *TaskConfig) sections() []section {
	return []section{
		{TaskMath, c.Math, c.Math.Validate},
		{TaskSearchQA, c.SearchQA, c.SearchQA.Validate},
		{TaskChess, c.Chess, c.Chess.Validate},
		{TaskCustom, c.Custom, func() error {
			if c.Custom.Folder == "" {
				return errors.New("folder: got nothing, want the folder of a task; whale task new DIR makes one")
			}
			return nil
		}},
	}
}

// TaskKinds lists the kinds of tasks.
func TaskKinds() []string {
	var out []string
	for _, s := range new(TaskConfig).sections() {
		out = append(out, s.kind)
	}
	return out
}

// validate checks the section of the task's kind, and that no other says anything.
func (c *TaskConfig) validate() error {
	if err := oneOf("task.kind", c.Kind, TaskKinds()); err != nil {
		return err
	}
	standard := defaultTask()
	others := standard.sections()
	for i, s := range c.sections() {
		if s.kind == c.Kind {
			if err := s.validate(); err != nil {
				return fmt.Errorf("task.%s.%w", s.kind, err)
			}
		} else if !reflect.DeepEqual(s.value, others[i].value) {
			return fmt.Errorf("task.%s: got settings, and task.kind is %s; leave them out, or set task.kind to %s", s.kind, c.Kind, s.kind)
		}
	}
	return nil
}

// MarshalYAML writes the section of the task's kind alone.
func (c TaskConfig) MarshalYAML() (any, error) {
	out := yaml.MapSlice{{Key: "kind", Value: c.Kind}, {Key: "counts", Value: c.Counts}}
	for _, s := range c.sections() {
		if s.kind == c.Kind {
			out = append(out, yaml.MapItem{Key: s.kind, Value: s.value})
		}
	}
	return out, nil
}

// SetGeneratorSeed sets the seed of the generator that the task's examples come from. A task whose examples come from elsewhere has none.
func (c *TaskConfig) SetGeneratorSeed(seed uint64) error {
	source, want, to := "", "", (*uint64)(nil)
	switch c.Kind {
	case TaskMath:
		source, want, to = c.Math.Source, math.SourceGenerated, &c.Math.Generator.Seed
	case TaskSearchQA:
		source, want, to = c.SearchQA.Source, searchqa.SourceGenerated, &c.SearchQA.Generator.Seed
	case TaskChess:
		source, want, to = c.Chess.Source, chess.SourceGenerated, &c.Chess.Generator.Seed
	default:
		return fmt.Errorf("a task of kind %s has no generator", c.Kind)
	}
	if source != want {
		return fmt.Errorf("the config's examples come from source %q, want source %q", source, want)
	}
	*to = seed
	return nil
}

// resolve makes relative paths absolute.
func (c *TaskConfig) resolve(abs func(string) string) {
	each := func(files []string) {
		for i := range files {
			files[i] = abs(files[i])
		}
	}
	for _, files := range c.Math.Files {
		each(files)
	}
	for _, files := range c.SearchQA.Files {
		for i := range files {
			files[i].Path = abs(files[i].Path)
		}
	}
	c.SearchQA.Retrieval.Index = abs(c.SearchQA.Retrieval.Index)
	c.SearchQA.Verifier.Judge.CacheFile = abs(c.SearchQA.Verifier.Judge.CacheFile)
	each(c.Chess.Lichess.Files)
	c.Custom.Folder = abs(c.Custom.Folder)
}

// Chance is the accuracy on a split of answering at random, where the task's answers can be guessed; a figure says little without it.
func (p *Parts) Chance(s whale.Split) (float64, bool, error) {
	t, ok := p.Task.(interface {
		RandomBaseline(s whale.Split) (float64, error)
	})
	if !ok {
		return 0, false, nil
	}
	chance, err := t.RandomBaseline(s)
	return chance, err == nil, err
}

// openTask opens the task that a config names. What it opens beside the task is closed by Parts.Close.
func (p *Parts) openTask(ctx context.Context, use Resources) error {
	c := &p.Config.Task
	var err error
	switch c.Kind {
	case TaskMath:
		var tool math.Calculator
		if tool, err = p.mathTool(c.Math, use); err == nil {
			p.Task, err = taskOf(math.New(ctx, c.Math, tool))
		}
	case TaskSearchQA:
		var asker judge.Asker
		if c.SearchQA.Verifier.Kind == searchqa.VerifierJudge {
			if asker, err = p.asker(c.SearchQA.Verifier.Judge); err != nil {
				return &ConfigError{fmt.Errorf("task.searchqa.verifier.judge: %w", err)}
			}
		}
		p.Task, err = taskOf(searchqa.New(ctx, c.SearchQA, asker))
	case TaskChess:
		p.Task, err = taskOf(chess.New(ctx, c.Chess))
	case TaskCustom:
		p.Task, err = taskOf(custom.New(ctx, c.Custom, p.customDeps(use)))
	default:
		err = fmt.Errorf("task.kind: got %q", c.Kind)
	}
	if err != nil {
		return &InputError{err}
	}
	if closer, ok := p.Task.(io.Closer); ok {
		p.closers = append(p.closers, closer.Close)
	}
	n, err := p.Counts()
	if err != nil {
		return err
	}
	return c.Counts.check(n)
}

// taskOf keeps a nil pointer of a failed open out of the interface.
func taskOf[T whale.Task](t T, err error) (whale.Task, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}

// mathTool opens what runs the code that a model writes.
func (p *Parts) mathTool(c math.Config, use Resources) (math.Calculator, error) {
	var pool *sandbox.Pool
	atOnce := p.Config.Concurrency // of a server's calls
	switch c.Tool {
	case math.ToolPython:
		atOnce = p.Config.Processes
	case math.ToolCalculator:
		var err error
		if pool, err = sandbox.NewPool(sandbox.Options{Spec: c.Calculator.Spec(), Workers: use.Workers, Require: use.Require}); err != nil {
			return nil, err
		}
		p.closers = append(p.closers, func() error { pool.Close(); return nil })
	}
	tool, closing, err := math.OpenTool(c, pool, atOnce)
	if err != nil {
		return nil, fmt.Errorf("task.math.%w", err)
	}
	p.closers = append(p.closers, func() error { closing(); return nil })
	return tool, nil
}

// asker opens a client of the endpoint that a judge asks.
func (p *Parts) asker(c judge.Config) (judge.Asker, error) {
	o := openai.DefaultConfig()
	o.BaseURL, o.Model, o.KeyEnv, o.TimeoutSeconds, o.Retries, o.MaxTokens = c.BaseURL, c.Model, c.KeyEnv, c.TimeoutSeconds, c.Retries, c.ReplyTokens
	client, err := openai.New(o, os.Getenv)
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, client.Close)
	return client, nil
}

// customDeps is what a task of a folder may use of this process.
func (p *Parts) customDeps(use Resources) custom.Deps {
	return custom.Deps{
		Getenv:  os.Getenv,
		Builtin: func(ctx context.Context, b custom.Builtin) (custom.Tool, error) { return p.builtin(ctx, b, use) },
		Judge: func(_ context.Context, c judge.Config) (custom.Judge, error) {
			asker, err := p.asker(c)
			if err != nil {
				return nil, err
			}
			if c.CacheFile != "" && !filepath.IsAbs(c.CacheFile) {
				c.CacheFile = filepath.Join(p.Config.Task.Custom.Folder, c.CacheFile)
			}
			return judge.New(c, asker)
		},
	}
}
