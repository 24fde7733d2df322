package star

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/lib/json"
	"go.starlark.net/lib/math"
	"go.starlark.net/starlark"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

// The catalogue lists exactly what a program finds: every function, and no more.
func TestLibraryIsComplete(t *testing.T) {
	lib, err := newLibrary()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	add := func(owner string, members starlark.StringDict) {
		for name, v := range members {
			if _, ok := v.(starlark.Callable); ok {
				found[owner+"."+name] = true
			}
		}
	}
	for name, m := range lib.modules {
		add(name, m.(*module).fields)
		if moduleDocs[name] == "" {
			t.Errorf("module %s has no line in moduleDocs", name)
		}
	}
	add("model", lib.model.fields)
	add("env", lib.env)
	for _, f := range Library() {
		if !found[f.FullName()] {
			t.Errorf("%s is in the catalogue and not in the library", f.FullName())
		}
		delete(found, f.FullName())
	}
	for name := range found {
		t.Errorf("%s is in the library and not in the catalogue", name)
	}
	// Starlark's own modules hold nothing that the tables leave out.
	for name, members := range map[string]starlark.StringDict{"json": json.Module.Members, "math": math.Module.Members} {
		for member := range members {
			if v, err := lib.modules[name].(*module).Attr(member); err != nil || v == nil {
				t.Errorf("%s.%s is missing: %v", name, member, err)
			}
		}
	}
}

// example is an argument that a parameter accepts.
func example(p Param) string {
	switch p.Name {
	case "flags":
		return "re.I"
	case "base":
		return "2"
	}
	switch p.Type {
	case TypeString:
		return `"1"`
	case TypeChoice:
		return fmt.Sprintf("%q", p.Choices[0])
	case TypeInt:
		return fmt.Sprint(max(p.Low, 1))
	case TypeNumber:
		return "1"
	case TypeList:
		return map[string]string{"messages": `[chat.user("a")]`, "tools": "env.tools", "stop": `["a"]`}[p.Name]
	case TypeAct:
		return "loop.tools"
	case TypeObserve:
		return "loop.observe"
	case TypeDone:
		return "loop.has_box"
	}
	return map[string]string{
		"pattern": `"1"`, "repl": `"2"`, "x": "1", "default": "None", "values": "task", "result": `"1"`, "reply": `model.chat([chat.user("a")])`,
		"task": "task", "model": "model", "env": "env",
	}[p.Name]
}

// Every function accepts all of its parameters, by name and by position; with the required ones alone; and refuses another.
func TestLibraryAcceptsItsParameters(t *testing.T) {
	call := func(expr string) error {
		p, err := Load("h.star", []byte("def run(task, model, env):\n    "+expr+"\n"))
		if err != nil {
			return err
		}
		_, err = p.Run(context.Background(), &harnesstest.Host{
			View: map[string]string{"question": "q"}, Tools: []whale.ToolSpec{{Name: "a"}}, Replies: []harnesstest.Reply{{Text: "1"}},
			Render: func(block string, args map[string]stdjson.RawMessage) (string, error) { return block, nil },
		})
		return err
	}
	for _, f := range Library() {
		var named, placed, required []string
		for _, p := range f.Params {
			x := example(p)
			if x == "" {
				t.Fatalf("%s: no example for %s of type %s", f.FullName(), p.Name, p.Type)
			}
			named = append(named, p.Name+" = "+x)
			placed = append(placed, x)
			if p.Default == "" && !p.Optional {
				required = append(required, p.Name+" = "+x)
			}
			if p.Doc == "" {
				t.Errorf("%s: %s has no doc", f.FullName(), p.Name)
			}
		}
		for _, args := range [][]string{named, placed, required} {
			if err := call(f.FullName() + "(" + strings.Join(args, ", ") + ")"); err != nil {
				t.Errorf("%s(%s): %v", f.FullName(), strings.Join(args, ", "), err)
			}
		}
		err := call(f.FullName() + "(" + strings.Join(append(required, "bogus = 1"), ", ") + ")")
		if f.Keywords == "" && (err == nil || !strings.Contains(err.Error(), f.FullName()+": got an argument bogus, want ")) {
			t.Errorf("%s: an unknown argument: got %v", f.FullName(), err)
		}
		if len(required) > 0 {
			if err := call(f.FullName() + "()"); err == nil || !strings.Contains(err.Error(), "is missing") {
				t.Errorf("%s: no arguments: got %v", f.FullName(), err)
			}
		}
	}
}

// Defaults in the catalogue are what the function uses: writing them out changes nothing, neither the answer nor the requests.
func TestLoopDefaults(t *testing.T) {
	var args []string
	for _, f := range Library() {
		if f.FullName() == "loop.run" {
			for _, p := range f.Params {
				if p.Default != "" {
					args = append(args, p.Name+" = "+p.Default)
				}
			}
		}
	}
	if len(args) != 13 {
		t.Errorf("loop.run has %d defaults, want 13: %v", len(args), args)
	}
	var requests [2]string
	for i, a := range []string{"", ", " + strings.Join(args, ", ")} {
		p, err := Load("h.star", []byte("def run(task, model, env):\n    return loop.run(task, model, env"+a+")\n"))
		if err != nil {
			t.Fatal(err)
		}
		h := &harnesstest.Host{View: map[string]string{"question": "q"}, Replies: []harnesstest.Reply{{Text: "a", ToolCalls: []whale.ToolCall{{Name: "x"}}}}}
		if _, err := p.Run(context.Background(), h); err != nil {
			t.Fatal(err)
		}
		requests[i] = fmt.Sprint(h.Requests)
	}
	if requests[0] != requests[1] {
		t.Errorf("got %s\nwith the defaults written out %s", requests[0], requests[1])
	}
}

