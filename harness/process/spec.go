package process

import (
	whale "github.com/seed-095d5d2b/whale"
)

// field documents one field of a message; the decoder and the reference read the same tables.
type field struct {
	name     string
	form     string // as the reference writes it
	required bool
	worker   bool // only between a worker and its host
	bounds   string
	doc      string
}

// message is one type of message, or one operation of a request.
type message struct {
	kind   string // its type
	op     string // of a request
	from   string // "host" or "program"
	worker bool   // only between a worker and its host
	when   string
	fields []field
}

// texts are the documents of fields that several messages share.
var (
	fieldID    = field{name: "id", form: "integer", required: true, bounds: "1, 2, 3, …", doc: "the number of the request"}
	fieldSteps = field{name: "steps", form: "integer", worker: true, bounds: "0 or more", doc: "interpreter steps so far"}
	fieldArgs  = field{name: "args", form: "object", bounds: "values nest at most 64 deep, numbers have at most 1000 characters", doc: "the arguments by name, any JSON values"}
)

// programMessages are what a program may send. The type, and the op of a request, say which fields may be there; any other is a violation.
func programMessages() []message {
	request := func(op, when string, fields ...field) message {
		return message{kind: TypeRequest, op: op, from: "program", when: when, fields: append([]field{
			fieldID, fieldSteps, {name: "op", form: "string", required: true, doc: `"` + op + `"`},
		}, fields...)}
	}
	return []message{
		request(whale.OpChat, "to sample a reply of the model; answered by reply",
			field{name: "messages", form: "list of message", required: true, bounds: "at least one; limits.message_bytes in all", doc: "the conversation"},
			field{name: "tools", form: "list of tool", doc: "tools that the model is told of: elements of the start's tools, or objects of that form"},
			field{name: "max_tokens", form: "integer", bounds: "1 to 2147483647", doc: "the most tokens to sample; left out = as many as are left"},
			field{name: "stop", form: "list of string", bounds: "no empty ones", doc: "texts that end the reply once it contains one"}),
		request(whale.OpCount, "to count the tokens of a text; answered by number",
			field{name: "text", form: "string", required: true, bounds: "limits.message_bytes", doc: "any text"}),
		request(whale.OpClip, "for the longest beginning of a text that has at most max_tokens tokens; answered by text",
			field{name: "text", form: "string", required: true, bounds: "limits.message_bytes", doc: "any text"},
			field{name: "max_tokens", form: "integer", required: true, bounds: "1 to 2147483647", doc: "the most tokens"}),
		request(whale.OpTool, "to call a tool; answered by result",
			field{name: "name", form: "string", required: true, doc: "the tool's name"}, fieldArgs),
		request(whale.OpRender, "for a block of text that the task vouches for; answered by text",
			field{name: "name", form: "string", required: true, doc: "the block's name"}, fieldArgs),
		request(whale.OpLeft, "to learn what may still be spent; answered by left"),
		request(whale.OpPrint, "to add a line to the log and wait until it is there; the response holds nothing else",
			field{name: "text", form: "string", required: true, bounds: "see limits.log_bytes", doc: "any text"}),
		{kind: TypePrint, from: "program", when: "to add a line to the log; it has no id and is not answered", fields: []field{
			fieldSteps, {name: "text", form: "string", required: true, bounds: "see limits.log_bytes", doc: "any text"},
		}},
		{kind: TypeAnswer, from: "program", when: "last, where run returned", fields: []field{
			fieldSteps,
			{name: "reply", form: "integer or null", required: true, bounds: "the ref of a reply of this episode",
				doc: "the reply that is the agent's final answer; null = none. Any other value is an answer that is no reply, and fails the episode as such"},
		}},
		{kind: TypeFailure, from: "program", when: "last, where the program gave up", fields: []field{
			fieldSteps,
			{name: "reason", form: "string", bounds: `"program", "contract" or "answer:foreign"`, doc: `why; left out = "program": it raised an error`},
			{name: "detail", form: "string", required: true, bounds: "its first 600 bytes are kept", doc: "what went wrong"},
			{name: "line", form: "integer", bounds: "0 or more", doc: "the line of the program's file that is to blame, from 1; 0 = unknown"},
		}},
		{kind: TypeNeed, from: "program", worker: true, when: "where it does not have the program that the start named; answered by program"},
	}
}

