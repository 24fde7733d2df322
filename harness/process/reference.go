package process

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
)

const referenceIntro = `# The harness contract over a pipe, protocol %d

A harness may be a program in any language. It is started for one episode, reads messages of its host on standard input and writes its own on
standard output. What a program may do, what its limits are and why an episode fails is the same as for Starlark programs; this page
has the messages. Starlark programs run behind the same messages, in workers that add some of their own.

## Lines

- A message is one JSON object (RFC 8259) on one line, in UTF-8, ended by a newline. White space between its parts is allowed; a newline is not.
- The field ` + "`type`" + ` says which message it is. A message has the fields of its table and no others. A name that is given twice, in any object of a
  program's message, is an error, and so are half a surrogate pair, numbers of more than %d characters and numbers that no 64-bit float can hold.
- A line of a program has at most %d · limits.message_bytes bytes and 1 MiB, and never more than %d MiB. A longer one is refused before it is read.
- Anything else on standard output, a program's own prints among it, is a message that is none. Standard error is free; its beginning is
  shown where the program dies.

## The course of an episode

1. The host sends start, once.
2. The program sends requests, with the ids 1, 2, 3, …. Each is answered by the response of the same id before the next one is looked at. Prints may
   come between; they have no id and no response.
3. The program sends an answer or a failure. Nothing after it is read, and the process is ended.

When the host ends an episode, at a limit for instance, it tells the program nothing: it closes the pipes and ends the process. Where the process
ends before an answer, or closes its output, the episode fails.

A reply is known by its ref. Where a message of a later chat holds the ref, the model sees exactly what it sampled; the same words as content are
words of the harness. The answer names a reply too.

## What is checked

| what | reason of the failure |
|---|---|
| a line that is no message; a message with a field too many, too few or of another type; an id out of order; the end of the output before an answer | %s |
| a message that reads well, with a value outside of its bounds: a role that there is not, a ref that there is not, an empty list of messages, an empty stop text | %s |
| an answer that is neither the ref of a reply of this episode nor null | %s |
| a failure message | the reason it gives, or %s |
| a limit of the start | the limit's own |

`

// Reference documents every message, in Markdown. It is generated from the tables that the decoders use.
func Reference() string {
	var b strings.Builder
	fmt.Fprintf(&b, referenceIntro, Protocol, maxDigits, escaped, MaxMessage>>20, whale.FailProtocol, whale.FailContract, whale.FailAnswer, whale.FailProgram)
	b.WriteString("## An exchange\n\nLines of the host begin with ▷, lines of the program with ◁; the marks are not part of them.\n\n")
	for _, line := range exchange() {
		mark := "◁"
		if line.host {
			mark = "▷"
		}
		fmt.Fprintf(&b, "    %s %s\n", mark, line.text)
	}
	b.WriteString("\n## Messages of the host\n\n")
	writeMessages(&b, hostMessages())
	b.WriteString("## Messages of the program\n\n")
	writeMessages(&b, programMessages())
	b.WriteString("## Their parts\n\nThe host writes every required field and leaves others out where they are empty.\n\n")
	for _, m := range objects() {
		fmt.Fprintf(&b, "### %s\n\n", m.kind)
		writeFields(&b, m.fields)
	}
	b.WriteString("### limits\n\nThe bounds of the episode; [contract.md](contract.md) says what each of them bounds.\n\n")
	limits := reflect.TypeFor[whale.Limits]()
	for i := range limits.NumField() {
		f := limits.Field(i)
		kind := "integer"
		if f.Type.Kind() == reflect.Float64 {
			kind = "number"
		}
		fmt.Fprintf(&b, "- `%s` (%s)\n", f.Tag.Get("json"), kind)
	}
	return b.String()
}

func writeMessages(b *strings.Builder, list []message) {
	for _, m := range list {
		if m.worker {
			continue
		}
		title := m.kind
		if m.op != "" {
			title += ": " + m.op
		}
		fmt.Fprintf(b, "### %s\n\nSent %s.\n\n", title, m.when)
		writeFields(b, append([]field{{name: "type", form: "string", required: true, doc: `"` + m.kind + `"`}}, m.fields...))
	}
}

func writeFields(b *strings.Builder, fields []field) {
	b.WriteString("| field | type | required | bounds | meaning |\n|---|---|---|---|---|\n")
	for _, f := range fields {
		if f.worker {
			continue
		}
		required := "no"
		if f.required {
			required = "yes"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", f.name, f.form, required, f.bounds, f.doc)
	}
	b.WriteString("\n")
}

// exampleLine is a line of the example.
type exampleLine struct {
	host bool
	text string
}

// exchange is an example of a whole episode, one tool call and a final answer.
func exchange() []exampleLine {
	var out []exampleLine
	add := func(host bool, v any) {
		data, err := json.Marshal(v)
		if err != nil {
			panic("process: " + err.Error()) // of constants
		}
		out = append(out, exampleLine{host, string(data)})
	}
	user := whale.Message{Role: whale.RoleUser, Content: "What is 17 · 23?"}
	args := map[string]json.RawMessage{"code": json.RawMessage(`"17 * 23"`)}
	add(true, StartMessage{Type: TypeStart, Protocol: Protocol, Start: whale.Start{
		Contract: whale.ContractVersion, Task: map[string]string{"question": user.Content},
		Tools: []whale.ToolSpec{{Name: "calculator", Description: "computes", Parameters: []whale.ToolParameter{
			{Name: "code", Type: "string", Description: "an expression", Required: true},
		}}},
		Limits: whale.Limits{
			Steps: 2_000_000, ModelCalls: 16, ToolCalls: 16, Tokens: 8192, MessageBytes: 256 << 10, LogBytes: 16 << 10, Requests: 1000,
			MemoryBytes: 512 << 20, WallSeconds: 60, ModelSeconds: 120, ToolSeconds: 30,
		},
	}})
	add(false, RequestMessage{Type: TypeRequest, ID: 1, Request: whale.Request{Op: whale.OpChat, Messages: []whale.Message{user}, MaxTokens: 256}})
	add(true, ResponseMessage{Type: TypeResponse, ID: 1, Response: whale.Response{Reply: &whale.Reply{
		Ref: 1, Text: "Let me compute.", ToolCalls: []whale.ToolCall{{Name: "calculator", Args: args}}, Finish: "stop", Tokens: 21,
	}}})
	add(false, PrintMessage{Type: TypePrint, Text: "one tool call"})
	add(false, RequestMessage{Type: TypeRequest, ID: 2, Request: whale.Request{Op: whale.OpTool, Name: "calculator", Args: args}})
	add(true, ResponseMessage{Type: TypeResponse, ID: 2, Response: whale.Response{Result: &whale.ToolResult{Text: "391", Data: json.RawMessage("391")}}})
	add(false, RequestMessage{Type: TypeRequest, ID: 3, Request: whale.Request{Op: whale.OpChat, Messages: []whale.Message{
		user, {Role: whale.RoleAssistant, Reply: 1}, {Role: whale.RoleTool, Name: "calculator", Content: "391"},
	}}})
	add(true, ResponseMessage{Type: TypeResponse, ID: 3, Response: whale.Response{Reply: &whale.Reply{Ref: 2, Text: "It is 391.", Finish: "stop", Tokens: 8}}})
	answer := whale.ReplyRef(2)
	add(false, AnswerMessage{Type: TypeAnswer, Reply: &answer})
	return out
}