// Roles: the parts of the loop say what they are good for, and fit there.
func TestRoles(t *testing.T) {
	roles := map[string]string{}
	for _, f := range Library() {
		if f.Role != "" {
			roles[f.FullName()] = f.Role
		}
		if strings.HasPrefix(f.Returns, "function:") {
			roles[f.FullName()] = f.Returns
		}
	}
	want := map[string]string{
		"loop.tools": RoleAct, "loop.observe": RoleObserve, "loop.has_box": RoleDone,
		"loop.code": TypeAct, "loop.clip_observe": TypeObserve, "loop.has_tag": TypeDone,
	}
	if !maps.Equal(roles, want) {
		t.Errorf("got %v, want %v", roles, want)
	}
}

// The table of fields lists exactly what the values have.
func TestAttributes(t *testing.T) {
	r, err := newReply(&whale.Reply{Ref: 1, ToolCalls: []whale.ToolCall{{Name: "a"}}})
	if err != nil {
		t.Fatal(err)
	}
	result, err := newResult("a", &whale.ToolResult{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile(nil, "a", 0)
	if err != nil {
		t.Fatal(err)
	}
	lib, err := newLibrary()
	if err != nil {
		t.Fatal(err)
	}
	spec := newSpec(whale.ToolSpec{Parameters: []whale.ToolParameter{{Name: "p"}}})
	e := &episode{host: &harnesstest.Host{}, program: &Program{library: lib}, thread: new(starlark.Thread), limit: 1, ctx: context.Background()}
	env := newEnv(e, nil)
	left, err := env.Attr("left")
	if err != nil {
		t.Fatal(err)
	}
	methods := map[string][]string{"match": {"group"}}
	for _, x := range entries() {
		methods[x.Module] = append(methods[x.Module], x.Name)
	}
	for _, x := range patternFunctions() {
		methods["pattern"] = append(methods["pattern"], x.Name)
	}
	for _, x := range matchFunctions() {
		methods["match"] = append(methods["match"], x.Name)
	}
	for _, v := range []starlark.HasAttrs{
		r, r.fields["tool_calls"].(*starlark.List).Index(0).(*record), result.(*record), env, left.(*record), spec,
		spec.fields["parameters"].(*starlark.List).Index(0).(*record), p, &match{pattern: p, text: "a", spans: []int{0, 1}},
	} {
		kind := v.Type()
		want := slices.Clone(methods[kind])
		for _, a := range attributes {
			if a.kind == kind {
				want = append(want, a.name)
			}
		}
		slices.Sort(want)
		if got := v.AttrNames(); !slices.Equal(got, want) {
			t.Errorf("%s: it has %v, the tables have %v", kind, got, want)
		}
		for _, name := range want {
			if x, err := v.Attr(name); err != nil || x == nil {
				t.Errorf("%s.%s: got %v, %v", kind, name, x, err)
			}
		}
	}
}

// The reference names every limit, every reason of failure and every function.
func TestReference(t *testing.T) {
	ref := Reference()
	limits := reflect.TypeFor[whale.Limits]()
	for i := range limits.NumField() {
		name := limits.Field(i).Tag.Get("json")
		if limitDocs[name].doc == "" || !strings.Contains(ref, "| "+name+" |") {
			t.Errorf("limit %s is not documented", name)
		}
	}
	if len(limitDocs) != limits.NumField() {
		t.Errorf("%d limits are documented, want %d", len(limitDocs), limits.NumField())
	}
	for _, r := range []whale.FailReason{
		whale.FailSteps, whale.FailModelCalls, whale.FailToolCalls, whale.FailTokens, whale.FailMessageBytes, whale.FailAuthored, whale.FailWall,
		whale.FailContext, whale.FailProgram, whale.FailContract, whale.FailAnswer, whale.FailRequests, whale.FailLog, whale.FailMemory, whale.FailWorker,
		whale.FailTool, whale.FailProtocol, whale.FailPlanted,
	} {
		if !strings.Contains(ref, string(r)) {
			t.Errorf("reason %s is not documented", r)
		}
	}
	for _, f := range Library() {
		if !strings.Contains(ref, "`"+f.FullName()+"(") {
			t.Errorf("%s is not documented", f.FullName())
		}
	}
	if m := regexp.MustCompile(`%!|\(\?|` + "\t").FindString(strings.ReplaceAll(ref, "(?", "")); m != "" {
		t.Errorf("the reference holds %q", m)
	}
	if !strings.Contains(ref, indented(Example)) {
		t.Error("the reference lacks the example")
	}
	if ref != Reference() {
		t.Error("the reference differs from itself")
	}
}

func TestExample(t *testing.T) {
	p, err := Load("example.star", []byte(Example))
	if err != nil {
		t.Fatal(err)
	}
	h := &harnesstest.Host{
		View: map[string]string{"question": "1+1?"}, Replies: []harnesstest.Reply{{Text: "```python\n1+1\n```"}, {Text: "2"}, {Text: `\boxed{2}`}},
		Tool: func(string, map[string]stdjson.RawMessage) (whale.ToolResult, error) {
			return whale.ToolResult{Text: "2"}, nil
		},
	}
	ref, err := p.Run(context.Background(), h)
	if err != nil || ref != 3 {
		t.Fatalf("got %d, %v, want 3", ref, err)
	}
	if got, want := h.Messages(1)[1].Content, "1+1?\nPut the final number into \\boxed{}."; got != want {
		t.Errorf("got the question %q, want %q", got, want)
	}
}
