package harnesstest

import (
	"context"
	"encoding/json"
	"fmt"

	whale "github.com/seed-095d5d2b/whale"
)

// Play runs one episode of a task and judges it: the model says its replies in turn, tools and renderings are the task's. An error is one of
// the harness, of the task, or of a model that is called more often than there are replies.
func Play(ctx context.Context, task whale.Task, x whale.Example, h whale.Harness, replies ...string) (e whale.Episode, v whale.Verdict, err error) {
	env, err := task.NewEnv(ctx, x, 1)
	if err != nil {
		return e, v, err
	}
	defer env.Close()
	e.View = x.View
	host := &Host{View: x.View, Tools: env.Tools(), Render: env.Render}
	for _, r := range replies {
		host.Replies = append(host.Replies, Reply{Text: r})
	}
	host.Before = func(r whale.Request) error {
		if r.Op != whale.OpChat {
			return nil
		}
		if len(e.Calls) == len(replies) {
			return fmt.Errorf("harnesstest: more model calls than the %d replies", len(replies))
		}
		e.Calls = append(e.Calls, whale.ModelCall{Messages: r.Messages, Tools: r.Tools, Text: replies[len(e.Calls)]})
		return nil
	}
	host.Tool = func(name string, args map[string]json.RawMessage) (whale.ToolResult, error) {
		result, err := env.Call(ctx, name, args)
		e.Tools = append(e.Tools, whale.ToolEvent{After: whale.ReplyRef(len(e.Calls)), Name: name, Args: args, Result: result})
		return result, err
	}
	if e.Answer, err = h.Run(ctx, host); err != nil {
		return e, v, err
	}
	e.Usage.ModelCalls, e.Usage.ToolCalls = host.Usage.ModelCalls, host.Usage.ToolCalls
	v, err = task.Verifier().Verify(ctx, x, &e)
	return e, v, err
}
