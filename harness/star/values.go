package star

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	whale "github.com/seed-095d5d2b/whale"
)

// record is an immutable value with named fields: a task, a result, a tool call, a tool's specification.
type record struct {
	kind   string
	names  []string // in the order of writing
	fields starlark.StringDict
}

var _ starlark.HasAttrs = (*record)(nil)

// newRecord makes a record of fields given as name, value, name, value, …; it freezes them.
func newRecord(kind string, pairs ...any) *record {
	r := &record{kind: kind, fields: make(starlark.StringDict, len(pairs)/2)}
	for i := 0; i < len(pairs); i += 2 {
		name, v := pairs[i].(string), pairs[i+1].(starlark.Value)
		v.Freeze()
		r.names = append(r.names, name)
		r.fields[name] = v
	}
	return r
}

// Attr implements starlark.HasAttrs.
func (r *record) Attr(name string) (starlark.Value, error) {
	if v, ok := r.fields[name]; ok {
		return v, nil
	}
	return nil, noAttr(r.kind, name, r.names)
}

// noAttr is the error for an unknown attribute: it lists the known ones.
func noAttr(kind, name string, known []string) error {
	if len(known) == 0 {
		return starlark.NoSuchAttrError(fmt.Sprintf("%s has no .%s: it has no fields", kind, name))
	}
	dotted := make([]string, len(known))
	for i, k := range known {
		dotted[i] = "." + k
	}
	return starlark.NoSuchAttrError(fmt.Sprintf("%s has no .%s: it has %s", kind, name, strings.Join(dotted, ", ")))
}

// AttrNames implements starlark.HasAttrs.
func (r *record) AttrNames() []string { return slices.Sorted(slices.Values(r.names)) }

// Freeze implements starlark.Value; a record is frozen from the start.
func (r *record) Freeze() {}

// Truth implements starlark.Value.
func (r *record) Truth() starlark.Bool { return true }

// Type implements starlark.Value.
func (r *record) Type() string { return r.kind }

// Hash implements starlark.Value.
func (r *record) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", r.kind) }

func (r *record) String() string {
	var b strings.Builder
	b.WriteString(r.kind + "(")
	for i, name := range r.names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name + " = " + r.fields[name].String())
	}
	return b.String() + ")"
}

// reply stands for a completion of this episode. It is the same as another exactly where both stand for the same completion, however
// alike the texts are.
type reply struct {
	ref whale.ReplyRef
	record
}

var (
	_ starlark.HasAttrs   = (*reply)(nil)
	_ starlark.Comparable = (*reply)(nil)
)

// newReply makes the value for a host's reply.
func newReply(r *whale.Reply) (*reply, error) {
	calls := make([]starlark.Value, len(r.ToolCalls))
	for i, tc := range r.ToolCalls {
		args, err := argsDict(tc.Args)
		if err != nil {
			return nil, fmt.Errorf("star: reply %d: tool call %d: %w", r.Ref, i+1, err)
		}
		calls[i] = newRecord("tool_call", "name", starlark.String(tc.Name), "args", args)
	}
	return &reply{ref: r.Ref, record: *newRecord("reply",
		"text", starlark.String(r.Text),
		"tool_calls", starlark.NewList(calls),
		"finish_reason", starlark.String(r.Finish),
		"tokens", starlark.MakeInt(r.Tokens),
	)}, nil
}

// Hash makes replies usable as keys.
func (r *reply) Hash() (uint32, error) { return uint32(r.ref), nil }

// CompareSameType implements == and != by reference; replies have no order.
func (r *reply) CompareSameType(op syntax.Token, y starlark.Value, _ int) (bool, error) {
	same := r.ref == y.(*reply).ref
	switch op {
	case syntax.EQL:
		return same, nil
	case syntax.NEQ:
		return !same, nil
	}
	return false, fmt.Errorf("reply %s reply: replies have no order", op)
}

func (r *reply) String() string { return fmt.Sprintf("reply %d: %s", r.ref, r.fields["text"]) }

// module is a named set of functions and constants.
type module struct {
	record
	hints map[string]string // what to write for a name of Python's module
}

var _ starlark.HasAttrs = (*module)(nil)

// moduleHints are for names that Python's modules have and ours do not.
var moduleHints = map[string]map[string]string{
	"json": {"loads": "json.decode(s, default)", "dumps": "json.encode(x)", "load": "json.decode(s, default)", "dump": "json.encode(x)"},
	"math": {"inf": `float("inf")`, "nan": `float("nan")`, "trunc": "int(x)", "isnan": "x != x", "prod": "a loop", "log10": "math.log(x, 10)", "log2": "math.log(x, 2)"},
	"re":   {"subn": "re.sub", "VERBOSE": "a pattern without comments", "X": "a pattern without comments", "error": "a valid pattern"},
	"chat": {"message": "chat.user(content)", "reply": "the reply itself", "developer": "chat.system(content)"},
	"text": {"split": "s.split()", "strip": "s.strip()", "format": "text.fill(template, values)", "lines": "s.splitlines()"},
}

func newModule(name string, members starlark.StringDict) *module {
	return &module{record: record{kind: name, names: members.Keys(), fields: members}, hints: moduleHints[name]}
}

// Attr implements starlark.HasAttrs.
func (m *module) Attr(name string) (starlark.Value, error) {
	if hint, ok := m.hints[name]; ok {
		return nil, fmt.Errorf("%s has no .%s: use %s", m.kind, name, hint)
	}
	return m.record.Attr(name)
}

// Freeze implements starlark.Value.
func (m *module) Freeze() { m.fields.Freeze() }

// Type implements starlark.Value.
func (m *module) Type() string { return "module" }

func (m *module) String() string { return "<module " + m.kind + ">" }
