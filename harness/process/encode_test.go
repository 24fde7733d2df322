package process

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	whale "github.com/seed-095d5d2b/whale"
)

// anyBytes is a text that need not be UTF-8; anyText is one that is.
func anyBytes() *rapid.Generator[string] {
	return rapid.OneOf(anyText(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }), rapid.Just("\xed\xa0\x80é\xff"))
}

func anyText() *rapid.Generator[string] {
	odd := rapid.SampledFrom([]string{"", "\u2028\u2029", "<b>&", "\x00\x1f\x7f", "\b\f\n\r\t\"\\/", "é😀\uFFFD"})
	return rapid.OneOf(rapid.String(), odd).Filter(utf8.ValidString)
}

func anyArgs() *rapid.Generator[map[string]json.RawMessage] {
	value := rapid.SampledFrom([]string{"1", "-0", "2.50", "1E+5", "null", "true", `"x"`, `"é<"`, `[1,{"a":[]}]`, "{}"})
	return rapid.MapOf(anyText(), rapid.Map(value, func(s string) json.RawMessage { return json.RawMessage(s) }))
}

func anyTool() *rapid.Generator[whale.ToolSpec] {
	return rapid.Custom(func(t *rapid.T) whale.ToolSpec {
		spec := whale.ToolSpec{Name: "t" + anyText().Draw(t, "name"), Description: anyText().Draw(t, "description")}
		for range rapid.IntRange(0, 3).Draw(t, "parameters") {
			spec.Parameters = append(spec.Parameters, whale.ToolParameter{
				Name: "p" + anyText().Draw(t, "name"), Type: rapid.SampledFrom([]string{"string", "integer", "number", "boolean"}).Draw(t, "type"),
				Description: anyText().Draw(t, "description"), Required: rapid.Bool().Draw(t, "required"), Authored: rapid.Bool().Draw(t, "authored"),
			})
		}
		return spec
	})
}

func anyMessage(replies int) *rapid.Generator[whale.Message] {
	return rapid.Custom(func(t *rapid.T) whale.Message {
		if rapid.Bool().Draw(t, "reply") {
			return whale.Message{Role: whale.RoleAssistant, Reply: whale.ReplyRef(rapid.IntRange(1, replies).Draw(t, "ref"))}
		}
		roles := []string{whale.RoleSystem, whale.RoleUser, whale.RoleAssistant, whale.RoleTool}
		return whale.Message{Role: rapid.SampledFrom(roles).Draw(t, "role"), Content: anyText().Draw(t, "content"), Name: anyText().Draw(t, "name")}
	})
}

// anyRequest is a request as the interpreter makes it.
func anyRequest() *rapid.Generator[whale.Request] {
	ops := []string{whale.OpChat, whale.OpCount, whale.OpClip, whale.OpTool, whale.OpRender, whale.OpLeft, whale.OpPrint}
	return rapid.Custom(func(t *rapid.T) whale.Request {
		r := whale.Request{Op: rapid.SampledFrom(ops).Draw(t, "op")}
		switch r.Op {
		case whale.OpChat:
			r.Messages = rapid.SliceOfN(anyMessage(5), 1, 4).Draw(t, "messages")
			for range rapid.IntRange(0, 2).Draw(t, "tools") {
				r.Tools = append(r.Tools, anyTool().Draw(t, "tool"))
			}
			for range rapid.IntRange(0, 2).Draw(t, "stops") {
				r.Stop = append(r.Stop, "s"+anyText().Draw(t, "stop"))
			}
			r.MaxTokens = rapid.IntRange(0, 1<<31-1).Draw(t, "max_tokens")
		case whale.OpClip:
			r.MaxTokens = rapid.IntRange(1, 1<<31-1).Draw(t, "max_tokens")
			r.Text = anyText().Draw(t, "text")
		case whale.OpCount, whale.OpPrint:
			r.Text = anyText().Draw(t, "text")
		case whale.OpTool, whale.OpRender:
			r.Name, r.Args = anyText().Draw(t, "name"), anyArgs().Draw(t, "args")
		}
		return r
	})
}

// A text is written as encoding/json writes it, whatever it holds.
func TestTextIsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyBytes().Draw(t, "text")
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		got := appendText(nil, s)
		if string(got) != strings.TrimSuffix(want.String(), "\n") {
			t.Fatalf("got %s, want %s", got, want.String())
		}
		back := scanner{data: got}
		if text, err := back.text(); err != nil || text != strings.ToValidUTF8(s, "\uFFFD") && utf8.ValidString(s) {
			t.Fatalf("%s reads as %q, %v", got, text, err)
		}
	})
}

// A request is the same behind the pipe, whether it is written here or from the structs that document it.
func TestRequestsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyRequest().Draw(t, "request")
		line, err := appendRequest(nil, 7, 99, &r)
		if err != nil {
			t.Fatal(err)
		}
		if len(line) > MaxMessage || bytes.IndexByte(line, '\n') >= 0 {
			t.Fatalf("%q is no line", line)
		}
		m, err := decodeProgram(line, true)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if m.id != 7 || m.steps != 99 || !reflect.DeepEqual(m.request, r) {
			t.Fatalf("\n got %#v\nwant %#v", m.request, r)
		}
		if err := m.check(5); err != nil || !reflect.DeepEqual(m.request, r) {
			t.Fatalf("%s: %v", line, err)
		}
		// The structs leave out what is empty, so only what is there is compared.
		if text := r.Op == whale.OpCount || r.Op == whale.OpClip || r.Op == whale.OpPrint; text && r.Text == "" || (r.Op == whale.OpTool || r.Op == whale.OpRender) && r.Name == "" {
			return
		}
		line, err = json.Marshal(RequestMessage{Type: TypeRequest, ID: 7, Request: r})
		if err != nil {
			t.Fatal(err)
		}
		m, err = decodeProgram(line, false)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		a, _ := json.Marshal(m.request)
		b, _ := json.Marshal(r)
		if !bytes.Equal(a, b) {
			t.Fatalf("\n got %s\nwant %s", a, b)
		}
	})
}

