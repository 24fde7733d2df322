package star

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
)

// attribute documents a field of a value.
type attribute struct{ kind, name, kindOf, doc string }

// attributes are the fields of the values that a program meets; methods are in the tables of functions.
var attributes = []attribute{
	{"reply", "text", TypeString, "what the model said, without control tokens"},
	{"reply", "tool_calls", TypeList, "the tool calls that it wrote, as tool_call values"},
	{"reply", "finish_reason", TypeString, `"stop", or "length" where a limit on tokens cut it`},
	{"reply", "tokens", TypeInt, "how many tokens were sampled"},
	{"tool_call", "name", TypeString, "the tool's name"},
	{"tool_call", "args", TypeDict, "its arguments: env.call(call.name, **call.args)"},
	{"result", "name", TypeString, "the name that was called"},
	{"result", "text", TypeString, "what the tool says"},
	{"result", "data", TypeAny, "the same as data, or None"},
	{"result", "error", TypeString, `the tool's complaint; "" = none`},
	{"result", "done", TypeBool, "whether the environment has ended"},
	{"env", "tools", TypeList, "the tools, as tool values"},
	{"env", "left", "left", "what may still be spent; asked anew each time"},
	{"left", "tokens", TypeInt, "tokens that may still be sampled"},
	{"left", "model_calls", TypeInt, "calls of model.chat"},
	{"left", "tool_calls", TypeInt, "calls of env.call"},
	{"tool", "name", TypeString, "the tool's name"},
	{"tool", "description", TypeString, "what the model is told of it"},
	{"tool", "parameters", TypeList, "its parameters, as parameter values"},
	{"parameter", "name", TypeString, "the parameter's name"},
	{"parameter", "type", TypeString, `"string", "integer", "number" or "boolean"`},
	{"parameter", "description", TypeString, "what the model is told of it"},
	{"parameter", "required", TypeBool, "whether a call must give it"},
	{"parameter", "authored", TypeBool, "whether its value must be copied from the latest reply"},
	{"pattern", "pattern", TypeString, "the source"},
	{"pattern", "flags", TypeInt, "the flags"},
	{"pattern", "groups", TypeInt, "how many groups there are"},
	{"pattern", "groupindex", TypeDict, "the numbers of the named groups"},
	{"match", "string", TypeString, "the text"},
	{"match", "re", "pattern", "the pattern"},
}

// limitDocs says what each of [whale.Limits] bounds, by its JSON name, and the reason for which breaking it fails the episode.
var limitDocs = map[string]struct {
	doc    string
	reason whale.FailReason
}{
	"steps":         {"interpreter steps, those of loop and of the library's own work included", whale.FailSteps},
	"model_calls":   {"calls of model.chat", whale.FailModelCalls},
	"tool_calls":    {"calls of env.call", whale.FailToolCalls},
	"tokens":        {"sampled tokens in all", whale.FailTokens},
	"message_bytes": {"bytes of all messages of one model.chat, of the arguments of one call, of a text to count or clip", whale.FailMessageBytes},
	"log_bytes":     {"bytes of print that are kept; what exceeds them is cut, and a flood of 16 times as much fails", whale.FailLog},
	"requests":      {"uses of model and env, and prints, in all", whale.FailRequests},
	"memory_bytes":  {"memory of the process; a death of it is repeated alone before it counts", whale.FailMemory},
	"wall_seconds":  {"the program's own time, without what model and tools take; a stop here is repeated alone before it counts", whale.FailWall},
	"model_seconds": {"time of one model call; a stop here is no failure, and the episode is repeated", ""},
	"tool_seconds":  {"time of one tool call; a stop here is no failure, and the episode is repeated", ""},
}

