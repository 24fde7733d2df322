package process

import (
	"strconv"

	whale "github.com/seed-095d5d2b/whale"
)

// What a worker sends: the interpreter's side of the protocol.

func stepsField(dst []byte, steps uint64) []byte {
	return strconv.AppendUint(name(dst, "steps"), steps, 10)
}

// appendRequest writes a request. Its texts are as the interpreter cleaned them.
func appendRequest(dst []byte, id int, steps uint64, r *whale.Request) (_ []byte, err error) {
	dst = stepsField(intField(typed(dst, TypeRequest), "id", int64(id)), steps)
	dst = textField(dst, "op", r.Op)
	if len(r.Messages) > 0 {
		dst = append(name(dst, "messages"), '[')
		for i := range r.Messages {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendMessage(dst, &r.Messages[i])
		}
		dst = append(dst, ']')
	}
	if len(r.Tools) > 0 {
		dst = append(name(dst, "tools"), '[')
		for i := range r.Tools {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendTool(dst, &r.Tools[i])
		}
		dst = append(dst, ']')
	}
	if r.MaxTokens != 0 {
		dst = intField(dst, "max_tokens", int64(r.MaxTokens))
	}
	if len(r.Stop) > 0 {
		dst = append(name(dst, "stop"), '[')
		for i, s := range r.Stop {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendText(dst, s)
		}
		dst = append(dst, ']')
	}
	if r.Op == whale.OpCount || r.Op == whale.OpClip || r.Op == whale.OpPrint {
		dst = textField(dst, "text", r.Text)
	}
	if r.Op == whale.OpTool || r.Op == whale.OpRender {
		dst = textField(dst, "name", r.Name)
		if dst, err = appendArgs(name(dst, "args"), r.Args); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func appendMessage(dst []byte, m *whale.Message) []byte {
	dst = appendText(append(dst, `{"role":`...), m.Role)
	if m.Content != "" {
		dst = textField(dst, "content", m.Content)
	}
	if m.Name != "" {
		dst = textField(dst, "name", m.Name)
	}
	if m.Reply != 0 {
		dst = intField(dst, "reply", int64(m.Reply))
	}
	return append(dst, '}')
}

func appendTool(dst []byte, t *whale.ToolSpec) []byte {
	dst = appendText(append(dst, `{"name":`...), t.Name)
	dst = textField(dst, "description", t.Description)
	if t.Parameters == nil {
		return append(dst, `,"parameters":null}`...)
	}
	dst = append(name(dst, "parameters"), '[')
	for i, p := range t.Parameters {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(append(dst, `{"name":`...), p.Name)
		dst = textField(textField(dst, "type", p.Type), "description", p.Description)
		dst = strconv.AppendBool(name(dst, "required"), p.Required)
		if p.Authored {
			dst = append(dst, `,"authored":true`...)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']', '}')
}

func appendAnswer(dst []byte, steps uint64, ref whale.ReplyRef) []byte {
	dst = stepsField(typed(dst, TypeAnswer), steps)
	if ref == 0 {
		return append(dst, `,"reply":null}`...)
	}
	return append(intField(dst, "reply", int64(ref)), '}')
}

func appendFailure(dst []byte, steps uint64, f whale.Failure) []byte {
	dst = textField(stepsField(typed(dst, TypeFailure), steps), "reason", string(f.Reason))
	return append(textField(dst, "detail", f.Detail), '}')
}
