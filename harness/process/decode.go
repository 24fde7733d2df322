package process

import (
	"encoding/json"
	"fmt"
	"math"

	whale "github.com/seed-095d5d2b/whale"
)

// fromProgram is a message of a program, read.
type fromProgram struct {
	kind    string
	id      int
	steps   uint64
	request whale.Request  // of a request; a print is one too
	most    bool           // the request gives max_tokens
	reply   whale.ReplyRef // of an answer
	foreign string         // of an answer that is no reply: what it is
	reason  whale.FailReason
	detail  string
	line    int
}

// decodeProgram reads one message of a program; worker says whether it is our own interpreter. The error is a *violation. What a request
// asks for is checked by [fromProgram.check].
func decodeProgram(line []byte, worker bool) (m fromProgram, err error) {
	g := programGrammar()
	s := scanner{data: line, depth: maxDepth, ours: worker}
	r := &m.request
	text, op := "", ""
	seen, err := s.fields(g.names, func(i int) (err error) {
		switch g.names[i] {
		case "type":
			m.kind, err = s.text()
		case "id":
			m.id, err = s.int(1, math.MaxInt32)
		case "steps":
			var n int64
			n, err = s.integer(0, math.MaxInt64)
			m.steps = uint64(n)
		case "op":
			op, err = s.text()
		case "messages":
			r.Messages, err = readList(&s, readMessage)
		case "tools":
			r.Tools, err = readList(&s, readTool)
		case "max_tokens":
			m.most = true
			r.MaxTokens, err = s.int(math.MinInt32, math.MaxInt32)
		case "stop":
			r.Stop, err = readList(&s, (*scanner).text)
		case "text":
			text, err = s.text()
		case "name":
			r.Name, err = s.text()
		case "args":
			r.Args, err = readArgs(&s)
		case "reply":
			err = m.readAnswer(&s)
		case "reason":
			var reason string
			reason, err = s.text()
			m.reason = whale.FailReason(reason)
		case "detail":
			m.detail, err = s.text()
		case "line":
			m.line, err = s.int(0, math.MaxInt32)
		default:
			err = s.fail("the field %s has no reader", g.names[i])
		}
		return err
	})
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return m, err
	}
	if err := g.check(m.kind, op, seen, worker); err != nil {
		return m, err
	}
	r.Op, r.Text = op, text
	switch m.kind {
	case TypePrint:
		r.Op = whale.OpPrint
	case TypeFailure:
		if m.reason == "" {
			m.reason = whale.FailProgram
		}
		return m, checkReason(m.reason, worker)
	}
	if (op == whale.OpTool || op == whale.OpRender) && r.Args == nil {
		r.Args = map[string]json.RawMessage{} // as a program gives it that names no arguments
	}
	return m, nil
}

// checkReason keeps a program to the reasons that only it can know.
func checkReason(reason whale.FailReason, worker bool) error {
	switch reason {
	case whale.FailProgram, whale.FailContract, whale.FailAnswer:
		return nil
	case whale.FailSteps, whale.FailMessageBytes:
		if worker {
			return nil
		}
	}
	return violate("failure: got the reason %s, want one of %s, %s, %s", brief(string(reason)), whale.FailProgram, whale.FailContract, whale.FailAnswer)
}

// readAnswer reads the reply of an answer: a number, null, or something that is no reply.
func (m *fromProgram) readAnswer(s *scanner) error {
	what := s.found()
	if s.literal("null") {
		return nil
	}
	raw, err := s.value(nil, s.depth)
	if err != nil {
		return err
	}
	n := scanner{data: raw}
	ref, err := n.integer(1, math.MaxInt32)
	if err != nil {
		m.foreign = what
		if what == "a number" {
			m.foreign = "the number " + string(raw[:min(len(raw), 24)])
		}
	}
	m.reply = whale.ReplyRef(ref)
	return nil
}

func (s *scanner) int(low, high int64) (int, error) {
	n, err := s.integer(low, high)
	return int(n), err
}

func readList[T any](s *scanner, read func(*scanner) (T, error)) ([]T, error) {
	list := []T{}
	err := s.list(func() error {
		v, err := read(s)
		list = append(list, v)
		return err
	})
	return list, err
}

