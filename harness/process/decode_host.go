package process

import (
	"encoding/json"
	"fmt"
	"math"

	whale "github.com/seed-095d5d2b/whale"
)

// fromHost is a message of the host, read. It is the worker's side of the protocol.
type fromHost struct {
	kind     string
	id       int
	response whale.Response
	start    whale.Start
	program  *ProgramRef
	source   string
}

// decodeHost reads one message of the host. It is as strict as the other direction, for a worker and its parent are of one build.
func decodeHost(line []byte) (m fromHost, err error) {
	g := hostGrammar()
	s := scanner{data: line, depth: maxHostDepth, ours: true}
	protocol := 0
	seen, err := s.fields(g.names, func(i int) (err error) {
		switch g.names[i] {
		case "type":
			m.kind, err = s.text()
		case "id":
			m.id, err = s.int(1, math.MaxInt32)
		case "reply":
			m.response.Reply, err = readReply(&s)
		case "number":
			m.response.Number, err = s.int(math.MinInt64, math.MaxInt64)
		case "text":
			m.response.Text, err = s.text()
		case "result":
			m.response.Result, err = readResult(&s)
		case "left":
			m.response.Left, err = readLeft(&s)
		case "protocol":
			protocol, err = s.int(0, math.MaxInt32)
		case "contract":
			m.start.Contract, err = s.int(math.MinInt32, math.MaxInt32)
		case "task":
			m.start.Task, err = readTask(&s)
		case "tools":
			m.start.Tools, err = readList(&s, readTool)
		case "limits":
			m.start.Limits, err = readLimits(&s)
		case "program":
			m.program, err = readProgram(&s)
		case "source":
			m.source, err = s.text()
		default:
			err = s.fail("the field %s has no reader", g.names[i])
		}
		return err
	})
	if err == nil {
		err = s.end()
	}
	if err == nil {
		err = g.check(m.kind, "", seen, true)
	}
	if err == nil && m.kind == TypeStart && protocol != Protocol {
		err = violate("start: got the protocol %d, want %d", protocol, Protocol)
	}
	return m, err
}

var (
	replyFields    = []string{"ref", "text", "tool_calls", "finish_reason", "tokens"}
	toolCallFields = []string{"name", "args"}
	resultFields   = []string{"text", "data", "error", "done"}
	leftFields     = []string{"tokens", "model_calls", "tool_calls"}
	programFields  = []string{"id", "name"}
)

func readReply(s *scanner) (*whale.Reply, error) {
	r := new(whale.Reply)
	_, err := s.fields(replyFields, func(i int) (err error) {
		switch i {
		case 0:
			var n int
			n, err = s.int(math.MinInt32, math.MaxInt32)
			r.Ref = whale.ReplyRef(n)
		case 1:
			r.Text, err = s.text()
		case 2:
			r.ToolCalls, err = readList(s, readToolCall)
		case 3:
			r.Finish, err = s.text()
		case 4:
			r.Tokens, err = s.int(math.MinInt32, math.MaxInt32)
		}
		return err
	})
	return r, err
}

func readToolCall(s *scanner) (c whale.ToolCall, err error) {
	_, err = s.fields(toolCallFields, func(i int) (err error) {
		if i == 0 {
			c.Name, err = s.text()
		} else {
			c.Args, err = readArgs(s)
		}
		return err
	})
	return c, err
}

func readResult(s *scanner) (*whale.ToolResult, error) {
	r := new(whale.ToolResult)
	_, err := s.fields(resultFields, func(i int) (err error) {
		switch i {
		case 0:
			r.Text, err = s.text()
		case 1:
			r.Data, err = s.value(nil, s.depth)
		case 2:
			r.Error, err = s.text()
		case 3:
			r.Done, err = s.boolean()
		}
		return err
	})
	return r, err
}

func readLeft(s *scanner) (*whale.Left, error) {
	l := new(whale.Left)
	into := []*int{&l.Tokens, &l.ModelCalls, &l.ToolCalls}
	_, err := s.fields(leftFields, func(i int) (err error) {
		*into[i], err = s.int(math.MinInt64, math.MaxInt64)
		return err
	})
	return l, err
}

func readTask(s *scanner) (map[string]string, error) {
	task := map[string]string{}
	err := s.members(func(b []byte) (err error) {
		name := string(b)
		if _, again := task[name]; again {
			return s.fail("the field %s is given twice", brief(name))
		}
		task[name], err = s.text()
		return err
	})
	return task, err
}

func readProgram(s *scanner) (*ProgramRef, error) {
	p := new(ProgramRef)
	_, err := s.fields(programFields, func(i int) (err error) {
		if i == 0 {
			var id string
			id, err = s.text()
			p.ID = whale.ID(id)
		} else {
			p.Name, err = s.text()
		}
		return err
	})
	return p, err
}

// readLimits reads the limits by their struct, which comes once an episode and has fields that change.
func readLimits(s *scanner) (l whale.Limits, err error) {
	raw, err := s.value(nil, 2)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(raw, &l); err != nil {
		return l, s.fail("limits: %s", fmt.Sprint(err))
	}
	return l, nil
}
