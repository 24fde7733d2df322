package recipe

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/sandbox/calc"
	"github.com/seed-095d5d2b/whale/sandbox/python"
	"github.com/seed-095d5d2b/whale/task/custom"
	"github.com/seed-095d5d2b/whale/task/math"
	"github.com/seed-095d5d2b/whale/task/searchqa"
	"github.com/seed-095d5d2b/whale/task/searchqa/bm25"
	"github.com/seed-095d5d2b/whale/task/searchqa/retriever"
)

// builtin opens a tool of ours for a task of somebody else's: the calculator and Python of the math domain, the search of the search domain.
func (p *Parts) builtin(ctx context.Context, b custom.Builtin, use Resources) (custom.Tool, error) {
	l := b.Limits
	switch b.Name {
	case custom.BuiltinCalculator:
		sized := math.DefaultConfig().Calculator
		sized.WallSeconds = max(sized.WallSeconds, l.Seconds)
		pool, err := sandbox.NewPool(sandbox.Options{Spec: sized.Spec(), Workers: use.Workers, Require: use.Require})
		if err != nil {
			return nil, err
		}
		p.closers = append(p.closers, func() error { pool.Close(); return nil })
		tool, err := math.Sandboxed(pool, sized)
		if err != nil {
			return nil, err
		}
		return newEnvTool(math.ToolEnv(math.ToolCalculator, tool, l.OutputBytes), fmt.Sprint("calculator ", calc.Version), l), nil
	case custom.BuiltinPython:
		limits := python.DefaultLimits()
		limits.WallSeconds, limits.MemoryBytes, limits.OutputBytes = l.Seconds, int64(l.MemoryMiB)<<20, l.OutputBytes
		runner, err := python.New(limits, l.AtOnce)
		if err != nil {
			return nil, err
		}
		return newEnvTool(math.ToolEnv(math.ToolPython, runner, l.OutputBytes), "python", l), nil
	case custom.BuiltinSearch:
		var r searchqa.Retriever
		var err error
		if b.Search.Index != "" {
			r, err = retrieverOf(bm25.Open(b.Search.Index))
		} else {
			c := retriever.DefaultConfig()
			c.Endpoints, c.TimeoutSeconds, c.Corpus = b.Search.Endpoints, l.Seconds, string(whale.HashOf("endpoints", b.Search.Endpoints))
			r, err = retrieverOf(retriever.New(c))
		}
		if err != nil {
			return nil, err
		}
		p.closers = append(p.closers, r.Close)
		o := searchqa.DefaultConfig().Search
		o.TopK = b.Search.TopK
		o.PassageChars = min(o.PassageChars, l.OutputBytes)
		return newEnvTool(searchqa.ToolEnv(r, o), string(r.ID()), l), nil
	}
	return nil, fmt.Errorf("builtin: got %q", b.Name)
}

// retrieverOf keeps a nil pointer of a failed open out of the interface.
func retrieverOf[T searchqa.Retriever](r T, err error) (searchqa.Retriever, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

// envTool is the one tool of an environment that keeps nothing from call to call.
type envTool struct {
	env whale.Env
	id  whale.ID
}

func newEnvTool(env whale.Env, version string, l custom.Limits) *envTool {
	return &envTool{env: env, id: whale.HashOf("builtin", []any{version, env.Tools(), l})}
}

func (t *envTool) Spec() whale.ToolSpec { return t.env.Tools()[0] }
func (t *envTool) ID() whale.ID         { return t.id }

func (t *envTool) Call(ctx context.Context, args map[string]json.RawMessage) (whale.ToolResult, error) {
	return t.env.Call(ctx, t.Spec().Name, args)
}