// The fields of the parts of messages; a test holds them against the tables.
var (
	messageFields   = []string{"role", "content", "name", "reply"}
	toolFields      = []string{"name", "description", "parameters"}
	parameterFields = []string{"name", "type", "description", "required", "authored"}
)

func readMessage(s *scanner) (m whale.Message, err error) {
	_, err = s.fields(messageFields, func(i int) (err error) {
		switch i {
		case 0:
			m.Role, err = s.text()
		case 1:
			m.Content, err = s.text()
		case 2:
			m.Name, err = s.text()
		case 3:
			var n int
			n, err = s.int(1, math.MaxInt32)
			m.Reply = whale.ReplyRef(n)
		}
		return err
	})
	return m, err
}

func readTool(s *scanner) (t whale.ToolSpec, err error) {
	_, err = s.fields(toolFields, func(i int) (err error) {
		switch i {
		case 0:
			t.Name, err = s.text()
		case 1:
			t.Description, err = s.text()
		case 2:
			if !s.literal("null") {
				t.Parameters, err = readList(s, readParameter)
			}
		}
		return err
	})
	return t, err
}

func readParameter(s *scanner) (p whale.ToolParameter, err error) {
	_, err = s.fields(parameterFields, func(i int) (err error) {
		switch i {
		case 0:
			p.Name, err = s.text()
		case 1:
			p.Type, err = s.text()
		case 2:
			p.Description, err = s.text()
		case 3:
			p.Required, err = s.boolean()
		case 4:
			p.Authored, err = s.boolean()
		}
		return err
	})
	return p, err
}

func readArgs(s *scanner) (map[string]json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	err := s.members(func(b []byte) error {
		name := string(b)
		if _, again := args[name]; again && !s.ours {
			return s.fail("the argument %s is given twice", brief(name))
		}
		raw, err := s.value(nil, s.depth)
		args[name] = raw
		return err
	})
	return args, err
}

// check holds a request to what the interpreter of Starlark programs lets through, so that a host may trust the requests of both alike.
// replies is how many replies the episode has. The error is a *[whale.HarnessError].
func (m *fromProgram) check(replies whale.ReplyRef) error {
	r := &m.request
	if m.most && r.MaxTokens < 1 {
		return contract("%s: max_tokens: got %d, want at least 1", r.Op, r.MaxTokens)
	}
	if r.Op != whale.OpChat {
		return nil // everything else is in its types
	}
	if len(r.Messages) == 0 {
		return contract("chat: messages: got an empty list, want at least one message")
	}
	for i := range r.Messages {
		if err := checkMessage(&r.Messages[i], replies); err != nil {
			return contract("chat: messages[%d]: %v", i, err)
		}
	}
	for i := range r.Tools {
		if err := checkTool(&r.Tools[i]); err != nil {
			return contract("chat: tools[%d]: %v", i, err)
		}
	}
	for i, s := range r.Stop {
		if s == "" {
			return contract("chat: stop[%d]: got an empty string", i)
		}
	}
	return nil
}

func checkMessage(m *whale.Message, replies whale.ReplyRef) error {
	if m.Reply != 0 {
		switch {
		case m.Reply > replies:
			return fmt.Errorf("reply: got %d, the episode has %d", m.Reply, replies)
		case m.Content != "" || m.Name != "":
			return fmt.Errorf("got a reply with content or name, want the reply alone")
		case m.Role != "" && m.Role != whale.RoleAssistant:
			return fmt.Errorf("role: got %s with a reply, want \"assistant\"", brief(m.Role))
		}
		m.Role = whale.RoleAssistant
		return nil
	}
	switch m.Role {
	case whale.RoleSystem, whale.RoleUser, whale.RoleAssistant, whale.RoleTool:
		return nil
	}
	return fmt.Errorf("role: got %s, want \"system\", \"user\", \"assistant\" or \"tool\"", brief(m.Role))
}

func checkTool(t *whale.ToolSpec) error {
	if t.Name == "" {
		return fmt.Errorf("name is missing")
	}
	for i, p := range t.Parameters {
		if p.Name == "" {
			return fmt.Errorf("parameters[%d]: name is missing", i)
		}
		switch p.Type {
		case "string", "integer", "number", "boolean":
		default:
			return fmt.Errorf(`parameters[%d]: type: got %s, want "string", "integer", "number" or "boolean"`, i, brief(p.Type))
		}
	}
	return nil
}