// reasonDocs says what the other reasons of failure mean.
var reasonDocs = map[whale.FailReason]string{
	whale.FailContext:  "a prompt was longer than the policy's context",
	whale.FailProgram:  "the program raised an error; the detail begins with file:line:col",
	whale.FailContract: "a call that the contract or the task does not allow",
	whale.FailAuthored: "a tool argument that the model must have written was not a span of its latest reply",
	whale.FailPlanted:  "text of a form that the task declares (a move) stood in what the program wrote, outside of a whole block that the environment gave",
	whale.FailProtocol: "a line over the pipe was no message, or came out of turn (programs in other languages)",
	whale.FailWorker:   "the program's process died, alone too",
	whale.FailTool:     "code that the model wrote broke the guards of the tool that ran it, alone too",
	whale.FailAnswer:   "run returned something that is neither a reply of this episode nor None",
}

// Example is a whole harness, as the reference shows it.
const Example = `SYSTEM_PROMPT = "You solve word problems. You may compute with one python block."
USER_PROMPT = "{question}\nPut the final number into \\boxed{}."

def run(task, model, env):
    return loop.run(
        task, model, env,
        system = SYSTEM_PROMPT,
        user = USER_PROMPT,
        turns = 3,
        act = loop.code(tool = "calculator"),
        done = loop.has_box,
        nudge = "Give the final number in \\boxed{}.",
    )
`

func indented(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if line != "\n" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}

const referenceIntro = `# The harness contract, version %d

A harness is one Starlark file of at most %d KiB, in UTF-8. Starlark has Python's syntax and neither I/O nor time nor chance: the same
program with the same replies does the same.

    SYSTEM_PROMPT = "…"          # optional: these two are what a prompt-only search may change;
    USER_PROMPT = "…"            # string literals, or literals joined by +, assigned once at the top level

    def run(task, model, env):   # required; returns a reply of the model, which is the final answer, or None
        …

The top level runs at the start of every episode, and nothing survives an episode. %s, recursion, sets and
control flow at the top level are on. Strings are UTF-8 bytes: indices, slices and the positions of matches count bytes. Calls nest at
most %d deep. print goes to the episode's log.

A whole harness, with the ready loop:

%s
## run's parameters

- task: what the task lets an agent see, as fields, such as task.question. An unknown field is an error that names the known ones.
- model: the functions of model below. The sampling settings are the run's.
- env: the functions of env below, env.tools and env.left.

A reply stands in messages as it is, and the model then sees exactly what it sampled. Text that the harness writes is context, even
where it repeats the model's words. Replies are equal where they stand for the same model call.

A tool's complaint is in result.error and ends nothing. There is no try: an error that the program raises ends the episode as failed.

`

