package star

import (
	"errors"
	"fmt"
	"maps"

	"go.starlark.net/starlark"

	whale "github.com/seed-095d5d2b/whale"
)

// environment is the value of run's parameter env.
type environment struct {
	record
	episode *episode
}

var _ starlark.HasAttrs = (*environment)(nil)

// newEnv makes the value of run's parameter env, with the specifications of its tools.
func newEnv(e *episode, tools []whale.ToolSpec) *environment {
	specs := make([]starlark.Value, len(tools))
	for i, t := range tools {
		specs[i] = newSpec(t)
	}
	list := starlark.NewList(specs)
	list.Freeze()
	fields := maps.Clone(e.program.library.env)
	fields["tools"] = list
	return &environment{record: record{kind: "env", names: []string{"call", "left", "render", "tools"}, fields: fields}, episode: e}
}

// Attr implements starlark.HasAttrs. env.left asks the host anew each time.
func (v *environment) Attr(name string) (starlark.Value, error) {
	if name != "left" {
		return v.record.Attr(name)
	}
	resp, err := v.episode.do(whale.Request{Op: whale.OpLeft})
	if err != nil {
		return nil, err
	}
	if resp.Left == nil {
		return nil, v.episode.broke(errors.New("star: host: got no answer to left"))
	}
	return newRecord("left",
		"tokens", starlark.MakeInt(resp.Left.Tokens),
		"model_calls", starlark.MakeInt(resp.Left.ModelCalls),
		"tool_calls", starlark.MakeInt(resp.Left.ToolCalls),
	), nil
}

func (v *environment) String() string { return "env" }

func envEntries() []entry {
	return []entry{{
		Function: Function{
			Module: "env", Name: "call", Returns: "result", Keywords: "args",
			Doc:    "Calls a tool. The tool's own complaint, such as a wrong argument, is in result.error.",
			Params: []Param{{Name: "name", Type: TypeString, Doc: "the tool's name; its arguments follow as keywords"}},
		},
		run: func(c *call) (starlark.Value, error) {
			args, err := keywordArgs(c.keywords)
			if err != nil {
				return nil, err
			}
			e, name := episodeOf(c.thread), clean(c.string("name"))
			resp, err := e.do(whale.Request{Op: whale.OpTool, Name: name, Args: args})
			if err != nil {
				return nil, err
			}
			if resp.Result == nil {
				return nil, e.broke(errors.New("star: host: got no result of a tool call"))
			}
			v, err := newResult(name, resp.Result)
			if err != nil {
				return nil, e.broke(err)
			}
			return v, nil
		},
	}, {
		Function: Function{
			Module: "env", Name: "render", Returns: TypeString, Keywords: "args",
			Doc:    "Gives a block of text that the task vouches for, where it offers one.",
			Params: []Param{{Name: "block", Type: TypeString, Doc: "the block's name; its arguments follow as keywords"}},
		},
		run: func(c *call) (starlark.Value, error) {
			args, err := keywordArgs(c.keywords)
			if err != nil {
				return nil, err
			}
			resp, err := episodeOf(c.thread).do(whale.Request{Op: whale.OpRender, Name: clean(c.string("block")), Args: args})
			return starlark.String(resp.Text), err
		},
	}}
}

// newResult makes the value for a tool's result.
func newResult(name string, r *whale.ToolResult) (starlark.Value, error) {
	var data starlark.Value = starlark.None
	if len(r.Data) > 0 {
		var err error
		if data, err = fromJSON(r.Data); err != nil {
			return nil, fmt.Errorf("star: result of %s: data: %w", name, err)
		}
	}
	return newRecord("result",
		"name", starlark.String(name),
		"text", starlark.String(r.Text),
		"data", data,
		"error", starlark.String(r.Error),
		"done", starlark.Bool(r.Done),
	), nil
}
