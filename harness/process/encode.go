package process

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	whale "github.com/seed-095d5d2b/whale"
)

// The encoders append: a busy run makes ten thousands of messages a second, and encoding/json takes two to three times as long. Tests hold
// them against it on random messages.

// appendText writes a string: valid UTF-8 on one line, whatever it holds. It writes what encoding/json does without its escapes for HTML, so that
// an argument stays as the interpreter wrote it.
func appendText(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			rest := i + size
			switch {
			case r == utf8.RuneError && size == 1:
				dst = append(append(dst, s[start:i]...), `\ufffd`...)
				start = rest
			case r == '\u2028' || r == '\u2029': // which end lines for some readers
				dst = append(append(dst, s[start:i]...), `\u202`...)
				dst = append(dst, hex[r&15])
				start = rest
			}
			i = rest
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// name writes ,"name": (an object's first field is its type, so that a comma is always right).
func name(dst []byte, name string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	return append(dst, '"', ':')
}

func textField(dst []byte, field, s string) []byte { return appendText(name(dst, field), s) }

func intField(dst []byte, field string, n int64) []byte {
	return strconv.AppendInt(name(dst, field), n, 10)
}

func typed(dst []byte, kind string) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, kind...)
	return append(dst, '"')
}

// appendRaw writes a JSON value on one line. From a program it was checked already; from the host it may hold anything.
func appendRaw(dst []byte, raw json.RawMessage) ([]byte, error) {
	s := scanner{data: raw, depth: maxHostDepth, ours: true}
	dst, err := s.value(dst, maxHostDepth)
	if err == nil {
		err = s.end()
	}
	return dst, err
}

func appendArgs(dst []byte, args map[string]json.RawMessage) (_ []byte, err error) {
	names := make([]string, 0, len(args))
	for k := range args {
		names = append(names, k)
	}
	slices.Sort(names)
	dst = append(dst, '{')
	for i, k := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, k), ':')
		if dst, err = appendRaw(dst, args[k]); err != nil {
			return nil, fmt.Errorf("argument %s: %w", brief(k), err)
		}
	}
	return append(dst, '}'), nil
}

// appendStart writes a start; program is nil except for a worker.
func appendStart(dst []byte, start whale.Start, program *ProgramRef) ([]byte, error) {
	if start.Tools == nil {
		start.Tools = []whale.ToolSpec{} // a list in every language
	}
	if start.Task == nil {
		start.Task = map[string]string{}
	}
	data, err := json.Marshal(StartMessage{Type: TypeStart, Protocol: Protocol, Start: start, Program: program})
	return append(dst, data...), err
}

func appendProgram(dst []byte, source []byte) []byte {
	return append(textField(typed(dst, TypeProgram), "source", string(source)), '}')
}

// appendResponse writes a response to a request of the given operation.
func appendResponse(dst []byte, id int, op string, r *whale.Response) (_ []byte, err error) {
	dst = intField(typed(dst, TypeResponse), "id", int64(id))
	switch op {
	case whale.OpCount:
		dst = intField(dst, "number", int64(r.Number))
	case whale.OpClip, whale.OpRender:
		dst = textField(dst, "text", r.Text)
	}
	if r.Reply != nil {
		if dst, err = appendReply(name(dst, "reply"), r.Reply); err != nil {
			return nil, err
		}
	}
	if r.Result != nil {
		if dst, err = appendResult(name(dst, "result"), r.Result); err != nil {
			return nil, err
		}
	}
	if l := r.Left; l != nil {
		dst = append(dst, `,"left":{"tokens":`...)
		dst = strconv.AppendInt(dst, int64(l.Tokens), 10)
		dst = intField(dst, "model_calls", int64(l.ModelCalls))
		dst = append(intField(dst, "tool_calls", int64(l.ToolCalls)), '}')
	}
	return append(dst, '}'), nil
}

func appendReply(dst []byte, r *whale.Reply) (_ []byte, err error) {
	dst = strconv.AppendInt(append(dst, `{"ref":`...), int64(r.Ref), 10)
	dst = textField(dst, "text", r.Text)
	if len(r.ToolCalls) > 0 {
		dst = append(name(dst, "tool_calls"), '[')
		for i, c := range r.ToolCalls {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendText(append(dst, `{"name":`...), c.Name), `,"args":`...)
			if dst, err = appendArgs(dst, c.Args); err != nil {
				return nil, fmt.Errorf("reply %d: tool call %d: %w", r.Ref, i+1, err)
			}
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	dst = textField(dst, "finish_reason", r.Finish)
	return append(intField(dst, "tokens", int64(r.Tokens)), '}'), nil
}

func appendResult(dst []byte, r *whale.ToolResult) (_ []byte, err error) {
	dst = appendText(append(dst, `{"text":`...), r.Text)
	if len(r.Data) > 0 {
		if dst, err = appendRaw(name(dst, "data"), r.Data); err != nil {
			return nil, fmt.Errorf("result: data: %w", err)
		}
	}
	if r.Error != "" {
		dst = textField(dst, "error", r.Error)
	}
	if r.Done {
		dst = append(dst, `,"done":true`...)
	}
	return append(dst, '}'), nil
}