// Reference is the contract's reference in Markdown, generated from the tables that bind the library.
func Reference() string {
	var b strings.Builder
	fmt.Fprintf(&b, referenceIntro, whale.ContractVersion, MaxSource>>10, "while", MaxDepth, indented(Example))
	writeAttributes(&b)
	writeLimits(&b)
	writeDialect(&b)
	b.WriteString("## Functions\n\nThe modules are there without an import. `name = value` gives a default; a parameter without one is required. ")
	b.WriteString("In type names, `number` is int or float, and `function:act`, `function:observe` and `function:done` are the roles in loop.run:\n")
	b.WriteString("act(reply, env) gives None, a result or a list of results; observe(result) gives a text; done(reply) gives a bool.\n\n")
	module := ""
	for _, f := range Library() {
		if f.Module != module {
			module = f.Module
			fmt.Fprintf(&b, "### %s\n\n", module)
			if doc := moduleDocs[module]; doc != "" {
				fmt.Fprintf(&b, "%s.%s\n\n", strings.ToUpper(doc[:1])+doc[1:], moduleNotes[module])
			}
		}
		writeFunction(&b, f)
	}
	for _, m := range []struct {
		name    string
		entries []entry
	}{{"pattern", patternFunctions()}, {"match", matchFunctions()}} {
		fmt.Fprintf(&b, "### methods of a %s\n\n", m.name)
		if m.name == "match" {
			b.WriteString("`match.group(group, …)` → string, None or tuple. Gives what a group matched; of several groups, a tuple. `m[1]` and `m[\"name\"]` do the same.\n\n")
		}
		for _, e := range m.entries {
			e.Module = m.name
			writeFunction(&b, e.Function)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// moduleNotes are what a module's functions share.
var moduleNotes = map[string]string{
	"re":   " Flags: re.I, re.M, re.S, re.A and their long names. Lookahead, lookbehind, backreferences, conditions, atomic groups and possessive quantifiers are errors.",
	"math": " Constants: math.pi, math.e.",
}

func writeFunction(b *strings.Builder, f Function) {
	var sig []string
	for _, p := range f.Params {
		s := p.Name
		if p.Default != "" {
			s += " = " + p.Default
		} else if p.Optional {
			s = "[" + s + "]"
		}
		sig = append(sig, s)
	}
	if f.Keywords != "" {
		sig = append(sig, "**"+f.Keywords)
	}
	fmt.Fprintf(b, "`%s(%s)` → %s. %s", f.FullName(), strings.Join(sig, ", "), f.Returns, f.Doc)
	if f.Role != "" {
		fmt.Fprintf(b, " Role: %s.", f.Role)
	}
	b.WriteString("\n\n")
	if f.Module == "math" {
		return // numbers, all of them
	}
	for _, p := range f.Params {
		bounds := ""
		switch {
		case len(p.Choices) > 0:
			bounds = ": " + quoted(p.Choices)
		case p.High > 0:
			bounds = fmt.Sprintf(", at least %d", p.Low)
		}
		fmt.Fprintf(b, "- %s (%s%s): %s\n", p.Name, p.Type, bounds, p.Doc)
	}
	if len(f.Params) > 0 {
		b.WriteString("\n")
	}
}

func writeAttributes(b *strings.Builder) {
	b.WriteString("## Values\n\n| field | type | meaning |\n|---|---|---|\n")
	for _, a := range attributes {
		fmt.Fprintf(b, "| %s.%s | %s | %s |\n", a.kind, a.name, a.kindOf, a.doc)
	}
	b.WriteString("\n")
}

func writeLimits(b *strings.Builder) {
	b.WriteString("## Limits and failures\n\nA failed episode has reward 0. Its record names the reason, and the place in the program where it is to blame.\n\n")
	b.WriteString("| limit | bounds | reason |\n|---|---|---|\n")
	limits := reflect.TypeFor[whale.Limits]()
	for i := range limits.NumField() {
		name := limits.Field(i).Tag.Get("json")
		d := limitDocs[name]
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, d.doc, d.reason)
	}
	b.WriteString("\n| other reason | meaning |\n|---|---|\n")
	for _, r := range slices.Sorted(maps.Keys(reasonDocs)) {
		fmt.Fprintf(b, "| %s | %s |\n", r, reasonDocs[r])
	}
	b.WriteString("\n")
}

func writeDialect(b *strings.Builder) {
	b.WriteString("## What Python has and Starlark has not\n\n")
	for _, k := range slices.Sorted(maps.Keys(keywordAdvice)) {
		if k != "as" {
			fmt.Fprintf(b, "- %s: %s\n", k, keywordAdvice[k])
		}
	}
	for _, s := range []string{
		`f"…": use "…{}…".format(x), "…%s…" % x or text.fill`,
		"x ** y: use math.pow(x, y)",
		"a < b < c: write a < b and b < c",
		"annotations, :=, decorators, star-unpacking, set literals, generator expressions, adjacent string literals: there are none",
		`"%05.2f" and "{:.2f}": there are no widths; round with math.round`,
		"for c in s: use s.elems() or s.codepoints()",
	} {
		fmt.Fprintf(b, "- %s\n", s)
	}
	for _, k := range slices.Sorted(maps.Keys(nameAdvice)) {
		if k != "__name__" {
			fmt.Fprintf(b, "- %s: %s\n", k, nameAdvice[k])
		}
	}
	b.WriteString("\n")
}