// hostMessages are what the host sends.
func hostMessages() []message {
	return []message{
		{kind: TypeStart, from: "host", when: "first", fields: []field{
			{name: "protocol", form: "integer", required: true, doc: "the version of these messages"},
			{name: "contract", form: "integer", required: true, doc: "the version of the harness contract"},
			{name: "task", form: "object of strings", required: true, doc: "what the task lets an agent see, by name, such as question"},
			{name: "tools", form: "list of tool", required: true, doc: "the tools that may be called"},
			{name: "limits", form: "limits", required: true, doc: "the bounds of this episode"},
			{name: "program", form: "object", worker: true, doc: "id and name of the program to run"},
		}},
		{kind: TypeResponse, from: "host", when: "to each request, in order", fields: []field{
			fieldID,
			{name: "reply", form: "reply", doc: "answers chat"},
			{name: "number", form: "integer", doc: "answers count"},
			{name: "text", form: "string", doc: "answers clip and render"},
			{name: "result", form: "result", doc: "answers tool"},
			{name: "left", form: "left", doc: "answers left"},
		}},
		{kind: TypeProgram, from: "host", worker: true, when: "to need", fields: []field{
			{name: "source", form: "string", required: true, doc: "the program's text"},
		}},
	}
}

// objects are the parts of messages.
func objects() []message {
	return []message{
		{kind: "message", from: "program", fields: []field{
			{name: "role", form: "string", bounds: `"system", "user", "assistant" or "tool"`, doc: `who speaks; with reply it is "assistant" or left out`},
			{name: "content", form: "string", doc: "the text; none with reply"},
			{name: "name", form: "string", doc: "the tool's name, for role tool; none with reply"},
			{name: "reply", form: "integer", bounds: "the ref of a reply of this episode", doc: "stands for that reply itself: the model sees exactly what it sampled"},
		}},
		{kind: "tool", from: "both", fields: []field{
			{name: "name", form: "string", required: true, bounds: "not empty", doc: "the tool's name"},
			{name: "description", form: "string", doc: "what the model is told of it"},
			{name: "parameters", form: "list of parameter", doc: "its parameters; null = none"},
		}},
		{kind: "parameter", from: "both", fields: []field{
			{name: "name", form: "string", required: true, bounds: "not empty", doc: "the parameter's name"},
			{name: "type", form: "string", required: true, bounds: `"string", "integer", "number" or "boolean"`, doc: "the type of its value"},
			{name: "description", form: "string", doc: "what the model is told of it"},
			{name: "required", form: "boolean", doc: "whether a call must give it"},
			{name: "authored", form: "boolean", doc: "whether its value must be a span of the model's latest reply"},
		}},
		{kind: "reply", from: "host", fields: []field{
			{name: "ref", form: "integer", required: true, doc: "the reply's number, counted from 1: what messages and the answer name it by"},
			{name: "text", form: "string", required: true, doc: "what the model said, without control tokens"},
			{name: "tool_calls", form: "list of {name, args}", doc: "the tool calls that it wrote; left out = none"},
			{name: "finish_reason", form: "string", required: true, doc: `"stop", or "length" where a limit on tokens cut it`},
			{name: "tokens", form: "integer", required: true, doc: "how many tokens were sampled"},
		}},
		{kind: "result", from: "host", fields: []field{
			{name: "text", form: "string", required: true, doc: "what the tool says"},
			{name: "data", form: "any", doc: "the same as data, where the tool gives any"},
			{name: "error", form: "string", doc: "the tool's complaint; left out = none"},
			{name: "done", form: "boolean", doc: "whether the environment has ended; left out = false"},
		}},
		{kind: "left", from: "host", fields: []field{
			{name: "tokens", form: "integer", required: true, doc: "tokens that may still be sampled"},
			{name: "model_calls", form: "integer", required: true, doc: "chat requests"},
			{name: "tool_calls", form: "integer", required: true, doc: "tool requests"},
		}},
	}
}
