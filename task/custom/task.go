package custom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/judge"
)

// Config says where the task is.
type Config struct {
	Folder string `json:"folder" yaml:"folder"` // with the task's task.yaml
}

// Deps are what a task may use that its caller gives. A task that names what is not given is refused.
type Deps struct {
	// Getenv reads a variable of the environment: PATH, HOME, and those that task.yaml names. nil = there are none.
	Getenv func(name string) string
	// Builtin opens a built-in tool. The task closes it if it has a Close method.
	Builtin func(ctx context.Context, b Builtin) (Tool, error)
	// Judge opens a judge. The task closes it if it has a Close method.
	Judge func(ctx context.Context, c judge.Config) (Judge, error)
}

// Builtin says which built-in tool a task wants, and what a call may cost.
type Builtin struct {
	Name   string       // BuiltinPython, BuiltinSearch or BuiltinCalculator
	Limits Limits       // all set
	Search SearchConfig // for BuiltinSearch; its TopK is set, its Index an absolute path
}

// Task is a task that a folder holds. Close it.
type Task struct {
	id       whale.ID
	manifest Manifest
	folder   string
	data     *dataset
	verifier *verifier
	tools    []Tool
	rules    whale.Rules
	closers  []io.Closer
}

var _ whale.Task = (*Task)(nil)

// New reads the folder and all of its data, and opens its tools: MCP servers are started or connected to.
func New(ctx context.Context, c Config, deps Deps) (*Task, error) {
	m, err := ReadManifest(c.Folder)
	if err != nil {
		return nil, err
	}
	t, err := open(ctx, c.Folder, m, deps, nil)
	if err != nil {
		return nil, fmt.Errorf("custom: %s: %w", filepath.Join(c.Folder, ManifestFile), err)
	}
	return t, nil
}

// open makes the task of a manifest. With a report, what is wrong with the data is noted there.
func open(ctx context.Context, folder string, m Manifest, deps Deps, report *Report) (_ *Task, err error) {
	if deps.Getenv == nil {
		deps.Getenv = func(string) string { return "" }
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	t := &Task{manifest: m, folder: folder}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close())
		}
	}()
	if _, err = within(folder, m.Harness, harnessBytes); err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	if t.rules, err = m.Rules.open(); err != nil {
		return nil, err
	}
	if err = t.openVerifier(ctx, deps); err != nil {
		return nil, fmt.Errorf("verifier.%w", err)
	}
	for i, tool := range m.Tools {
		if err = t.openTool(ctx, tool, deps); err != nil {
			return nil, fmt.Errorf("tools[%d].%w", i, err)
		}
	}
	if t.data, err = load(ctx, folder, m, deps.Getenv, report); err != nil { // last, so that all else is looked at where the data is away
		return nil, err
	}
	if err = t.names(); err != nil {
		return nil, err
	}
	t.id = t.hash()
	return t, nil
}

// topK is how many passages a search gives unless the task says otherwise.
const topK = 3

// harnessBytes bounds the first harness, as the contract does.
const harnessBytes = 64 << 10

// openVerifier makes the verifier and its identity.
func (t *Task) openVerifier(ctx context.Context, deps Deps) (err error) {
	c := t.manifest.Verifier.resolved()
	v := &verifier{}
	if v.find, err = c.finder(); err != nil {
		return err
	}
	var part whale.ID // of what the settings only name
	switch {
	case c.Kind == KindJSONSchema:
		data, err := within(t.folder, c.Schema, schemaBytes)
		if err != nil {
			return fmt.Errorf("schema: %w", err)
		}
		schema, err := openSchema(c.Schema, data)
		if err != nil {
			return err
		}
		part = whale.HashBytes("custom/schema", data)
		v.decide = schemaDecider(schema, c.Equal)
	case c.Kind == KindCommand:
		cmd, err := openCommand(t.folder, c.Command, c.Limits.with(t.manifest.Limits), deps.Getenv)
		if err != nil {
			return fmt.Errorf("command.%w", err)
		}
		part = cmd.id
		v.decide = commandDecider(cmd)
	default:
		var j Judge
		if c.Compare == KindJudge {
			if deps.Judge == nil {
				return errors.New("judge: there is no judge here")
			}
			if j, err = deps.Judge(ctx, c.Judge); err != nil {
				return fmt.Errorf("judge: %w", err)
			}
			t.owns(j)
			part = c.Judge.ID()
		}
		v.decide = comparer(c.Compare, j)
	}
	c.Reply = "" // for the check alone
	c.Judge = judge.Config{}
	v.id = whale.HashOf("verifier/custom", struct {
		Version int
		Config  VerifierConfig
		Part    whale.ID
	}{verifierVersion, c, part})
	t.verifier = v
	return nil
}

