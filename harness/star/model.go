package star

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	whale "github.com/seed-095d5d2b/whale"
)

// modelEntries are the methods of run's parameter model. It is stateless: its functions find their episode on the thread.
func modelEntries() []entry {
	return []entry{{
		Function: Function{
			Module: "model", Name: "chat", Returns: "reply",
			Doc: "Samples one reply of the model. The sampling settings are the run's.",
			Params: []Param{
				{Name: "messages", Type: TypeList, Doc: "the conversation: replies as they are, and dicts with role, content and perhaps name (see chat)"},
				{Name: "tools", Type: TypeList, Default: "[]", Doc: "tools that the model is told of: elements of env.tools, or dicts of that form"},
				{Name: "max_tokens", Type: TypeInt, Default: "None", Low: 1, High: 4096, Doc: "the most tokens to sample; None = as many as are left"},
				{Name: "stop", Type: TypeList, Default: "[]", Doc: "texts that end the reply once it contains one"},
			},
		},
		run: modelChat,
	}, {
		Function: Function{
			Module: "model", Name: "count", Returns: TypeInt,
			Doc:    "Counts the tokens of a text.",
			Params: []Param{{Name: "text", Type: TypeString, Doc: "any text"}},
		},
		run: func(c *call) (starlark.Value, error) {
			resp, err := episodeOf(c.thread).do(whale.Request{Op: whale.OpCount, Text: clean(c.string("text"))})
			return starlark.MakeInt(resp.Number), err
		},
	}, {
		Function: Function{
			Module: "model", Name: "clip", Returns: TypeString,
			Doc: "Gives the longest beginning of a text that has at most max_tokens tokens.",
			Params: []Param{
				{Name: "text", Type: TypeString, Doc: "any text"},
				{Name: "max_tokens", Type: TypeInt, Low: 1, High: 4096, Doc: "the most tokens"},
			},
		},
		run: func(c *call) (starlark.Value, error) {
			n, _ := c.int("max_tokens")
			resp, err := episodeOf(c.thread).do(whale.Request{Op: whale.OpClip, Text: clean(c.string("text")), MaxTokens: n})
			return starlark.String(resp.Text), err
		},
	}}
}

func modelChat(c *call) (starlark.Value, error) {
	r := whale.Request{Op: whale.OpChat}
	list := c.list("messages")
	if len(list) == 0 {
		return nil, errors.New("messages: got an empty list, want at least one message")
	}
	for i, v := range list {
		m, err := message(v)
		if err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
		r.Messages = append(r.Messages, m)
	}
	for i, v := range c.list("tools") {
		spec, err := toolSpec(v)
		if err != nil {
			return nil, fmt.Errorf("tools[%d]: %w", i, err)
		}
		r.Tools = append(r.Tools, spec)
	}
	r.MaxTokens, _ = c.int("max_tokens")
	var err error
	if r.Stop, err = c.strings("stop"); err != nil {
		return nil, err
	}
	for i, s := range r.Stop {
		if s == "" {
			return nil, fmt.Errorf("stop[%d]: got an empty string", i)
		}
	}
	e := episodeOf(c.thread)
	resp, err := e.do(r)
	if err != nil {
		return nil, err
	}
	if resp.Reply == nil {
		return nil, e.broke(errors.New("star: host: got no reply to chat"))
	}
	v, err := newReply(resp.Reply)
	if err != nil {
		return nil, e.broke(err)
	}
	return v, nil
}

// broke ends the episode with an error of the host's making.
func (e *episode) broke(err error) error {
	if e.broken == nil {
		e.broken = err
		e.thread.Cancel("the host has ended the episode")
	}
	return err
}

// message turns an element of messages into a message of the host's.
func message(v starlark.Value) (whale.Message, error) {
	var m whale.Message
	switch v := v.(type) {
	case *reply:
		return whale.Message{Role: whale.RoleAssistant, Reply: v.ref}, nil
	case *starlark.Dict:
		for _, item := range v.Items() {
			key, ok := item[0].(starlark.String)
			text, isText := item[1].(starlark.String)
			switch {
			case !ok:
				return m, fmt.Errorf("got %s key, want role, content or name", article(item[0].Type()))
			case !isText:
				if _, isReply := item[1].(*reply); isReply {
					return m, fmt.Errorf("%s: got a reply, want a string (put the reply itself into the list)", brief(key))
				}
				return m, fmt.Errorf("%s: got %s, want a string", brief(key), item[1].Type())
			}
			switch key {
			case "role":
				m.Role = string(text)
			case "content":
				m.Content = clean(string(text))
			case "name":
				m.Name = clean(string(text))
			default:
				return m, fmt.Errorf("got the key %s, want role, content or name", brief(key))
			}
		}
	case starlark.String:
		return m, errors.New("got a string, want a reply or a dict (write chat.user(text))")
	default:
		return m, fmt.Errorf("got %s, want a reply or a dict (see chat.user)", article(v.Type()))
	}
	switch m.Role {
	case whale.RoleSystem, whale.RoleUser, whale.RoleAssistant, whale.RoleTool:
		return m, nil
	case "":
		return m, errors.New("the key \"role\" is missing")
	}
	return m, fmt.Errorf("role: got %s, want \"system\", \"user\", \"assistant\" or \"tool\"", brief(starlark.String(m.Role)))
}