// A response is the same behind the pipe, for our own reader and for any other.
func TestResponsesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r whale.Response
		op := rapid.SampledFrom([]string{whale.OpChat, whale.OpCount, whale.OpClip, whale.OpTool, whale.OpLeft, whale.OpPrint}).Draw(t, "op")
		switch op {
		case whale.OpChat:
			r.Reply = &whale.Reply{
				Ref: whale.ReplyRef(rapid.IntRange(1, 9).Draw(t, "ref")), Text: anyText().Draw(t, "text"), Finish: whale.FinishStop, Tokens: rapid.IntRange(0, 99).Draw(t, "tokens"),
			}
			for range rapid.IntRange(0, 2).Draw(t, "calls") {
				r.Reply.ToolCalls = append(r.Reply.ToolCalls, whale.ToolCall{Name: anyText().Draw(t, "name"), Args: anyArgs().Draw(t, "args")})
			}
		case whale.OpCount:
			r.Number = rapid.Int().Draw(t, "number")
		case whale.OpClip:
			r.Text = anyText().Draw(t, "text")
		case whale.OpTool:
			r.Result = &whale.ToolResult{Text: anyText().Draw(t, "text"), Error: anyText().Draw(t, "error"), Done: rapid.Bool().Draw(t, "done")}
			if rapid.Bool().Draw(t, "data") {
				r.Result.Data = json.RawMessage(`{"a":[1,"é"]}`)
			}
		case whale.OpLeft:
			r.Left = &whale.Left{Tokens: rapid.Int().Draw(t, "tokens"), ModelCalls: -1, ToolCalls: 3}
		}
		line, err := appendResponse(nil, 3, op, &r)
		if err != nil {
			t.Fatal(err)
		}
		m, err := decodeHost(line)
		if err != nil || m.id != 3 || !reflect.DeepEqual(m.response, r) {
			t.Fatalf("%s: %v\n got %#v\nwant %#v", line, err, m.response, r)
		}
		var other ResponseMessage
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&other); err != nil || other.ID != 3 || !reflect.DeepEqual(other.Response, r) {
			t.Fatalf("%s: %v\n got %#v\nwant %#v", line, err, other.Response, r)
		}
	})
}

// What a model wrote may be JSON that not every reader takes. A program gets it so that all do.
func TestHostValuesAreMadeStrict(t *testing.T) {
	for in, want := range map[string]string{
		` { "a" : [ 1 , 2.50 ] } `: `{"a":[1,2.50]}`,
		`"\ud800x\udc00"`:          `"` + "\uFFFDx\uFFFD" + `"`,
		`"\ud83d\ude00\u003c\/"`:   `"😀</"`,
		`{"a":1,"a":2}`:            `{"a":1,"a":2}`,
		"\t[\n]\r":                 `[]`,
		`[true,false,null,-0,1E5]`: `[true,false,null,-0,1E5]`,
		strings.Repeat("[", 9000) + strings.Repeat("]", 9000): strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
	} {
		got, err := appendRaw(nil, json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("%.40s: got %.40s, %v, want %.40s", in, got, err, want)
		}
	}
	for _, in := range []string{"", " ", "{", "1 2", "nul", `"`, `{"a"}`, "[1,]", strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)} {
		if got, err := appendRaw(nil, json.RawMessage(in)); err == nil {
			t.Errorf("%.40s: got %.40s, want an error", in, got)
		}
	}
}

// The lists of the decoders and the tables of the reference have the same fields.
func TestTablesAreTheStructs(t *testing.T) {
	fieldsOf := func(v any) (out []string) {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			out = append(out, name)
		}
		return out
	}
	have := map[string][2]any{
		"message": {messageFields, whale.Message{}}, "tool": {toolFields, whale.ToolSpec{}}, "parameter": {parameterFields, whale.ToolParameter{}},
		"reply": {replyFields, whale.Reply{}}, "result": {resultFields, whale.ToolResult{}}, "left": {leftFields, whale.Left{}},
	}
	for _, m := range objects() {
		var table []string
		for _, f := range m.fields {
			table = append(table, f.name)
			if f.doc == "" || f.form == "" {
				t.Errorf("%s.%s is not documented", m.kind, f.name)
			}
		}
		lists := have[m.kind]
		if lists[0] == nil {
			t.Errorf("%s has no reader", m.kind)
			continue
		}
		if !slices.Equal(table, lists[0].([]string)) || !slices.Equal(table, fieldsOf(lists[1])) {
			t.Errorf("%s: the table has %v, the reader %v, the struct %v", m.kind, table, lists[0], fieldsOf(lists[1]))
		}
	}
	// A request's struct holds the fields of every operation, and those alone.
	names := map[string]bool{}
	for _, m := range programMessages() {
		if m.kind == TypeRequest {
			for _, f := range m.fields {
				names[f.name] = true
			}
		}
	}
	for _, f := range fieldsOf(whale.Request{}) {
		if !names[f] {
			t.Errorf("no table has the field %s of a request", f)
		}
		delete(names, f)
	}
	delete(names, "id")
	delete(names, "steps")
	for f := range names {
		t.Errorf("the tables have the field %s, which a request does not have", f)
	}
	if n := len(programGrammar().names); n > 64 {
		t.Errorf("%d fields, want at most 64", n)
	}
}