// openTool makes a tool, or those of an MCP server.
func (t *Task) openTool(ctx context.Context, c ToolConfig, deps Deps) error {
	l := c.Limits.with(t.manifest.Limits)
	switch {
	case c.Builtin != "":
		if deps.Builtin == nil {
			return fmt.Errorf("builtin: there is no %s here", c.Builtin)
		}
		want := Builtin{Name: c.Builtin, Limits: l, Search: c.Search}
		if c.Builtin == BuiltinSearch && want.Search.TopK == 0 {
			want.Search.TopK = topK
		}
		if want.Search.Index != "" && !filepath.IsAbs(want.Search.Index) {
			want.Search.Index = filepath.Join(t.folder, want.Search.Index)
		}
		tool, err := deps.Builtin(ctx, want)
		if err != nil {
			return fmt.Errorf("builtin: %w", err)
		}
		t.owns(tool)
		return t.add(c.Authored, tool)
	case given(c.Command):
		cmd, err := openCommand(t.folder, c.Command, l, deps.Getenv)
		if err != nil {
			return fmt.Errorf("command.%w", err)
		}
		return t.add(c.Authored, &commandTool{spec: specOf(c), cmd: cmd, output: c.Command.Output, most: l.OutputBytes})
	case given(c.HTTP):
		tool, err := openHTTP(c, l, deps.Getenv)
		if err != nil {
			return fmt.Errorf("http.%w", err)
		}
		t.owns(tool)
		return t.add(c.Authored, tool)
	}
	return t.openMCP(ctx, c, l, deps)
}

// add takes a tool, with the arguments that the model must write itself marked.
func (t *Task) add(authored []string, tool Tool) error {
	spec, err := mark(tool.Spec(), authored)
	if err != nil {
		return err
	}
	t.tools = append(t.tools, marked{tool, spec})
	return nil
}

// marked is a tool with another Spec.
type marked struct {
	Tool
	spec whale.ToolSpec
}

func (m marked) Spec() whale.ToolSpec { return m.spec }

// mark sets Authored on the arguments named.
func mark(spec whale.ToolSpec, authored []string) (whale.ToolSpec, error) {
	spec.Parameters = slices.Clone(spec.Parameters)
	for i, name := range authored {
		at := slices.IndexFunc(spec.Parameters, func(p whale.ToolParameter) bool { return p.Name == name })
		if at < 0 {
			var known []string
			for _, p := range spec.Parameters {
				known = append(known, p.Name)
			}
			return spec, unknownWord(fmt.Sprintf("authored[%d]", i), name, known)
		}
		spec.Parameters[at].Authored = true
	}
	return spec, nil
}

// owns closes v with the task, if it can be closed.
func (t *Task) owns(v any) {
	if c, ok := v.(io.Closer); ok {
		t.closers = append(t.closers, c)
	}
}

// names refuses two tools of one name.
func (t *Task) names() error {
	seen := map[string]bool{}
	for _, tool := range t.tools {
		name := tool.Spec().Name
		if seen[name] {
			return fmt.Errorf("tools: two are named %q; an MCP server's can be given a prefix", clip(name))
		}
		seen[name] = true
	}
	return nil
}

// hash covers what an episode and its verdict depend on. What only finds or checks the data (paths, bounds) is covered by the examples.
func (t *Task) hash() whale.ID {
	type content struct {
		ID     string
		View   map[string]string
		Answer string
	}
	type tool struct {
		Spec whale.ToolSpec
		ID   whale.ID
	}
	examples := make(map[whale.Split][]content, len(t.data.items))
	for s, list := range t.data.items {
		for _, it := range list {
			examples[s] = append(examples[s], content{it.example.ID, it.example.View, string(it.example.Answer)})
		}
	}
	tools := make([]tool, 0, len(t.tools))
	for _, each := range t.tools {
		tools = append(tools, tool{each.Spec(), each.ID()})
	}
	return whale.HashOf("task/custom", struct {
		Name, About string
		Examples    map[whale.Split][]content
		Tools       []tool
		Rules       RulesConfig
		Verifier    whale.ID
	}{t.manifest.Name, t.About(), examples, tools, t.manifest.Rules, t.verifier.id})
}

// ID hashes the examples with their answers, the tools, the rules, the verifier, and what agents are told.
func (t *Task) ID() whale.ID { return t.id }

// Name is the manifest's.
func (t *Task) Name() string { return t.manifest.Name }

// Manifest is what task.yaml says.
func (t *Task) Manifest() Manifest { return t.manifest }

// HarnessFile is the path of the first harness.
func (t *Task) HarnessFile() string { return filepath.Join(t.folder, t.manifest.Harness) }

// About tells what the folder's author wrote, then which fields and tools there are, and what counts as an answer.
func (t *Task) About() string {
	lines := []string{strings.TrimSpace(t.manifest.About)}
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(t.manifest.View)) {
		fields = append(fields, "task."+name)
	}
	lines = append(lines, "Of each example an agent sees: "+strings.Join(fields, ", ")+".")
	for _, tool := range t.tools {
		spec := tool.Spec()
		call := []string{fmt.Sprintf("%q", spec.Name)}
		for _, p := range spec.Parameters {
			call = append(call, p.Name+" = …")
		}
		lines = append(lines, fmt.Sprintf("Tool: env.call(%s): %s", strings.Join(call, ", "), clipTo(spec.Description, 300)))
	}
	return strings.Join(append(lines, t.manifest.Verifier.about()), "\n")
}

// Examples gives the examples of a split, in a fixed order; none where the folder gives the split none.
func (t *Task) Examples(s whale.Split) ([]whale.Example, error) {
	if !slices.Contains(splits(), s) {
		return nil, fmt.Errorf("custom: got split %q, want one of %v", s, splits())
	}
	list := t.data.items[s]
	out := make([]whale.Example, len(list))
	for i, it := range list {
		out[i] = it.example
	}
	return out, nil
}

// Notes tells people, a line each, what they may not expect of the task's data; nothing where there is nothing to tell.
func (t *Task) Notes() []string {
	notes := slices.Clone(t.data.notes)
	if n := t.data.repeated; n > 0 {
		notes = append(notes, fmt.Sprintf("%s: dropped %d rows that repeat others of their split, with the same answers", t.manifest.Name, n))
	}
	return notes
}

// NewEnv gives an episode's world. Tools are shared by all episodes; what a server keeps from call to call is its own business.
func (t *Task) NewEnv(context.Context, whale.Example, uint32) (whale.Env, error) {
	return &env{tools: t.tools, rules: t.rules}, nil
}

// Verifier gives the folder's verifier.
func (t *Task) Verifier() whale.Verifier { return t.verifier }

// Close ends servers and connections. The task is of no use afterwards.
func (t *Task) Close() error {
	var errs []error
	for _, c := range slices.Backward(t.closers) {
		errs = append(errs, c.Close())
	}
	t.closers = nil
	return errors.Join(errs...)
}
